"""Answers that follow a JSON schema, where an endpoint honours `response_format`.

Some servers ignore the request, and some refuse it. A question whose plain answer does not follow
the schema shows which.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal

from judge.engines.openai.endpoint import Endpoint, ask_repeatedly
from judge.protocol.exchange import Answer
from study.scales import RatingScale

SchemaSupport = Literal["honoured", "ignored", "refused"]

TOKENS = 16
"""Tokens of the braces, the name and the white space around a score."""

# Most values that are listed. Lists are honoured by more servers than ranges.
_MOST_LISTED = 101


def answer_format(scale: RatingScale, labels: Iterable[str] = ()) -> dict[str, Any]:
    """Return the parameter that requests a score on this scale, `{"score": 85}`, or a label.

    A scale no longer than 1 has decimals; on others scores are whole numbers.
    """
    if listed := list(labels):
        return _one_field("label", {"type": "string", "enum": listed})
    low, high = scale.min, scale.max
    whole = float(low).is_integer() and float(high).is_integer() and high - low > 1
    score: dict[str, Any] = {"type": "number", "minimum": low, "maximum": high}
    if whole and high - low < _MOST_LISTED:
        score = {"type": "integer", "enum": list(range(int(low), int(high) + 1))}
    elif whole:
        score = {"type": "integer", "minimum": int(low), "maximum": int(high)}
    return _one_field("score", score)


def _one_field(name: str, field: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {name: field},
        "required": [name],
        "additionalProperties": False,
    }
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": name, "strict": True, "schema": schema},
        }
    }


async def check_schema(
    endpoint: Endpoint,
    parameters: Mapping[str, Any],
    question: str,
    scale: RatingScale,
    labels: Collection[str] = (),
) -> SchemaSupport:
    """Ask a question that a plain number answers, and judge what comes back.

    `parameters` are sent with each prompt, the schema included.
    """
    answer = (await ask_repeatedly(endpoint, question, parameters)).result
    if not isinstance(answer, Answer) or answer.missing is not None:
        return "refused"
    return "honoured" if _follows(answer.text or "", scale, labels) else "ignored"


def _follows(text: str, scale: RatingScale, labels: Collection[str]) -> bool:
    # Text before a closed think block is reasoning.
    try:
        data = json.loads(text.rpartition("</think>")[2])
    except (ValueError, RecursionError):
        return False
    if not isinstance(data, dict) or set(data) != {"label" if labels else "score"}:
        return False
    if labels:
        return data["label"] in labels
    score = data["score"]
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    return is_number and scale.problem(float(score)) is None
