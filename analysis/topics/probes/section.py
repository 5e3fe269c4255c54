"""Section of the report: whether scores move where they should not, with its tables."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import amount, between, counted, is_zero, on_scale, percent
from analysis.render.section import Section
from analysis.render.table import Table, TableBuilder
from analysis.render.table_of import (
    TableOf,
    TableRow,
    each,
    formatted,
    in_points,
    in_words,
    order_of_constructs,
    own,
    scorer_scale,
    spread,
)
from analysis.topics.probes import drift, estimates, figures, observed_biases
from study.base.scales import Scale

#: Faults of a scorer in the sentences.
_SENTENCES = 2


def reading(analysis: Analysis) -> Iterator[str]:
    """The largest faults of each judge, how many there are, suspected texts, and drift."""
    all_of, wrong = together(analysis), at_fault(analysis)
    for scorer in dict.fromkeys(e.scorers[0] for e in all_of):
        faulty = [e for e in wrong if e.scorers[0] == scorer]
        with_interval = [e for e in all_of if e.scorers[0] == scorer and e.has_interval]
        of = sum(e.scorers[0] == scorer for e in all_of)
        if not faulty:
            yield (
                f"{scorer}: none of {counted(of, 'shift')} is significant on its faulty side, "
                f"with {len(with_interval)} that have an interval. That does not prove their "
                "absence."
            )
            continue
        yield f"{scorer}: {len(faulty)} of {counted(of, 'shift')} are significant on a faulty side."
        for e in faulty[:_SENTENCES]:
            yield _statement(analysis, e)
    yield from _drifted(analysis)
    yield from _observed(analysis)
    for e in analysis.estimates.select("suspected_share"):
        yield (
            f"{counted(int(str(e.params['count'])), 'response')} of {e.n_responses:,} that "
            f"{e.scorers[0]} judged ({percent(e.value)}) contain, or were given in a passage, "
            "what may be an instruction to the judge or a control token of a chat template. That "
            "is a suspicion: no score was left out because of it. Most instructions in other words "
            "than a few English ones are not found. `ccrs judge show --suspects` lists them."
        )


def _statement(analysis: Analysis, e: Estimate) -> str:
    scale = analysis.scores.scale(e.constructs[0], e.scorers[0])
    does = "rise" if e.value > 0 else "fall"
    interval = " ".join(filter(None, (between(e, scale, in_points=True), on_scale(scale))))
    return (
        f"{e.constructs[0]}: scores of {e.scorers[0]} {does} by {amount(abs(e.value), scale)} "
        f"{interval} under the probe '{label(e)}'."
    )


def _observed(analysis: Analysis) -> Iterator[str]:
    """The largest difference of each kind that holds after correction."""
    largest: dict[str, Estimate] = {}
    for e in observed(analysis):
        apart = analysis.claims.hold("probes", e)
        comparison = observed_as(analysis, e)
        previous = largest.get(comparison)
        if apart and (previous is None or abs(e.value) > abs(previous.value)):
            largest[comparison] = e
    for comparison, e in largest.items():
        scale = analysis.context.human_scale(e.constructs[0])
        how = "more lenient" if e.value > 0 else "more severe"
        interval = " ".join(filter(None, (between(e, scale, in_points=True), on_scale(scale))))
        yield (
            f"{e.constructs[0]}: against people, {e.scorers[0]} is {amount(abs(e.value), scale)} "
            f"{how} {interval} ({comparison})."
        )


def last_rounds(analysis: Analysis) -> list[Estimate]:
    """The shift of each scorer's last round."""
    return list({e.scorers[0]: e for e in analysis.estimates.select("drift_shift")}.values())


