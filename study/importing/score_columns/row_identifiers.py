"""Which columns of a table with a row for each score identify its responses, by their cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from study.errors import Fault
from study.importing.formats import scores
from study.importing.readers.column_layout import has, missing_column, separators_hint
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.importing.score_columns.contents import ColumnContent, contents_of
from study.importing.score_columns.names import field_name, folded, names_reason, whole_role
from study.importing.score_columns.scorer_rows import kinds_alone
from study.importing.score_columns.words import VALUES, WHOLE_NAMES
from study.text import quoted_names

# So many times or more a cell occurs that names a system or a scorer, and not a response.
_MOST_ROWS = 50


def numbers_of_rows(source: RecordSource) -> tuple[str, ...]:
    """Columns named as ids of responses that differ in each row, where another such one repeats.

    Several scorers of a response have a row each, so that these are ids of the rows.
    """
    present = source.head.columns
    named = [column for column in present if folded(column) in (*scores.ITEMS, *scores.QUERIES)]
    if len(named) < 2:
        return ()
    cells: dict[str, set[str]] = {column: set() for column in named}
    rows = 0
    for record in _records(source):
        rows += 1
        for column in named:
            cells[column].add(str(record.cells.get(column)))
    alone = tuple(column for column in named if len(cells[column]) == rows)
    return alone if len(alone) < len(named) else ()


def kinds_as_scorers(source: RecordSource) -> dict[str, str]:
    """The column of kinds as that of scorers, in a table that does not name these."""
    columns = source.head.columns
    if not {field_name(column) for column in columns} & {*WHOLE_NAMES["scorer_kind"]}:
        return {}
    distinct: dict[str, set[str]] = {column: set() for column in columns}
    for record in _records(source):
        for column in columns:
            if record.cells.get(column) is not None:
                distinct[column].add(str(record.cells[column]).strip())
    found = kinds_alone(columns, distinct)
    return {} if found is None else {"scorer": found}


def without_response(source: RecordSource) -> Fault:
    """The fault of a table in which nothing identifies a response."""
    columns = source.head.columns
    if not any(has(scores.FIELDS, columns, name) for name in scores.FIELDS):
        return Fault(
            f"no column is that of a table of scores. There are: {quoted_names(columns)}."
            f"{separators_hint(columns, source.head.form)}",
            "Give query_id, construct, scorer and value, or a column of numbers for each judge and "
            "rater, such as llm and human.",
            1,
        )
    fault = missing_column(("response_id", "query_id", "item_id"), columns)
    likely = _likely_ids(source)
    if not likely:
        return fault
    several = "one of these" if len(likely) > 1 else "it"
    return Fault(
        f"no column is known to identify the response. There are: {quoted_names(columns)}.",
        "Name the column that does with --id, or rename it to response_id; "
        f"{quoted_names(map(repr, likely))} may be {several}.",
        1,
    )


def no_scores(source: RecordSource) -> Fault:
    """The fault of a file with responses whose columns of scores, if any, are not known."""
    columns = source.head.columns
    contents = contents_of(source.peeked(), columns)
    values = [
        column for column in columns
        if folded(column) in VALUES or (whole_role(column) is None and _is_value(contents[column]))
    ]  # fmt: skip
    scorers = [
        column for column in columns
        if column not in values and whole_role(column) in (None, "scorer")
        and not names_reason(column) and contents[column].labels
    ]  # fmt: skip
    if not values:
        return Fault(
            "the file contains responses, not scores.",
            "Add the scores, or import the file into a study: ccrs import.",
        )
    problem = "the file contains responses, and no column is known to have scores."
    may_be = f"{quoted_names(map(repr, values))} may have the scores"
    if scorers:
        may_be += f", and {quoted_names(map(repr, scorers))} may say who gave them"
        remedy = "Rename the one with the scores to score, and the one with who gave them to scorer"
    else:
        remedy = (
            "Add a column scorer that says who gave them, or name the columns: --judge COLUMN "
            "--human COLUMN"
            if len(values) > 1
            else "Add a column scorer that says who gave them"
        )
    return Fault(
        f"{problem} {may_be[:1].upper()}{may_be[1:]}.",
        f"{remedy}. Without scores, import the file into a study: ccrs import.",
    )


def _is_value(content: ColumnContent) -> bool:
    return content.mostly_numbers and not content.numbers_rows


def _likely_ids(source: RecordSource) -> Sequence[str]:
    """Columns that may identify responses: a few rows have each of many cells."""
    known = {column for names in scores.FIELDS.values() for column in names}
    open_columns = [c for c in source.head.columns if c.casefold() not in known]
    contents = contents_of(source.peeked(), open_columns)
    found = []
    for column in open_columns:
        texts = [str(cell) for _, cell in contents[column].cells]
        distinct = len(set(texts))
        # Each response has several rows, and none of its cells is blank.
        repeats = 2 < distinct <= (len(texts) + 1) // 2 and distinct * _MOST_ROWS >= len(texts)
        if repeats and not contents[column].blank and not names_reason(column):
            found.append(column)
    return found


def _records(source: RecordSource) -> Iterator[Record]:
    return (record for record in source.peeked() if isinstance(record, Record))
