"""Every second query of the example study, which real models judge in half the time."""

import csv
import io
import json
from importlib.resources import files
from pathlib import Path

from study.importing.file_import import import_file
from study.study import Study

CONSTRUCTS = 5
_EXAMPLE = files("study._example")
_ROWS = [
    json.loads(line)
    for line in (_EXAMPLE / "responses.jsonl").read_text(encoding="utf-8").splitlines()
]
_QUERIES = list(dict.fromkeys(row["query_id"] for row in _ROWS))[1::2]
_RESPONSES = [row for row in _ROWS if row["query_id"] in _QUERIES]

WHOLE = CONSTRUCTS * len({(row["query_id"], row["response"]) for row in _RESPONSES})
"""Judgments of the study: equal responses to a query are judged once."""
EMPTY = CONSTRUCTS
"""Of these, the empty response's, which are made without a call."""


def build_short_example(folder: Path) -> None:
    """Create the study in `folder`, with the values of the simulated raters and judge."""
    study = Study.create(folder, (_EXAMPLE / "study.toml").read_text(encoding="utf-8"))
    responses, scores = folder / "responses.jsonl", folder / "scores.csv"
    responses.write_text("\n".join(map(json.dumps, _RESPONSES)), encoding="utf-8")
    kept = {row["response_id"] for row in _RESPONSES}
    table = csv.DictReader(io.StringIO((_EXAMPLE / "scores.csv").read_text(encoding="utf-8")))
    with scores.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, table.fieldnames or ())
        writer.writeheader()
        writer.writerows(row for row in table if row["response_id"] in kept)
    for path in (responses, scores):
        import_file(study, path)
        path.unlink()
    study.close()
