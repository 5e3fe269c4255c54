"""The records of a file, read field by field into rows; what cannot be read becomes a fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from study.errors import Fault, InputError, StudyError, nearest
from study.importing.import_report import UNKNOWN_COLUMN
from study.importing.readers import cells, delimited
from study.importing.readers.cells import CellError
from study.importing.readers.column_layout import (
    ATTRIBUTE,
    ColumnLayout,
    Fields,
    layout_of,
    missing_column,
)
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.importing.readers.written_values import (
    IN_ONE_WAY,
    NUMBERS,
    Group,
    JudgedValue,
    ValueRules,
)
from study.importing.score_columns.words import KINDS as WORDS_FOR_KINDS
from study.text import MARK, abbreviate, unescape_formula

# Rows are validated by pydantic, whose import takes longer than a table of two columns does.
if TYPE_CHECKING:
    from study.importing.rows import (
        LocatedRow,
        MarksRow,
        PreferenceRow,
        ResponseRow,
        Rows,
        ScoreRow,
    )


KINDS = ("human", "adjudicated", "judge", "metric")
"""`study.types.ScorerKind`, which a test compares."""
KINDS_IN_ANOTHER_CASE = "kinds of scorers with capital letters or spaces around them"

T = TypeVar("T")


class RecordCells:
    """One record, read by field; its faults are collected until its row is created."""

    __slots__ = ("_faults", "_layout", "_reader", "_record", "_suppressed", "number")

    def __init__(self, record: Record, layout: ColumnLayout, reader: Reader) -> None:
        self.number = record.number
        self._record = record.cells
        self._layout = layout
        self._reader = reader
        self._faults: list[Fault] = []
        self._suppressed: set[str] = set()

    @property
    def faulty(self) -> bool:
        """Whether the record has a fault that was not reported yet."""
        return bool(self._faults)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the record's columns."""
        return tuple(self._record)

    @property
    def written(self) -> Mapping[str, Any]:
        """The cells by column, as the file has them."""
        return self._record

    def has(self, name: str) -> bool:
        """Whether the record has a cell for a field that is not empty."""
        column = self._layout.columns.get(name)
        return column is not None and self._record[column] not in (None, "")

    def key(self, name: str) -> str | None:
        """Read a name or id."""
        column = self._layout.columns.get(name)
        if column is None:
            return None
        cell = self._record[column]
        if type(cell) is str and not self._reader.escaped:
            return cell or None  # nearly every cell of a table of scores
        return self._parsed_column(column, lambda raw: cells.key(raw, self._reader.report))

    def kind(self, name: str) -> str | None:
        """Read a kind of scorer; capital letters do not matter, and llm or ai is a judge."""
        cell = self.key(name)
        if cell in KINDS or cell is None:
            return cell
        known = WORDS_FOR_KINDS.get(re.sub(r"[\s-]+", "_", cell.strip().casefold()))
        if known is None:
            return cell
        folded = cell.strip().casefold()
        rule = KINDS_IN_ANOTHER_CASE if folded == known else f"{folded} read as the kind {known}"
        self._reader.report.rules[rule] += 1
        return known

    def text(self, name: str) -> str | None:
        """Read a text."""
        return self._parsed_field(name, cells.text)

    def raw(self, name: str) -> Any:
        """Return the cell of a field as the file has it; None where it has none."""
        column = self._layout.columns.get(name)
        return None if column is None else self._record[column]

    def cell(self, column: str) -> Any:
        """Return the cell of a column as the file has it."""
        return self._record[column]

    def words(self, name: str) -> str | None:
        """Read a text; a number is read as it is written."""
        return self._parsed_field(name, cells.words)

    def value(self, name: str) -> float | None:
        """Read a number; a missing one is counted."""
        column = self._layout.columns.get(name)
        if column is None:
            return None
        self._reader.note_decimal_sign(column, self._record[column])
        return self._parsed_column(column, self._number, escaped=False)

    def required_value(self) -> float | None:
        """Read the field `value`; a record without one needs a missing_reason."""
        self._require_value()
        return self.value("value")

    def required_score(self, group: Group) -> JudgedValue:
        """Read the field `value` as `score` does; a record without one needs a missing_reason."""
        self._require_value()
        column = self._layout.columns.get("value")
        return JudgedValue() if column is None else self.score(column, group)

    def score(self, column: str, group: Group) -> JudgedValue:
        """Read a number, a word with a known value, or the judgment in a judge's JSON.

        The values of a `group`, a scorer on a construct, are written in one way: in numbers or in
        words of one vocabulary. A JSON object without the column has no value.
        """
        if column not in self._record:
            self._reader.report.rules[cells.BLANKS] += 1
            return JudgedValue()
        return self.judged(column, group, self._record[column])

    def judged(self, column: str, group: Group, cell: Any) -> JudgedValue:
        """Read the judgment in a cell as `score` does; `column` is reported as its place."""
        reader = self._reader
        try:
            found = reader.values.read(cell, group, self.number, reader.report)
        except CellError as error:
            self._faults.append(Fault(error.problem, error.remedy, self.number, column))
            return JudgedValue()
        if isinstance(found, JudgedValue):
            return found
        reader.note_decimal_sign(column, found.cell)
        value = self._parsed(column, found.cell, self._number)
        if value is None:
            return JudgedValue()
        other = reader.values.other_way(group, NUMBERS, self.number)
        if other is not None:
            self.fault(f"{abbreviate(cell)} is among {other}.", IN_ONE_WAY, column)
        return JudgedValue(value)

    def _require_value(self) -> None:
        if "value" not in self._layout.columns and not self.has("missing_reason"):
            names = self._reader.fields["value"]
            self._faults.append(missing_column(names, self._record, self.number))

    def number_in(self, name: str, cell: Any) -> float | None:
        """Read a number inside a cell; `name` is reported as its place."""
        return self._parsed(name, cell, self._number)

    def key_in(self, name: str, cell: Any) -> str | None:
        """Read an id inside a cell; `name` is reported as its place."""
        report = self._reader.report
        return self._parsed(name, cell, lambda value: cells.key(value, report))

    def whole_number(self, name: str) -> int | None:
        """Read a whole number, if there is one."""
        if not self.has(name):
            return None
        return self._parsed_field(name, lambda cell: cells.whole(self._number(cell)), escaped=False)

    def optional_number(self, name: str) -> float | None:
        """Read a number that may be left out, such as a probability."""
        return self.value(name) if self.has(name) else None

    def listed(self, name: str) -> list[Any]:
        """Read a list."""
        return self._parsed_field(name, cells.as_list) or []

    def mapping(self, name: str) -> dict[str, Any]:
        """Read an object."""
        return self._parsed_field(name, cells.mapping) or {}

    def numbered_passages(self) -> list[str]:
        """Return the cells of passage_1, passage_2, ... that are not blank."""
        texts = (self._parsed_column(column, cells.text) for column in self._layout.passages)
        return [passage for passage in texts if passage]

    def attributes(self) -> dict[str, Any]:
        """Return the cells of the columns attribute.NAME that are not blank."""
        values = {
            column.removeprefix(ATTRIBUTE): self._parsed_column(column, lambda cell: cell)
            for column in self._layout.attributes
        }
        return {name: cell for name, cell in values.items() if not cells.blank(cell)}

    def column(self, name: str) -> str | None:
        """Return the file's own column of a field, if it has one."""
        return self._layout.columns.get(name)

    def left_out(self, content: str) -> None:
        """Count a part of the record that is not imported."""
        self._reader.report.left_out[content] += 1

    def fault(self, problem: str, remedy: str, column: str | None = None) -> None:
        """Add a fault of the record."""
        self._faults.append(Fault(problem, remedy, self.number, column))

    def fault_once(self, problem: str, remedy: str, column: str | None = None) -> None:
        """Add a fault that many records may have; only the first of them reports it."""
        if (problem, remedy) not in self._reader.reported:
            self._reader.reported.add((problem, remedy))
            self.fault(problem, remedy, column)

    def suppress_missing(self, name: str) -> None:
        """Do not report that a field is missing, since another fault explains it."""
        self._suppressed.add(name)

    def remaining_faults(self) -> Iterator[Fault]:
        """Yield the faults that no row reported."""
        faults, self._faults = self._faults, []
        yield from faults

    def row(
        self,
        model: type[ResponseRow | ScoreRow | PreferenceRow | MarksRow],
        *,
        at: str | None = None,
        **values: Any,
    ) -> Iterator[LocatedRow | Fault]:
        """Yield the row, or all its faults. A value of None is absent.

        `at` is the column that contains the value and whose name is the construct.
        """
        from pydantic import ValidationError

        from study.importing.rows import LocatedRow

        faults, self._faults = self._faults, []
        columns = self._layout.place(at)
        try:
            row = model.model_validate({k: v for k, v in values.items() if v is not None})
        except ValidationError as error:
            reported = {fault.column for fault in faults}
            for detail in error.errors(include_url=False):
                if detail["loc"] and detail["loc"][0] in self._suppressed:
                    continue
                if detail["loc"] == ("scorer_kind",) and detail["type"] != "missing":
                    # The word may be in every row; the end of the file reports it once.
                    rows = self._reader.unknown_kinds.setdefault(
                        (columns.get("scorer_kind", "scorer_kind"), str(detail["input"])), []
                    )
                    rows.append(self.number)
                    continue
                fault = self._described(detail, columns)
                if fault.column is None or fault.column not in reported:
                    faults.append(fault)
            yield from faults
            return
        yield from faults
        if not faults:
            yield LocatedRow(self.number, row, columns)

    def _described(self, detail: Any, columns: Mapping[str, str]) -> Fault:
        place = [str(part) for part in detail["loc"]]
        name = place[0] if place else ""
        column = columns.get(name, name) or None
        if detail["type"] == "missing":
            names = self._reader.fields.get(name, (name,))
            if name in columns:
                return Fault("is blank.", "Give it in every row.", self.number, column)
            return missing_column(names, self._record, self.number)
        value, message = detail["input"], detail["msg"].removeprefix("Value error, ")
        if len(place) > 1:
            column = f"{column}, item {int(place[1]) + 1 if place[1].isdigit() else place[1]}"
        if detail["type"] == "string_type":
            return Fault(
                f"{abbreviate(value)} is not a text.",
                "Write a text, or leave it out.",
                self.number,
                column,
            )
        if isinstance(value, int | float):
            message = f"{abbreviate(value)}: {message[:1].lower()}{message[1:]}"
        problem, _, remedy = message.partition("; ")
        remedy = f"{remedy[:1].upper()}{remedy[1:]}." if remedy else "Correct it."
        return Fault(f"{problem}.", remedy, self.number, column)

    def _number(self, cell: Any) -> float | None:
        reader = self._reader
        return cells.number(
            cell, reader.report, typed=reader.typed, decimal_comma=reader.decimal_comma
        )

    def _parsed_field(
        self, name: str, read: Callable[[Any], T], *, escaped: bool = True
    ) -> T | None:
        column = self._layout.columns.get(name)
        return None if column is None else self._parsed_column(column, read, escaped=escaped)

    def _parsed_column(
        self, column: str, read: Callable[[Any], T], *, escaped: bool = True
    ) -> T | None:
        cell = self._record[column]
        if escaped and self._reader.escaped and isinstance(cell, str):
            cell = unescape_formula(cell)
        return self._parsed(column, cell, read)

    def _parsed(self, column: str, cell: Any, read: Callable[[Any], T]) -> T | None:
        try:
            return read(cell)
        except CellError as error:
            self._faults.append(Fault(error.problem, error.remedy, self.number, column))
            return None


