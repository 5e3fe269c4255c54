"""What tokens cost."""

from judge.settings import JudgeSettings

PAID = ("prompt", "completion", "cached")
"""Tokens that `cost` takes, in its order."""


def cost(
    settings: JudgeSettings,
    prompt_tokens: float,
    completion_tokens: float,
    cached_tokens: float = 0.0,
) -> float | None:
    """Return what so many tokens cost; None without prices.

    Parameters
    ----------
    settings
        `price` and `price_cached`. Without the latter, tokens that the server found in its cache
        cost what other prompt tokens do: where it bills them lower, the sum is an upper bound.
    prompt_tokens
        Cached ones among them, as servers count.
    completion_tokens
        Reasoning among them.
    cached_tokens
        Of the prompt tokens.
    """
    if settings.price is None:
        return None
    whole, answer = settings.price
    cached = whole if settings.price_cached is None else settings.price_cached
    prompt = (prompt_tokens - cached_tokens) * whole + cached_tokens * cached
    return (prompt + completion_tokens * answer) / 1e6
