"""The errors of `analysis`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches


class AnalysisError(ValueError):
    """An analysis cannot be done as requested; the message names the cause and the remedy."""


class TableError(AnalysisError):
    """A table was refused as a whole; `faults` describes everything that is wrong with it."""

    def __init__(self, table: str, faults: Sequence[str]) -> None:
        self.table = table
        self.faults = tuple(faults)
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        super().__init__(
            "\n".join([f"{table}: {count}.", *(f"  {fault}" for fault in self.faults)])
        )


class ReportError(AnalysisError):
    """A report could not be written."""


def did_you_mean(name: str, present: Collection[str]) -> str:
    """Return a question that suggests the most similar present name, or an empty text."""
    close = get_close_matches(name, list(present), n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""
