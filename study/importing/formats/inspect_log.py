"""Logs of Inspect as JSON (`inspect log convert --to json`).

Format: https://inspect.aisi.org.uk/eval-logs.html (`EvalLog`, version 2).
"""

from collections.abc import Iterator
from typing import Any

from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields
from study.importing.readers.json_text import count_other_members, objects
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.importing.score_columns.names import kind_of
from study.importing.tool_exports import (
    CONTEXT_NAMES,
    answer_text,
    made_id,
    named_member,
    question_text,
)
from study.importing.tool_scores import ScoredResponse, ToolScores

DESCRIPTION = "a log of Inspect as JSON: eval with task and model, samples with scores"
TAKES = ("controls", "ranges")
FIELDS: Fields = {
    "sample": ("id",),
    "epoch": ("epoch",),
    "input": ("input",),
    "target": ("target",),
    "output": ("output",),
    "scores": ("scores",),
    "metadata": ("metadata",),
    "error": ("error",),
}
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0}
_NO_ANSWER = "N"
GRADE = "grade"
"""The construct of all scores of a log that is read without a study, which would name theirs."""
GRADES = "Inspect's grades C, P and I read as 1, 0.5 and 0"


def matches(head: Head) -> bool:
    """Whether the file is a log of an evaluation."""
    information = head.first.get("eval") if head.form == "json document" else None
    return isinstance(information, dict) and {"task", "model"} <= set(information)


def has_ratings(source: RecordSource) -> bool:
    """Whether people's grades are among the scores, by their names."""
    document = source.document if isinstance(source.document, dict) else {}
    samples = document.get("samples")
    return isinstance(samples, list) and any(
        _is_human(str(name))
        for sample in samples
        if isinstance(sample, dict) and isinstance(sample.get("scores"), dict)
        for name in sample["scores"]
    )


def _is_human(metric: str) -> bool:
    return (kind_of(metric) or ("",))[0] == "human"


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read responses and scores; each further epoch is a separate system.

    Raises
    ------
    InputError
        The log has no samples.
    """
    document = source.document if isinstance(source.document, dict) else {}
    samples, information = document.get("samples"), document.get("eval")
    if not isinstance(samples, list) or not isinstance(information, dict):
        remedy = "Write the log with its samples: inspect log convert --to json --output-dir OUT."
        raise source.refused("the log has no samples.", remedy)
    model = options.system or str(information.get("model"))
    count_other_members(source, document, "samples")
    reader = Reader(source, FIELDS)
    scores = ToolScores(source, options, "inspect")

    def rows_of(cells: RecordCells) -> Rows:
        query, answer = question_text(cells.raw("input")), _completion(cells.raw("output"))
        if blank(answer) and not blank(cells.raw("error")):
            cells.left_out("samples with an error and no output")
            return
        epoch = cells.whole_number("epoch") or 1
        system = model if epoch == 1 else f"{model}, epoch {epoch}"
        target, context = cells.raw("target"), named_member(cells.raw("metadata"), CONTEXT_NAMES)
        name = made_id("inspect", system, query, answer, context)
        response = ScoredResponse(name, query, system)
        references = target if isinstance(target, list) else [target or ""]
        yield from response.row(cells, answer, context, references)
        for metric, value in _values(cells.mapping("scores")):
            grade = value if isinstance(value, str) else None
            if grade in _GRADES:
                source.report.rules[GRADES] += 1
            yield from scores.rows(
                cells,
                response,
                # Without a study, all of them grade a sample as a whole.
                GRADE if options.metrics_are_constructs else metric,
                None if grade == _NO_ANSWER else _GRADES.get(grade or "", value),
                kind="human"
                if _is_human(metric)
                else "judge"
                if metric.startswith("model_graded")
                else "metric",
                scorer=f"inspect:{metric}" if options.metrics_are_constructs else None,
                missing_reason="no answer" if grade == _NO_ANSWER else None,
                from_0_to_1=grade in _GRADES,
            )

    yield from reader.rows(rows_of, objects(source, samples))
    yield from scores.wrong_controls()


def _completion(output: Any) -> str | None:
    """Return the text that the model gave last."""
    members = output if isinstance(output, dict) else {}
    if isinstance(members.get("completion"), str):
        return str(members["completion"])
    choices = members.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return answer_text(message.get("content")) if isinstance(message, dict) else None


def _values(scores: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each value with its name; the values of one scorer are named SCORER/VALUE."""
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            yield from ((f"{name}/{part}", inner) for part, inner in value.items())
        else:
            yield name, value
