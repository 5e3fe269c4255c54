"""The columns of judges and raters in a table with a column for each of them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

IDENTIFYING = ("id", "query", "system", "construct")
"""What identifies a row, in the order of the options."""


@dataclass(frozen=True)
class NamedColumns:
    """Columns of judges and raters, as COLUMN or CONSTRUCT=COLUMN, and what identifies a row."""

    judge: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    id: str | None = None
    query: str | None = None
    system: str | None = None
    construct: str | None = None
    values: tuple[str, ...] = ()
    """Numbers of words, as in good=2,ok=1,bad=0."""

    def __bool__(self) -> bool:
        return any(vars(self).values())

    def options(self, construct_option: str = "--construct") -> str:
        """The options that name these columns, quoted for a shell."""
        words = []
        for name in ("judge", "human"):
            words += [f"--{name} {shlex.quote(text)}" for text in getattr(self, name)]
        for name in IDENTIFYING:
            if (column := getattr(self, name)) is not None:
                option = construct_option if name == "construct" else f"--{name}"
                words.append(f"{option} {shlex.quote(column)}")
        return " ".join(words)


def column_of(text: str, present: Sequence[str]) -> str:
    """The column of COLUMN or CONSTRUCT=COLUMN."""
    return parts(text, present)[1]


def parts(text: str, present: Sequence[str]) -> tuple[str | None, str]:
    """The construct, if it is named, and the column of CONSTRUCT=COLUMN."""
    construct, separator, column = text.partition("=")
    return (construct, column) if separator and text not in present else (None, text)
