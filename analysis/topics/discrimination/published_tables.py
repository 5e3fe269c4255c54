"""The CCRS paper's tables on differences between systems, and the figures of this report."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import p_value, points
from analysis.render.table import Table, TableBuilder
from analysis.statistics.distribution.published import (
    RESPONSES,
    SOURCE,
    published,
    published_p,
)
from study.base.scales import Scale

POINTS = Scale(0, 100)


def published_power(analysis: Analysis) -> Iterator[Table]:
    """Table 2, and table 3 of the RAGChecker metrics."""
    if not analysis.options.published:
        return
    built, records = TableBuilder(), []
    heading = analysis.headings["discriminative_power"]
    for construct, (significant, pairs) in published("table2_dp").items():
        here = _first_judge_estimates(analysis, "discriminative_power", construct, on="all")
        built.add(
            construct, "2", f"{significant / pairs:.2f}", f"{significant} of {pairs}",
            built.number(here[0], ".2f") if here else "",
        )  # fmt: skip
        records.append({"table": 2, "metric": construct, "power": significant / pairs})
    for metric, power in published("table3_ragchecker_dp").items():
        built.add(f"RAGChecker {metric}", "3", f"{power:.2f}", "", "")
        records.append({"table": 3, "metric": f"RAGChecker {metric}", "power": power})
    yield built.table(
        "published-power",
        "Published: pairs of systems that differ significantly",
        f"{heading} in the CCRS paper ({SOURCE}, {RESPONSES:,} responses a system), and that "
        "of the first judge here.",
        ("Metric", "Table", f"{heading}, paper", "Pairs, paper", f"{heading}, here"),
        records=records,
    )


def published_differences(analysis: Analysis) -> Iterator[Table]:
    """Tables 20 to 24: each pair's difference with its p, and the same here."""
    if not analysis.options.published:
        return
    built, records = TableBuilder(), []
    for construct, pairs in published("table20_24_pairwise").items():
        here, tests = (
            {e.systems: e for e in _first_judge_estimates(analysis, name, construct)}
            for name in ("system_difference", "randomized_tukey_hsd_p")
        )
        for pair, figures in pairs.items():
            systems = (pair[0], pair[1])
            difference, test = here.get(systems), tests.get(systems)
            value, below = published_p(construct, pair)
            p = f"p < {below:.4f}".replace("0.", ".", 1) if below else p_value(value)
            built.add(
                construct,
                " minus ".join(pair),
                points(figures["diff_points"], POINTS, 2),
                p,
                built.points(difference, POINTS) if difference else "",
                p_value(test.value) if test is not None and test.defined else "",
            )
            records.append({"construct": construct, "pair": pair, **figures})
    columns = [
        f"{analysis.headings[name]}, {where}"
        for where in ("paper", "here")
        for name in ("system_difference", "randomized_tukey_hsd_p")
    ]
    yield built.table(
        "published-differences",
        "Published: differences between systems",
        f"Tables 20 to 24 of the CCRS paper ({SOURCE}), in points on 0 to 100, by a randomized "
        "Tukey HSD test; next to them those of the first judge here.",
        ("Construct", "Pair", *columns),
        heads=2,
        records=records,
    )


def published_others(analysis: Analysis) -> Iterator[Table]:
    """What has no counterpart here: hypotheses H1 to H3, and figures of the RAGChecker metrics."""
    if not analysis.options.published:
        return
    built = TableBuilder()
    rows = [
        *(("Hypotheses, Holm-adjusted", name, _text(value, ".4f"))
          for name, value in published("hypotheses").items()),
        *(("Correlation with a RAGChecker metric (section 4.1.4)", pair, f"{value:.3f}")
          for pair, value in published("section4_1_4_cross_pearson").items()),
        *(("Ties of RAGChecker metrics in percent (table 18)", f"{metric}, system {system}",
           f"{value:.1f}")
          for metric, by_system in published("table18_ragchecker_ties_pct").items()
          for system, value in by_system.items()),
    ]  # fmt: skip
    for row in rows:
        built.add(*row)
    yield built.table(
        "published-others",
        "Published: hypotheses, and figures of the RAGChecker metrics",
        f"The CCRS paper, {SOURCE}.",
        ("What", "Of", "Value"),
        heads=2,
        records=(dict(zip(("what", "of", "value"), row, strict=True)) for row in rows),
    )


def _first_judge_estimates(
    analysis: Analysis, statistic: str, construct: str, **where: str
) -> list[Estimate]:
    """The defined estimates of the first judge on a construct with values from 0 to 100."""
    data = analysis.context.whole.get(construct)
    for judge in data.judges if data is not None else ():
        scale = analysis.scores.scale(construct, judge)
        if scale is None or not scale.same_points(POINTS):
            continue
        records = analysis.estimates.select(statistic, construct=construct, scorer=judge, **where)
        return [e for e in records if e.defined and e.scorers == (judge,)]
    return []


def _text(value: object, form: str) -> str:
    return format(value, form) if isinstance(value, float) else str(value)
