"""A file whose form is detected from its first bytes, read as records with their row numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from study.errors import Fault, InputError
from study.importing.readers import delimited, json_text, parquet, workbook
from study.importing.readers.input_file import BOM, Form, InputFile, Record, not_text

# A key without a value is left out of an object by many programs: so many tell the columns.
_HEAD_RECORDS = 1000


@dataclass(frozen=True)
class RecordSource(InputFile):
    """A file with its form and its records."""

    @cached_property
    def form(self) -> Form:
        """The kind of file: detected from its content, and from its name where that is not enough.

            Raises
            ------
            InputError
        The file does not exist, is empty, or is not UTF-8.
        """
        if not self.path.is_file():
            remedy = "Give a file." if self.path.is_dir() else "Check the path."
            kind = "is a folder" if self.path.is_dir() else "does not exist"
            raise InputError(self.path.name, [Fault(f"{self.path} {kind}.", remedy)])
        with self.path.open("rb") as stream:
            head = stream.read(4096)
        if head.startswith(b"PAR1"):
            return "parquet"
        if head.startswith(b"PK\x03\x04") and workbook.is_workbook(self.path):
            return "workbook"
        fault = not_text(head)
        if fault:
            raise InputError(self.path.name, [fault])
        start = head.removeprefix(BOM).lstrip()
        suffix = self.path.suffix.lower()
        if start[:1] in (b"{", b"[") and suffix not in {".csv", ".tsv"}:
            return json_text.form(self.path, suffix, start)
        return "delimited"

    @cached_property
    def document(self) -> Any:
        """The whole of a JSON document; None for other files, which are read record by record."""
        return json_text.document(self) if self.form == "json document" else None

    @cached_property
    def head(self) -> "Head":
        """Columns and first record, for recognising the file.

        The columns of JSON are the keys of its first records."""
        if self.form == "json document" and isinstance(self.document, dict):
            return Head(self.form, tuple(self.document), self.document)
        names = (
            parquet.header(self) if self.form == "parquet"
            else delimited.header(self) if self.form == "delimited"
            else workbook.header(self) if self.form == "workbook"
            else ()
        )  # fmt: skip
        faults: list[Fault] = []
        first: dict[str, Any] | None = None
        columns = dict.fromkeys(names)
        for place, record in enumerate(self.peeked()):
            if first is not None and (names or place >= _HEAD_RECORDS):
                break
            if isinstance(record, Fault):
                faults.append(record)
                continue
            first = record.cells if first is None else first
            columns.update(dict.fromkeys(record.cells))
        if first is None and self.form != "parquet":
            raise InputError(self.path.name, faults, self.report.notes)
        return Head(self.form, tuple(columns), first or {})

    def peeked(self) -> Iterator[Record | Fault]:
        """Read the beginning of the file without counting anything."""
        if self.form == "delimited":
            return delimited.records(InputFile(self.path))
        if self.form == "workbook":
            return workbook.records(InputFile(self.path))
        return (
            json_text.lines(InputFile(self.path)) if self.form == "json lines" else self.records()
        )

    def records(self) -> Iterator[Record | Fault]:
        """Read the file from its beginning, with a fault in the place of each unreadable row."""
        if self.form == "delimited":
            return delimited.records(self)
        if self.form == "parquet":
            return parquet.records(self)
        if self.form == "workbook":
            return workbook.records(self)
        if self.form == "json lines":
            return json_text.lines(self)
        whole = self.document
        return json_text.objects(self, whole if isinstance(whole, list) else [whole])


class Head(NamedTuple):
    """The columns of a table, or the keys of its first objects."""

    form: Form
    columns: tuple[str, ...]
    first: dict[str, Any]
    """The first record, or a JSON document that is one object; empty where unknown."""
