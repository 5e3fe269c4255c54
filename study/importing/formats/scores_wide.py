"""Scores, several a row: a column for each construct, or for each scorer and construct."""

from collections.abc import Iterable

from study.errors import Fault, InputError
from study.importing.formats.scores import BESIDE, NAMING, beside, names_responses, naming
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields, folded, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows, ScoreRow
from study.text import MARK, quoted_names

WANTS = (
    "response_id (or query_id and system) and a column for each construct (with scorer), or for "
    "each scorer and construct, such as anna:QR"
)
FIELDS: Fields = {**NAMING, **BESIDE}


def matches(head: Head, constructs: Iterable[str] = ()) -> bool:
    """Whether columns are constructs, or scorers with constructs."""
    there = folded(head.columns)
    plain = not there & {"construct", "value", "response_a"} and not (
        there & {"query", "question"} and there & {"response", "answer"}
    )
    keys = tuple(constructs)
    return plain and names_responses(head) and any(measured(c, keys) for c in head.columns)


def measured(column: str, constructs: tuple[str, ...]) -> tuple[str | None, str] | None:
    """Return the scorer (if it is named) and the construct of a column; None for another one."""
    scorer, colon, construct = column.rpartition(":")
    if column in constructs:
        return None, column
    if colon and scorer.strip() and construct in constructs:
        return scorer, construct
    return None


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the rows; a blank cell is a missing value."""
    keys = options.constructs
    measures = [measured(column, keys) for column in source.head.columns]
    if not any(measures):
        known = ", ".join(keys)
        fault = Fault(
            f"no column is a construct. There are: {quoted_names(source.head.columns)}. The "
            f"constructs are: {known}.",
            "Name the columns QR or anna:QR, for example.",
        )
        raise InputError(source.path.name, [fault])
    reader = Reader(source, FIELDS, kept=lambda c: c == MARK or measured(c, keys) is not None)
    unnamed = any(pair is not None and pair[0] is None for pair in measures)
    if options.scorer is None and unnamed:
        reader.require("scorer", instead="--scorer NAME")
    if options.scorer is not None and not unnamed:
        fault = Fault(
            f"the columns name their scorers, but the option --scorer {options.scorer}.",
            "Leave it out, or rename the columns.",
        )
        raise InputError(source.path.name, [fault])
    if not has(FIELDS, source.head.columns, "response_id"):
        reader.require("query_id")
    for cells in reader:
        if not isinstance(cells, RecordCells):
            yield cells
            continue
        row_scorer = options.scorer_of(cells)
        named, further = naming(cells, options), beside(cells)
        reason, rule = cells.key("missing_reason"), cells.key("rule")
        there = [(c, pair) for c in cells.columns if (pair := measured(c, keys)) is not None]
        values = [cells.value_of(column) for column, _ in there]
        if not there:
            cells.fault("holds no construct.", "Give a value, or null.")
        elif reason is not None and None not in values and not cells.faulty:
            cells.fault(
                f"has the missing_reason {reason!r} and a value in every column.",
                "Remove the reason, or the values that are not meant.",
                cells.column("missing_reason"),
            )
        scorers = dict.fromkeys(pair[0] or row_scorer for _, pair in there)
        kinds = {who: options.kind(cells, who) for who in scorers}
        judged = any(
            value is not None and kinds[pair[0] or row_scorer] == "judge"
            for (_, pair), value in zip(there, values, strict=True)
        )
        if rule is not None and not judged and not cells.faulty:
            cells.fault(
                f"has the rule {rule!r} and no value of a judge.",
                "Leave the cell blank, or give the column another name.",
                cells.column("rule"),
            )
        if row_scorer is not None and all(pair[0] is not None for _, pair in there):
            cells.left_out("scorers of rows whose columns name theirs")
        for (column, (scorer, construct)), value in zip(there, values, strict=True):
            who = scorer or row_scorer
            yield from cells.row(
                ScoreRow,
                at=column,
                **named,
                construct_key=construct,
                scorer=who,
                scorer_kind=kinds[who],
                value=value,
                # The row's reason holds for its blank cells.
                missing_reason=reason if value is None else None,
                rule=rule if value is not None and kinds[who] == "judge" else None,
                **further,
            )
