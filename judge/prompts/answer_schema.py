"""JSON schemas of answers: what a prompt requests, for engines that can enforce it.

A schema describes the answer that the words of a prompt request: a bare number or label, a list, or
an object with numbered or named keys. Endpoints honour schemas of objects only, so other answers
are sent to them inside an object with a single key; the readers of answers accept both.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from study.base.scales import Scale

# Most values that are listed. Lists are honoured by more servers than ranges.
_MOST_LISTED = 101

LABEL = "label"
"""Key of an answer that is one of several words."""
SCORE = "score"
"""Key of an answer that is a score."""

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The schema of one answer; equal schemas are equal objects."""

    name: str
    """What the answer is, in a word; the key of its value where the answer is not an object."""
    text: str
    """The JSON schema, as JSON."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the answer."""
        loaded: dict[str, Any] = json.loads(self.text)
        return loaded

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that the answer may be, if it is one of several words or whole numbers."""
        return tuple(map(str, self.schema.get("enum", ())))

    @property
    def as_object(self) -> dict[str, Any]:
        """The JSON schema of the answer, inside an object if it is not one."""
        schema = self.schema
        return schema if schema["type"] == "object" else _object({self.name: schema})


def score_schema(scale: Scale) -> AnswerSchema:
    """Return the schema of a score on a scale.

    A scale no longer than 1 has decimals; on others scores are whole numbers.
    """
    return _made(SCORE, score_field(scale))


def word_schema(words: Sequence[str]) -> AnswerSchema:
    """Return the schema of an answer that is one of several words."""
    return _made(LABEL, words_field(words))


@lru_cache(maxsize=256)
def labels_schema(number: int, labels: tuple[str, ...]) -> AnswerSchema:
    """Return the schema of a label for each of `number` items: {"1": "yes", "2": "no"}."""
    return _made("labels", _numbered(number, words_field(labels)))


@lru_cache(maxsize=256)
def texts_schema(number: int) -> AnswerSchema:
    """Return the schema of a text for each of `number` items: {"1": "Paris", "2": "1889"}."""
    return _made("texts", _numbered(number, {"type": "string"}))


@lru_cache(maxsize=256)
def numbers_schema(number: int, most: int) -> AnswerSchema:
    """Return the schema of a list of numbers from 1 to `most` for each of `number` items."""
    choice = {"type": "integer", "enum": list(range(1, most + 1))}
    return _made("numbers", _numbered(number, {"type": "array", "items": choice}))


def list_schema(what: str) -> AnswerSchema:
    """Return the schema of a list of texts; `what` is listed, such as `claims`."""
    return _made(what, {"type": "array", "items": {"type": "string"}})


def fields_schema(fields: Mapping[str, Schema]) -> AnswerSchema:
    """Return the schema of an object with these fields, in their order."""
    return _made("fields", _object(fields))


def score_field(scale: Scale) -> Schema:
    """Return the JSON schema of a number on a scale."""
    low, high = scale.min, scale.max
    whole = has_whole_scores(scale)
    if whole and high - low < _MOST_LISTED:
        return {"type": "integer", "enum": list(range(int(low), int(high) + 1))}
    if whole:
        return {"type": "integer", "minimum": int(low), "maximum": int(high)}
    return {"type": "number", "minimum": low, "maximum": high}


def has_whole_scores(scale: Scale) -> bool:
    """Return whether scores are whole numbers; on a scale no longer than 1 they have decimals."""
    low, high = float(scale.min), float(scale.max)
    return low.is_integer() and high.is_integer() and high - low > 1


def words_field(words: Sequence[str]) -> Schema:
    """Return the JSON schema of one of several words."""
    return {"type": "string", "enum": list(words)}


def follows(value: Any, schema: Schema) -> bool:
    """Return whether a value of JSON follows one of the schemas above."""
    kind = schema["type"]
    if kind == "object":
        fields = schema["properties"]
        return (
            isinstance(value, dict)
            and set(value) == set(fields)
            and all(follows(value[name], field) for name, field in fields.items())
        )
    if kind == "array":
        return isinstance(value, list) and all(follows(item, schema["items"]) for item in value)
    if kind == "string":
        return isinstance(value, str) and value in schema.get("enum", [value])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    listed = value in schema.get("enum", [value])
    within = schema.get("minimum", value) <= value <= schema.get("maximum", value)
    return listed and within and (kind == "number" or float(value).is_integer())


def _numbered(number: int, value: Schema) -> Schema:
    return _object({str(place): value for place in range(1, number + 1)})


def _object(fields: Mapping[str, Schema]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def _made(name: str, schema: Schema) -> AnswerSchema:
    return AnswerSchema(name, json.dumps(schema, ensure_ascii=False))
