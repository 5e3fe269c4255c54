"""What can go wrong in `analysis`, drawn as one small hierarchy."""

from __future__ import annotations

from collections.abc import Sequence


class AnalysisError(ValueError):
    """An analysis could not do what was asked; the message names the thing and the remedy."""


class TableError(AnalysisError):
    """A table was refused as a whole; `faults` lists everything wrong with it, in words."""

    def __init__(self, what: str, faults: Sequence[str]) -> None:
        self.what = what
        self.faults = tuple(faults)
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        super().__init__("\n".join([f"{what}: {count}.", *(f"  {fault}" for fault in self.faults)]))


class ReportError(AnalysisError):
    """A report could not be written."""
