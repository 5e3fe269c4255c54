"""What is known of a table before its values are read."""

from __future__ import annotations

from dataclasses import dataclass, field

from study.importing.score_columns.named_columns import NamedColumns

PLACEHOLDER = "COLUMN"
"""Stands in a command for the name of a column that only the user knows."""


@dataclass(frozen=True)
class ColumnEvidence:
    """Why a column is taken for something."""

    column: str
    role: str
    """judge, human, id, query, system, construct, scorer, scorer_kind, or what is no score."""
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
    unknown_kinds: tuple[str, ...] = ()
    """Scorers whose kind nothing tells."""
    one_side: str = ""
    """judge or human, where a table of scores has those of one side alone."""

    def reasons(self, role: str) -> dict[str, str]:
        """Why columns have a role, by column."""
        return {item.column: item.reason for item in self.evidence if item.role == role}
