"""Text of a file as messages quote it, and as CSV files for spreadsheets escape it."""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_LONGEST = 60
_MOST_NAMES = 40


def abbreviate(value: Any) -> str:
    """Return a value as Python writes it, shortened."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    try:
        return shorten(
            repr(value[: _LONGEST + 1] if isinstance(value, str | list | tuple) else value)
        )
    except RecursionError:
        return f"a {type(value).__name__} of many levels"


def shell_word(path: Path | str) -> str:
    """Return a path as a word of a shell, for a command that a message suggests."""
    return shlex.quote(str(path))


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def shorten(text: str, longest: int = _LONGEST) -> str:
    """Return a text, shortened."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def quoted_names(columns: Iterable[str]) -> str:
    """Return the names of columns with commas between them."""
    names = list(columns)
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(shorten(name) for name in names[:_MOST_NAMES]) + more


MARK = "_ccrs_export"
"""Column that marks a CSV export of this package; only such files are unescaped."""

# A spreadsheet runs text that begins with one of these as a formula, or drops the leading control
# character. The apostrophe is among them, so that unescaping needs no exception.
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


def escape_formula(text: str) -> str:
    """Return text that a spreadsheet shows and does not run."""
    return f"'{text}" if text.startswith(_ACTIVE) else text


def unescape_formula(text: str) -> str:
    """Undo `escape_formula`."""
    return text.removeprefix("'")
