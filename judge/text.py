"""What models and servers said, for a terminal: nothing of it may steer the terminal."""

import json
import unicodedata

# Controls, signs that change the direction of text or have no width, breaks of lines.
_ESCAPED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str) -> str:
    """Return a text on one line, with what would not be seen written out.

    Examples
    --------
    >>> print(printable("85\\x1b[2J"))
    85\\x1b[2J
    """
    return "".join(_escape(sign) if _is_hidden(sign) else sign for sign in text)


def printable_lines(text: str) -> list[str]:
    """Return the lines of a text, each printable; tabs stay."""
    return ["\t".join(map(printable, line.split("\t"))) for line in text.split("\n")]


def quoted(text: str | None) -> str:
    """Return a text in quotes, as JSON writes it but for what would not be seen; None: null."""
    return printable(json.dumps(text, ensure_ascii=False))


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in _ESCAPED


def _escape(sign: str) -> str:
    return ascii(sign)[1:-1]
