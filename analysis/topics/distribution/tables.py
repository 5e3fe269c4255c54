"""The tables of scores: their properties, and those in the layout of the CCRS paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.core.analysis import Analysis
from analysis.core.construct_data import ConstructData
from analysis.core.estimates import Estimate
from analysis.core.scales import Scale
from analysis.render.formatting import counted, percent, points
from analysis.render.table import Cell, Table, TableBuilder, of_one
from analysis.statistics.distribution.published import RESPONSES, SOURCE, SYSTEMS, published_figure
from analysis.topics.distribution.estimates import MEAN_OF_RATERS


def systems(analysis: Analysis) -> Iterator[Table]:
    """Means by system, judge beside people, with the bias on common responses."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct, data in analysis.context.whole.items():
        for system in data.systems:
            scope = f"system:{system}"
            whose = _whose_mean(data)
            people = first("mean", construct=construct, scope=scope, **whose) if whose else None
            for scorer in data.scorers:
                where = {"construct": construct, "scorer": scorer, "scope": scope}
                scale = analysis.scores.scale(construct, scorer)
                built.add(
                    construct,
                    system,
                    scorer,
                    built.points(first("mean", **where), scale),
                    built.points(people, analysis.context.human_scale(construct)),
                    built.points(first("bias", **where), scale),
                    built.r(first("pearson", **where)),
                )
    adjudicated = analysis.options.reference == "adjudicated"
    column = "Adjudicated mean" if adjudicated else "People's mean"
    people_are = "the adjudicated value" if adjudicated else "the mean of a response's raters"
    yield built.table(
        "systems",
        "Systems",
        "Mean score on all responses of a system that have one."
        + (
            " The scorer's and the reference's means may rest on different responses, bias and r "
            f"on those with both. The reference is {people_are}."
            if any(not data.reference_missing for data in analysis.context.whole.values())
            else ""
        ),
        ("Construct", "System", "Scorer", "Scorer's mean", column, "Bias", "r"),
        heads=3,
    )


def _whose_mean(data: ConstructData) -> dict[str, str] | None:
    """Whose mean is that of the reference: one scorer's, that of the mean of raters, or none."""
    alone = tuple(data.adjudicated) if data.reference_kind == "adjudicated" else data.raters
    if len(alone) == 1:
        return {"scorer": alone[0]}
    return {"of": MEAN_OF_RATERS} if alone and alone == data.raters else None


def properties(analysis: Analysis) -> Iterator[Table]:
    """How scorers use the scale, over all their responses."""
    built = TableBuilder()
    for construct, data in analysis.context.whole.items():
        rows: list[tuple[str, dict[str, str]]] = [(name, {"scorer": name}) for name in data.kinds]
        if len(data.raters) > 1:
            rows.append(("mean of raters", {"of": MEAN_OF_RATERS}))
        for name, who in rows:
            where = {"construct": construct, "scope": "pooled", **who}
            scale = analysis.scores.scale(construct, name)
            mean = of_one(analysis, "mean", where)
            shape = ("median", "interquartile_range", "minimum", "maximum")
            variance = of_one(analysis, "variance", where)
            built.add(
                construct,
                name,
                built.points(mean, scale),
                *(built.points(of_one(analysis, key, where), scale) for key in shape),
                _deviation(variance, scale),
                built.number(of_one(analysis, "skewness", where), ".2f"),
                built.number(of_one(analysis, "tie_probability", where), ".1%"),
                built.number(of_one(analysis, "share_at_min", where), ".1%"),
                built.number(of_one(analysis, "share_at_max", where), ".1%"),
                f"{mean.n_responses:,}" if mean else "",
            )
    yield built.table(
        "score-properties",
        "How the scale is used",
        "All scores of each scorer, a response once. Ties: chance that two responses have equal "
        "scores. Floor and ceiling: share exactly at the ends of the declared scale. By system and "
        "further statistics: in estimates.csv.",
        ("Construct", "Scorer", "Mean", "Median", "IQR", "Min", "Max", "SD", "Skew",
         "Ties", "Floor", "Ceiling", "Responses"),
        heads=2,
    )  # fmt: skip


def _deviation(variance: Estimate | None, scale: Scale | None) -> Cell:
    if variance is None or not variance.defined:
        return Cell("—")
    return Cell(points(variance.value**0.5, scale, more=1))


