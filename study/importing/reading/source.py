"""A file, recognised by its first bytes and read as records with their place."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import file_digest
from pathlib import Path
from typing import Any, Literal, NamedTuple

from study.errors import Fault, InputError
from study.importing.tally import Tally

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
class Source:
    """A file that is being read; what is accepted by a rule is counted in `tally`."""

    path: Path
    tally: Tally = field(default_factory=Tally)
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

    @cached_property
    def form(self) -> Form:
        """What kind of file it is, told from its content, and from its name only where that says
        nothing.

        Raises
        ------
        InputError
            The file is not there, is empty, or is UTF-16.
        """
        from study.importing.reading import json_text, plain

        if not self.path.is_file():
            remedy = "Give a file." if self.path.is_dir() else "Check the path."
            kind = "is a folder" if self.path.is_dir() else "does not exist"
            raise InputError(self.path.name, [Fault(f"{self.path} {kind}.", remedy)])
        with self.path.open("rb") as stream:
            head = stream.read(4096)
        if head.startswith(b"PAR1"):
            return "parquet"
        fault = plain.not_text(head)
        if fault:
            raise InputError(self.path.name, [fault])
        start = head.removeprefix(plain.BOM).lstrip()
        named = self.path.suffix.lower()
        if start[:1] in (b"{", b"[") and named not in {".csv", ".tsv"}:
            return json_text.form(self.path, named, start)
        return "delimited"

    @cached_property
    def document(self) -> Any:
        """The whole of a JSON document; None for other files, which are read record by record."""
        from study.importing.reading import json_text

        return json_text.document(self) if self.form == "json document" else None

    @cached_property
    def head(self) -> "Head":
        """Columns and first record, for recognising the file."""
        if self.form == "json document" and isinstance(self.document, dict):
            return Head(self.form, tuple(self.document), self.document)
        if self.form == "delimited":
            from study.importing.reading import delimited

            columns = delimited.header(self)
            first = next((r for r in self.records() if isinstance(r, Record)), None)
            return Head(self.form, columns, first.cells if first else {})
        if self.form == "parquet":
            from study.importing.reading import parquet

            return Head(self.form, parquet.header(self), {})
        first = next((r for r in self.records() if isinstance(r, Record)), None)
        return Head(self.form, tuple(first.cells) if first else (), first.cells if first else {})

    def records(self) -> Iterator[Record | Fault]:
        """Read the file from its beginning, with a fault in the place of each unreadable row."""
        if self.form == "delimited":
            from study.importing.reading import delimited

            return delimited.records(self)
        if self.form == "parquet":
            from study.importing.reading import parquet

            return parquet.records(self)
        from study.importing.reading import json_text

        return json_text.records(self)


class Head(NamedTuple):
    """What a file looks like: the columns of a table, or the keys of its first object."""

    form: Form
    columns: tuple[str, ...]
    first: dict[str, Any]
    """The first record, or a JSON document that is one object; empty where unknown."""
