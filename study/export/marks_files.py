"""Marks as files: JSON lines, and tasks with annotations as Label Studio imports them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from study.facts.marks_table import MarkSet

LINES, LABEL_STUDIO = "marks.jsonl", "marks_label_studio.json"
CONTROL, TEXT = "marks", "response"
"""Names of the control and of the text in Label Studio's form."""

FIELDS = {
    "response_id": "id of the response",
    "construct": "key of the construct that the sentences were marked for",
    "scorer": "code of the person",
    "scorer_kind": "human",
    "repeat": "0, or 1, 2, ... where the person marked the response again",
    "marks": "the marked parts in order, as objects with start and end (in Unicode characters of "
    "the response, the end excluded) and text; an empty list: no sentence was to be marked",
}


def write_lines(path: Path, sets: Iterable[MarkSet]) -> int:
    """Write a line for each set of marks; return their number."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for marks in sets:
            line = {
                **{name: getattr(marks, name) for name in FIELDS if name != "marks"},
                "marks": list(_parts(marks)),
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
    return count


def write_label_studio(path: Path, sets: Iterable[MarkSet]) -> int:
    """Write a task for each response, with an annotation for each person; return their number."""
    tasks: dict[str, dict[str, Any]] = {}
    annotations: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for marks in sets:
        if marks.response_id not in tasks:
            data = {"response_id": marks.response_id, TEXT: marks.text}
            tasks[marks.response_id] = {"data": data, "annotations": []}
        person = marks.response_id, marks.scorer, marks.repeat
        if person not in annotations:
            annotations[person] = []
            annotation = {"rater": marks.scorer, "result": annotations[person]}
            tasks[marks.response_id]["annotations"].append(annotation)
        annotations[person] += [
            {
                "from_name": CONTROL,
                "to_name": TEXT,
                "type": "labels",
                "value": {**part, "labels": [marks.construct]},
            }
            for part in _parts(marks)
        ]
    text = json.dumps(list(tasks.values()), ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")
    return len(tasks)


def _parts(marks: MarkSet) -> Iterable[dict[str, Any]]:
    for start, end in marks.ranges:
        yield {"start": start, "end": end, "text": marks.text[start:end]}
