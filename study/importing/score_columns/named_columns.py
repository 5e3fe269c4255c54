"""What is known of a table before its values are read: its form, and the columns of scorers."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

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


PLACEHOLDER = "COLUMN"
"""Stands in a command for the name of a column that only the user knows."""


@dataclass(frozen=True)
class ColumnEvidence:
    """Why a column is taken for something."""

    column: str
    role: str
    """judge, human, id, query, system, construct, scorer, scorer_kind, or "no score"."""
    reason: str
    """In words, such as "'llm' in its name" or "numbered h0, h1, h2 beside llm"."""


@dataclass(frozen=True)
class Recognized:
    """The form of a table, and the columns whose role is evident."""

    form: str
    """named columns, long, wide, preferences, tool export, responses, document or unclear."""
    columns: NamedColumns | None = None
    """Of a table with a column for each judge and rater; None where the roles are not evident."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Scorers whose kind no row states, with the kind that is evident from a name."""
    evidence: tuple[ColumnEvidence, ...] = ()
    unclear: str = ""
    """What is not evident, in a sentence without a full stop."""
    candidates: tuple[str, ...] = ()
    """Columns that may hold further scores, of which nothing says whose they are."""
    example: NamedColumns = field(default_factory=NamedColumns)
    """The options that are missing, with COLUMN in place of what is not evident."""
    can_be_completed: bool = True
    """Whether the table has a candidate for each COLUMN of the example."""
    evident: bool = True
    """False where no column is evidently that of a judge or rater, so that the table may be of
    another kind."""
    unknown_kinds: tuple[str, ...] = ()
    """Scorers whose kind nothing tells."""
    one_side: str = ""
    """judge or human, where a table of scores has those of one side alone."""

    def reasons(self, role: str) -> dict[str, str]:
        """Why columns have a role, by column."""
        return {item.column: item.reason for item in self.evidence if item.role == role}
