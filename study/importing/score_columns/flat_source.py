"""A table whose rows are nested objects, as one with a column for each inner value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from study.errors import Fault
from study.importing.readers.input_file import Advance, Record, unseen
from study.importing.readers.source import Head, RecordSource

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
            if isinstance(record, Record):
                columns.update(dict.fromkeys(record.cells))
        # In the order of the file, with the parts of an object where the object stands.
        order = {name: place for place, name in enumerate(plain.columns)}
        outer = {name: order.get(name, order.get(name.split(".")[0], -1)) for name in columns}
        names = tuple(sorted(columns, key=lambda name: outer[name]))
        return Head(plain.form, names or plain.columns, flat(plain.first))

    def peeked(self) -> Iterator[Record | Fault]:
        """Read the beginning of the file without counting anything."""
        return map(_flat_record, super().peeked())

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