def composed(analysis: Analysis) -> Iterator[Table]:
    """The AC audit."""
    built, first = TableBuilder(), analysis.estimates.first
    for largest in analysis.estimates.select("attainable_without_match"):
        name, judge, em = largest.scorers
        matches = first("exact_matches", scope="pooled")
        scale = analysis.scores.scale("AC", judge)
        for scorer, said in ((name, "composed"), (judge, "judge's part"), (em, "exact match")):
            part = scorer == name
            where = {"construct": "AC", "scorer": scorer}
            built.add(
                scorer,
                said,
                built.r(first("pearson", scope="within_query", **where)),
                built.r(first("pearson", scope="pooled", **where)),
                built.r(first("kendall_tau_b", scope="within_query", **where)),
                built.points(largest, scale) if part else "",
                built.number(matches, ",.0f") if scorer == em else "",
            )
    weight = f"{analysis.options.ac_lambda:g}"
    yield built.table(
        "answer-correctness",
        "Answer Correctness: parts and whole",
        f"Composed AC = {weight} EM + (1 - {weight}) judge, both on the same scale. It gets "
        "correlations with people only: its level lies below people's by construction. The "
        "largest value without an exact match says how far a response can come that words the "
        "answer in its own way.",
        ("Scorer", "Part", "r within a query", "r pooled", "tau-b within a query",
         "Largest without a match", "Exact matches"),
        heads=2,
    )  # fmt: skip


def on_preferences(analysis: Analysis) -> Iterator[Table]:
    """Preferences: raters with each other, scorers' differences with raters."""
    built, first = TableBuilder(), analysis.estimates.first
    for r in analysis.estimates.select("pearson", on="preferences"):
        construct, scorers = r.constructs[0], r.scorers
        rho = next(
            e
            for e in analysis.estimates.select("spearman", construct=construct, on="preferences")
            if e.scorers == scorers
        )
        near = first("agreement_within", construct=construct, scorer=scorers[0])
        among = "repeated_by" not in r.params
        built.add(
            construct,
            scorers[0],
            " and ".join(scorers[1:]),
            built.r(r),
            built.r(rho),
            built.number(near, ".1%") if among and near and near.scorers == scorers else "",
            f"{r.n_responses:,}",
        )
    yield built.table(
        "preferences",
        "Preferences",
        "Correlation of two raters' preferences, and of a scorer's difference (score of response b "
        "minus score of a) with the raters' preferences; there every pair counts once for each "
        "rater. Within one point: share of pairs on which the raters differ by one point at most.",
        ("Construct", "Of", "With", "r", "rho", "Within one point", "n"),
        heads=3,
    )


def gaps(analysis: Analysis) -> Iterator[Table]:
    """Missing values by scorer and reason."""
    built = TableBuilder()
    for e in analysis.estimates.select("missing_share", scope="pooled"):
        built.used.append(e)
        built.add(
            e.constructs[0],
            e.scorers[0],
            str(e.params["reason"]).replace("_", " "),
            f"{e.n_dropped:,}",
            percent(e.value),
            counted(e.n_responses, "response"),
        )
    yield built.table(
        "missing",
        "What is missing, and why",
        "Missing values are left out, never counted as 0. No row: the table has no row of this "
        "scorer for a response that others scored. By system: in estimates.csv.",
        ("Construct", "Scorer", "Reason", "Missing", "Share", "Of"),
        heads=3,
    )


#: Judges with tables of their own, and systems with rows; all are in estimates.csv.
JUDGES_SHOWN, SYSTEMS_SHOWN, CONSTRUCTS_SHOWN = 3, 8, 10


@dataclass(frozen=True)
class _Figure:
    """One statistic of a table: its id, name, format and factor, and its place in the paper."""

    statistic: str
    name: str
    form: str
    table: str
    key: str = ""
    factor: float = 1.0


@dataclass(frozen=True)
class _Layout:
    """One table: its figures, and the table's number in the paper."""

    key: str
    title: str
    figures: tuple[_Figure, ...]
    numbers: str
    in_points: bool = False


