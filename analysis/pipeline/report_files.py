"""Writing a report to a folder: page, JSON and CSV files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.core import Analysis
from analysis.pipeline.document import Document, as_document
from analysis.render.csv_tables import csv_texts
from analysis.render.json_report import as_json
from analysis.render.output_folder import check_folder
from analysis.render.page import page


def write_report(
    analysis: Analysis,
    out_dir: Path | str,
    *,
    command: str | None = None,
    checks: Sequence[Mapping[str, Any]] | None = None,
    judge_runs: Sequence[Mapping[str, Any]] = (),
    reasons: Mapping[tuple[str, str, str], str] | None = None,
) -> Path:
    """Write report.html, report.json and tables/*.csv; return the path of report.html.

    `judge_runs` and `reasons` are those of `analysis.render.as_document`.

    Raises
    ------
    ReportError
        The folder holds something that is no report.
    """
    content = as_document(analysis, command, judge_runs=judge_runs, reasons=reasons)
    return write_document(content if checks is None else content.with_checks(checks), out_dir)


def write_document(content: Document, out_dir: Path | str) -> Path:
    """Write a document that was already worked out; see `write_report`."""
    folder = Path(out_dir)
    old = check_folder(folder)
    texts = csv_texts(content)
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for name in old - {f"{key}.csv" for key in texts}:
        (tables / name).unlink(missing_ok=True)
    for key, text in texts.items():
        _replace(tables / f"{key}.csv", text)
    _replace(folder / "report.html", page(content, texts))
    plain = json.dumps(as_json(content), ensure_ascii=False, allow_nan=False, indent=1)
    _replace(folder / "report.json", plain + "\n")
    return folder / "report.html"


def _replace(path: Path, text: str) -> None:
    """Write beside and move into place, so that an interrupted run leaves the old file whole."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)  # noqa: PTH105  (atomic on every system)
