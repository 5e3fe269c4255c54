"""Section of the report: whether a judge's scores move where they should not."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.core.scales import Scale
from analysis.render.formatting import amount, between, counted, nothing, on_scale, percent
from analysis.render.section import Section
from analysis.topics.probes import drift, estimates, figures, observed_biases, tables

#: Faults said of a scorer.
_SAID = 2


def reading(analysis: Analysis) -> Iterator[str]:
    """The largest faults of each judge, how many there are, suspected texts, and drift."""
    all_of, wrong = tables.together(analysis), tables.at_fault(analysis)
    for scorer in dict.fromkeys(e.scorers[0] for e in all_of):
        own = [e for e in wrong if e.scorers[0] == scorer]
        told = [e for e in all_of if e.scorers[0] == scorer and e.has_interval]
        of = sum(e.scorers[0] == scorer for e in all_of)
        if not own:
            yield (
                f"{scorer}: none of {counted(of, 'shift')} lies beyond chance on its faulty side, "
                f"with {len(told)} that have an interval. That is no proof of their absence."
            )
            continue
        yield f"{scorer}: {len(own)} of {counted(of, 'shift')} lie beyond chance on a faulty side."
        for e in own[:_SAID]:
            yield _said(analysis, e)
    yield from _drifted(analysis)
    yield from _observed(analysis)
    for e in analysis.estimates.select("suspected_share"):
        yield (
            f"{counted(int(str(e.params['count'])), 'response')} of {e.n_responses:,} that "
            f"{e.scorers[0]} judged ({percent(e.value)}) hold, or were given in a passage, what "
            "may be an instruction to the judge or a control token of a chat template. That is a "
            "suspicion: nothing was left out for it. `ccrs judge show --suspects` lists them."
        )


def _said(analysis: Analysis, e: Estimate) -> str:
    scale = analysis.scores.scale(e.constructs[0], e.scorers[0])
    does = "rise" if e.value > 0 else "fall"
    interval = " ".join(filter(None, (between(e, scale, in_points=True), on_scale(scale))))
    return (
        f"{e.constructs[0]}: scores of {e.scorers[0]} {does} by {amount(abs(e.value), scale)} "
        f"{interval} under the probe '{tables.label(e)}'."
    )


def _observed(analysis: Analysis) -> Iterator[str]:
    """The largest difference of each kind whose interval leaves 0 out."""
    found: dict[str, Estimate] = {}
    for e in tables.observed(analysis):
        apart = e.has_interval and (e.ci_low > 0 or e.ci_high < 0)
        held = found.get(tables.observed_as(e))
        if apart and (held is None or abs(e.value) > abs(held.value)):
            found[tables.observed_as(e)] = e
    for what, e in found.items():
        scale = analysis.context.human_scale(e.constructs[0])
        how = "more lenient" if e.value > 0 else "more severe"
        interval = " ".join(filter(None, (between(e, scale, in_points=True), on_scale(scale))))
        yield (
            f"{e.constructs[0]}: against people, {e.scorers[0]} is {amount(abs(e.value), scale)} "
            f"{how} {interval} ({what})."
        )


def _drifted(analysis: Analysis) -> Iterator[str]:
    found = analysis.estimates.select("drift_shift")
    for scorer in dict.fromkeys(e.scorers[0] for e in found):
        own = [e for e in found if e.scorers[0] == scorer]
        last = own[-1]
        if not last.defined:
            continue
        scale = analysis.scores.scale(last.constructs[0], scorer)
        equal = analysis.estimates.first(
            "drift_equal_share", scorer=scorer, round=int(str(last.params["round"]))
        )
        same = f"; {percent(equal.value)} are the very same" if equal and equal.defined else ""
        interval = between(last, scale, in_points=True)
        yield (
            f"{scorer}: {counted(last.n_responses, 'prompt')} asked again in round "
            f"{last.params['round']} score {_moved(last.value, scale, interval)} "
            f"round {last.params['first']}{same}."
        ).replace("  ", " ")


def _moved(value: float, scale: Scale | None, interval: str) -> str:
    if nothing(value, scale):
        return f"the same on average {interval} as in" if interval else "the same as in"
    how = "lower" if value < 0 else "higher"
    return f"{amount(abs(value), scale, shown=(value,))} {how} {interval} than in"


SECTION = Section(
    key="probes",
    title="Bias and attack probes",
    statistics=(
        *estimates.STATISTICS,
        *drift.STATISTICS,
        *observed_biases.STATISTICS,
    ),
    figures=(figures.probe_shifts,),
    tables=(tables.shifts, tables.faults, tables.rounds, tables.seen),
    reading=reading,
)
