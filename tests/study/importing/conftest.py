"""A small study with responses, and files written for a test."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from study import Study, import_file

Write = Callable[[str, str | bytes | list[dict[str, Any]]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a file from text, bytes or rows (as JSON lines)."""

    def written(name: str, content: str | bytes | list[dict[str, Any]]) -> Path:
        path = tmp_path / name
        if isinstance(content, list):
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def response(query: int, system: str, /, **changes: Any) -> dict[str, Any]:
    row = {
        "response_id": f"r{query}{system}",
        "query_id": f"q{query}",
        "query": f"Question {query}?",
        "system": system,
        "response": f"Answer {query} of {system}.",
        "passages": [f"Passage {query}."],
        "references": [f"Truth {query}."],
    }
    return {**row, **changes}


@pytest.fixture
def filled(study: Study, write: Write) -> Study:
    """Return a study with the responses of systems A and B to three queries."""
    rows = [response(query, system) for query in (1, 2, 3) for system in "AB"]
    import_file(study, write("responses.jsonl", rows))
    return study


def rows_of(study: Study) -> dict[str, int]:
    """Count the rows of every table of the database."""
    from study.schema import Noun

    with study.read() as connection:
        return {
            name: connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one()
            for name in Noun.metadata.tables
        }
