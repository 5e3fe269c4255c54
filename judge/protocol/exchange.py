"""What runs and engines exchange: a request, and its answer or failure."""

from dataclasses import dataclass
from typing import Any

from judge.prompts.answer_schema import AnswerSchema
from study.base.scales import Scale


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt of a run.

    Two responses to a query can have the same prompt (QR shows no passages). It is asked once, and
    its answer counts for each of them.
    """

    construct_key: str
    repeat: int
    response_ids: tuple[int, ...]
    """Database keys of the responses that the answer is for, at least one."""
    attempts: tuple[int, ...]
    """For each response, the number under which the answer is stored."""
    prompt: str
    flags: tuple[str, ...] = ()
    group: str = ""
    """Equal for the prompts of one query and context, which one process answers."""
    max_tokens: int | None = None
    """Limit of this answer's tokens; None: that of the run's conditions."""
    schema: AnswerSchema | None = None
    """What the prompt requests, for engines that can enforce it; None: free text."""
    score_scale: Scale | None = None
    """Scale of the score with which the answer begins; None: it begins with something else, and no
    probabilities of scores are read."""
    purpose: str = ""
    """What distinguishes a question from others with the same words: a probe, a round of drift."""


def chat_messages(prompt: str, system: str = "") -> list[dict[str, str]]:
    """Return a prompt as the messages of a chat, after the system message if there is one."""
    first = [{"role": "system", "content": system}] if system else []
    return [*first, {"role": "user", "content": prompt}]


def answer_format(schema: AnswerSchema) -> dict[str, Any]:
    """Return the parameter that requests an answer by a schema, as an object: `{"score": 85}`."""
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": schema.name, "strict": True, "schema": schema.as_object},
        }
    }


CONTENT_FILTER = "content_filter"
ENCODED = "encoder"
"""Finish reason of an answer that an encoder computed, not the judge."""
TOO_LONG = "too_long"
TRUNCATED_BY_SERVER = "truncated_by_server"
REJECTED = "rejected"
NOT_SERVED = "not_served"
NO_PASSAGES = "no_passages"
NO_REFERENCE = "no_reference"

REASONS = {
    "no_score": "the answer contains no score",
    "several_scores": "the answer contains several scores",
    "out_of_range": "the score is outside the scale",
    "other_scale": "the answer names another scale than the prompt's",
    "not_json": "the answer is not the JSON object that the prompt asks for",
    "fields_differ": "the answer lacks a field, has one twice, or one that the prompt lacks",
    "field_invalid": "a field other than the score has a value that the prompt does not allow",
    "refusal": "the judge refused",
    "empty_answer": "the answer is empty",
    "truncated": "the answer was cut off before a complete score",
    CONTENT_FILTER: "the provider's content filter stopped the answer",
    TRUNCATED_BY_SERVER: "the server used only a part of the prompt",
    TOO_LONG: "the prompt is longer than the model's window or the endpoint's limit",
    REJECTED: "the server refused this prompt",
    NOT_SERVED: "the server answered each try of this prompt with an error, and others properly",
    NO_PASSAGES: "the response has no passages, which the prompt shows",
    NO_REFERENCE: "the query has no reference answer, which the prompt shows",
}
"""Why a judgment has no value."""

UNASKED = frozenset({NO_PASSAGES, NO_REFERENCE})
"""Reasons in the data: the prompt was not asked, so the judge has not failed."""

FINAL = UNASKED | {CONTENT_FILTER, TOO_LONG, TRUNCATED_BY_SERVER, REJECTED, NOT_SERVED}
"""Reasons that do not depend on the text: it is not an answer to the whole prompt."""

UNANSWERED = frozenset({TOO_LONG, REJECTED, NOT_SERVED})
"""Reasons of prompts that got no answer, but an error: no model was named, no token counted."""

TOKENS = ("prompt", "completion", "reasoning", "cached")
"""Kinds of token counts; the fields of `Answer` are named NAME_tokens."""

LEAST_PROBABILITY = 1e-6
"""Scores of a smaller probability are left out: a hundred of them move a mean by 0.01 at most."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a judge answered, unchanged. The prompt is not asked again, whatever the answer."""

    text: str | None
    """The content of its message; JSON where that is not text."""
    finish_reason: str | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    milliseconds: float | None = None
    distribution: dict[str, float] | None = None
    """Probability of each whole score as the answer's first token, where the engine returns it."""
    reasoning: str | None = None
    """What the server returned as the model's reasoning, apart from the text."""
    missing: str | None = None
    """A reason of `REASONS` that applies whatever the text is."""


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer came: the next call asks the prompt again."""

    reason: str
    """In a word, for counting: no_connection, timeout, http_500, no_json, ..."""
    detail: str
    """The beginning of the message of the server or the network."""
