"""Scores, several a row: a column for each construct, or for each scorer and construct."""

from collections.abc import Iterable

from study.errors import Fault, InputError
from study.importing.formats.options import Options
from study.importing.formats.scores import BESIDE, NAMING, beside, names_responses, naming
from study.importing.reading.layout import Fields, layout_of
from study.importing.reading.record_cells import Reader, RecordCells
from study.importing.reading.source import Head, Source
from study.importing.rows import Rows, ScoreRow

WANTS = (
    "response_id (or query_id and system) and a column for each construct (with scorer), or for "
    "each scorer and construct, such as anna:QR"
)
FIELDS: Fields = {**NAMING, **BESIDE}


def recognises(head: Head, constructs: Iterable[str] = ()) -> bool:
    """Whether columns are constructs, or scorers with constructs."""
    there = set(head.columns)
    plain = not there & {"construct", "value", "response_a"} and not (
        there & {"query", "question"} and there & {"response", "answer"}
    )
    return plain and names_responses(head) and bool(score_columns(head, tuple(constructs)))


def score_columns(head: Head, constructs: tuple[str, ...]) -> dict[str, tuple[str | None, str]]:
    """Return the columns that hold scores: column to (scorer, construct)."""
    found: dict[str, tuple[str | None, str]] = {}
    for column in head.columns:
        scorer, colon, construct = column.rpartition(":")
        if column in constructs:
            found[column] = (None, column)
        elif colon and scorer.strip() and construct in constructs:
            found[column] = (scorer, construct)
    return found


def rows(source: Source, options: Options) -> Rows:
    """Read the rows; a blank cell is a missing value."""
    columns = score_columns(source.head, options.constructs)
    if not columns:
        known = ", ".join(options.constructs)
        fault = Fault(
            f"no column is a construct. There are: {', '.join(source.head.columns)}. The "
            f"constructs are: {known}.",
            "Name the columns QR or anna:QR, for example.",
        )
        raise InputError(source.path.name, [fault])
    reader = Reader(source, FIELDS, kept=frozenset(columns))
    there = layout_of(source.head.columns, FIELDS, frozenset(), families=False).columns
    if options.scorer is None and any(scorer is None for scorer, _ in columns.values()):
        reader.require("scorer", instead="--scorer NAME")
    if "response_id" not in there:
        reader.require("query_id")
    for cells in reader:
        if not isinstance(cells, RecordCells):
            yield cells
            continue
        own = cells.key("scorer") or options.scorer
        named, further = naming(cells, options), beside(cells)
        reason = cells.key("missing_reason")
        for column, (scorer, construct) in columns.items():
            value = cells.value_of(column)
            who = scorer or own
            yield from cells.row(
                ScoreRow,
                **named,
                construct_key=construct,
                scorer=who,
                scorer_kind=options.kind(cells, who),
                value=value,
                # The row's reason holds for its blank cells.
                missing_reason=reason if value is None else None,
                **further,
            )
