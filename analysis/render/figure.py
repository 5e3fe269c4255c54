"""What a figure of a report is."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from analysis.render.drawing import Drawing


@dataclass(frozen=True)
class Figure:
    """Drawings on common axes, to be read together; `data` holds what is drawn."""

    key: str
    title: str
    caption: str
    drawings: tuple[Drawing, ...]
    data: pd.DataFrame
    wide: bool = False
    """One drawing over the whole column, rather than small multiples."""