def _drifted(analysis: Analysis) -> Iterator[str]:
    for last in last_rounds(analysis):
        if not last.defined:
            continue
        scorer = last.scorers[0]
        scale = analysis.scores.scale(last.constructs[0], scorer)
        equal = analysis.estimates.first(
            "drift_equal_share", scorer=scorer, round=int(str(last.params["round"]))
        )
        same = f"; {percent(equal.value)} are the same" if equal and equal.defined else ""
        interval = between(last, scale, in_points=True)
        moved = last.has_interval and not is_zero(last.value, scale)
        holds = analysis.claims.hold("probes", last)
        significance = ", which is not significant" if moved and not holds else ""
        yield (
            f"{scorer}: {counted(last.n_responses, 'prompt')} asked again in round "
            f"{last.params['round']} score {_moved(last.value, scale, interval)} "
            f"round {last.params['first']}{significance}{same}."
        ).replace("  ", " ")


def _moved(value: float, scale: Scale | None, interval: str) -> str:
    if is_zero(value, scale):
        return f"the same on average {interval} as in" if interval else "the same as in"
    how = "lower" if value < 0 else "higher"
    return f"{amount(abs(value), scale, sided_values=(value,))} {how} {interval} than in"


#: Faults of which a row is shown, and rounds of a scorer; estimates.csv has the rest.
FAULTS_SHOWN, ROUNDS_SHOWN = 24, 12


def label(e: Estimate) -> str:
    """A probe as the page names it: 'injection: score line'."""
    kind, probe = str(e.params["kind"]), str(e.params["probe"]).replace("-", " ")
    return probe if kind.replace("-", " ") == probe else f"{kind}: {probe}"


def together(analysis: Analysis) -> list[Estimate]:
    """The shifts with simultaneous intervals for all probes and constructs of a scorer."""
    return analysis.estimates.select("probe_shift", interval="simultaneous")


def compared(analysis: Analysis) -> list[Estimate]:
    """The shifts, of probes and of last rounds, and the observed differences that are claimed."""
    return [*together(analysis), *last_rounds(analysis), *observed(analysis)]


def at_fault(analysis: Analysis) -> list[Estimate]:
    """Of these, the ones that a fair judge would not make, the largest first."""
    faulty = []
    for e in together(analysis):
        holds = analysis.claims.hold("probes", e)
        up, down = holds and e.value > 0, holds and e.value < 0
        if {"rise": up, "fall": down, "either": up or down}[str(e.params["fault"])]:
            scale = analysis.scores.scale(e.constructs[0], e.scorers[0])
            faulty.append((-abs(e.value) / (scale.width if scale else 100.0), e))
    return [e for _, e in sorted(faulty, key=lambda item: item[0])]


_NAMED = in_words("Scorer", lambda row: _named(row.estimate))
_PROBE = in_words("Probe", lambda row: label(row.estimate))

shifts = TableOf(
    "probes",
    "Shift of scores by probe",
    "{probe_shift}: score of the altered prompt minus the same judge's score of the prompt as it "
    "was, mean over responses. 'again' is the same prompt once more: shifts there are noise. "
    "{level:.0%} intervals over queries, simultaneous over the probes and constructs of a scorer; "
    "where most scores do not move, they cover true shifts less often than their level, by ending "
    "too near to 0. Shares moved, shifts of scores that had room, and missing answers are in "
    "estimates.csv.",
    each("probe_shift", interval="simultaneous"),
    (_NAMED, _PROBE, spread(in_points("probe_shift", scale=scorer_scale))),
)


_OF_SCORES = ("probe_moved_up", "probe_moved_down", "probe_at_end", "probe_missing")


def _largest_faults(analysis: Analysis) -> Iterator[TableRow]:
    for e in at_fault(analysis)[:FAULTS_SHOWN]:
        yield TableRow.of(analysis, e, "probe")


faults = TableOf(
    "probe-faults",
    "Shifts that a fair judge does not make",
    "Probes whose interval is on the faulty side of 0: up for instructions to give 100, "
    "padding and claims of authority, down for instructions to give 0, either for another "
    "layout or order. With room: of scores that were not at the end of the scale already, "
    "whose share is given. Up, down: moved by more than 5% of the scale. Without a score: "
    f"after the alteration. The {FAULTS_SHOWN} largest.",
    _largest_faults,
    ("construct", _NAMED, _PROBE,
     in_points("probe_shift", scale=scorer_scale),
     in_points("probe_shift_with_room", scale=scorer_scale),
     *(formatted(name, ".0%") for name in _OF_SCORES), "responses"),
    heads=3,
)  # fmt: skip


