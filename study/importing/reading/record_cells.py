"""A file's records, read field by field into rows; what can't be read becomes a fault."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from study.errors import Fault, InputError, nearest
from study.importing.reading import cells
from study.importing.reading.cells import CellError
from study.importing.reading.defused import MARK, restored
from study.importing.reading.file import Record
from study.importing.reading.layout import ATTRIBUTE, Fields, Layout, layout_of, missing_column
from study.importing.reading.source import Source
from study.importing.rows import Placed, PreferenceRow, ResponseRow, ScoreRow
from study.nouns.imported import ScorerKind

KINDS = get_args(ScorerKind)

T = TypeVar("T")


@dataclass
class Reader:
    """Reads records of a source by field, and counts the columns that nobody knows."""

    source: Source
    fields: Fields
    kept: Callable[[str], bool] = MARK.__eq__
    """Tells the columns that the caller reads by itself."""
    families: bool = False
    """Whether passage_1, ... and attribute.NAME mean something."""
    _layouts: dict[tuple[str, ...], Layout] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.typed = self.source.form != "delimited"
        self.decimal_comma = False
        self.defused = False
        if not self.typed:
            from study.importing.reading import delimited

            self.decimal_comma = delimited.delimiter(self.source) != ","
            self.defused = MARK in self.source.head.columns

    def __iter__(self) -> "Iterator[RecordCells | Fault]":
        for record in self.source.records():
            yield record if isinstance(record, Fault) else self.cells(record)

    def cells(self, record: Record) -> "RecordCells":
        """Return a record's cells, to be read by field."""
        columns = tuple(record.cells)
        layout = self._layouts.get(columns)
        if layout is None:
            layout = layout_of(columns, self.fields, self.kept, families=self.families)
            self._layouts[columns] = layout
        for name in layout.unknown:
            self.source.tally.left_out[f"cells of the unknown column {name!r}"] += 1
        return RecordCells(record, layout, self)

    def require(self, *names: str, instead: str = "") -> None:
        """Refuse a table whose header lacks a column; JSON objects are asked one by one.

        `instead` names an option that can stand for it.

        Raises
        ------
        InputError
            Naming each column that is missing, what is there, and the nearest.
        """
        columns = self.source.head.columns
        if self.source.form in ("delimited", "parquet"):
            there = layout_of(columns, self.fields, self.kept, families=self.families).columns
            missing = [name for name in names if name not in there]
            faults = [missing_column(self.fields[name], columns, 1, instead) for name in missing]
            if faults:
                raise InputError(self.source.path.name, faults)


