"""Writing a report to a folder: page, JSON and CSV files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.compose import Analysis
from analysis.errors import ReportError
from analysis.estimates import to_frame
from analysis.report.document import Document, as_document
from analysis.report.json_document import as_json
from analysis.report.page import page

#: A spreadsheet would run a cell that begins so; an apostrophe before it keeps it text.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_report(
    analysis: Analysis,
    out_dir: Path | str,
    *,
    command: str | None = None,
    checks: Sequence[Mapping[str, Any]] | None = None,
) -> Path:
    """Write report.html, report.json and tables/*.csv; return the path of report.html.

    Raises
    ------
    ReportError
        The folder holds something that is no report.
    """
    content = as_document(analysis, command)
    return write_document(content if checks is None else content.with_checks(checks), out_dir)


def write_document(content: Document, out_dir: Path | str) -> Path:
    """Write a document that was already worked out; see `write_report`."""
    folder = Path(out_dir)
    old = check_folder(folder)
    frames = csv_frames(content)
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for name in old - {f"{key}.csv" for key in frames}:
        (tables / name).unlink(missing_ok=True)
    for key, frame in frames.items():
        _replace(tables / f"{key}.csv", csv_text(frame))
    _replace(folder / "report.html", page(content))
    plain = json.dumps(as_json(content), ensure_ascii=False, allow_nan=False, indent=1)
    _replace(folder / "report.json", plain + "\n")
    return folder / "report.html"


def check_folder(folder: Path) -> set[str]:
    """Names of the CSV files of the report that the folder holds, if any.

    Raises
    ------
    ReportError
        The folder holds something else, or is a file.
    """
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise ReportError(f"{folder} is a file; name a folder for the report with --out")
    marker = folder / "report.json"
    if not marker.exists():
        if any(folder.iterdir()):
            raise ReportError(
                f"{folder} holds other files and no report; name a new folder with --out"
            )
        return set()
    try:
        before = json.loads(marker.read_text(encoding="utf-8"))
        names = before["tables"]
        known = isinstance(before["schema_version"], int) and "estimates" in before
    except (ValueError, KeyError, TypeError):
        known, names = False, []
    if not known:
        raise ReportError(
            f"{marker} was not written by `ccrs report`; name a new folder with --out"
        )
    return {str(n) for n in names if str(n).endswith(".csv") and Path(str(n)).name == str(n)}


def csv_frames(content: Document) -> dict[str, pd.DataFrame]:
    """The CSV files by name: all estimates, each table's and each figure's."""
    frames = {"estimates": to_frame(content.analysis.estimates)}
    frames |= {table.key: table.data for table in content.tables}
    return frames | {f"figure-{figure.key}": figure.data for figure in content.figures}


def csv_text(frame: pd.DataFrame) -> str:
    """CSV in which no cell of text can act as a formula."""
    texts = frame.select_dtypes(exclude="number")
    defused = {name: texts[name].map(_defused) for name in texts.columns}
    return str(frame.assign(**defused).to_csv(index=False, lineterminator="\n"))


def _defused(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _replace(path: Path, text: str) -> None:
    """Write beside and move into place, so that an interrupted run leaves the old file whole."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)  # noqa: PTH105  (atomic on every system)