# Columns that only `study.facts.rating_rows` has.
_OF_ALL_RATINGS = ("not_counted", "first_saved_at", "last_saved_at")
IN_ANOTHER_CASE = "columns whose names are written with other capital letters or joined words"


@dataclass
class Reader:
    """Reads records of a source by field, and counts the cells of unknown columns."""

    source: RecordSource
    fields: Fields
    reserved: Callable[[str], bool] = MARK.__eq__
    """Whether the caller reads a column itself."""
    families: bool = False
    """Whether columns passage_1, ... and attribute.NAME are read."""
    values: ValueRules = field(default_factory=ValueRules)
    """How cells with values are read."""
    reported: set[tuple[str, ...]] = field(default_factory=set)
    """What is reported only once for a file, and was."""
    unknown_kinds: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """Column and word of kinds of scorers that are none, with their rows."""
    _decimal_signs: dict[str, set[str]] = field(default_factory=dict)
    """Column to the signs of its decimal numbers, where both are understood."""
    _layouts: dict[tuple[str, ...], ColumnLayout] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.source.head.columns and set(_OF_ALL_RATINGS) <= set(self.source.head.columns):
            raise StudyError(
                f"{self.source.path} is the table `ratings` of an export. It also has ratings that "
                "are in no figure: of training, withdrawn, rejected or made after the reveal. Give "
                "the table `scores` of the same export, which has those that count."
            )
        text = self.source.form == "delimited"
        self.report = self.source.report
        self.typed = not text
        """Whether cells have types, as in JSON and Parquet, or are all text."""
        self.decimal_comma = text and delimited.delimiter(self.source) != ","
        self.escaped = text and MARK in self.source.head.columns
        """Whether the file was written by `ccrs export`, with apostrophes before formulas."""

    def __iter__(self) -> Iterator[RecordCells | Fault]:
        return self.read(self.source.records())

    def rows(
        self,
        rows_of: Callable[[RecordCells], Iterable[LocatedRow | Fault]],
        records: Iterable[Record | Fault] | None = None,
    ) -> Rows:
        """Yield the rows of each record, and the faults of unreadable ones.

        `records` are those of the source unless given.
        """
        for record in self if records is None else self.read(records):
            if isinstance(record, Fault):
                yield record
            else:
                yield from rows_of(record)

    def read(self, records: Iterable[Record | Fault]) -> Iterator[RecordCells | Fault]:
        """Yield the cells of each record, and then the faults that were not reported with them."""
        for record in records:
            if isinstance(record, Fault):
                yield record
                continue
            cells = self.cells(record)
            yield cells
            yield from cells.remaining_faults()
        yield from self.faults_of_kinds()
        self.report.warnings += self.mixed_decimals()

    def cells(self, record: Record) -> RecordCells:
        """Return a record's cells, to be read by field."""
        columns = tuple(record.cells)
        layout = self._layouts.get(columns)
        if layout is None:
            layout = layout_of(columns, self.fields, self.reserved, families=self.families)
            self._layouts[columns] = layout
            for column in layout.in_another_case:
                if ("case", column) not in self.reported:
                    self.reported.add(("case", column))
                    self.report.rules[IN_ANOTHER_CASE] += 1
        for name in layout.unknown:
            self.report.left_out[f"{UNKNOWN_COLUMN}{abbreviate(name)}"] += 1
        return RecordCells(record, layout, self)

    def require(self, *names: str, instead: str = "") -> None:
        """Refuse a table whose header lacks a column; JSON objects are checked one by one.

        `instead` names an option that can replace it.

        Raises
        ------
        InputError
            With each missing column, the columns of the file and the most similar one.
        """
        columns = self.source.head.columns
        if self.source.form in ("delimited", "parquet", "workbook"):
            present = layout_of(columns, self.fields, self.reserved, families=self.families).columns
            missing = [name for name in names if name not in present]
            faults = [missing_column(self.fields[name], columns, 1, instead) for name in missing]
            if faults:
                raise InputError(self.source.path.name, faults)

    def note_decimal_sign(self, column: str, cell: Any) -> None:
        """Note which decimal sign a cell of numbers has."""
        if self.decimal_comma and isinstance(cell, str):
            signs = {sign for sign in ",." if sign in cell}
            if signs:
                self._decimal_signs.setdefault(column, set()).update(signs)

    def faults_of_kinds(self) -> Iterator[Fault]:
        """Yield a fault for each word that names no kind of scorer."""
        for (column, word), rows in self.unknown_kinds.items():
            others = f", and in {len(rows) - 1:,} more rows" if len(rows) > 1 else ""
            yield Fault(
                f"{abbreviate(word)} is not a kind of scorer{others}.",
                f"{nearest(word, KINDS)} Write one of {', '.join(KINDS)} in its place, or declare "
                "each such scorer: --kind SCORER=KIND.".strip(),
                rows[0],
                column,
            )
        self.unknown_kinds.clear()

    def mixed_decimals(self) -> Iterator[str]:
        """Yield a warning for each column with decimal commas and decimal points."""
        for column, signs in self._decimal_signs.items():
            if len(signs) > 1:
                yield (
                    f"the column {abbreviate(column)} has decimal commas and decimal points; "
                    "check that none of them separates thousands."
                )
