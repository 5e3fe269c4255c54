"""Section of the report: how far judge scores hang on the run that gave them."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose import Analysis
from analysis.compose.stability import REPEAT, RUN
from analysis.estimates import Estimate
from analysis.report.figures.run_variance import run_variance
from analysis.report.sections.section import Section
from analysis.report.tables.stability import (
    agreement,
    components,
    flipping_pairs,
    flips,
    overall,
    what_differs,
)
from analysis.report.words import counted, listed, percent
from analysis.stability.what_differs import never_alone

#: Runs below which the rate between runs like these is little more than a guess.
FEW_RUNS = 5


def reading(analysis: Analysis) -> Iterator[str]:
    """How often orders flip, how much of the variance is the judge's, what can't be told apart."""
    yield from _flips(analysis)
    yield from _own_share(analysis)
    yield from _confounded(analysis)


def _flips(analysis: Analysis) -> Iterator[str]:
    for kind in ("repeats", "runs"):
        found = [e for e in overall(analysis, kind) if e.defined]
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
        words = [f"{percent(share)} on {construct}" for construct, share in shares.items()]
        yield f"Of the variance of one score, the judge itself brings {listed(words)}."


def _confounded(analysis: Analysis) -> Iterator[str]:
    found = analysis.estimates.select("variance_between_runs")
    by_construct: dict[str, set[tuple[str, ...]]] = {}
    for e in found:
        if e.params["differ"] not in {RUN, REPEAT}:
            apart = tuple(str(e.params["differ"]).split(" + "))
            by_construct.setdefault(e.constructs[0], set()).add(apart)
    said = set()
    for sets in by_construct.values():
        for name, others in never_alone(sorted(sets)).items():
            group = tuple(sorted((name, *others)))
            if group in said:
                continue
            said.add(group)
            if others:
                yield (
                    f"Between runs {listed(group)} differ only together: what each moves can't be "
                    "told apart."
                )
            else:
                yield f"No two runs differ in {name} alone: what it moves can't be told apart."


SECTION = Section(
    key="stability",
    title="Judge stability",
    figures=(run_variance,),
    tables=(components, what_differs, agreement, flips, flipping_pairs),
    reading=reading,
)
