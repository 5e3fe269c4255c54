"""The folder of a report: what may be in it already."""

from __future__ import annotations

import json
from pathlib import Path

from analysis.core.errors import ReportError


def check_folder(folder: Path) -> set[str]:
    """Names of the CSV files of the report in the folder, if any.

    Raises
    ------
    ReportError
        The folder contains other files, or is a file.
    """
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise ReportError(f"{folder} is a file; name a folder for the report with --out")
    marker = folder / "report.json"
    if not marker.exists():
        if any(folder.iterdir()):
            raise ReportError(
                f"{folder} contains other files and no report; name a new folder with --out"
            )
        return set()
    try:
        before = json.loads(marker.read_text(encoding="utf-8"))
        names = before["tables"]
        is_report = isinstance(before["schema_version"], int) and "estimates" in before
    except (ValueError, KeyError, TypeError):
        is_report, names = False, []
    if not is_report:
        raise ReportError(
            f"{marker} was not written by `ccrs report`; name a new folder with --out"
        )
    return {str(n) for n in names if str(n).endswith(".csv") and Path(str(n)).name == str(n)}
