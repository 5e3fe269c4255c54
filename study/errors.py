"""The errors that a user can cause or repair."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches


class StudyError(Exception):
    """A request could not be carried out; the message names the cause and the remedy."""


class StudyExistsError(StudyError):
    """A study exists where a new one was to be created."""


class StorageError(StudyError):
    """The disk is full or can't be written; the last write was undone."""


@dataclass(frozen=True)
class Fault:
    """One problem of the input: its place, its value and the remedy."""

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
    """A file was refused as a whole: nothing was stored, and no result was written.

    `faults` are all faults, in the order of the file. The message lists them all; of many faults
    of one kind it shows the first ones, and the rows of the others.
    """

    def __init__(self, source: str, faults: Sequence[Fault], notes: Sequence[str] = ()) -> None:
        self.source = source
        self.faults = tuple(faults)
        count = len(self.faults)
        head = f"{source}: {'1 fault' if count == 1 else f'{count} faults'}; nothing was written."
        lines = [*_listed(self.faults), *notes]
        super().__init__("\n".join([head, *(f"  {line}" for line in lines)]))


# Up to this many faults are listed one by one; beyond, this many of each kind.
_MOST_LISTED, _MOST_OF_A_KIND = 50, 5


def _listed(faults: Sequence[Fault]) -> list[str]:
    if len(faults) <= _MOST_LISTED:
        return [str(fault) for fault in faults]
    kinds: dict[tuple[str | None, str], list[Fault]] = {}
    for fault in faults:
        # Remedies that differ in their number only are of one kind: "Write 63.5", "Write 70.5".
        remedy = re.sub(r"\d+(\.\d+)?", "0", fault.remedy)
        kinds.setdefault((fault.column, remedy), []).append(fault)
    lines = []
    for alike in kinds.values():
        lines += [str(fault) for fault in alike[:_MOST_OF_A_KIND]]
        others = alike[_MOST_OF_A_KIND:]
        rows = [fault.row for fault in others if fault.row is not None]
        lines += [str(fault) for fault in others if fault.row is None]
        if rows:
            lines.append(f"  and {len(rows)} more like these, in rows {_ranges(rows)}")
    return lines


def _ranges(numbers: Iterable[int]) -> str:
    """Return row numbers as text, with runs drawn together: "3-7, 9"."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Return "Did you mean 'x'?" for the candidate closest to `name`, or an empty string."""
    folded = {candidate.lower(): candidate for candidate in candidates}
    close = get_close_matches(name.lower(), list(folded), n=1, cutoff=0.6)
    return f"Did you mean {folded[close[0]]!r}?" if close else ""


def without_effect(option: str, value: object, why: str, remedy: str = "") -> str:
    """Return the message about an option that has no effect, with what to do instead, if anything.

    `option` is its word, such as "--sample". The value of a flag is True.
    """
    if value is True:
        shown = option
    elif isinstance(value, list | tuple):
        shown = f"{option} {','.join(map(str, value))}"
    else:
        shown = f"{option} {value:g}" if isinstance(value, float) else f"{option} {value}"
    instead = f", or {remedy}" if remedy else ""
    return f"{shown} has no effect here: {why}. Leave it out{instead}."
