"""Section of the report: pass or fail, with its tables."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import percent
from analysis.render.section import Section
from analysis.render.table import Table, TableBuilder
from analysis.topics.binary import estimates

#: Constructs and judges of which sentences are made; the table has the others.
SUMMARIZED = 3


def reading(analysis: Analysis) -> Iterator[str]:
    """What the judge does with the responses that people fail, and with those that they pass."""
    rates = analysis.estimates.select("true_negative_rate")
    for fails in [e for e in rates if e.defined][:SUMMARIZED]:
        construct, scorer = fails.constructs[0], fails.scorers[0]
        passed = analysis.estimates.first("true_positive_rate", construct=construct, scorer=scorer)
        sentence = (
            f"{construct}: of responses that people fail, {scorer} passes "
            f"{percent(1 - fails.value)}{_complement(fails)}"
        )
        if passed is not None and passed.defined:
            sentence += (
                f"; of those that they pass, it fails {percent(1 - passed.value)}"
                f"{_complement(passed)}"
            )
        yield f"{sentence}."


def _complement(e: Estimate) -> str:
    """The interval of 1 minus the estimate, in percent."""
    if not e.has_interval:
        return ""
    return f" [{100 * (1 - e.ci_high):.0f}, {100 * (1 - e.ci_low):.0f}]"


def rates_table(analysis: Analysis) -> Iterator[Table]:
    """A row for each construct and scorer."""
    built, first = TableBuilder(), analysis.estimates.first
    names = [statistic.id for statistic in estimates.STATISTICS]
    for leading in analysis.estimates.select(names[0]):
        where = {"construct": leading.constructs[0], "scorer": leading.scorers[0]}
        built.add(
            *where.values(),
            *(built.number(first(name, **where), ".0%") for name in names),
            f"{leading.n_responses:,}",
            f"{leading.params.get('ties', 0):,}",
        )
    yield built.table(
        "pass-or-fail",
        "Pass or fail: the judge's verdicts against people's",
        "People's verdict is the majority of a response's raters; a tie counts half as a pass and "
        "half as a fail. Intervals: Wilson's, for responses that come in queries.",
        (
            "Construct",
            "Scorer",
            *(analysis.headings[name] for name in names),
            "Responses",
            "Tied raters",
        ),
        heads=2,
    )  # fmt: skip


SECTION = Section(
    key="binary",
    title="Pass or fail",
    statistics=estimates.STATISTICS,
    tables=(rates_table,),
    reading=reading,
    on_categories=(reading, rates_table),
)
