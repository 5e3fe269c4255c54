"""Figures as declarations: what their panels are, and how each is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import Drawing, Figure
from analysis.render.table_of import Words

#: What each drawing shows, such as a construct, a scorer and their estimates.
Panels = Sequence[tuple[Any, ...]]


def estimates_in(shown: object) -> Iterator[Estimate]:
    """The estimates in panels, or in parts of them, in their order."""
    if isinstance(shown, Estimate):
        yield shown
    elif isinstance(shown, list | tuple):
        for part in shown:
            yield from estimates_in(part)


_P = TypeVar("_P")


def if_several(panels: Sequence[tuple[str, str, _P]]) -> list[tuple[str, str, _P]]:
    """Panels of a construct and scorer, which names the scorer only where there are several."""
    several = len({scorer for _, scorer, _ in panels}) > 1
    return [(construct, scorer if several else "", shown) for construct, scorer, shown in panels]


@dataclass(frozen=True, eq=False)
class FigureOf:
    """The declaration of a figure, which a section lists among its figures.

    `draw` is called with the analysis, what is in a panel, and the key of the drawing, which is
    `drawing` and a number. `caption` is a template as of `TableOf`; `note` returns what it says
    beyond that. The data are the estimates in the panels unless `data` returns others.
    """

    key: str
    title: str
    caption: str
    panels: Callable[[Analysis], Iterable[tuple[Any, ...]]]
    draw: Callable[..., Drawing]
    drawing: str
    note: Callable[[Analysis, Panels], str] = lambda _analysis, _panels: ""
    data: Callable[[Analysis, Panels], Iterable[Estimate]] = lambda _, panels: estimates_in(panels)

    def __call__(self, analysis: Analysis) -> Iterator[Figure]:
        """The figure of an analysis; none without a panel."""
        panels = list(self.panels(analysis))
        if panels:
            yield Figure(
                self.key,
                self.title,
                self.caption.format_map(Words(analysis)) + self.note(analysis, panels),
                tuple(
                    self.draw(analysis, *panel, f"{self.drawing}-{number}")
                    for number, panel in enumerate(panels)
                ),
                to_frame(self.data(analysis, panels)),
            )
