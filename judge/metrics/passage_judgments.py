"""Relevance judgments of a Label Studio export: values that people gave to each passage of a task.

A Repeater over the passages names its controls by their number from 0: relevance_0, relevance_1.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from study.errors import Fault

_EXPORT = (
    "Give an export of Label Studio in JSON with a Number, Rating or Choices in a Repeater over "
    'the passages, such as name="relevance_{{idx}}".'
)
_OF_A_PASSAGE = re.compile(r"(.+)_(\d+)")
_KINDS = ("number", "rating", "choices")
_QUERY = ("query_id", "query-id", "qid")
_DOCUMENT = ("document", "doc_id", "id")
_PASSAGES = ("passages", "contexts", "retrieved_contexts", "documents")


class PassageJudgment(NamedTuple):
    """The grade of a document, as it is in the file."""

    row: int
    """Task of the file, from 1."""
    query: str
    document: str
    grade: Any


class _Value(NamedTuple):
    control: str
    place: int
    """Number of the passage, from 0."""
    grade: Any


def passage_judgments(tasks: Sequence[Any]) -> Iterator[PassageJudgment | Fault]:
    """Yield the judgments of an export's tasks, and its faults.

    Where annotations of a task are marked as ground truth, these count, otherwise all that were
    submitted and not skipped.
    """
    read: list[tuple[int, Mapping[str, Any], list[_Value]]] = []
    for row, task in enumerate(tasks, 1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            yield Fault("is not a task of a Label Studio export with its data.", _EXPORT, row)
            continue
        read.append((row, task["data"], list(_values(task))))
    controls = sorted({value.control for _, _, values in read for value in values})
    if len(controls) > 1:
        yield Fault(
            f"passages have values of {' and '.join(controls)}.",
            "Remove the results of all controls but the one of relevance.",
        )
        return
    for row, data, values in read:
        if values:
            yield from _task_judgments(row, data, values)


def _values(task: Mapping[str, Any]) -> Iterator[_Value]:
    annotations = [
        annotation
        for annotation in task.get("annotations") or []
        if isinstance(annotation, dict) and not annotation.get("was_cancelled")
    ]
    settled = [annotation for annotation in annotations if annotation.get("ground_truth")]
    for annotation in settled or annotations:
        for result in annotation.get("result") or []:
            value = result.get("value") if isinstance(result, dict) else None
            named = _OF_A_PASSAGE.fullmatch(str(result.get("from_name"))) if value else None
            kind = next((kind for kind in _KINDS if kind in (value or ())), None)
            if value is None or named is None or kind is None:
                continue
            grade = value[kind]
            if isinstance(grade, list):
                grade = grade[0] if len(grade) == 1 else grade
            yield _Value(named[1], int(named[2]), grade)


def _task_judgments(
    row: int, data: Mapping[str, Any], values: Sequence[_Value]
) -> Iterator[PassageJudgment | Fault]:
    query = next((str(data[name]) for name in _QUERY if data.get(name) is not None), None)
    lists = [name for name in _PASSAGES if isinstance(data.get(name), list)]
    if query is None or len(lists) != 1:
        lacks = "query_id" if query is None else f"one list of {', '.join(_PASSAGES)}"
        fields = ", ".join(data) or "none"
        yield Fault(f"the data of the task have no {lacks}. Their fields: {fields}.", _EXPORT, row)
        return
    passages = data[lists[0]]
    for value in values:
        passage = passages[value.place] if value.place < len(passages) else None
        known = passage if isinstance(passage, dict) else {}
        document = next((str(known[n]) for n in _DOCUMENT if known.get(n) is not None), None)
        if document is None:
            yield Fault(
                f"{value.control}_{value.place} is of a passage that has no identifier in "
                f"{lists[0]}.",
                "Give each passage the field document (or doc_id, id).",
                row,
            )
        else:
            yield PassageJudgment(row, query, document, value.grade)
