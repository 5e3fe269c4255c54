"""Section of the report: how the scores are distributed, with its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

from analysis.core.analysis import Analysis
from analysis.render.formatting import percent, points
from analysis.render.section import Section
from analysis.render.table import Cell, Table, TableBuilder, scorer_estimate
from analysis.statistics.distribution.published import RESPONSES, SOURCE, SYSTEMS, published_figure
from analysis.topics.distribution import box_plots, estimates, figures
from analysis.topics.distribution.descriptions import (
    HEADINGS,
    Description,
    descriptions,
    frame_of,
)
from analysis.topics.distribution.estimates import MEAN_OF_RATERS
from study.base.scales import Scale

#: A share of ties or at an end of the scale that is worth a sentence.
MANY = 0.25


def reading(analysis: Analysis) -> Iterator[str]:
    """For each of the first judges, the construct with the most equal scores."""
    for judge in _judges(analysis)[:2]:
        ties = [
            e
            for e in analysis.estimates.select("tie_probability", scorer=judge, scope="pooled")
            if e.defined and e.scorers == (judge,)
        ]
        if not ties:
            continue
        worst = max(ties, key=lambda e: e.value)
        construct = worst.constructs[0]
        where = {"construct": construct, "scorer": judge, "scope": "pooled"}
        top = analysis.estimates.first("share_at_max", **where)
        if worst.value < MANY:
            where_most = f", most often on {construct}" if len(ties) > 1 else ""
            yield (
                f"{judge} seldom gives two responses the same score{where_most} (a probability of "
                f"{percent(worst.value)})."
            )
            continue
        at_top = (
            f"; {percent(top.value)} of its scores are at the maximum"
            if top is not None and top.defined and top.value >= MANY
            else ""
        )
        yield (
            f"{judge} gives equal scores most often on {construct}: two responses have the same "
            f"score with a probability of {percent(worst.value)}{at_top}."
        )


def _judges(analysis: Analysis) -> list[str]:
    return list(
        dict.fromkeys(
            name
            for data in analysis.context.whole.values()
            for name in data.scorers
            if data.kinds[name] == "judge"
        )
    )


_SHAPE = ("median", "interquartile_range", "minimum", "maximum")
_SHARES = ("tie_probability", "share_at_min", "share_at_max")


def properties(analysis: Analysis) -> Iterator[Table]:
    """How scorers use the scale, over all their responses; its CSV has all that is described."""
    built = TableBuilder()
    described = list(descriptions(analysis.context))
    whole = {(d.construct, d.scorer): d for d in described if d.system is None}
    for construct, data in analysis.context.whole.items():
        rows: list[tuple[str, str, dict[str, str]]] = [
            (name, name, {"scorer": name}) for name in data.kinds
        ]
        if len(data.raters) > 1:
            rows.append(("mean of raters", MEAN_OF_RATERS, {"of": MEAN_OF_RATERS}))
        for name, key, scorer in rows:
            where = {"construct": construct, "scope": "pooled", **scorer}
            scale, one = analysis.scores.scale(construct, name), whole.get((construct, key))
            built.add(
                construct,
                name,
                built.points(scorer_estimate(analysis, "mean", where), scale),
                *(_in_points(built, one, statistic, scale) for statistic in _SHAPE),
                _in_points(built, one, "variance", scale, 0.5),
                _formatted(built, one, "skewness", ".2f"),
                *(
                    built.number(scorer_estimate(analysis, statistic, where), ".1%")
                    for statistic in _SHARES
                ),
                f"{one.n:,}" if one else "",
            )
    headings = {**HEADINGS, **analysis.headings}
    names = (*(headings[key] for key in ("mean", *_SHAPE)), "SD")
    table = built.table(
        "distribution",
        "How the scale is used",
        "All scores of each scorer, a response once. Ties: chance that two responses have equal "
        "scores. At minimum and at maximum: share exactly at the ends of the declared scale. By "
        "system and further statistics: in tables/distribution.csv.",
        ("Construct", "Scorer", *names, *(headings[key] for key in ("skewness", *_SHARES)),
         "Responses"),
        heads=2,
    )  # fmt: skip
    yield replace(table, data=frame_of(described))


def _in_points(
    built: TableBuilder,
    described: Description | None,
    statistic: str,
    scale: Scale | None,
    power: float = 1,
) -> Cell:
    if described is None:
        return Cell("")
    value = described.statistics[statistic] ** power
    text = None if isnan(value) else points(value, scale, more=1)
    return built.plain(text, described.reasons.get(statistic))


def _formatted(
    built: TableBuilder,
    described: Description | None,
    statistic: str,
    form: str,
    factor: float = 1,
) -> Cell:
    if described is None:
        return Cell("")
    value = described.statistics.get(statistic, nan)
    text = None if isnan(value) else f"{value * factor:{form}}"
    return built.plain(text, described.reasons.get(statistic))


#: Judges, systems and constructs in the tables; all are in estimates.csv.
JUDGES_SHOWN, SYSTEMS_SHOWN, CONSTRUCTS_SHOWN = 3, 8, 10


@dataclass(frozen=True)
class _Figure:
    """One statistic of a table: its id, format and factor, and its place in the paper."""

    statistic: str
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
        (_Figure("mean", ",.2f", "table4_mean_pct"),), "4", in_points=True,
    ),
    _Layout(
        "bounds", "Scores at the ends of the scale by system",
        (
            _Figure("count_at_min", ",.0f", "table5_6_bounds_counts", "at_0"),
            _Figure("count_at_max", ",.0f", "table5_6_bounds_counts", "at_1"),
        ), "5 and 6",
    ),
    _Layout(
        "ties", "Ties by system, in percent",
        (_Figure("tie_probability", ".1f", "table13_ties_pct", factor=100),), "13",
    ),
    _Layout(
        "center", "Center of the scores by system",
        (
            _Figure("mean", ",.2f", "table14_central_pct", "mean"),
            _Figure("geometric_mean", ",.2f", "table14_central_pct", "geomean"),
            _Figure("median", ",.2f", "table14_central_pct", "median"),
            _Figure("midhinge", ",.2f", "table14_central_pct", "midhinge"),
        ), "14", in_points=True,
    ),
    _Layout(
        "spread", "Spread of the scores by system",
        (
            _Figure("variance", ",.2f", "table15_variability_points", "var"),
            _Figure("minimum", ",.2f", "table15_variability_points", "min"),
            _Figure("maximum", ",.2f", "table15_variability_points", "max"),
            _Figure("range", ",.2f", "table15_variability_points", "range"),
            _Figure("interquartile_range", ",.2f", "table15_variability_points", "iqr"),
        ), "15", in_points=True,
    ),
    _Layout(
        "shape", "Shape of the scores by system",
        (
            _Figure("skewness", ".3f", "table16_shape", "skewness"),
            _Figure("excess_kurtosis", ".3f", "table16_shape", "kurtosis"),
        ), "16",
    ),
)  # fmt: skip


def metric_properties(analysis: Analysis) -> Iterator[Table]:
    """Tables 4 to 6 and 13 to 16 of the paper, for each judge."""
    systems = analysis.scores.systems[:SYSTEMS_SHOWN]
    if len(systems) < 2:
        return
    judges = _scored_by_judges(analysis)
    described = {
        (d.construct, d.scorer, d.system): d
        for d in descriptions(analysis.context)
        if d.system is not None
    }
    for number, (judge, constructs) in enumerate(list(judges.items())[:JUDGES_SHOWN]):
        for layout in _LAYOUTS:
            yield _table(
                analysis, described, layout, judge, constructs, systems, number, len(judges) > 1
            )


def _scored_by_judges(analysis: Analysis) -> dict[str, list[str]]:
    """Judges with the constructs they scored; metrics where there is no judge."""
    by_kind: dict[str, dict[str, list[str]]] = {"judge": {}, "metric": {}}
    for construct, data in analysis.context.whole.items():
        for scorer in data.scorers:
            by_kind[data.kinds[scorer]].setdefault(scorer, []).append(construct)
    return {
        name: keys[:CONSTRUCTS_SHOWN]
        for name, keys in (by_kind["judge"] or by_kind["metric"]).items()
    }


def _table(
    analysis: Analysis,
    described: Mapping[tuple[str, str, str], Description],
    layout: _Layout,
    judge: str,
    constructs: Sequence[str],
    systems: Sequence[str],
    number: int,
    several: bool,
) -> Table:
    built, headings = TableBuilder(), {**HEADINGS, **analysis.headings}
    heads = 2 if len(layout.figures) > 1 else 1
    over = "Over" if heads == 2 else f"{headings[layout.figures[0].statistic]} over"
    published_constructs = [
        key for key in constructs if _known(analysis, layout, judge, key, systems)
    ]
    records: list[dict[str, object]] = []
    for figure in layout.figures:
        for system in systems:
            cells: list[Cell] = []
            for key in constructs:
                one = described.get((key, judge, system))
                cells.append(_formatted(built, one, figure.statistic, figure.form, figure.factor))
                published_value = None
                if key in published_constructs:
                    published_value = published_figure(figure.table, system, key, figure.key)
                    cells.append(
                        Cell("" if published_value is None else f"{published_value:{figure.form}}")
                    )
                if one is not None:
                    value = one.statistics.get(figure.statistic, nan)
                    records.append(
                        {"statistic": figure.statistic, "construct": key, "scorer": judge,
                         "system": system, "value": value, "published": published_value}
                    )  # fmt: skip
            built.add(*((headings[figure.statistic], system) if heads == 2 else (system,)), *cells)
    columns = [
        name
        for key in constructs
        for name in ((key, f"{key}, paper") if key in published_constructs else (key,))
    ]
    more = len(analysis.scores.systems) - len(systems)
    return built.table(
        f"paper-{layout.key}-{number + 1}",
        f"{layout.title}, {judge}" if several else layout.title,
        f"{over} all responses of a system that have a score, as in "
        f"{'tables' if ' ' in layout.numbers else 'table'} {layout.numbers} of the CCRS paper"
        + (", in points of the construct's scale." if layout.in_points else ".")
        + (f" Paper: {SOURCE}, {RESPONSES:,} responses a system." if published_constructs else "")
        + (f" The first {len(systems)} systems." if more else ""),
        (*(("Figure", "System") if heads == 2 else ("System",)), *columns),
        heads=heads,
        records=records,
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


SECTION = Section(
    key="scores",
    title="How the scores are distributed",
    statistics=estimates.STATISTICS,
    figures=(figures.distributions, box_plots.box_plots, figures.bounds),
    tables=(properties, metric_properties),
    details=("distribution", "paper-center", "paper-spread", "paper-shape"),
    reading=reading,
)
