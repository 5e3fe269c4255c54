"""Names of scorers whose scores are the means of a judge's distributions."""

from __future__ import annotations

from collections.abc import Container

#: What follows a judge's name in the name of the means of its distributions.
EXPECTED = " (expected)"


def number_of(scorer: str, scorers: Container[str]) -> str | None:
    """The scorer of the numbers that a judge wrote, of whose distributions `scorer` is the mean.

    None where `scorer` is no such mean, or where the numbers are not among the scorers.
    """
    name = scorer.removesuffix(EXPECTED)
    return name if name != scorer and name in scorers else None
