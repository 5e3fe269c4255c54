"""What is counted while a file is read and stored, so that nothing happens silently."""

from collections import Counter
from dataclasses import dataclass, field

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
