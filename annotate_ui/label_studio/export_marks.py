"""Labels on the text of a response, as marks on its sentences.

Label Studio gives a label's place in Unicode characters; its early versions gave UTF-16 units. The
text that it stores with a label tells which, and that the label is on the response.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

from annotate_ui.label_studio.annotation_reader import Annotation
from annotate_ui.label_studio.task_content import TaskContent
from study.errors import Fault
from study.importing.importers import FormatOptions
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.importing.rows import MarksRow, Rows

LABELS = "labels"
NONE = "an annotation without labels read as no sentence marked"


@dataclass(frozen=True)
class MarkLabels:
    """The labels whose construct is named: by the label, or by the control that gives it."""

    constructs: Mapping[tuple[str, str], str]
    """(control, label) to construct; empty: left out."""
    names: Collection[str]
    """Controls and labels that the caller named."""
    controls: Collection[str]
    """Controls with a label whose construct is named."""

    @property
    def marked(self) -> tuple[str, ...]:
        """The constructs that the file has marks for."""
        return tuple(dict.fromkeys(key for key in self.constructs.values() if key))

    def without(self, record: Record) -> Record:
        """Return a task without the results of these controls."""
        annotations = record.cells.get("annotations")
        if not self.controls or not isinstance(annotations, list):
            return record
        kept = [
            {**raw, "result": [r for r in raw["result"] if not self._is_label(r)]}
            if isinstance(raw, dict) and isinstance(raw.get("result"), list)
            else raw
            for raw in annotations
        ]
        return record._replace(cells={**record.cells, "annotations": kept})

    def rows(
        self,
        content: TaskContent,
        task: Mapping[str, Any],
        annotation: Annotation,
        scorer: str,
        source: RecordSource,
    ) -> Rows:
        """Yield the marks of an annotation for each construct; none of a skipped task."""
        if annotation.skipped:
            return
        marks: dict[str, list[dict[str, Any]]] = {construct: [] for construct in self.marked}
        for result in _results(task, annotation.number):
            for label in _labels(result):
                key = self.constructs.get((str(result.get("from_name")), label))
                if key is None and self._is_label(result):
                    source.report.left_out[f"labels {label!r} without a construct"] += 1
                elif key:
                    problem = _problem(result["value"])
                    if problem is not None:
                        yield Fault(
                            f"task {task['id']}: a label {label!r} {problem}.",
                            f"Correct it, or leave it out with --control {quote(f'{label}=')}.",
                            content.cells.number,
                        )
                        return
                    marks[key].append(_part(result["value"]))
        for construct, parts in marks.items():
            if not parts:
                source.report.rules[NONE] += 1
            assert content.rated is not None  # noqa: S101
            yield from content.cells.row(
                MarksRow,
                **content.rated._asdict(),
                construct_key=construct,
                scorer=scorer,
                marks=parts,
            )

    def _is_label(self, result: Any) -> bool:
        return (
            isinstance(result, dict)
            and result.get("type") == LABELS
            and result.get("from_name") in self.controls
        )


def mark_labels(source: RecordSource, options: FormatOptions) -> MarkLabels:
    """Return which labels of an export are marks: those that `options.controls` names."""
    offered: dict[tuple[str, str], None] = {}
    for record in source.records():
        annotations = record.cells.get("annotations") if isinstance(record, Record) else None
        for raw in annotations if isinstance(annotations, list) else []:
            for result in _label_results(raw):
                control = str(result.get("from_name"))
                offered.update(dict.fromkeys((control, label) for label in _labels(result)))
    constructs = {
        (control, label): options.controls[name]
        for control, label in offered
        for name in (control, label)
        if name in options.controls
    }
    named = {name for pair in constructs for name in pair if name in options.controls}
    return MarkLabels(constructs, named, {control for control, _ in constructs})


def _results(task: Mapping[str, Any], number: int) -> Iterator[Mapping[str, Any]]:
    for raw in task.get("annotations") or []:
        if isinstance(raw, dict) and raw.get("id") == number:
            yield from _label_results(raw)
            return


def _label_results(raw: Any) -> Iterator[Mapping[str, Any]]:
    results = raw.get("result") if isinstance(raw, dict) else None
    for result in results if isinstance(results, list) else []:
        if isinstance(result, dict) and result.get("type") == LABELS:
            yield result


def _labels(result: Mapping[str, Any]) -> list[str]:
    value = result.get("value")
    labels = value.get(LABELS) if isinstance(value, dict) else None
    return [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else []


def _problem(value: Mapping[str, Any]) -> str | None:
    """Return why the place of a label cannot be read; None if it can."""
    if "paragraphs" in value or "globalOffsets" in value or isinstance(value.get("start"), str):
        return "is on HTML or on a dialog, whose places are not those of a text"
    ends = value.get("start"), value.get("end")
    if any(not isinstance(end, int) or isinstance(end, bool) or end < 0 for end in ends):
        return f"has no place in a text: start {ends[0]!r}, end {ends[1]!r}"
    return None


def _part(value: Mapping[str, Any]) -> dict[str, Any]:
    text = value.get("text")
    return {"start": value["start"], "end": value["end"]} | (
        {"text": text} if isinstance(text, str) else {}
    )
