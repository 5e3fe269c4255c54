"""Section of the report: which systems differ, by judge and by people."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import counted, listed, p_value
from analysis.render.section import Section
from analysis.topics.discrimination import estimates, figures, tables
from analysis.topics.distribution import tables as distribution_tables

#: Scorers and hypotheses of which a sentence is made; the tables have the others.
_SCORERS_SAID, _HYPOTHESES_SAID = 2, 4


def reading(analysis: Analysis) -> Iterator[str]:
    """How many pairs each scorer tells apart, and what became of declared hypotheses."""
    records = [e for e in analysis.estimates.select("discriminative_power") if e.defined]
    kinds = analysis.scorer_kinds
    judges = dict.fromkeys(e.scorers[0] for e in records if kinds.get(e.scorers[0]) == "judge")
    for judge in list(judges)[:_SCORERS_SAID]:
        own = [e for e in records if e.scorers == (judge,) and e.params["on"] == "all"]
        if own:
            yield f"{judge} tells apart {_counts(own)}."
    people = [e for e in records if e.n_raters or kinds.get(e.scorers[0]) == "adjudicated"]
    if people:
        queries = max(e.n_queries for e in people)
        whose = "People's ratings" if people[0].n_raters else "Adjudicated values"
        yield f"{whose}, on {counted(queries, 'query', 'queries')}, tell apart {_counts(people)}."
        first = next(iter(judges), None)
        again = [e for e in records if e.scorers == (first,) and e.params["on"] == "rated"]
        if again:
            yield f"On the same responses {first} tells apart {_counts(again)}."
    for e in analysis.estimates.select("hypothesis_p")[:_HYPOTHESES_SAID]:
        yield _outcome(analysis, e)


def _counts(records: list[Estimate]) -> str:
    """'14 of 15 pairs of systems on QR, 13 on IR and 11 on CC'."""
    pairs = {e.params["pairs"] for e in records}
    ordered = sorted(records, key=lambda e: -e.value)
    if len(pairs) == 1:
        first, *others = ordered
        total = int(str(pairs.pop()))
        what = counted(total, "pair", "pairs")
        words = [f"{first.params['told_apart']} of {what} of systems on {first.constructs[0]}"]
        words += [f"{e.params['told_apart']} on {e.constructs[0]}" for e in others]
    else:
        words = [
            f"{e.params['told_apart']} of {e.params['pairs']} pairs on {e.constructs[0]}"
            for e in ordered
        ]
    return f"{listed(words)} (p < .05)"


def _outcome(analysis: Analysis, e: Estimate) -> str:
    name, scorer = str(e.params["hypothesis"]).rstrip("."), tables.name_of(analysis, e)
    if not e.defined:
        return f"“{name}” could not be tested with {scorer}: {e.reason}."
    holm = e.params["holm"]
    assert isinstance(holm, float)  # noqa: S101  (it is defined where p is)
    holds = "finds support" if holm < 0.05 else "finds no support"
    several = int(str(e.params["hypotheses"])) > 1
    adjusted = " after Holm's adjustment" if several else ""
    return f"“{name}” {holds} in the scores of {scorer} ({p_value(holm)}{adjusted})."


SECTION = Section(
    key="systems",
    title="Differences between systems",
    statistics=estimates.STATISTICS,
    figures=(
        figures.asl_curves,
        figures.system_differences,
    ),
    tables=(
        distribution_tables.systems,
        tables.power,
        tables.differences,
        tables.declared_hypotheses,
    ),
    reading=reading,
)
