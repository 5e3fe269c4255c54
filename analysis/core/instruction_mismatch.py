"""Rules that raters were given and a judge was not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class RulesApart:
    """What a judge was not told on a construct, though the raters were."""

    construct: str
    judge: str
    rules: tuple[str, ...] | None
    """None: what the judge was told is not known."""


def lacking(rules: Iterable[str], prompt: str) -> tuple[str, ...]:
    """Return the rules whose words a prompt does not hold; case and line breaks don't matter."""
    words = _plain(prompt)
    return tuple(rule for rule in rules if _plain(rule) not in words)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
