"""A report worked out from an analysis, and written to a folder: page, JSON and CSV files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

from analysis.core.analysis import Analysis, LabeledTexts, ReportInputs
from analysis.decisions.answers import decisions
from analysis.decisions.corrected_means import corrected_means
from analysis.pipeline.sections import chapters, statistics
from analysis.render.document import Document
from analysis.render.limitations import not_established
from analysis.render.output_files import as_json, csv_texts, json_text, schema
from analysis.render.page import page
from analysis.render.report_folder import check_folder
from analysis.render.verdicts import verdict_subjects, verdicts, with_contradictions
from analysis.topics.agreement.largest_disagreements import disagreement_records
from study.base.analysis_settings import AnalysisSettings

_PACKAGES = ("ccrs-study", "matplotlib", "numba", "numpy", "pandas", "scipy")


def as_document(
    analysis: Analysis,
    command: str | None = None,
    judge_runs: Sequence[Mapping[str, Any]] = (),
    reasons: Mapping[tuple[str, str, str], str] | None = None,
    labeled_texts: LabeledTexts | None = None,
) -> Document:
    """Work out a report: verdicts, figures and tables.

    The verdicts gain notes on figures that contradict each other, for which all must be computed.

    `command` is how the report was made, and `judge_runs` what the judges' scores were made
    with (as in schema.json). `reasons` are what judges wrote before their scores, by scorer,
    response and construct; `labeled_texts` what metrics in steps and people said on the texts of
    responses.
    """
    analysis = replace(
        analysis,
        inputs=ReportInputs(
            tuple(judge_runs), dict(reasons or {}), labeled_texts or LabeledTexts()
        ),
    )
    return Document(
        analysis,
        with_contradictions(analysis, verdicts(analysis)),
        tuple(decisions(analysis, verdict_subjects(analysis))),
        tuple(corrected_means(analysis, verdict_subjects(analysis))),
        tuple(chapters(analysis)),
        tuple(not_established(analysis)),
        _provenance(analysis, command, judge_runs),
        tuple(disagreement_records(analysis)),
    )


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

    `judge_runs` and `reasons` are those of `as_document`.

    Raises
    ------
    ReportError
        The folder contains something other than a report.

    Examples
    --------
    >>> from ccrs_study import Options, ScoreTable, analyse, read_scores, write_report
    >>> scores = ScoreTable.from_frame(read_scores("scores.csv"))
    >>> write_report(analyse(scores, options=Options(resamples=200)), "report").as_posix()
    'report/report.html'
    """
    content = as_document(analysis, command, judge_runs=judge_runs, reasons=reasons)
    return write_document(content if checks is None else content.with_checks(checks), out_dir)


def write_document(content: Document, out_dir: Path | str, full: bool = False) -> Path:
    """Write a document that was already worked out; see `write_report`.

    With `full` nothing is folded on the page, which then has every table and row.
    """
    folder = Path(out_dir)
    old = check_folder(folder)
    texts = csv_texts(content)
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for name in old - {f"{key}.csv" for key in texts}:
        (tables / name).unlink(missing_ok=True)
    for key, text in texts.items():
        _replace(tables / f"{key}.csv", text)
    _replace(folder / "report.html", page(content, full))
    _replace(folder / "report.json", json_text(as_json(content)))
    return folder / "report.html"


def report_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of report.json."""
    return schema(statistic.id for statistic in statistics())


def _replace(path: Path, text: str) -> None:
    """Write a new file and move it into place: an interrupted run leaves the old file intact."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)  # noqa: PTH105  (atomic on every system)


def _provenance(
    analysis: Analysis, command: str | None, judge_runs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    options = analysis.options
    settings = {one.name: getattr(options, one.name) for one in fields(AnalysisSettings)}
    preferences = analysis.preferences
    return {
        "versions": {"python": python_version()} | {name: _version(name) for name in _PACKAGES},
        "seed": options.seed,
        "options": {
            **{
                "ci_level" if name == "level" else name: list(v) if isinstance(v, tuple) else v
                for name, v in settings.items()
            },
            "interim_analyses": options.interim_analyses,
            "layout": options.layout,
        },
        "input_hash": {
            "scores": analysis.scores.digest(),
            "preferences": preferences.digest() if preferences is not None else None,
        },
        "judge_runs": [dict(run) for run in judge_runs],
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "verification": None,
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
