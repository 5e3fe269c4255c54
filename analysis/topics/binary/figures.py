"""The confusion of people's and the judge's verdicts as a picture."""

from __future__ import annotations

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure_of import FigureOf
from analysis.render.formatting import percent
from analysis.render.panels import left_out

#: Size of a panel in inches.
WIDTH, HEIGHT = 2.1, 1.7

#: Panels of a report; the table has the others.
PANELS = 12

#: Opacity of a cell with all of its row: the figures in it stay readable in light and dark.
DARKEST = 0.5


def _cells(analysis: Analysis) -> list[tuple[str, str, list[Estimate]]]:
    """Constructs and scorers with their cells."""
    panels: dict[tuple[str, str], list[Estimate]] = {}
    for e in analysis.estimates.select("verdict_confusion"):
        panels.setdefault((e.constructs[0], e.scorers[0]), []).append(e)
    return [(*of, cells) for of, cells in panels.items()][:PANELS]


def count_of(e: Estimate) -> str:
    """The number of responses of a cell: a tie adds a half."""
    count = float(str(e.params["count"]))
    return f"{count:,.0f}" if count.is_integer() else f"{count:,.1f}"


def _draw(
    _analysis: Analysis, construct: str, scorer: str, cells: list[Estimate], key: str
) -> Drawing:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    with canvas(WIDTH, HEIGHT) as (figure, axes):
        for e in cells:
            row, column = (int(e.params[of] == "fail") for of in ("people", "judge"))
            wrong = row != column
            axes.add_patch(
                Rectangle(
                    (column - 0.46, row - 0.46), 0.92, 0.92,
                    facecolor=to_rgba(MUTED if wrong else ACCENT, DARKEST * e.value),
                    edgecolor=INK if wrong else RULE, linewidth=1.2 if wrong else 0.4,
                )
            )  # fmt: skip
            axes.text(column, row - 0.12, count_of(e), ha="center", va="center", size=10, color=INK)
            axes.text(
                column, row + 0.2, percent(e.value), ha="center", va="center", size=7, color=INK
            )
        axes.set_xlim(-0.5, 1.5)
        axes.set_ylim(1.5, -0.5)
        axes.set_xticks([0, 1], ["judge passes", "judge fails"])
        axes.set_yticks([0, 1], ["people\npass", "people\nfail"])
        axes.tick_params(length=0, labelcolor=INK)
        for spine in axes.spines.values():
            spine.set_visible(False)
        head(figure, construct, scorer)
        described = "; ".join(
            f"of {e.params['of']:g} that people {e.params['people']}, the judge "
            f"{e.params['judge']}es {count_of(e)}".replace("failes", "fails")
            for e in cells
        )
        return as_svg(figure, key, f"{construct}, {scorer}: verdicts", f"{described}.")


confusion_figure = FigureOf(
    "verdict-confusion",
    "What does the judge pass that people fail?",
    "Responses by people's verdict (rows) and the judge's (columns), with their number and "
    "share of the row. A framed cell is an error of the judge; a bluer one has more of "
    "its row.",
    _cells,
    _draw,
    "confusion",
    note=lambda analysis, _panels: left_out(analysis),
)
