"""The figures on agreement: scatter plots, Bland-Altman plots, and the judge against a rater."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, SOFT, Drawing, Figure, as_svg, canvas, head
from analysis.render.forest import ForestStyle, Mark, forest, symmetrical
from analysis.render.formatting import correlation, points, with_interval, with_minus
from analysis.render.labels import shortened
from analysis.render.panels import HEIGHT, WIDTH, Panel, left_out, panels
from analysis.render.verdict_facts import VerdictFacts
from analysis.topics.agreement.absolute_agreement import LIMITS

#: Cells along each axis into which responses are counted.
CELLS = 25


def against_humans(analysis: Analysis) -> Iterator[Figure]:
    """Panels of all constructs with a human reference on the scorer's own scale."""
    drawings, data = [], []
    for number, panel in enumerate(panels(analysis)):
        human = panel.data.reference
        both = np.isfinite(human) & np.isfinite(panel.judge)
        if not both.any() or human[both].min() < panel.low or human[both].max() > panel.high:
            continue
        counted = _cells(human[both], panel.judge[both], panel.low, panel.high)
        drawings.append(_draw(analysis, panel, counted, f"against-{number}"))
        data.append(counted.assign(construct=panel.construct, scorer=panel.scorer))
    if not drawings:
        return
    yield Figure(
        key="against-humans",
        title="Scores of people and of the judge",
        caption=(
            f"Each response by {analysis.reference_words} (across) and the judge's score (up), "
            f"counted in cells of a {CELLS} by {CELLS} grid; a dot's area is the number of "
            "responses. On the dashed line they agree; above it the judge is more lenient. "
            f"All panels have axes of the same form.{left_out(analysis)}"
        ),
        drawings=tuple(drawings),
        data=pd.concat(data, ignore_index=True)[
            ["construct", "scorer", "human", "judge", "responses"]
        ],
    )


def _cells(human: np.ndarray, judge: np.ndarray, low: float, high: float) -> pd.DataFrame:
    """Responses counted by cell, at the mean of the values in it."""
    width = (high - low) / CELLS
    cell = [np.clip(((v - low) / width).astype(int), 0, CELLS - 1) for v in (human, judge)]
    return _counted({"human": human, "judge": judge}, cell)


def _counted(values: Mapping[str, np.ndarray], cells: Sequence[np.ndarray]) -> pd.DataFrame:
    """The mean of the values of each cell, and the number of responses in it."""
    groups = pd.DataFrame(values).groupby(list(cells))
    counted = groups.mean()
    counted["responses"] = groups.size()
    return counted.reset_index(drop=True)


def _draw(analysis: Analysis, panel: Panel, counted: pd.DataFrame, key: str) -> Drawing:
    with canvas(WIDTH, HEIGHT) as (figure, axes):
        size = counted["responses"].to_numpy(dtype=float)
        axes.plot([panel.low, panel.high], [panel.low, panel.high], color=MUTED, linewidth=0.8,
                  dashes=(3, 2), zorder=1)  # fmt: skip
        area = 6 + 90 * size / max(size.max(), 12)
        axes.scatter(counted["human"], counted["judge"], s=area, color=ACCENT, alpha=0.55,
                     linewidths=0, zorder=2, clip_on=False)  # fmt: skip
        margin = 0.09 * (panel.high - panel.low)
        axes.set_xlim(panel.low - margin, panel.high + margin)
        axes.set_ylim(panel.low - margin, panel.high + margin)
        ticks = [panel.low, (panel.low + panel.high) / 2, panel.high]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_aspect("equal")
        adjudicated = analysis.options.reference == "adjudicated"
        axes.set_xlabel("adjudicated" if adjudicated else "people")
        axes.set_ylabel(panel.kind)
        correlations = _correlations(analysis, panel)
        full_name = analysis.scores.full_name(panel.construct)
        head(figure, full_name, panel.named_scorer, correlations)
        total = int(size.sum())
        return as_svg(
            figure,
            key,
            f"{panel.name}: judge against people",
            f"{total} responses; {correlations or 'no correlation is defined'}.",
        )


