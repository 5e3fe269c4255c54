"""Composed AC as the weight of the match goes from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.formatting import correlation
from analysis.render.panels import HEIGHT, JUDGES_DRAWN, WIDTH

#: Most panels of the figure, where a judge is composed with several metrics.
PANELS_DRAWN = 6

#: Name, color, line and marker of each measure: told apart without color.
_LINES = {
    ("pearson", "within_query"): ("r within a query", INK, "-", "o"),
    ("pearson", "pooled"): ("r pooled", INK, "--", "s"),
    ("tie_probability", "pooled"): ("ties", MUTED, ":", "^"),
    ("discriminative_power", "pooled"): ("pairs told apart", ACCENT, "-.", "D"),
}


def lambda_sweep(analysis: Analysis) -> Iterator[Figure]:
    """A panel a judge and metric of a match: fewer judges where each has several."""
    parts: dict[str, dict[tuple[str, ...], list[Estimate]]] = {}
    for e in analysis.estimates.select("ac_lambda_sweep"):
        parts.setdefault(e.scorers[0], {}).setdefault(e.scorers, []).append(e)
    if not parts:
        return
    several = max(len(own) for own in parts.values())
    drawn = min(JUDGES_DRAWN, max(1, PANELS_DRAWN // several))
    shown = [panel for own in list(parts.values())[:drawn] for panel in own.items()]
    left = ", ".join(list(parts)[drawn:])
    drawings = tuple(
        _draw(analysis, scorers, rows, f"lambda-{n}") for n, (scorers, rows) in enumerate(shown)
    )
    yield Figure(
        key="lambda-sweep",
        title="What does the exact match add?",
        caption=(
            "AC composed of the match with weight lambda and the judge's part with 1 - lambda: "
            "Pearson correlation with people, chance that two responses tie, and share of pairs of "
            "systems that the randomised Tukey test tells apart (p < .05). The vertical line is "
            "the lambda of this report." + (f" Not drawn: {left}." if left else "")
        ),
        drawings=drawings,
        data=to_frame(e for _, rows in shown for e in rows),
    )


def _draw(analysis: Analysis, scorers: tuple[str, ...], rows: list[Estimate], key: str) -> Drawing:
    judge, match = scorers
    said = []
    with canvas(WIDTH * 1.5, HEIGHT + 0.55) as (figure, axes):
        axes.axvline(analysis.options.ac_lambda, color=MUTED, linewidth=0.8, dashes=(3, 2))
        low = 0.0
        for (measure, scope), (name, color, line, marker) in _LINES.items():
            own = [
                e for e in rows if e.params["measure"] == measure and e.scope == scope and e.defined
            ]
            if not own:
                continue
            x = [float(str(e.params["lambda"])) for e in own]
            y = [e.value for e in own]
            low = min(low, *y)
            axes.plot(
                x, y, color=color, linestyle=line, marker=marker, markersize=3, linewidth=1,
                label=name,
            )  # fmt: skip
            ends = f"{correlation(y[0])} at lambda {x[0]:g}, {correlation(y[-1])} at {x[-1]:g}"
            said.append(f"{name} {ends}")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(low - 0.04, 1.04)
        axes.grid(color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        axes.set_xlabel("lambda, the weight of the match")
        axes.yaxis.set_major_formatter(lambda value, _: correlation(value).replace("-", "−"))
        head(figure, f"AC, {match}", judge)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=7)
        return as_svg(figure, key, f"AC of {judge} and {match} by lambda", "; ".join(said) + ".")
