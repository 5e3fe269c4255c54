"""Section of the report: how far judge scores hang on the run that gave them."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import counted, listed, percent
from analysis.render.section import Section
from analysis.statistics.stability.run_factors import never_alone
from analysis.topics.stability import estimates, figures, tables

#: Runs below which the rate between runs like these is little more than a guess.
FEW_RUNS = 5


def reading(analysis: Analysis) -> Iterator[str]:
    """How often orders flip, how much of the variance is the judge's, what can't be told apart."""
    yield from _flips(analysis)
    yield from _own_share(analysis)
    yield from _confounded(analysis)


def _flips(analysis: Analysis) -> Iterator[str]:
    for kind in ("repeats", "runs"):
        found = [e for e in tables.overall(analysis, kind) if e.defined]
        # The mean over constructs where there is one, and one run of several.
        e = max(found, key=lambda e: len(e.constructs), default=None)
        if e is None:
            continue
        where = f"on {e.constructs[0]}" if len(e.constructs) == 1 else "over all constructs"
        who = f"{e.scorers[0]} asked again" if kind == "repeats" else "Another run like these"
        few = ""
        if kind == "runs" and len(e.scorers) < FEW_RUNS:
            few = f"; {counted(len(e.scorers), 'run')} say little of others"
        yield (
            f"{who} would put two systems in another order with a probability of {_said(e)} "
            f"{where}{few}."
        )


def _said(e: Estimate) -> str:
    if not e.has_interval:
        return percent(e.value)
    return f"{percent(e.value)} [{percent(e.ci_low)}, {percent(e.ci_high)}]"


def _own_share(analysis: Analysis) -> Iterator[str]:
    shares = {}
    for construct in analysis.context.whole:
        found = analysis.estimates.select("run_variance_share", construct=construct)
        own = [e for e in found if e.params["component"] not in {"query", "response"}]
        if any(e.defined for e in own):
            shares[construct] = sum(e.value for e in own if e.defined)
    if shares:
        words = [f"{_part(share)} on {construct}" for construct, share in shares.items()]
        yield f"Of the variance of one score, the judge itself brings {listed(words)}."


def _part(share: float) -> str:
    """A share of a variance; estimates of it may lie below 0 and above 1."""
    if share <= 0:
        return "none of it"
    return "all of it" if share >= 1 else percent(share)


def _confounded(analysis: Analysis) -> Iterator[str]:
    found = analysis.estimates.select("variance_between_runs")
    by_construct: dict[str, set[tuple[str, ...]]] = {}
    for e in found:
        if e.params["differ"] not in {estimates.REPEAT, estimates.RUN, estimates.UNKNOWN}:
            apart = tuple(str(e.params["differ"]).split(" + "))
            by_construct.setdefault(e.constructs[0], set()).add(apart)
    said = set()
    for sets in by_construct.values():
        found_with = never_alone(sorted(sets))
        for name, others in found_with.items():
            both = [other for other in others if name in found_with.get(other, ())]
            group = tuple(sorted((name, *both)))
            beside = tuple(other for other in others if other not in both)
            if (group, beside) not in said:
                said.add((group, beside))
                yield _never_alone(group, beside)


def _never_alone(group: tuple[str, ...], beside: tuple[str, ...]) -> str:
    """What differs only together, and only where others do that may differ without it."""
    where = f"only where {listed(beside)} {'does' if len(beside) == 1 else 'do'}"
    if len(group) > 1:
        only = f", and {where}" if beside else ""
        return (
            f"Between runs {listed(group)} differ only together{only}: what each moves can't be "
            "told apart."
        )
    if beside:
        return f"Between runs {group[0]} differs {where}: what it moves can't be told apart."
    return f"No two runs differ in {group[0]} alone: what it moves can't be told apart."


SECTION = Section(
    key="stability",
    title="Judge stability",
    statistics=estimates.STATISTICS,
    figures=(figures.run_variance,),
    tables=(
        tables.components,
        tables.what_differs,
        tables.agreement,
        tables.flips,
        tables.flipping_pairs,
    ),
    reading=reading,
)
