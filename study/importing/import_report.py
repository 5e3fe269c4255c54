"""What an import counted: accepted, left out, added, faulty; and its summary in words."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Self

from study.errors import Fault

BLANK = "blank"
"""Reason of a value that its file leaves blank."""
TWICE = "an identical row twice"


@dataclass
class ImportReport:
    """Counts and faults of one import, filled by its reader and by what stores its rows."""

    rows: int = 0
    added: Counter[str] = field(default_factory=Counter)
    already: Counter[str] = field(default_factory=Counter)
    """By noun: things of the file that the study held before."""
    rules: Counter[str] = field(default_factory=Counter)
    """By rule: what was accepted although it was not written as it should be."""
    left_out: Counter[str] = field(default_factory=Counter)
    """By reason: what was not stored."""
    unmatched: dict[str, list[int]] = field(default_factory=dict)
    """By name of a response that the study has not: the rows that mention it."""
    warnings: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader of the faults must know, such as how rows are counted."""

    _last: int | None = None

    def see(self, row: int | None) -> None:
        """Count a row of the file; what one row holds comes in turn."""
        self.rows += row is None or row != self._last
        self._last = row

    @property
    def kept_aside(self) -> int:
        """How many rows mention a response that the study has not."""
        return len(set().union(*self.unmatched.values()))

    def fault(
        self, problem: str, remedy: str, row: int | None = None, column: str | None = None
    ) -> None:
        """Note a fault; the import goes on, to find the others, and is then undone."""
        self.faults.append(Fault(problem, remedy, row, column))


# A screen's worth; the JSON form holds all of them.
_SHOWN = 20


@dataclass(frozen=True)
class ImportSummary:
    """What came of an import, by noun in the plural (`responses`, `scores`, ...)."""

    source: str
    importer: str
    rows: int
    added: dict[str, int]
    already: dict[str, int]
    rules: dict[str, int]
    """Accepted by a stated rule: the rule, and how often it was used."""
    left_out: dict[str, int]
    unmatched: dict[str, list[int]]
    """Kept aside: ids that the study has not, with the rows that mention them."""
    warnings: tuple[str, ...]
    imported_before: datetime | None = None
    """When this very file came in before; nothing was done then."""

    @classmethod
    def of(
        cls, tally: ImportReport, source: str, importer: str, before: datetime | None = None
    ) -> Self:
        """Return the summary of what `tally` counted."""
        return cls(
            source=source,
            importer=importer,
            rows=tally.rows,
            added={noun: n for noun, n in tally.added.items() if n},
            already={noun: n for noun, n in tally.already.items() if n},
            rules=dict(tally.rules),
            left_out=dict(tally.left_out),
            unmatched=dict(tally.unmatched),
            warnings=tuple(tally.warnings),
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
        rows = _counted(self.rows, "row")
        lines = [f"{self.source} ({self.importer}, {rows}): {added} added."]
        if self.already:
            lines.append(f"Already there: {_listed(self.already)}.")
        lines += [f"Accepted: {rule} ({n})." for rule, n in self.rules.items()]
        lines += [f"Left out: {what} ({n})." for what, n in self.left_out.items()]
        if self.unmatched:
            aside = len(set().union(*self.unmatched.values()))
            names = list(self.unmatched)
            more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            lines.append(
                f"Kept aside: {_counted(aside, 'row')} with {_counted(len(names), 'id')} that the "
                f"study has not: {', '.join(names[:_SHOWN])}{more}."
            )
        return lines + [f"Warning: {warning}" for warning in self.warnings]

    def as_json(self) -> dict[str, Any]:
        """Return the summary as values that JSON can hold."""
        before = self.imported_before
        return {
            **asdict(self),
            "warnings": list(self.warnings),
            "imported_before": None if before is None else before.isoformat(),
            "changed": self.changed,
        }


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


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
    "expected values": "expected value",
}
