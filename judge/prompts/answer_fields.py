"""Answers with several fields: what a prompt version declares, its schema, and how it is read."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from judge.parsing.contests import (
    is_refusal,
    names_other_scale,
    refuses_next_to_score,
    refuses_to_rate,
)
from judge.parsing.labels import folded
from judge.parsing.parse_answer import Parsed, is_cut
from judge.parsing.score_lines import labelled_scores, reason_alone
from judge.parsing.structured_answers import UnreadableError, read_object
from judge.prompts.answer_schema import (
    AnswerSchema,
    Schema,
    fields_schema,
    follows,
    score_field,
    words_field,
)
from study.base.scales import Scale

Kind = Literal["text", "score"] | tuple[float, float] | tuple[str, ...]
"""A text, the score, a number in a range, or one of several words."""
Fields = Mapping[str, Kind]
"""The fields of an answer by name, in the order in which they are written; one is the score."""

RULE = "fields"
"""The rule that is stored with the value."""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def schema_of(fields: Fields, scale: Scale, labels: Mapping[str, float]) -> AnswerSchema:
    """Return the schema of an answer whose score is on a scale, or one of the labels."""
    score = words_field(list(labels)) if labels else score_field(scale)
    return fields_schema({name: _schema(kind, score) for name, kind in fields.items()})


def parse_fields(
    text: str | None,
    finish_reason: str | None,
    fields: Fields,
    scale: Scale,
    labels: Mapping[str, float],
) -> Parsed:
    """Read the score of an answer that is an object with exactly the declared fields.

    Returns
    -------
    Parsed
        Without a value where the answer was cut off, is not such an object (`not_json`), lacks a
        field, has one twice or a further one (`fields_differ`), or has a value that is not allowed
        in a field (`field_invalid`). Other reasons are those of `parse_answer`.
    """
    if is_cut(finish_reason):
        return _missing("truncated")
    try:
        pairs = read_object(text)
    except UnreadableError as error:
        if error.fault == "empty":
            return _missing("empty_answer")
        return _missing("refusal" if is_refusal(text or "") else "not_json")
    score_name = next(name for name, kind in fields.items() if kind == "score")
    found = _found(pairs, fields)
    if isinstance(found, str):
        return _missing(found)
    parsed = _score(found[score_name], scale, labels)
    prose = "\n".join(value for value in found.values() if isinstance(value, str))
    return _contested(parsed, prose, scale, named=bool(labels))


def _contested(parsed: Parsed, prose: str, scale: Scale, *, named: bool) -> Parsed:
    """Return the score, or the reason in the texts of the answer for which it does not count."""
    value = parsed.value
    if value is None:
        return parsed
    if refuses_to_rate(prose) or (value == scale.min and refuses_next_to_score(prose)):
        return _missing("refusal")
    if not named and names_other_scale(prose, value, scale):
        return _missing("other_scale")
    labelled = () if named else labelled_scores(reason_alone(prose, scale), scale, ())
    return _missing("several_scores") if any(other != value for other in labelled) else parsed


def _found(pairs: Sequence[tuple[str, Any]], fields: Fields) -> dict[str, Any] | str:
    """Return the value of each field, or the reason for which the object is not accepted."""
    names = {folded(name): name for name in fields}
    found = {names.get(folded(name), name): value for name, value in pairs}
    if len(found) < len(pairs) or set(found) != set(fields):
        return "fields_differ"
    others = [(found[name], kind) for name, kind in fields.items() if kind != "score"]
    return found if all(follows(x, _schema(kind, {})) for x, kind in others) else "field_invalid"


def _score(value: Any, scale: Scale, labels: Mapping[str, float]) -> Parsed:
    if labels:
        values = {folded(label): point for label, point in labels.items()}
        point = values.get(folded(value)) if isinstance(value, str) else None
        return _missing("no_score") if point is None else Parsed(float(point), None, RULE)
    written = value if isinstance(value, str) else "" if isinstance(value, bool) else str(value)
    if not _NUMBER.fullmatch(written.strip()):
        return _missing("no_score")
    number = float(written)
    return _missing("out_of_range") if scale.problem(number) else Parsed(number, None, RULE)


def _schema(kind: Kind, score: Schema) -> Schema:
    if kind == "score":
        return score
    if kind == "text":
        return {"type": "string"}
    first, *_ = kind
    if isinstance(first, str):
        return words_field([str(word) for word in kind])
    low, high = (float(end) for end in kind)
    return score_field(Scale(min=low, max=high))


def _missing(reason: str) -> Parsed:
    return Parsed(None, reason, None)
