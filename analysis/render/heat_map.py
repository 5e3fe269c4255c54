"""A matrix of correlations, drawn with its figures in the cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.formatting import correlation, with_minus
from analysis.render.labels import distinct_labels

#: Inches of a cell, and of the room for a character of a row's name.
CELL, CHARACTER = 0.36, 0.055

#: Characters of a row's and of a column's name.
NAME_ROOM = 22

#: Opacity of a cell whose correlation is 1: the figure in it stays readable in light and dark.
DARKEST = 0.6


def heat_map(
    key: str,
    heading: tuple[str, ...],
    rows: Sequence[str],
    columns: Sequence[str],
    values: npt.NDArray[np.float64],
    description: str,
    *,
    diagonal: bool = False,
    strong: Callable[[int, int], bool] = lambda _row, _column: False,
) -> Drawing:
    """Draw values (rows, columns); NaN is a cell with a dash, infinity an empty space.

    The shade is the size of the correlation; a negative one is grey and has its minus sign.
    `strong` marks cells set in bold with a border. With `diagonal`, values on the diagonal are 1
    by definition and not shaded.
    """
    wide = max(map(len, distinct_labels(rows, NAME_ROOM))) * CHARACTER + 0.15
    tall = (
        0.2
        if max(map(len, columns)) <= 5
        else 0.1 + CHARACTER * min(NAME_ROOM, max(map(len, columns)))
    )
    size = (
        max(wide + CELL * len(columns), 2.0),
        0.1 + tall + CELL * len(rows) + 0.15 * len([line for line in heading if line]),
    )
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    with canvas(*size) as (figure, axes):
        for i, j in np.ndindex(values.shape):
            r = float(values[i, j])
            on_diagonal = diagonal and i == j
            if np.isinf(r):
                continue
            marked, empty = strong(i, j), np.isnan(r) or on_diagonal
            shade = 0.0 if empty else DARKEST * min(abs(r), 1.0)
            axes.add_patch(
                Rectangle(
                    (j - 0.5, i - 0.5), 1, 1, facecolor=to_rgba(ACCENT if r >= 0 else MUTED, shade),
                    edgecolor=INK if marked else RULE, linewidth=1.1 if marked else 0.4,
                    zorder=3 if marked else 2,
                )
            )  # fmt: skip
            text = "1" if on_diagonal else "—" if np.isnan(r) else with_minus(correlation(r))
            color, weight = MUTED if on_diagonal else INK, "bold" if marked else "normal"
            axes.text(
                j, i, text, ha="center", va="center", size=7, zorder=4, color=color, weight=weight
            )
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_aspect("equal")
        upright = max(map(len, columns)) > 5
        axes.set_xticks(
            range(len(columns)),
            distinct_labels(columns, NAME_ROOM),
            rotation=90 if upright else 0,
        )
        axes.set_yticks(range(len(rows)), distinct_labels(rows, NAME_ROOM))
        axes.tick_params(length=0, labelcolor=INK)
        for spine in axes.spines.values():
            spine.set_visible(False)
        head(figure, *heading)
        return as_svg(figure, key, ", ".join(line for line in heading if line), description)


def described(pairs: Mapping[tuple[str, str], float]) -> str:
    """The same in words: 'CC and QR .41; CC and ID .20'."""
    return "; ".join(f"{a} and {b} {with_minus(correlation(r))}" for (a, b), r in pairs.items())


def matrix(
    key: str, heading: tuple[str, ...], names: Sequence[str], pairs: Mapping[tuple[str, str], float]
) -> Drawing:
    """Draw the values of pairs of the names on both sides of a diagonal."""
    values = np.full((len(names), len(names)), np.nan)
    for (first, second), value in pairs.items():
        i, j = names.index(first), names.index(second)
        values[i, j] = values[j, i] = value
    return heat_map(key, heading, names, names, values, described(pairs), diagonal=True)
