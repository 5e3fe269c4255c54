"""Scores, several a row: a column for each construct, or for each scorer and construct."""

from collections.abc import Iterable, Iterator

from study.importing.formats.scores import (
    IDENTIFIERS,
    OPTIONAL,
    identifiers,
    names_responses,
    optional_fields,
)
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields, folded, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.readers.written_values import ScoredCell
from study.importing.rows import Rows, ScoreRow
from study.text import MARK, quoted_names

DESCRIPTION = (
    "response_id (or query_id and system) and a column for each construct (with scorer), or for "
    "each scorer and construct, such as anna:QR"
)
FIELDS: Fields = {**IDENTIFIERS, **OPTIONAL}


def matches(head: Head, constructs: Iterable[str] = ()) -> bool:
    """Whether columns are constructs, or scorers with constructs."""
    names = folded(head.columns)
    plain = not names & {"construct", "value", "response_a"} and not (
        names & {"query", "question"} and names & {"response", "answer"}
    )
    keys = tuple(constructs)
    return plain and names_responses(head) and any(measured(c, keys) for c in head.columns)


def measured(column: str, constructs: tuple[str, ...]) -> tuple[str | None, str] | None:
    """Return the scorer (None if not named) and construct of a column; None for other columns."""
    scorer, colon, construct = column.rpartition(":")
    if column in constructs:
        return None, column
    if colon and scorer.strip() and construct in constructs:
        return scorer, construct
    return None


def rows(source: RecordSource, options: FormatOptions, fields: Fields = FIELDS) -> Rows:
    """Read the rows; a blank cell is a missing value."""
    keys = options.constructs
    measures = [measured(column, keys) for column in source.head.columns]
    if not any(measures):
        raise source.refused(
            f"no column is a construct. There are: {quoted_names(source.head.columns)}. The "
            f"constructs are: {', '.join(keys)}.",
            "Name the columns QR or anna:QR, for example.",
        )
    reader = Reader(source, fields, reserved=lambda c: c == MARK or measured(c, keys) is not None)
    unnamed = any(pair is not None and pair[0] is None for pair in measures)
    if options.scorer is None and unnamed:
        reader.require("scorer", instead="--scorer NAME")
    if options.scorer is not None and not unnamed:
        raise source.refused(
            f"the columns name their scorers; the option is --scorer {options.scorer}.",
            "Leave the option out, or rename the columns.",
        )
    if not has(fields, source.head.columns, "response_id"):
        reader.require("query_id")

    def scored(cells: RecordCells) -> Iterator[ScoredCell]:
        row_scorer = options.scorer_of(cells)
        for column in cells.columns:
            if (pair := measured(column, keys)) is not None:
                cell = cells.cell(column)
                yield ScoredCell(pair[0] or row_scorer, pair[1], cell, cells.number)

    words = options.read_values(reader, scored)

    def rows_of(cells: RecordCells) -> Rows:
        row_scorer = options.scorer_of(cells)
        shared = {**identifiers(cells, options), **optional_fields(cells)}
        reason, rule = cells.key("missing_reason"), cells.key("rule")
        columns = [(c, pair) for c in cells.columns if (pair := measured(c, keys)) is not None]
        scores = [
            cells.score(column, (scorer or row_scorer, construct))
            for column, (scorer, construct) in columns
        ]
        values = [judgment.value for judgment in scores]
        if not columns:
            cells.fault("has no construct.", "Give a value, or null.")
        elif reason is not None and None not in values and not cells.faulty:
            cells.fault(
                f"has the missing_reason {reason!r} and a value in every column.",
                "Remove the reason, or the values that should be missing.",
                cells.column("missing_reason"),
            )
        scorers = [column_scorer or row_scorer for _, (column_scorer, _) in columns]
        kinds = {scorer: options.kind(cells, scorer) for scorer in dict.fromkeys(scorers)}
        judged = any(
            value is not None and kinds[scorer] == "judge"
            for scorer, value in zip(scorers, values, strict=True)
        )
        if rule is not None and not judged and not cells.faulty:
            cells.fault(
                f"has the rule {rule!r} and no value of a judge.",
                "Leave the cell blank, or give the column another name.",
                cells.column("rule"),
            )
        if row_scorer is not None and all(pair[0] is not None for _, pair in columns):
            cells.left_out("scorers of rows whose columns name theirs")
        for (column, (_, construct)), scorer, (value, word_range) in zip(
            columns, scorers, scores, strict=True
        ):
            yield from cells.row(
                ScoreRow,
                at=column,
                **shared,
                construct_key=construct,
                scorer=scorer,
                scorer_kind=kinds[scorer],
                value=value,
                word_range=word_range,
                # The row's reason applies to its blank cells.
                missing_reason=reason if value is None else None,
                rule=rule if value is not None and kinds[scorer] == "judge" else None,
            )

    yield from reader.rows(rows_of)
    yield from words.concluded(source.report)