def rounds(analysis: Analysis) -> Iterator[Table]:
    """Each round of a scorer against the first: the largest shift, and the latest rounds."""
    built = TableBuilder()
    equal_heading = analysis.headings["drift_equal_share"]
    by_scorer: dict[str, list[Estimate]] = {}
    for e in analysis.estimates.select("drift_shift"):
        by_scorer.setdefault(e.scorers[0], []).append(e)
    for scorer, scorer_rounds in by_scorer.items():
        largest = max(scorer_rounds, key=lambda e: abs(e.value) if e.defined else -1.0)
        latest = scorer_rounds[-ROUNDS_SHOWN:]
        for e in latest if largest in latest else [largest, *latest[1:]]:
            number = int(str(e.params["round"]))
            scale = analysis.scores.scale(e.constructs[0], scorer) if e.constructs else None
            equal = analysis.estimates.first("drift_equal_share", scorer=scorer, round=number)
            if equal is not None:
                built.used.append(equal)
            built.add(
                scorer,
                f"{number}{', the largest' if e is largest and len(scorer_rounds) > 1 else ''}",
                built.points(e, scale),
                percent(equal.value) if equal is not None else "",
                f"{e.n_responses:,}",
                "changed" if int(str(e.params["served_names"])) > 1 else "the same",
            )
    yield built.table(
        "drift",
        "Drift of judges",
        "One fixed set of a run's own prompts, asked before and after each of its calls: scores "
        "of a round minus those of round 0, with intervals over queries, simultaneous over the "
        f"rounds of a scorer. {equal_heading}: share of the prompts with exactly the same score. "
        f"The latest {ROUNDS_SHOWN} rounds, and the largest shift. Model: as the server named "
        "itself.",
        ("Scorer", "Round", analysis.headings["drift_shift"], equal_heading, "Prompts", "Model"),
    )


_OBSERVED = {
    ("error_by_layout", None): "with it minus without",
    ("error_by_support", "last_minus_first"): "among the last passages minus the first",
    ("error_by_support", "middle_minus_ends"): "in the middle minus at either end",
    ("self_preference", None): "its systems minus others",
}


def observed_as(analysis: Analysis, e: Estimate) -> str:
    """What an observed difference compares."""
    contrast = _OBSERVED[e.statistic, _text(e.params.get("contrast"))]
    return f"{analysis.headings[e.statistic]}: {contrast}"


def observed(analysis: Analysis) -> list[Estimate]:
    """Differences of judge minus people by layout, supporting passage and family."""
    names = dict.fromkeys(name for name, _ in _OBSERVED)
    return [e for name in names for e in analysis.estimates.select(name)]


observed_table = TableOf(
    "observed-biases",
    "Judge minus people, by layout, supporting passage and model family",
    "Difference of the mean of judge minus people between two groups of the rated responses: "
    "above 0 the judge is more lenient towards the first. It is observed and may have other "
    "causes, such as better responses in one group; probes change one thing at a time. The "
    "supporting passage is the one that shares most words with the reference; families are "
    "those of study.toml.",
    lambda analysis: (TableRow.of(analysis, e) for e in observed(analysis)),
    ("scorer", in_words("Comparison", lambda row: observed_as(row.analysis, row.estimate)),
     spread(in_points(own), sort=order_of_constructs)),
    detail=lambda row: not row.estimate.defined,
)  # fmt: skip


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _named(e: Estimate) -> str:
    scorer, prompts = e.scorers[0], str(e.params["prompts"])
    return scorer if prompts in scorer else f"{scorer} ({prompts})"


SECTION = Section(
    key="probes",
    title="Bias and attack probes",
    statistics=(
        *estimates.STATISTICS,
        *drift.STATISTICS,
        *observed_biases.STATISTICS,
    ),
    figures=(figures.probe_shifts,),
    tables=(shifts, faults, rounds, observed_table),
    reading=reading,
    compared=compared,
)
