"""A file whose form is detected from its first bytes, read as records with their row numbers; and
a file as a table, in which inner objects are columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from study.errors import Fault, InputError
from study.importing.readers import delimited, json_text, workbook
from study.importing.readers.input_file import (
    BOM,
    Advance,
    Form,
    InputFile,
    Record,
    not_text,
    unseen,
)
from study.pyarrow_extra import load_pyarrow
from study.text import shorten

# A key without a value is left out of an object by many programs: so many tell the columns.
_HEAD_RECORDS = 1000
# So many rows tell what a column has whose name has two meanings.
_HEAD_ROWS = 100


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
            raise self.refused(f"{self.path} {kind}.", remedy)
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
    def head(self) -> Head:
        """Columns and first record, for recognising the file.

        The columns of JSON are the keys of its first records."""
        if self.form == "json document" and isinstance(self.document, dict):
            return Head(self.form, tuple(self.document), self.document)
        names = (
            _parquet_columns(self) if self.form == "parquet"
            else delimited.header(self) if self.form == "delimited"
            else workbook.header(self) if self.form == "workbook"
            else ()
        )  # fmt: skip
        faults: list[Fault] = []
        rows: list[dict[str, Any]] = []
        columns = dict.fromkeys(names)
        for place, record in enumerate(self._begun()):
            if rows and place >= (_HEAD_ROWS if names else _HEAD_RECORDS):
                break
            if isinstance(record, Fault):
                faults.append(record)
                continue
            if len(rows) < _HEAD_ROWS:
                rows.append(record.cells)
            columns.update(dict.fromkeys(record.cells))
        if not rows and self.form != "parquet":
            raise InputError(self.path.name, faults, self.report.notes)
        return Head(self.form, tuple(columns), rows[0] if rows else {}, tuple(rows))

    def peeked(self) -> Iterator[Record]:
        """Read the file without counting anything, and without its unreadable rows."""
        return (record for record in self._begun() if isinstance(record, Record))

    def _begun(self) -> Iterator[Record | Fault]:
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
            return _parquet_records(self)
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
    rows: tuple[dict[str, Any], ...] = ()
    """The first records; empty where unknown."""


COUNTED_FROM_1 = "Rows of a Parquet file are counted from 1."

_PARQUET_ROWS = 500


def _parquet_columns(source: InputFile) -> tuple[str, ...]:
    return tuple(_opened(source).schema_arrow.names)


def _parquet_records(source: InputFile) -> Iterator[Record | Fault]:
    """The rows of a Parquet file, read in batches; lists stay lists, missing cells are None."""
    if COUNTED_FROM_1 not in source.report.notes:
        source.report.notes.append(COUNTED_FROM_1)
    pa = load_pyarrow()
    file = _opened(source)
    columns = file.schema_arrow.names
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise source.refused(f"the column {twice[0]!r} occurs twice.", "Rename one of them.")
    number, total = 0, file.metadata.num_rows
    if total == 0:
        raise source.refused("the file has columns and no rows.", "Save it again with its rows.")
    batches = file.iter_batches(batch_size=_PARQUET_ROWS)
    while True:
        try:
            batch = next(batches, None)
            rows = [] if batch is None else batch.to_pylist()
        except UnicodeDecodeError:
            problem = f"a text in the rows after {number} is not UTF-8."
            raise source.refused(problem, "Write it again from text that is.") from None
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            raise _unreadable(source, error, number) from None
        if batch is None:
            return
        for cells in rows:
            number += 1
            yield Record(number, cells)
        source.advance(number, total)


def _opened(source: InputFile) -> Any:
    pa = load_pyarrow()
    try:
        return pa.parquet.ParquetFile(source.path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(source, error) from None


def _unreadable(source: InputFile, error: Exception, number: int | None = None) -> InputError:
    first = shorten(str(error).partition("\n")[0], 200)
    where = "" if number is None else f" after row {number}"
    return source.refused(
        f"the Parquet file can't be read{where}: {first}",
        "It may be cut off or damaged; copy or write it again.",
    )


_LEVELS = 2


def table_source(path: Path | str, advance: Advance = unseen) -> RecordSource:
    """A file as a table: objects inside of rows become columns, such as judge.label."""
    return FlatSource(Path(path), advance=advance)


@dataclass(frozen=True)
class FlatSource(RecordSource):
    """A file in whose rows objects are replaced by their values, to a depth of two."""

    @cached_property
    def head(self) -> Head:
        """Columns and first record, with inner names behind a point."""
        plain = super().head
        if plain.form not in ("json lines", "json document", "parquet"):
            return plain
        if plain.form == "json document" and isinstance(self.document, dict):
            return plain
        columns: dict[str, None] = {}
        for place, record in enumerate(self.peeked()):
            if place >= 1000:
                break
            columns.update(dict.fromkeys(record.cells))
        # In the order of the file, with the parts of an object where the object stands.
        order = {name: place for place, name in enumerate(plain.columns)}
        outer = {name: order.get(name, order.get(name.split(".")[0], -1)) for name in columns}
        names = tuple(sorted(columns, key=lambda name: outer[name]))
        rows = tuple(map(flat, plain.rows))
        return Head(plain.form, names or plain.columns, flat(plain.first), rows)

    def _begun(self) -> Iterator[Record | Fault]:
        return map(_flat_record, super()._begun())

    def records(self) -> Iterator[Record | Fault]:
        """Read the file from its beginning, with a fault in the place of each unreadable row."""
        return map(_flat_record, super().records())


def flat(cells: Mapping[str, Any], levels: int = _LEVELS) -> dict[str, Any]:
    """The cells of a row with the values of inner objects in their place: judge.label."""
    if not any(isinstance(cell, dict) for cell in cells.values()):
        return dict(cells)
    result: dict[str, Any] = {}
    for name, cell in cells.items():
        if isinstance(cell, dict) and cell and levels:
            inner = flat({str(key): value for key, value in cell.items()}, levels - 1)
            for key, value in inner.items():
                result.setdefault(f"{name}.{key}", value)
        else:
            result[name] = cell
    return result


def _flat_record(record: Record | Fault) -> Record | Fault:
    return Record(record.number, flat(record.cells)) if isinstance(record, Record) else record