def _correlations(analysis: Analysis, panel: Panel) -> str:
    """The order of the responses to a query, and how close all scores are to a line."""
    shown = (
        ("kendall_tau_b", "within_query", "within a query"),
        ("pearson", "pooled", "pooled"),
    )
    parts = []
    for statistic, scope, name in shown:
        estimate = analysis.estimates.first(
            statistic, construct=panel.construct, scorer=panel.scorer, scope=scope
        )
        if estimate is not None and estimate.defined and "on" not in estimate.params:
            value = with_minus(correlation(estimate.value))
            parts.append(f"{analysis.headings[statistic]} {value} {name}")
    return ", ".join(parts)


def bland_altman(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct and judge with limits of agreement."""
    drawings, data = [], []
    for number, panel in enumerate(panels(analysis)):
        where = {"construct": panel.construct, "scorer": panel.scorer, "scope": "pooled"}
        estimates = [analysis.estimates.first(name, **where) for name in LIMITS]
        limits = [e for e in estimates if e is not None and e.defined]
        if len(limits) != len(LIMITS):
            continue
        counted = _difference_cells(panel)
        drawings.append(_draw_bland_altman(analysis, panel, counted, limits, f"limits-{number}"))
        data.append(counted.assign(construct=panel.construct, scorer=panel.scorer))
    if not drawings:
        return
    yield Figure(
        key="bland-altman",
        title="How far is the judge from people on a single response?",
        caption=(
            f"Judge minus {analysis.reference_words} (up) against the mean of the two (across), "
            f"counted in cells of a {CELLS} by {CELLS} grid; a dot's area is the number of "
            "responses. Solid line: mean difference. Dashed lines: limits of agreement, 1.96 "
            f"standard deviations to each side; bands: their {analysis.options.level:.0%} "
            "intervals, queries resampled. A slope shows that the judge uses the scale more "
            f"widely or narrowly.{left_out(analysis)}"
        ),
        drawings=tuple(drawings),
        data=pd.concat(data, ignore_index=True)[
            ["construct", "scorer", "mean", "difference", "responses"]
        ],
    )


def _difference_cells(panel: Panel) -> pd.DataFrame:
    """Responses counted by cell of mean and difference, at the mean of what is in it."""
    human = panel.data.reference
    both = np.isfinite(human) & np.isfinite(panel.judge)
    mean = (human[both] + panel.judge[both]) / 2
    difference = panel.judge[both] - human[both]
    return _counted({"mean": mean, "difference": difference}, [_cell(mean), _cell(difference)])


def _cell(values: np.ndarray) -> np.ndarray:
    low, span = float(values.min()), float(np.ptp(values)) or 1.0
    return np.asarray(np.clip(((values - low) / span * CELLS).astype(int), 0, CELLS - 1))


def _draw_bland_altman(
    analysis: Analysis,
    panel: Panel,
    counted: pd.DataFrame,
    limits: list[Estimate],
    key: str,
) -> Drawing:
    scale = analysis.context.human_scale(panel.construct)
    with canvas(WIDTH, HEIGHT) as (figure, axes):
        size = counted["responses"].to_numpy(dtype=float)
        for limit in limits:
            middle = limit.statistic == "bland_altman_bias"
            if limit.has_interval:
                axes.axhspan(limit.ci_low, limit.ci_high, color=SOFT, linewidth=0, zorder=0)
            style = "-" if middle else (0, (3, 2))
            axes.axhline(limit.value, color=INK if middle else MUTED, linewidth=0.9, zorder=1,
                         linestyle=style)  # fmt: skip
        area = 5 + 70 * size / max(size.max(), 12)
        axes.scatter(counted["mean"], counted["difference"], s=area, color=ACCENT, alpha=0.55,
                     linewidths=0, zorder=2)  # fmt: skip
        margin = 0.05 * (panel.high - panel.low)
        axes.set_xlim(panel.low - margin, panel.high + margin)
        axes.locator_params(axis="y", nbins=5)
        axes.locator_params(axis="x", nbins=4)
        adjudicated = analysis.options.reference == "adjudicated"
        axes.set_xlabel(f"mean of {panel.kind} and {'reference' if adjudicated else 'people'}")
        axes.set_ylabel(f"{panel.kind} minus {'reference' if adjudicated else 'people'}")
        low, bias, high = (with_minus(points(e.value, scale)) for e in limits)
        values = f"bias {bias}, limits {low} to {high}"
        full_name = analysis.scores.full_name(panel.construct)
        head(figure, full_name, panel.named_scorer, values)
        total = int(size.sum())
        return as_svg(
            figure,
            key,
            f"{panel.name}: limits of agreement",
            f"{total} responses; {values} points.",
        )


#: Characters of a line of a row's name.
NAME_ROOM = 30

_SCOPE = {"within_query": "within a query", "pooled": "over all responses"}

_WHOSE = {
    "these_raters": "for these raters (queries resampled)",
    "raters_like_these": "for a further rater like these",
}


def ceiling(analysis: Analysis) -> Iterator[Figure]:
    """A row for each construct and judge, within a query where that is defined."""
    rows = list(_rows(analysis))
    if not rows:
        return
    scopes = sorted({estimate.scope for _, estimate in rows}, reverse=True)
    where = " or ".join(_SCOPE[scope] for scope in scopes)
    targets = {str(estimate.target) for _, estimate in rows}
    whose = " or ".join(words for name, words in _WHOSE.items() if name in targets)
    yield Figure(
        key="ceiling",
        title="Does the judge order responses as well as a rater does?",
        caption=(
            f"Judge minus rater, Kendall's tau-b {where}. Both are compared with the same mean "
            "of the other raters on the same responses, and averaged over raters. Bars: "
            f"{analysis.options.level:.0%} intervals {whose}. Right of the line, the judge orders "
            "better than a rater."
        ),
        drawings=(_draw_ceiling(rows),),
        data=to_frame(estimate for _, estimate in rows),
        wide=True,
    )


def _rows(analysis: Analysis) -> Iterator[tuple[tuple[str, ...], Estimate]]:
    """The lines that name a row, with its difference."""
    for construct, data in analysis.rated.items():
        judges = data.judges
        for scorer in judges or data.scorers:
            facts = VerdictFacts(analysis, construct, scorer)
            for scope in ("within_query", "pooled"):
                compared = facts.beside(scope, of=facts.target)
                difference = None if compared is None else compared.difference
                if difference is not None and difference.has_interval:
                    names = (construct, scorer) if len(judges) > 1 else (construct,)
                    yield (*names, *(("pooled",) if scope == "pooled" else ())), difference
                    break


def _draw_ceiling(rows: list[tuple[tuple[str, ...], Estimate]]) -> Drawing:
    lines = max(len(names) for names, _ in rows)
    estimates = [estimate for _, estimate in rows]
    values = [_stated(estimate) for estimate in estimates]
    return forest(
        "ceiling",
        "Judge minus rater, by construct",
        "; ".join(f"{', '.join(n)}: {text}" for (n, _), text in zip(rows, values, strict=True)),
        (),
        [_label(names) for names, _ in rows],
        [Mark.of(row, estimate, point=INK) for row, estimate in enumerate(estimates)],
        ForestStyle(
            "judge minus rater",
            width=5.6,
            row=0.16 + 0.14 * lines,
            margin=0.75,
            reach=symmetrical(estimates),
            form=correlation,
            sides=("← a rater orders better", "the judge orders better →"),
            values=values,
        ),
    )


def _label(names: Sequence[str]) -> str:
    return "\n".join(shortened(name, NAME_ROOM) for name in names)


def _stated(estimate: Estimate) -> str:
    return with_minus(with_interval(estimate))