_LAYOUTS = (
    _Layout(
        "means", "Mean scores by system",
        (_Figure("mean", "Mean", ",.2f", "table4_mean_pct"),), "4", in_points=True,
    ),
    _Layout(
        "bounds", "Scores at the ends of the scale by system",
        (
            _Figure("count_at_min", "At the bottom", ",.0f", "table5_6_bounds_counts", "at_0"),
            _Figure("count_at_max", "At the top", ",.0f", "table5_6_bounds_counts", "at_1"),
        ), "5 and 6",
    ),
    _Layout(
        "ties", "Ties by system, in percent",
        (_Figure("tie_probability", "Ties", ".1f", "table13_ties_pct", factor=100),), "13",
    ),
    _Layout(
        "center", "Center of the scores by system",
        (
            _Figure("mean", "Mean", ",.2f", "table14_central_pct", "mean"),
            _Figure("geometric_mean", "Geometric mean", ",.2f", "table14_central_pct", "geomean"),
            _Figure("median", "Median", ",.2f", "table14_central_pct", "median"),
            _Figure("midhinge", "Midhinge", ",.2f", "table14_central_pct", "midhinge"),
        ), "14", in_points=True,
    ),
    _Layout(
        "spread", "Spread of the scores by system",
        (
            _Figure("variance", "Variance", ",.2f", "table15_variability_points", "var"),
            _Figure("minimum", "Minimum", ",.2f", "table15_variability_points", "min"),
            _Figure("maximum", "Maximum", ",.2f", "table15_variability_points", "max"),
            _Figure("range", "Range", ",.2f", "table15_variability_points", "range"),
            _Figure("interquartile_range", "IQR", ",.2f", "table15_variability_points", "iqr"),
        ), "15", in_points=True,
    ),
    _Layout(
        "shape", "Shape of the scores by system",
        (
            _Figure("skewness", "Skewness", ".3f", "table16_shape", "skewness"),
            _Figure("excess_kurtosis", "Excess kurtosis", ".3f", "table16_shape", "kurtosis"),
        ), "16",
    ),
)  # fmt: skip


def metric_properties(analysis: Analysis) -> Iterator[Table]:
    """Tables 4 to 6 and 13 to 16 of the paper, for each judge."""
    systems = analysis.scores.systems[:SYSTEMS_SHOWN]
    if len(systems) < 2:
        return
    judges = _judges(analysis)
    for number, (judge, constructs) in enumerate(list(judges.items())[:JUDGES_SHOWN]):
        for layout in _LAYOUTS:
            yield _table(analysis, layout, judge, constructs, systems, number, len(judges) > 1)


def _judges(analysis: Analysis) -> dict[str, list[str]]:
    """Judges with the constructs they scored; metrics where there is no judge."""
    found: dict[str, dict[str, list[str]]] = {"judge": {}, "metric": {}}
    for construct, data in analysis.context.whole.items():
        for scorer in data.scorers:
            found[data.kinds[scorer]].setdefault(scorer, []).append(construct)
    return {
        name: keys[:CONSTRUCTS_SHOWN] for name, keys in (found["judge"] or found["metric"]).items()
    }


def _table(
    analysis: Analysis,
    layout: _Layout,
    judge: str,
    constructs: Sequence[str],
    systems: Sequence[str],
    number: int,
    several: bool,
) -> Table:
    built, first = TableBuilder(), analysis.estimates.first
    heads = 2 if len(layout.figures) > 1 else 1
    beside = [key for key in constructs if _known(analysis, layout, judge, key, systems)]
    for figure in layout.figures:
        for system in systems:
            cells: list[Cell] = []
            for key in constructs:
                e = first(figure.statistic, construct=key, scorer=judge, scope=f"system:{system}")
                own = built.number(e, figure.form)
                if e is not None and e.defined:
                    own = Cell(f"{e.value * figure.factor:{figure.form}}")
                cells.append(own)
                if key in beside:
                    given = published_figure(figure.table, system, key, figure.key)
                    cells.append(Cell("" if given is None else f"{given:{figure.form}}"))
            built.add(*((figure.name, system) if heads == 2 else (system,)), *cells)
    columns = [
        name for key in constructs for name in ((key, f"{key}, paper") if key in beside else (key,))
    ]
    more = len(analysis.scores.systems) - len(systems)
    return built.table(
        f"paper-{layout.key}-{number + 1}",
        f"{layout.title}, {judge}" if several else layout.title,
        "All responses of a system that have a score, as in "
        f"{'tables' if ' ' in layout.numbers else 'table'} {layout.numbers} of the CCRS paper"
        + (", in points of the construct's scale." if layout.in_points else ".")
        + (f" Paper: {SOURCE}, {RESPONSES:,} responses a system." if beside else "")
        + (f" The first {len(systems)} systems." if more else ""),
        (*(("Figure", "System") if heads == 2 else ("System",)), *columns),
        heads=heads,
    )


def _known(
    analysis: Analysis, layout: _Layout, judge: str, construct: str, systems: Sequence[str]
) -> bool:
    """Whether the paper's figures are wanted, comparable, and there for any of these systems."""
    scale, figure = analysis.scores.scale(construct, judge), layout.figures[0]
    if layout.in_points and (scale is None or not scale.same_points(Scale(0, 100))):
        return False
    return analysis.options.published and any(
        published_figure(figure.table, system, construct, figure.key) is not None
        for system in systems
        if system in SYSTEMS
    )
