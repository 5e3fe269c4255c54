"""Exports of Label Studio projects, to be imported."""

import json
from pathlib import Path
from typing import Any


def task(number: int, *annotations: dict[str, Any], **data: Any) -> dict[str, Any]:
    texts = {"question": f"Question {number}?", "response": f"Answer {number}.", **data}
    return {"id": number, "data": texts, "annotations": list(annotations), "drafts": []}


def annotation(number: int, user: Any, *, at: str = "10:00", **values: Any) -> dict[str, Any]:
    results = [
        {"from_name": name, "type": "number", "value": {"number": value}}
        for name, value in values.items()
    ]
    return {
        "id": number,
        "completed_by": user,
        "result": results,
        "was_cancelled": False,
        "created_at": f"2026-01-01T{at}:00Z",
        "updated_at": f"2026-01-01T{at}:00Z",
        "lead_time": 3.5,
    }


def written(folder: Path, *tasks: dict[str, Any]) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def result(name: str, kind: str, value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": {kind: value}}


def stars(number: int, user: int, rating: Any) -> dict[str, Any]:
    return {**annotation(number, user), "result": [result("stars", "rating", rating)]}
