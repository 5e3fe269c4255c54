"""The CSV tables of a report."""

from __future__ import annotations

import pandas as pd

from analysis.core.estimates import to_frame
from analysis.render.document import Document

#: A spreadsheet would run a cell that begins so; an apostrophe before it keeps it text.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_frames(content: Document) -> dict[str, pd.DataFrame]:
    """The CSV files by name: all estimates, each table's and each figure's."""
    frames = {"estimates": to_frame(content.analysis.estimates)}
    frames |= {table.key: table.data for table in content.tables}
    return frames | {f"figure-{figure.key}": figure.data for figure in content.figures}


def csv_texts(content: Document) -> dict[str, str]:
    """Texts of the CSV files by name."""
    return {name: csv_text(frame) for name, frame in csv_frames(content).items()}


def csv_text(frame: pd.DataFrame) -> str:
    """CSV in which no cell of text can act as a formula."""
    texts = frame.select_dtypes(exclude="number")
    defused = {name: texts[name].map(_defused) for name in texts.columns}
    return str(frame.assign(**defused).to_csv(index=False, lineterminator="\n"))


def _defused(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
