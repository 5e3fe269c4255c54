"""Words for a passed or failed response in a column of scores, read as 1 and 0."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from study.text import shell_word

#: The word that is read as 1, and the one that is read as 0. `analysis.core.verdict_words` has
#: the same, which a test compares.
VERDICT_WORDS = (("pass", "fail"), ("true", "false"), ("yes", "no"))

#: What an import reports.
READ_AS_NUMBERS = "pass, true or yes read as 1, fail, false or no as 0"

NUMBERS = "numbers"

_MEANING = {
    word: (f"{words[0]} and {words[1]}", value)
    for words in VERDICT_WORDS
    for word, value in zip(words, (1.0, 0.0), strict=True)
}


def verdict(cell: Any) -> tuple[str, float] | None:
    """Return the pair of words that a cell is one of, such as 'pass and fail', and 1 or 0.

    None where the cell has another content. Capital letters and spaces around do not matter.
    """
    if isinstance(cell, bool):
        cell = str(cell)
    if not isinstance(cell, str) or cell[:1].isdigit():
        return None
    return _MEANING.get(cell.strip().casefold())


@dataclass
class WrittenValues:
    """How the values of each scorer on each construct are written: in numbers, or in which words.

    A scorer that uses two ways on one construct may mean two things.
    """

    first: dict[Hashable, tuple[str, int]] = field(default_factory=dict)
    """By scorer and construct: how the first value is written, and its row."""

    def other_way(self, group: Hashable, written: str, row: int) -> str | None:
        """Note how a value is written; return how the first one is, where that is different."""
        earlier, first_row = self.first.setdefault(group, (written, row))
        return None if earlier == written else f"{earlier} (row {first_row})"


def beyond_pass_and_fail(low: float, high: float) -> str | None:
    """Return why words for pass and fail are not points of a scale; None where they are."""
    if (low, high) == (0, 1):
        return None
    return f"a word for pass or fail is 1 or 0, and the scale is {low:g} to {high:g}"


def declare_two_points(scorer: str, construct: str, kind: str) -> str:
    """Return the remedy for words of a scorer whose scale has other points."""
    own = f"--scale {shell_word(f'{scorer}:{construct}=0:1:1')}"
    if kind == "human":
        return f"Add {own}, or write points of the scale."
    return (
        f"Add {own} and the lowest value with which people pass, --cut human=VALUE; or write "
        "points of the scale."
    )


THREE_CATEGORIES = (
    "Write three or more categories as numbers in their order, such as 0, 1 and 2 on a scale "
    "0:2:1, or leave the cell empty if the verdict is missing."
)
