"""Text for a terminal, which model output cannot control; results as lines."""

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

# Control characters, characters without width or that change the direction of text, line breaks.
_ESCAPED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


class Result:
    """Base of the dataclasses that a command prints as lines or as JSON."""

    def as_json(self) -> dict[str, Any]:
        """Return the fields as values that JSON can represent."""
        return asdict(cast(Any, self))


def by_number(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return names with their numbers, the largest number first, equal numbers by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def printable(text: str) -> str:
    """Return a text on one line with invisible characters escaped.

    Examples
    --------
    >>> print(printable("85\\x1b[2J"))
    85\\x1b[2J
    """
    return "".join(_escape(sign) if _is_hidden(sign) else sign for sign in text)


def printable_lines(text: str) -> list[str]:
    """Return the lines of a text with invisible characters escaped, except tabs."""
    return ["\t".join(map(printable, line.split("\t"))) for line in text.split("\n")]


def quoted(text: str | None) -> str:
    """Return a text as a JSON string with invisible characters escaped; None becomes null."""
    return printable(json.dumps(text, ensure_ascii=False))


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in _ESCAPED


def _escape(sign: str) -> str:
    return ascii(sign)[1:-1]
