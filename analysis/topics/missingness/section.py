"""Section of the report: missing values, with its tables."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import listed, p_value, percent, points
from analysis.render.section import Section
from analysis.render.table import Cell, Table, TableBuilder
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


def by_system(analysis: Analysis) -> Iterator[Table]:
    """Share missing by system, with the means that are possible."""
    built, records = TableBuilder(), analysis.estimates
    headings = analysis.headings
    tests = {(e.constructs, e.scorers): e for e in records.select("missing_differs_by_system")}
    for key, test in tests.items():
        construct, scorer = key[0][0], key[1][0]
        if analysis.scorer_kinds.get(scorer) == "human":
            continue
        where = {"construct": construct, "scorer": scorer}
        scale = analysis.scores.scale(construct, scorer)
        rows = sorted(records.select("missing_share_by_system", **where), key=lambda e: -e.value)
        for place, e in enumerate(rows[:SYSTEMS_SHOWN]):
            low, high = (
                records.first("mean_bounds", scope=e.scope, end=end, **where)
                for end in ("low", "high")
            )
            mean = records.first("mean", scope=e.scope, **where)
            built.used += [b for b in (low, high) if b is not None]
            possible = Cell("—")
            if low is not None and high is not None and low.defined:
                ends = (points(b.value, scale, 1) for b in (low, high))
                possible = Cell(" to ".join(ends))
            elif low is not None:
                possible = built.points(low, scale)
            built.used.append(e)
            built.add(
                construct,
                scorer,
                e.systems[0],
                percent(e.value),
                f"{e.n_dropped:,} of {e.n_responses:,}",
                built.points(mean, scale),
                possible,
                built.number(test, ".3f") if not place else "",
            )
    yield built.table(
        "missing-by-system",
        "What is missing, by system",
        f"{headings['mean_bounds']}: if every missing score were the lowest, or the highest, of "
        f"the scale. {headings['missing_differs_by_system']}: permutation test of equal "
        f"missingness of the systems, within queries. The {SYSTEMS_SHOWN} systems with most "
        "missing.",
        ("Construct", "Scorer", "System", headings["missing_share_by_system"], "Responses",
         headings["mean"], headings["mean_bounds"], headings["missing_differs_by_system"]),
        heads=3,
    )  # fmt: skip


def by_band(analysis: Analysis) -> Iterator[Table]:
    """Share missing where others score low, and where they score high."""
    built = TableBuilder()
    for e in analysis.estimates.select("missing_share_by_band"):
        construct, scorer = e.constructs[0], e.scorers[0]
        if analysis.scorer_kinds.get(scorer) == "human":
            continue
        of = str(e.params["of"])
        scale = (
            analysis.context.human_scale(construct)
            if of == "human reference"
            else analysis.scores.scale(construct, of)
        )
        low, high = (points(float(str(e.params[end])), scale) for end in ("low", "high"))
        built.used.append(e)
        built.add(
            construct, scorer, of, f"{low} to {high}", percent(e.value),
            f"{e.n_dropped:,} of {e.n_responses:,}",
        )  # fmt: skip
    yield built.table(
        "missing-by-band",
        "What is missing, by score",
        "Responses in thirds of people's value or, where no response with a missing score was "
        "rated, of another scorer's score.",
        ("Construct", "Scorer", "By", "Score", analysis.headings["missing_share_by_band"],
         "Responses"),
        heads=3,
    )  # fmt: skip


def gaps(analysis: Analysis) -> Iterator[Table]:
    """Missing values by scorer and reason, a column for each construct."""
    built = TableBuilder()
    found = analysis.estimates.select("missing_share", scope="pooled")
    missing = {e.constructs[0] for e in found}
    constructs = [key for key in analysis.scores.constructs if key in missing]
    scorers = list(dict.fromkeys(e.scorers[0] for e in found))
    rows: dict[tuple[str, str], dict[str, Estimate]] = {}
    for e in found:
        built.used.append(e)
        scorer_shares = rows.setdefault((e.scorers[0], str(e.params["reason"])), {})
        scorer_shares[e.constructs[0]] = e
    for (scorer, reason), by_construct in sorted(
        rows.items(), key=lambda row: (scorers.index(row[0][0]), row[0][1])
    ):
        built.add(
            scorer,
            reason.replace("_", " "),
            *(_gap(by_construct.get(construct)) for construct in constructs),
        )
    yield built.table(
        "missing",
        "What is missing, and why",
        "Number of missing values, and their share of the responses that others scored. They are "
        "left out, never counted as 0. No row: the table has no row of this scorer for a response "
        "that others scored. By system: in estimates.csv.",
        ("Scorer", "Reason", *constructs),
        heads=2,
    )


def _gap(e: Estimate | None) -> Cell:
    if e is None:
        return Cell("")
    return Cell(f"{e.n_dropped:,}", f"({percent(e.value)})")


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
