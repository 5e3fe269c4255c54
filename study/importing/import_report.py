"""What an import counted: accepted, left out, added, faulty; and its summary in words."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Self

from study.errors import Fault
from study.text import counted, quoted_names

BLANK = "blank"
"""Reason of a value that its file leaves blank."""
UNKNOWN_COLUMN = "cells of the unknown column "
"""Begins the content of a column that is left out."""
TWICE = "an identical row twice"


@dataclass
class ImportReport:
    """Counts and faults of one import, filled by its reader and by what stores its rows."""

    rows: int = 0
    added: Counter[str] = field(default_factory=Counter)
    already: Counter[str] = field(default_factory=Counter)
    """Table to the number of its rows in the file that were in the study before."""
    changed: Counter[str] = field(default_factory=Counter)
    """Table to the number of its rows whose content replaces that of an earlier import."""
    withdrawn: Counter[str] = field(default_factory=Counter)
    """Table to the number of rows of an earlier import that this one no longer has."""
    rules: Counter[str] = field(default_factory=Counter)
    """Rule to how often it accepted something that is not in the documented form."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Content that was not stored, with how often it occurred."""
    unmatched: dict[str, list[int]] = field(default_factory=dict)
    """Name of a response that is not in the study to the rows that name it."""
    warnings: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Remarks on the faults, such as how rows are counted."""

    _last: int | None = None

    def count_row(self, row: int | None) -> None:
        """Count a row of the file; several things of one row come one after another."""
        self.rows += row is None or row != self._last
        self._last = row

    @property
    def unmatched_rows(self) -> int:
        """Number of rows that name a response which is not in the study."""
        return len(set().union(*self.unmatched.values()))

    def fault(
        self, problem: str, remedy: str, row: int | None = None, column: str | None = None
    ) -> None:
        """Add a fault. The import continues, to find further faults, and is then rolled back."""
        self.faults.append(Fault(problem, remedy, row, column))


# The JSON output lists all of them.
_SHOWN = 20


@dataclass(frozen=True)
class ImportSummary:
    """The result of an import; counts are by table (`responses`, `scores`, ...)."""

    source: str
    importer: str
    rows: int
    added: dict[str, int]
    already: dict[str, int]
    rules: dict[str, int]
    """Rule to how often it accepted something that is not in the documented form."""
    left_out: dict[str, int]
    unmatched: dict[str, list[int]]
    """Ids that are not in the study, with the rows that name them; these rows are left out."""
    warnings: tuple[str, ...]
    imported_before: datetime | None = None
    """When the same file was imported before; None: not yet. Nothing was changed this time."""

    @classmethod
    def of(
        cls, report: ImportReport, source: str, importer: str, before: datetime | None = None
    ) -> Self:
        """Return the summary of what `report` counted."""
        return cls(
            source=source,
            importer=importer,
            rows=report.rows,
            added={noun: n for noun, n in report.added.items() if n},
            already={noun: n for noun, n in report.already.items() if n},
            rules=dict(report.rules),
            left_out=dict(report.left_out),
            unmatched=dict(report.unmatched),
            warnings=tuple(report.warnings),
            imported_before=before,
        )

    @property
    def changed(self) -> bool:
        """Whether anything was stored."""
        return bool(self.added)

    def lines(self) -> list[str]:
        """Return the summary as lines of text that can be read independently."""
        if self.imported_before is not None:
            when = self.imported_before.strftime("%Y-%m-%d %H:%M UTC")
            return [
                f"{self.source} was imported as {self.importer} on {when}; nothing was changed."
            ]
        added = _listed(self.added) or "nothing"
        read = counted(self.rows, "row")
        lines = [f"{self.source} ({self.importer}, {read}): {added} added."]
        if self.already:
            lines.append(f"Already in the study: {_listed(self.already)}.")
        lines += [f"Accepted: {rule} ({n})." for rule, n in self.rules.items()]
        others = [content for content in self.left_out if content.startswith(UNKNOWN_COLUMN)]
        lines += [
            f"Left out: {content} ({n})."
            for content, n in self.left_out.items()
            if content not in others
        ]
        if others:
            names = [content.removeprefix(UNKNOWN_COLUMN).strip("'\"") for content in others]
            lines.append(f"Left out, not used: {quoted_names(names)}.")
        if self.unmatched:
            rows = len(set().union(*self.unmatched.values()))
            names = list(self.unmatched)
            more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            lines.append(
                f"Left out: {counted(rows, 'row')} with {counted(len(names), 'id')} "
                f"that {'is' if len(names) == 1 else 'are'} not in the study: "
                f"{', '.join(names[:_SHOWN])}{more}."
            )
        return lines + [f"Warning: {warning}" for warning in self.warnings]

    def as_json(self) -> dict[str, Any]:
        """Return the summary as plain objects for JSON."""
        before = self.imported_before
        return {
            **asdict(self),
            "warnings": list(self.warnings),
            "imported_before": None if before is None else before.isoformat(),
            "changed": self.changed,
        }


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{n} {noun if n != 1 else _SINGULAR[noun]}" for noun, n in counts.items())


_SINGULAR = {
    "queries": "query",
    "responses": "response",
    "response versions": "response version",
    "further ids": "further id",
    "outputs": "output",
    "output revisions": "output revision",
    "passages": "passage",
    "scores": "score",
    "preferences": "preference",
    "sets of marks": "set of marks",
    "expected values": "expected value",
}
