"""What comes back for a prompt: an answer, which is a finished judgment, or a failure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt of a run.

    Two responses to a query may make the very same prompt (QR shows no passages): it is asked
    once, and its answer is for each of them.
    """

    construct_key: str
    repeat: int
    response_ids: tuple[int, ...]
    """Database keys of the responses that the answer is for, at least one."""
    attempts: tuple[int, ...]
    """For each of them, the number under which the answer is stored."""
    prompt: str
    flags: tuple[str, ...] = ()
    group: str = ""
    """What the prompts of one query and context have in common, so that they go to one server."""
    max_tokens: int | None = None
    """Tokens of this answer; None: as many as the run's conditions allow."""


CONTENT_FILTER = "content_filter"
TOO_LONG = "too_long"
TRUNCATED_BY_SERVER = "truncated_by_server"
REJECTED = "rejected"
NO_PASSAGES = "no_passages"
NO_REFERENCE = "no_reference"

REASONS = {
    "no_score": "the answer holds no score",
    "several_scores": "the answer holds several scores",
    "out_of_range": "the score lies outside the scale",
    "refusal": "the judge refused",
    "empty_answer": "the answer is empty",
    "truncated": "the answer was cut off before a complete score",
    CONTENT_FILTER: "the provider's content filter stopped the answer",
    TRUNCATED_BY_SERVER: "the server used only a part of the prompt",
    TOO_LONG: "the prompt is longer than the model's window",
    REJECTED: "the server refused this prompt",
    NO_PASSAGES: "the response has no passages, which the prompt shows",
    NO_REFERENCE: "the query has no reference answer, which the prompt shows",
}
"""Why a judgment has no value."""

UNASKED = frozenset({NO_PASSAGES, NO_REFERENCE})
"""Reasons that lie in the data: nothing was asked, so nothing is missing from the judge."""

TOKENS = ("prompt", "completion", "reasoning", "cached")
"""What is counted in tokens, by its name in `Answer`: NAME_tokens."""

LEAST_PROBABILITY = 1e-6
"""Scores of a smaller probability are left out: a hundred of them move a mean by 0.01 at most."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a judge answered, as it came. Whatever it says, the prompt is not asked again."""

    text: str | None
    finish_reason: str | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    milliseconds: float | None = None
    distribution: dict[str, float] | None = None
    """Probability of each whole score as the answer's first token, where the engine tells it."""
    missing: str | None = None
    """A reason of `REASONS` that stands whatever the text says."""


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer came: the prompt stays to be asked by the next run."""

    reason: str
    """In a word, for counting: no_connection, timeout, http_500, no_json, ..."""
    detail: str
    """The first words of what the server or the network said."""
