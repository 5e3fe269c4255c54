"""A file as its readers see it, and the rows that they yield."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import file_digest
from pathlib import Path
from typing import Any, Literal, NamedTuple

from study.importing.import_report import ImportReport

Form = Literal["delimited", "json lines", "json document", "parquet"]
Advance = Callable[[int, int], None]


def unseen(done: int, total: int) -> None:
    """Show no progress."""
    del done, total


class Record(NamedTuple):
    """One row: its place as an editor or spreadsheet counts it, and its cells by column."""

    number: int
    cells: dict[str, Any]


@dataclass(frozen=True)
class InputFile:
    """A file that is being read; what is accepted by a rule is counted in `tally`."""

    path: Path
    tally: ImportReport = field(default_factory=ImportReport)
    advance: Advance = unseen

    @cached_property
    def sha256(self) -> str:
        """Digest of the file's bytes, in hexadecimal."""
        with self.path.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()

    @cached_property
    def size(self) -> int:
        """Length in bytes."""
        return self.path.stat().st_size
