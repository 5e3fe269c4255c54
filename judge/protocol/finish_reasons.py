"""Why a model stopped, in the words of servers and providers, and in those of chat completions."""

from judge.protocol.exchange import CONTENT_FILTER

STOP, LENGTH = "stop", "length"

_NAMES = {
    **dict.fromkeys(
        (
            *("length", "max_tokens", "max_output_tokens", "max_length", "model_length"),
            "model_context_window_exceeded",
        ),
        LENGTH,
    ),
    **dict.fromkeys(
        (
            *("safety", "recitation", "blocklist", "prohibited_content", "spii", "sensitive"),
            *("guardrail_intervened", CONTENT_FILTER),
        ),
        CONTENT_FILTER,
    ),
}
_BROKEN_OFF = frozenset(
    {
        *("error", "abort", "aborted", "cancelled", "canceled", "timeout", "network_error"),
        *("failed", "interrupted", "server_error", "insufficient_system_resource"),
    }
)


def standard_reason(reason: str | None) -> str | None:
    """Return a finish reason as chat completions name it; one that says nothing as it came.

    Examples
    --------
    >>> [standard_reason(word) for word in ("MAX_TOKENS", "content_filter: SPII", "eos_token")]
    ['length', 'content_filter', 'eos_token']
    """
    if reason is None:
        return None
    return _NAMES.get(_word(reason), reason)


def is_broken_off(reason: str | None) -> bool:
    """Return whether the server stopped the answer, which may be a part of one: 8 of 85."""
    return reason is not None and _word(reason) in _BROKEN_OFF


def _word(reason: str) -> str:
    # Gemini's endpoint for chat completions adds why it filtered.
    return reason.partition(":")[0].strip().casefold().removeprefix("finish_reason_")
