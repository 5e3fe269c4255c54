"""The judge against a rater: differences of correlation with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas
from analysis.render.figure import Figure
from analysis.render.formatting import between, correlation
from analysis.render.labels import shortened

#: Characters of a line of a row's name.
NAME_ROOM = 30

_SCOPE = {"within_query": "within a query", "pooled": "over all responses"}


def ceiling(analysis: Analysis) -> Iterator[Figure]:
    """A row for each construct and judge, within a query where that is defined."""
    rows = list(_rows(analysis))
    if not rows:
        return
    scopes = sorted({estimate.scope for _, estimate in rows}, reverse=True)
    where = " or ".join(_SCOPE[scope] for scope in scopes)
    yield Figure(
        key="ceiling",
        title="Does the judge order responses as well as a rater does?",
        caption=(
            f"Judge minus rater, Pearson correlation {where}. Both are compared with the same mean "
            "of the other raters on the same responses, and averaged over raters. Bars: "
            f"{analysis.options.level:.0%} intervals, queries resampled. Right of the line, the "
            "judge orders better than a rater."
        ),
        drawings=(_draw(rows),),
        data=to_frame(estimate for _, estimate in rows),
        wide=True,
    )


def _rows(analysis: Analysis) -> Iterator[tuple[tuple[str, ...], Estimate]]:
    """The lines that name a row, with its difference."""
    for construct, data in analysis.rated.items():
        judges = [name for name in data.scorers if data.kinds[name] == "judge"]
        for scorer in judges or data.scorers:
            for scope in ("within_query", "pooled"):
                found = analysis.estimates.first(
                    "human_ceiling_difference",
                    construct=construct,
                    scorer=scorer,
                    scope=scope,
                    measure="pearson",
                )
                if found is not None and found.has_interval:
                    names = (construct, scorer) if len(judges) > 1 else (construct,)
                    yield (*names, *(("pooled",) if scope == "pooled" else ())), found
                    break


def _draw(rows: list[tuple[tuple[str, ...], Estimate]]) -> Drawing:
    lines = max(len(names) for names, _ in rows)
    with canvas(5.6, 0.75 + (0.16 + 0.14 * lines) * len(rows)) as (figure, axes):
        place = np.arange(len(rows))[::-1]
        values = np.array([estimate.value for _, estimate in rows])
        low = np.array([estimate.ci_low for _, estimate in rows])
        high = np.array([estimate.ci_high for _, estimate in rows])
        axes.axvline(0, color=MUTED, linewidth=0.8, dashes=(3, 2))
        axes.hlines(place, low, high, color=ACCENT, linewidth=2)
        axes.plot(values, place, "o", color=INK, markersize=4.5)
        reach = float(np.max(np.abs([low, high]))) * 1.08
        axes.set_xlim(-reach, reach)
        axes.set_ylim(-0.6, len(rows) - 0.2)
        axes.set_yticks(place, [_label(names) for names, _ in rows])
        axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=8)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(lambda value, _: correlation(value).replace("-", "−"))
        axes.set_xlabel("judge minus rater")
        top = len(rows) - 0.35
        for at, side, said in (
            (-0.03 * reach, "right", "← a rater orders better"),
            (0.03 * reach, "left", "the judge orders better →"),
        ):
            axes.text(at, top, said, ha=side, va="bottom", color=MUTED, size=7)
        right = axes.secondary_yaxis("right")
        right.set_yticks(place, [_stated(estimate) for _, estimate in rows])
        right.tick_params(length=0, labelcolor=INK, labelsize=7.5)
        right.spines["right"].set_visible(False)
        axes.grid(axis="x", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        said = "; ".join(f"{', '.join(names)}: {_stated(estimate)}" for names, estimate in rows)
        return as_svg(figure, "ceiling", "Judge minus rater, by construct", said)


def _label(names: Sequence[str]) -> str:
    return "\n".join(shortened(name, NAME_ROOM) for name in names)


def _stated(estimate: Estimate) -> str:
    return f"{correlation(estimate.value)} {between(estimate)}".replace("-", "−")
