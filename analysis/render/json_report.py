"""report.json: the document as plain values, by analysis/render/schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from analysis.render.document import SCHEMA_VERSION, Document


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
                "notes": list(verdict.notes),
            }
            for verdict in document.verdicts
        ],
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
        "furthest_apart": [dict(record) for record in document.furthest_apart],
        "warnings": list(analysis.warnings),
        "not_established": list(document.not_established),
        "tables": [f"{name}.csv" for name in csv_names(document)],
        "provenance": dict(document.provenance),
    }


def csv_names(document: Document) -> list[str]:
    """Names of the CSV files beside the report, without ending."""
    tables = [table.key for table in document.tables]
    return ["estimates", *tables, *(f"figure-{figure.key}" for figure in document.figures)]


def schema(statistics: Iterable[str]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of report.json, with the ids that a statistic may have."""
    text = files("analysis.render").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    loaded["$defs"]["estimate"]["properties"]["statistic"] = {"enum": list(statistics)}
    return loaded
