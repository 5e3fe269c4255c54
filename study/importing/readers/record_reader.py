"""A file's records, laid out by field; what occurs in many of them is counted or reported once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from study.csv_injection import MARK
from study.errors import Fault, InputError
from study.importing.readers import delimited
from study.importing.readers.column_layout import ColumnLayout, Fields, layout_of, missing_column
from study.importing.readers.input_file import Record
from study.importing.readers.read_options import ReadOptions
from study.importing.readers.record_cells import RecordCells
from study.importing.readers.source import RecordSource
from study.text import abbreviate

IN_ANOTHER_CASE = "columns whose names have other capital letters"


@dataclass
class Reader:
    """Reads records of a source by field, and counts the columns that nobody knows."""

    source: RecordSource
    fields: Fields
    kept: Callable[[str], bool] = MARK.__eq__
    """Tells the columns that the caller reads by itself."""
    families: bool = False
    """Whether passage_1, ... and attribute.NAME mean something."""
    _layouts: dict[tuple[str, ...], ColumnLayout] = field(default_factory=dict)

    def __post_init__(self) -> None:
        text = self.source.form == "delimited"
        self.manner = ReadOptions(
            self.source.tally,
            self.fields,
            typed=not text,
            decimal_comma=text and delimited.delimiter(self.source) != ",",
            defused=text and MARK in self.source.head.columns,
        )

    def __iter__(self) -> Iterator[RecordCells | Fault]:
        return self.read(self.source.records())

    def read(self, records: Iterable[Record | Fault]) -> Iterator[RecordCells | Fault]:
        """Yield the cells of each record, and then the faults that were not reported with them."""
        for record in records:
            if isinstance(record, Fault):
                yield record
                continue
            cells = self.cells(record)
            yield cells
            yield from cells.untold()
        self.source.tally.warnings += self.manner.mixed_decimals()

    def cells(self, record: Record) -> RecordCells:
        """Return a record's cells, to be read by field."""
        columns = tuple(record.cells)
        layout = self._layouts.get(columns)
        if layout is None:
            layout = layout_of(columns, self.fields, self.kept, families=self.families)
            self._layouts[columns] = layout
            for column in layout.in_another_case:
                if ("case", column) not in self.manner.told:
                    self.manner.told.add(("case", column))
                    self.source.tally.rules[IN_ANOTHER_CASE] += 1
        for name in layout.unknown:
            self.source.tally.left_out[f"cells of the unknown column {abbreviate(name)}"] += 1
        return RecordCells(record, layout, self.manner)

    def require(self, *names: str, instead: str = "") -> None:
        """Refuse a table whose header lacks a column; JSON objects are asked one by one.

        `instead` names an option that can replace it.

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
