"""Words, ratios and JSON in the values of a DataFrame, read as in files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from analysis.core.errors import TableError
from study.importing.import_report import ImportReport
from study.importing.readers.cells import CellError
from study.importing.readers.column_words import ColumnWords, Declared
from study.importing.readers.failure_names import (
    ReadScores,
    direction_notes,
    names_failure,
    names_rank,
)
from study.importing.readers.judgment_cells import Ranged
from study.importing.readers.value_words import missing_numbers, numbers_to_declare, unused_values
from study.importing.readers.written_values import (
    JudgedValue,
    ScoredCell,
    ValueRules,
    WordsAhead,
    named_categories,
    off_the_scale,
)
from study.importing.score_columns.judgment_table import (
    as_attribute,
    names_of_values,
    scales_of_words,
)

Group = tuple[str, str]
"""Scorer and construct."""

# So many faults are listed at most: a column of texts has one in each row.
_LISTED = 20


def with_word_values(
    data: pd.DataFrame,
    declared: Declared,
    scale_of: Callable[[str, str], Ranged | None],
    rows: int | None = None,
) -> tuple[pd.DataFrame, list[str]]:
    """Return a long table with numbers in place of words, 4/5 and judges' JSON, and notes on it.

    `rows` is the number of rows of the table that the user has, where its columns are scorers;
    faults name those rows. `attrs["word_scales"]` has the scales of the words,
    `attrs["value_names"]` the word for each value by construct. A table of numbers is returned as
    it is.

    Raises
    ------
    TableError
        Words have no number, declared words do not occur, or values are written in several ways.
    """
    if "value" not in data or not {"scorer", "construct"} <= set(data.columns):
        return data, []
    column = data["value"]
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if numeric and not missing_numbers(declared):
        _check_used(declared, [])
        return data, direction_notes(_numbers_read(data))
    cells = [None if _missing(cell) else cell for cell in column.astype(object)]
    groups = [(str(s), str(c)) for s, c in zip(data["scorer"], data["construct"], strict=True)]
    scored = [
        ScoredCell(*group, cell, place % (rows or len(cells)))
        for place, (cell, group) in enumerate(zip(cells, groups, strict=True))
    ]
    ahead = WordsAhead(lambda: scored, declared)
    words = ahead.groups
    _check_used(declared, [group.column for group in words.values()])
    report = ImportReport()
    rules = ValueRules(ahead, scale_of, lambda _, scale: f'scale="{scale}"', as_argument)
    values, faults = [], []
    for place, (cell, group) in enumerate(zip(cells, groups, strict=True)):
        row = place % (rows or len(cells))
        try:
            found = rules.read(cell, group, row, report) if cell is not None else None
        except CellError as error:
            faults.append(f"{group[0]} on {group[1]}, row {row}: {error.problem} {error.remedy}")
            continue
        if isinstance(found, JudgedValue):
            values.append(found.value)
            scale = scale_of(*group)
            problem = (
                scale and found.word_range and off_the_scale(found.word_range, scale.min, scale.max)
            )
            if problem:
                faults.append(f"{group[0]} on {group[1]}, row {row}: {problem}")
            continue
        values.append(None if found is None else found.cell)
        if found is not None and (other := rules.other_way(group, "numbers", row)):
            faults.append(
                f"{group[0]} on {group[1]}, row {row}: {cell!r} is among {other}; write all values "
                "of a scorer on a construct in one way"
            )
    if faults:
        more = len(faults) - _LISTED
        raise TableError("table", [*faults[:_LISTED], *([f"and {more} more"] if more > 0 else [])])
    read = data.assign(value=pd.Series(values, index=data.index, dtype=object))
    read.attrs["word_scales"] = as_attribute(scales_of_words(words))
    read.attrs["value_names"] = names_of_values(words)
    notes = [f"{rule} ({count})" for rule, count in report.rules.items()]
    numbers: dict[Group, set[float]] = {}
    for group, value in zip(groups, values, strict=True):
        if isinstance(value, int | float):
            numbers.setdefault(group, set()).add(float(value))
    as_read = (
        ReadScores(group[::-1], found.vocabulary, numbers.get(group, ()))
        for group, found in words.items()
    )
    return read, [
        *notes,
        *named_categories(words.values(), as_argument),
        *direction_notes(as_read, as_argument),
    ]


def _numbers_read(data: pd.DataFrame) -> Iterator[ReadScores]:
    for key, values in data.groupby(["construct", "scorer"], sort=False)["value"]:
        names = (str(key[0]), str(key[1])) if isinstance(key, tuple) else (str(key),)
        if any(names_failure(name) or names_rank(name) for name in names):
            yield ReadScores(names, None, {float(value) for value in values.dropna().unique()})


def as_argument(words: Iterable[str], declared: Mapping[str, float | None] | None = None) -> str:
    """Return `values={'good': 1, 'bad': 0, 'further': NUMBER}`."""
    pairs = numbers_to_declare(words, declared) or {"WORD": "NUMBER"}
    return f"values={{{', '.join(f'{word!r}: {n or None}' for word, n in pairs.items())}}}"


def _check_used(declared: Declared, columns: list[ColumnWords]) -> None:
    problem = unused_values(
        declared,
        [word for column in columns for word in column.words],
        [number for column in columns for number in column.missing_found],
    )
    if problem is not None:
        raise TableError("table", [f"{problem} Correct values, or leave it out"])


def _missing(cell: Any) -> bool:
    return cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell))