class RecordCells:
    """One record, read by field; faults are gathered until its row is made."""

    __slots__ = ("_faults", "_layout", "_reader", "_record", "number")

    def __init__(self, record: Record, layout: Layout, reader: Reader) -> None:
        self.number = record.number
        self._record = record.cells
        self._layout = layout
        self._reader = reader
        self._faults: list[Fault] = []

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the record's columns."""
        return tuple(self._record)

    def has(self, name: str) -> bool:
        """Whether the record has a cell for a field, and something in it."""
        column = self._layout.columns.get(name)
        return column is not None and self._record[column] not in (None, "")

    def key(self, name: str) -> str | None:
        """Read a name or id."""
        column = self._layout.columns.get(name)
        if column is None:
            return None
        cell = self._record[column]
        if type(cell) is str and not self._reader.defused:
            return cell or None  # nearly every cell of a table of scores
        return self._tried(column, lambda found: cells.key(found, self._reader.source.tally))

    def text(self, name: str) -> str | None:
        """Read a text."""
        return self._read(name, cells.text)

    def value(self, name: str) -> float | None:
        """Read a number; a missing one is counted."""
        return self._read(name, self._number, defused=False)

    def value_of(self, column: str) -> float | None:
        """Read the number in a column of any name."""
        return self._tried(column, self._number, defused=False)

    def number_in(self, name: str, cell: Any) -> float | None:
        """Read a number that stands inside a cell, under a name of its own."""
        return self._reported(name, cell, self._number)

    def whole(self, name: str) -> int | None:
        """Read a whole number, if there is one."""
        if not self.has(name):
            return None
        return self._read(name, lambda cell: cells.whole(self._number(cell)), defused=False)

    def share(self, name: str) -> float | None:
        """Read a number that may be left out, such as a probability."""
        return self.value(name) if self.has(name) else None

    def listed(self, name: str) -> list[Any]:
        """Read a list."""
        return self._read(name, cells.listed) or []

    def mapping(self, name: str) -> dict[str, Any]:
        """Read an object."""
        return self._read(name, cells.mapping) or {}

    def numbered_passages(self) -> list[str]:
        """Return the cells of passage_1, passage_2, ... that are not blank."""
        found = (self._tried(column, cells.text) for column in self._layout.passages)
        return [passage for passage in found if passage]

    def attributes(self) -> dict[str, Any]:
        """Return the cells of the columns attribute.NAME that are not blank."""
        found = {
            column.removeprefix(ATTRIBUTE): self._tried(column, lambda cell: cell)
            for column in self._layout.attributes
        }
        return {name: cell for name, cell in found.items() if cell not in (None, "")}

    def fault(self, problem: str, remedy: str, column: str | None = None) -> None:
        """Note what is wrong with the record."""
        self._faults.append(Fault(problem, remedy, self.number, column))

    def row(
        self, model: type[ResponseRow | ScoreRow | PreferenceRow], **values: Any
    ) -> Iterator[Placed | Fault]:
        """Yield the row, or everything that is wrong with it; None is what is not given."""
        faults, self._faults = self._faults, []
        try:
            row = model.model_validate({k: v for k, v in values.items() if v is not None})
        except ValidationError as error:
            told = {fault.column for fault in faults}
            for detail in error.errors(include_url=False):
                fault = self._described(detail)
                if fault.column is None or fault.column not in told:
                    faults.append(fault)
            yield from faults
            return
        yield from faults
        if not faults:
            yield Placed(self.number, row)

    def _described(self, detail: Any) -> Fault:
        place = [str(part) for part in detail["loc"]]
        name = place[0] if place else ""
        column = self._layout.columns.get(name, name) or None
        if detail["type"] == "missing":
            names = self._reader.fields.get(name, (name,))
            if name in self._layout.columns:
                return Fault("is blank.", "Give it in every row.", self.number, column)
            return missing_column(names, self._record, self.number)
        found, message = detail["input"], detail["msg"].removeprefix("Value error, ")
        if name == "scorer_kind":
            hint = nearest(str(found), KINDS)
            remedy = f"{hint} Write one of {', '.join(KINDS)}.".strip()
            return Fault(f"{found!r} is no kind of scorer.", remedy, self.number, column)
        if len(place) > 1:
            column = f"{column}, item {int(place[1]) + 1 if place[1].isdigit() else place[1]}"
        if isinstance(found, int | float):
            message = f"{found:g}: {message[:1].lower()}{message[1:]}"
        problem, _, remedy = message.partition("; ")
        remedy = f"{remedy[:1].upper()}{remedy[1:]}." if remedy else "Correct it."
        return Fault(f"{problem}.", remedy, self.number, column)

    def _number(self, cell: Any) -> float | None:
        reader = self._reader
        return cells.number(
            cell, reader.source.tally, typed=reader.typed, decimal_comma=reader.decimal_comma
        )

    def _read(self, name: str, read: Callable[[Any], T], *, defused: bool = True) -> T | None:
        column = self._layout.columns.get(name)
        return None if column is None else self._tried(column, read, defused=defused)

    def _tried(self, column: str, read: Callable[[Any], T], *, defused: bool = True) -> T | None:
        cell = self._record[column]
        if defused and self._reader.defused and isinstance(cell, str):
            cell = restored(cell)
        return self._reported(column, cell, read)

    def _reported(self, column: str, cell: Any, read: Callable[[Any], T]) -> T | None:
        try:
            return read(cell)
        except CellError as error:
            self._faults.append(Fault(error.problem, error.remedy, self.number, column))
            return None
