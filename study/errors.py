"""What can go wrong, drawn as one small hierarchy."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches


class StudyError(Exception):
    """A study could not do what was asked; the message names the thing and the remedy."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong with the input: where it stands, what was found, what to do."""

    problem: str
    remedy: str = ""
    row: int | None = None
    """Row as an editor or spreadsheet counts it: a table's header is row 1."""
    column: str | None = None

    def __str__(self) -> str:
        row = f"row {self.row}" if self.row is not None else ""
        column = f"column {self.column}" if self.column else ""
        place = ", ".join(part for part in (row, column) if part)
        text = f"{place}: {self.problem}" if place else self.problem
        return f"{text} {self.remedy}".rstrip()


class InputError(StudyError):
    """A file was refused as a whole; nothing of it was stored.

    `faults` holds every fault that was found, in the order of the file.
    """

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        count = len(self.faults)
        head = f"{source}: {'1 fault' if count == 1 else f'{count} faults'}; nothing was stored."
        super().__init__("\n".join([head, *(f"  {fault}" for fault in self.faults)]))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return "Did you mean 'x'?" for the known name closest to `name`, or an empty string."""
    candidates = list(known)
    folded = {candidate.lower(): candidate for candidate in candidates}
    close = get_close_matches(name.lower(), list(folded), n=1, cutoff=0.6)
    return f"Did you mean {folded[close[0]]!r}?" if close else ""
