"""Everything that a study stores about one person, for them to read."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from study.facts.current_responses import response_versions
from study.lifecycle.new_file import check_new, new_file
from study.lifecycle.personal_data import mentions, person, rows_of
from study.schema import now
from study.schema.tables import (
    enrolment_links,
    passages,
    queries,
    response_passages,
    responses as response_table,
)
from study.study import Study

_NOT_SHOWN = {
    # Only a hash of a link's random token is stored, which is meaningless to a reader.
    "token_hash",
}


def export_rater(study: Study, code: str, out: Path | str) -> dict[str, int]:
    """Write what a study stores about one person to a new JSON file; return rows by table.

    The file is readable by its owner only, and must be outside the study's folder.

    Raises
    ------
    StudyError
        The code is unknown, or the file exists, can't be created or would be in the study's folder.
    """
    out = Path(out)
    check_new(out, study.folder)
    with study.read() as connection:
        data = rater_data(connection, study, code)
    content = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    with new_file(out, study.folder) as part:
        part.write_text(content, encoding="utf-8")
    return {name: len(rows) for name, rows in data["tables"].items()}


def rater_data(connection: Connection, study: Study, code: str) -> dict[str, Any]:
    """Return what a study stores about one person, as values for JSON.

    `tables` has their rows by table, with the texts that they refer to; `mentioned_in` the rows of
    other tables that mention them; `settings` their settings in study.toml.
    """
    rater = person(connection, study, code)
    tables = {
        t.name: [
            _plain(dict(row._mapping))
            for row in connection.execute(select(t).where(where).order_by(*t.primary_key))
        ]
        for t, where in rows_of(rater)
    }
    responses = _responses(connection, tables)
    for rows in tables.values():
        for row in rows:
            _name(row, responses)
    _name_links(connection, tables.get("enrolment", []))
    config = study.config
    spec, scorer = config.raters.get(code), config.scorers.get(code)
    return {
        "study": config.name,
        "rater": code,
        "written_at": now().isoformat(timespec="seconds"),
        "about": "Everything that this study stores about one person. A link's random token is "
        "kept as a hash alone, which is left out here.",
        "settings": {
            "raters": None if spec is None else spec.model_dump(mode="json"),
            "scorers": None if scorer is None else scorer.model_dump(mode="json"),
        },
        "tables": {name: rows for name, rows in tables.items() if rows},
        "mentioned_in": {
            name: [_plain(row) for row in rows] for name, rows in mentions(connection, code).items()
        },
        "responses": [responses[key] for key in sorted(responses)],
    }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in row.items() if name not in _NOT_SHOWN}


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else value


def _responses(
    connection: Connection, tables: dict[str, list[dict[str, Any]]]
) -> dict[int, dict[str, Any]]:
    """Return the texts of every response that a person's rows refer to, by database key."""
    every = connection.execute(
        select(response_table.c.id, response_table.c.key, response_table.c.version)
    ).all()
    ids = response_versions([tuple(row) for row in every], []).ids
    ids_of_rows = {
        row[name]
        for rows in tables.values()
        for row in rows
        for name in ("response_id", "response_a_id", "response_b_id")
        if name in row
    }
    responses: dict[int, dict[str, Any]] = {}
    statement = select(
        response_table.c.id, response_table.c.text, queries.c.key, queries.c.text.label("query")
    ).join_from(response_table, queries, response_table.c.query_id == queries.c.id)
    for row in connection.execute(statement):
        if row.id in ids_of_rows:
            responses[row.id] = {
                "response_id": ids[row.id],
                "query_id": row.key,
                "query": row.query,
                "response": row.text,
                "passages": [],
            }
    joined = select(response_passages.c.response_id, passages.c.text).join_from(
        response_passages, passages, response_passages.c.passage_id == passages.c.id
    )
    for passage in connection.execute(
        joined.order_by(response_passages.c.response_id, response_passages.c.position)
    ):
        if passage.response_id in responses:
            responses[passage.response_id]["passages"].append(passage.text)
    return responses


def _name(row: dict[str, Any], responses: dict[int, dict[str, Any]]) -> None:
    for name in ("response_id", "response_a_id", "response_b_id"):
        if row.get(name) is not None:
            row[name] = responses[row[name]]["response_id"]


def _name_links(connection: Connection, enrolments: list[dict[str, Any]]) -> None:
    names = {
        row.id: row.name
        for row in connection.execute(select(enrolment_links.c.id, enrolment_links.c.name))
    }
    for row in enrolments:
        row["link"] = names.get(row.pop("link_id"))
