"""Section of the report: missing values, with its tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import listed, p_value, percent, points
from analysis.render.section import Section
from analysis.render.table import Cell, TableBuilder
from analysis.render.table_of import (
    Column,
    Rows,
    TableOf,
    TableRow,
    each,
    formatted,
    human_scale,
    in_points,
    in_words,
    order_of_constructs,
    param,
    scorer_scale,
    spread,
    stated,
)
from analysis.topics.missingness import estimates

#: Share of a system's scores from which missing ones are worth a sentence on the mean.
_MANY = 0.02
_SENTENCES = 2
_ENDS = ("low", "high")


def reading(analysis: Analysis) -> Iterator[str]:
    """Whose scores are missing more often, and how far a mean could move."""
    records = analysis.estimates
    differing = [e for e in compared(analysis) if analysis.claims.hold("missing", e)]
    for e in differing[:_SENTENCES]:
        where = {"construct": e.constructs[0], "scorer": e.scorers[0]}
        shares = sorted(records.select("missing_share_by_system", **where), key=lambda s: -s.value)
        if shares:
            yield (
                f"{e.constructs[0]}: scores by {e.scorers[0]} are missing more often for some "
                f"systems than for others ({_share(shares[0])}, {_share(shares[-1])}; "
                f"{p_value(e.value)})."
            )
    shares = [e for e in records.select("missing_share_by_system") if e.value >= _MANY]
    kinds = analysis.scorer_kinds
    judged = [e for e in shares if kinds.get(e.scorers[0]) != "human"]
    if judged:
        worst = max(judged, key=lambda e: e.value)
        where = {"construct": worst.constructs[0], "scorer": worst.scorers[0]}
        ends = [records.first("mean_bounds", scope=worst.scope, end=e, **where) for e in _ENDS]
        bounds = [e.value for e in ends if e is not None and e.defined]
        if len(bounds) == len(_ENDS):
            scale = analysis.scores.scale(worst.constructs[0], worst.scorers[0])
            span = listed([points(v, scale, 1) for v in bounds])
            yield (
                f"{worst.constructs[0]}: with {percent(worst.value)} of {worst.systems[0]}'s "
                f"scores by {worst.scorers[0]} missing, its mean is between {span}, whatever "
                "they would have been."
            )


def compared(analysis: Analysis) -> list[Estimate]:
    """The tests from which systems are said to differ in what is missing."""
    return analysis.estimates.select("missing_differs_by_system")


def _share(e: Estimate) -> str:
    return f"{e.systems[0]} {percent(e.value)}"


#: Systems of a scorer of which a row is shown; estimates.csv has the rest.
SYSTEMS_SHOWN = 12


def _of_judges(rows: Rows, analysis: Analysis) -> Iterator[TableRow]:
    return (row for row in rows(analysis) if analysis.scorer_kinds.get(row.scorer) != "human")


def _most_missing(analysis: Analysis) -> Iterator[TableRow]:
    """The systems of each judge and metric of which most is missing, where there are several."""
    rows = each("missing_share_by_system", "scope", per=lambda e: (e.constructs, e.scorers),
                sort=lambda e: -e.value, most=SYSTEMS_SHOWN)  # fmt: skip
    return (row for row in _of_judges(rows, analysis) if _test(row))


def _test(row: TableRow) -> Estimate | None:
    return row.first("missing_differs_by_system", scope="pooled")


def _test_beside_first(row: TableRow) -> Estimate | None:
    where = {"construct": row.construct, "scorer": row.scorer}
    shares = row.analysis.estimates.select("missing_share_by_system", **where)
    return _test(row) if row.lead is max(shares, key=lambda e: e.value) else None


def _possible(row: TableRow, built: TableBuilder) -> Cell:
    low, high = (row.first("mean_bounds", end=end) for end in _ENDS)
    if low is None or high is None:
        return Cell("—")
    built.used += [low, high]
    if not low.defined:
        return built.points(low, scorer_scale(row))
    return Cell(" to ".join(points(b.value, scorer_scale(row), 1) for b in (low, high)))


_MISSING_OF = in_words("Responses", "{e.n_dropped:,} of {e.n_responses:,}")

by_system = TableOf(
    "missing-by-system",
    "What is missing, by system",
    "{mean_bounds}: if every missing score were the lowest, or the highest, of the scale. "
    "{missing_differs_by_system}: permutation test of equal missingness of the systems, within "
    f"queries. The {SYSTEMS_SHOWN} systems with most missing.",
    _most_missing,
    ("construct", "scorer", "system",
     stated("{missing_share_by_system}", lambda e: percent(e.value)), _MISSING_OF,
     in_points("mean", scale=scorer_scale), Column("{mean_bounds}", _possible),
     formatted(_test_beside_first, ".3f", "{missing_differs_by_system}")),
    heads=3,
)  # fmt: skip


def _band(row: TableRow) -> str:
    of, params = str(row.estimate.params["of"]), row.estimate.params
    people = of == "human reference"
    scale = human_scale(row) if people else row.analysis.scores.scale(row.construct, of)
    return " to ".join(points(float(str(params[end])), scale) for end in _ENDS)


by_band = TableOf(
    "missing-by-band",
    "What is missing, by score",
    "Responses in thirds of people's value or, where no response with a missing score was "
    "rated, of another scorer's score.",
    partial(_of_judges, each("missing_share_by_band")),
    ("construct", "scorer", param("of", "By"), in_words("Score", _band),
     stated("{missing_share_by_band}", lambda e: percent(e.value)), _MISSING_OF),
    heads=3,
)  # fmt: skip


gaps = TableOf(
    "missing",
    "What is missing, and why",
    "Number of missing values, and their share of the responses that others scored. They are "
    "left out, never counted as 0. No row: the table has no row of this scorer for a response "
    "that others scored. By system: in estimates.csv.",
    each("missing_share", per=lambda e: e.scorers, sort=lambda e: e.params["reason"],
         scope="pooled"),
    ("scorer", param("reason", "Reason", lambda reason: reason.replace("_", " ")),
     spread(stated("", lambda e: Cell(f"{e.n_dropped:,}", f"({percent(e.value)})")),
            sort=order_of_constructs)),
)  # fmt: skip


SECTION = Section(
    key="missing",
    title="Missing values",
    statistics=estimates.STATISTICS,
    tables=(
        gaps,
        by_system,
        by_band,
    ),
    details=("missing-by-system", "missing-by-band"),
    reading=reading,
    compared=compared,
    on_categories=(reading, gaps, by_system),
)
