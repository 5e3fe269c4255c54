"""Responses with their judgments, one response a row: a query, a response, and a column for each
judge and rater.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from study.errors import Fault, InputError, nearest
from study.importing.formats import scores
from study.importing.formats.response_columns import (
    check_columns,
    fields_of,
    has_responses,
    named_after_scorers,
)
from study.importing.formats.responses import response_row
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import FlatSource, Head, RecordSource
from study.importing.readers.written_values import ScoredCell
from study.importing.rows import Rows, ScoreRow
from study.importing.score_columns.named_columns import PLACEHOLDER, Recognized, parts
from study.importing.score_columns.names import construct_in_name, folded
from study.importing.score_columns.recognition import recognized_table
from study.importing.tool_exports import made_id
from study.text import quoted_names

DESCRIPTION = (
    "a query and a response in each row, and a column for each judge and rater, such as llm_score "
    "and human_score"
)

_INSTEAD = "or --as responses to leave the judgments out"
_OF_SCORES = ("scorer", "scorer_kind", "construct_key", "value")


class _Judged(NamedTuple):
    column: str
    kind: str
    construct: str


def matches(head: Head) -> bool:
    """Whether rows are queries with responses, and columns are named after judges or raters."""
    return has_responses(head) and bool(named_after_scorers(head))


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the rows: each response, and its judgments.

    Raises
    ------
    InputError
        It is not known on which construct the judgments are.
    """
    recognized = recognized_table(source.path)
    if recognized.reasons("rater"):
        rater = next(iter(recognized.reasons("rater")))
        raise source.refused(
            f"each row has the value of a rater, whom {rater!r} names, and that of the judge.",
            "A study imports a row for each score (response_id, construct, scorer, scorer_kind, "
            "score), or a column for each rater; `ccrs report` reads the file as it is.",
        )
    if recognized.form == "long":
        yield from _in_rows(source, recognized, options)
    else:
        yield from _side_by_side(source, recognized, options)


def _side_by_side(source: RecordSource, recognized: Recognized, options: FormatOptions) -> Rows:
    """Rows with a column for each judge and rater."""
    flat = FlatSource(source.path, source.report, source.advance)
    judged = _judged(recognized, flat, options)
    by_column = {item.column: item for item in judged}
    check_columns(flat)
    fields = fields_of(flat.head)
    reader = Reader(flat, fields, reserved=by_column.__contains__, families=True)
    reader.require("query", "response")
    seen: dict[str, int] = {}

    def scored(cells: RecordCells) -> Iterator[ScoredCell]:
        for item in judged:
            cell = cells.written.get(item.column)
            yield ScoredCell(item.column, item.construct, cell, cells.number)

    words = options.read_values(reader, scored)

    def rows_of(cells: RecordCells) -> Rows:
        key = cells.key("response_id")
        if key is None and judged:
            made = _made(cells, options)
            seen[made] = seen.get(made, 0) + 1
            key = made if seen[made] == 1 else f"{made}-{seen[made]}"
        given = {} if key is None else {"response_id": key}
        yield from response_row(cells, options, **given)
        for item in judged:
            value, word_range = cells.score(item.column, (item.column, item.construct))
            yield from cells.row(
                ScoreRow,
                at=item.column,
                response_id=key,
                construct_key=item.construct,
                scorer=item.column,
                scorer_kind=options.kinds.get(item.column, item.kind),
                value=value,
                word_range=word_range,
            )

    yield from reader.rows(rows_of)
    yield from words.concluded(source.report)


def _in_rows(source: RecordSource, recognized: Recognized, options: FormatOptions) -> Rows:
    """Rows with one judgment each, so that a response has several."""
    known = replace(options, kinds={**recognized.kinds, **options.kinds})
    check_columns(source)
    response_fields = fields_of(source.head)
    fields: Fields = {**response_fields, **{name: scores.FIELDS[name] for name in _OF_SCORES}}
    if options.construct is None and not has(fields, source.head.columns, "construct_key"):
        keys = ", ".join(options.constructs)
        if len(options.constructs) > 1:
            raise source.refused(
                "no column names the construct of the judgments.",
                f"Give --construct KEY (of {keys}), {_INSTEAD}.",
            )
        known = replace(known, construct=keys)
    reader = Reader(source, fields, families=True)
    reader.require("query", "response", "scorer", "value")
    seen: set[str] = set()

    words = known.read_values(reader, lambda cells: [scores.judged_cell(cells, known)])

    def rows_of(cells: RecordCells) -> Rows:
        key = cells.key("response_id") or _made(cells, known)
        if key not in seen:
            yield from response_row(cells, known, response_id=key)
            seen.add(key)
        fields = scores.judged_fields(cells, known)
        kind = known.kind(cells, fields["scorer"])
        yield from cells.row(ScoreRow, **fields, response_id=key, scorer_kind=kind)

    yield from reader.rows(rows_of)
    yield from words.concluded(source.report)


def _made(cells: RecordCells, options: FormatOptions) -> str:
    """An id made of the content."""
    content = (cells.raw("query_id"), cells.raw("query"), options.system_of(cells))
    return made_id("response", *content, cells.raw("response"))


def _judged(
    recognized: Recognized, source: RecordSource, options: FormatOptions
) -> tuple[_Judged, ...]:
    """The columns of judges and raters, with the construct of each."""
    columns = recognized.columns or recognized.example
    present = source.head.columns
    found, unnamed, unknown = [], [], {}
    for kind, texts in (("judge", columns.judge), ("human", columns.human)):
        for text in texts:
            named, column = parts(text, present)
            if column == PLACEHOLDER:
                continue
            written = named or construct_in_name(column)
            construct = options.construct or _known(written, options)
            if construct is None and written:
                unknown[column] = written
            elif construct is None:
                unnamed.append(column)
            else:
                found.append(_Judged(column, kind, construct))
    keys = ", ".join(options.constructs)
    faults = [
        Fault(
            f"the column {column!r} has judgments on {written!r}, which is not a construct.",
            f"{nearest(written, options.constructs)} Give --construct KEY (of {keys}), "
            f"{_INSTEAD}.".strip(),
        )
        for column, written in unknown.items()
    ]
    if unnamed:
        faults.append(
            Fault(
                f"no name tells on which construct the judgments are in: {quoted_names(unnamed)}.",
                f"Give --construct KEY (of {keys}), {_INSTEAD}.",
            )
        )
    if faults:
        raise InputError(source.path.name, faults)
    return tuple(found)


def _known(written: str, options: FormatOptions) -> str | None:
    """The study's construct that a name is; the only one, where nothing is written."""
    if not written:
        return options.constructs[0] if len(options.constructs) == 1 else None
    by_name = {folded(key): key for key in options.constructs}
    by_name |= {folded(name): key for key, name in options.names.items()}
    return by_name.get(folded(written))
