"""A prompt to be asked, and all the responses that its answer is for."""

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
