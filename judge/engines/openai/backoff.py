"""How long to wait before a question is put to an endpoint again."""

from random import uniform

FIRST_WAIT = 0.5
"""Seconds before the second try; they double with each."""
LONGEST_WAIT = 30.0


def backoff(attempt: int) -> float:
    """Return the seconds to wait after `attempt` earlier waits, spread over half of them.

    Waits are spread so that the prompts under way do not all come back at one moment.
    """
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(attempt, 20))
    return uniform(longest / 2, longest)  # noqa: S311  (nothing secret)


def steady_backoff(attempt: int) -> float:
    """Return the seconds to wait where one question at a time is put: nothing has to spread."""
    return FIRST_WAIT * float(2**attempt)
