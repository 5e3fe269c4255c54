"""The files of a report: report.json, the CSV tables, and the folder they are written to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

import pandas as pd

from analysis.core.estimates import to_frame
from analysis.render.decision_words import as_record, corrected_record
from analysis.render.document import SCHEMA_VERSION, Document
from analysis.statistics.distribution.published import every_table


def as_json(document: Document) -> dict[str, Any]:
    """The whole of report.json."""
    analysis = document.analysis
    gaps = analysis.estimates.select("missing_share")
    return {
        "schema_version": SCHEMA_VERSION,
        "title": analysis.title,
        "verdict": [
            {
                "construct": verdict.construct,
                "scorer": verdict.scorer or None,
                "sentence": verdict.sentence,
                "comparison": verdict.comparison,
                "scope": verdict.scope,
                "target": verdict.target,
                "notes": list(verdict.notes),
            }
            for verdict in document.verdicts
        ],
        "decisions": [as_record(analysis, decision) for decision in document.decisions],
        "corrected_means": [corrected_record(analysis, c) for c in document.corrected_means],
        "claims": list(analysis.claims.records()),
        "estimates": [estimate.as_json() for estimate in analysis.estimates],
        "scorers": document.scorers,
        "scales": document.scales,
        "missing": [
            {
                "construct": gap.constructs[0],
                "scorer": gap.scorers[0],
                "system": gap.systems[0] if gap.systems else None,
                "reason": gap.params["reason"],
                "count": gap.n_dropped,
                "of": gap.n_responses,
            }
            for gap in gaps
        ],
        "largest_disagreements": [dict(record) for record in document.largest_disagreements],
        "published": every_table() if analysis.options.published else None,
        "warnings": list(analysis.warnings),
        "not_established": list(document.not_established),
        "tables": [f"{name}.csv" for name in csv_names(document)],
        "provenance": dict(document.provenance),
    }


def json_text(record: Mapping[str, Any]) -> str:
    """report.json as it is written: a line for each element of its lists, such as an estimate."""
    parts = []
    for key, value in record.items():
        if isinstance(value, list) and value:
            lines = ",\n".join(f" {_plain(element)}" for element in value)
            parts.append(f"{_plain(key)}: [\n{lines}\n]")
        else:
            parts.append(f"{_plain(key)}: {_plain(value)}")
    return "{{\n{}\n}}\n".format(",\n".join(parts))


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def csv_names(document: Document) -> list[str]:
    """Names of the CSV files of the report, without ending."""
    tables = [table.key for table in document.tables]
    return ["estimates", *tables, *(f"figure-{figure.key}" for figure in document.figures)]


def schema(statistics: Iterable[str]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of report.json, with the ids that a statistic may have."""
    text = files("analysis.render").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    loaded["$defs"]["estimate"]["properties"]["statistic"] = {"enum": list(statistics)}
    return loaded


#: A spreadsheet runs a cell that begins so, unless an apostrophe precedes it.
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
