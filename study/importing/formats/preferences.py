"""Preferences: two responses to a query, and which of them is better."""

from study.importing.formats.scores import OPTIONAL
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.readers.value_words import is_missing
from study.importing.rows import PreferenceRow, Rows
from study.importing.score_columns.preference_columns import PreferenceColumns, preference_in
from study.importing.score_columns.scorer_names import ONLY_CONSTRUCT

DESCRIPTION = "query_id, response_a, response_b, construct, scorer, value (positive: b is better)"
FIELDS: Fields = {
    "query_id": ("query_id",),
    "response_a": ("response_a",),
    "response_b": ("response_b",),
    "construct_key": ("construct", "construct_key"),
    "value": ("value", "preference"),
    "value_a_first": ("value_a_first",),
    "value_b_first": ("value_b_first",),
    **{
        name: OPTIONAL[name]
        for name in ("scorer", "scorer_kind", "repeat", "missing_reason", "text_format")
    },
}


def matches(head: Head) -> bool:
    """Whether rows compare two responses."""
    return has(FIELDS, head.columns, "response_a", "response_b")


def missing_columns(head: Head) -> list[tuple[str, ...]]:
    """Return the columns that a file of preferences needs and this one lacks."""
    needed = ("query_id", "response_a", "response_b", "construct_key", "scorer", "value")
    return [FIELDS[name] for name in needed if not has(FIELDS, head.columns, name)]


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the rows."""
    reader = Reader(source, FIELDS)
    reader.require("query_id", "response_a", "response_b", "value")
    if options.construct is None:
        reader.require("construct_key")
    if options.scorer is None:
        reader.require("scorer", instead="--scorer NAME")

    def row(cells: RecordCells) -> Rows:
        scorer = options.scorer_of(cells)
        return cells.row(
            PreferenceRow,
            query_id=cells.key("query_id"),
            response_a=cells.key("response_a"),
            response_b=cells.key("response_b"),
            construct_key=options.construct_of(cells),
            scorer=scorer,
            scorer_kind=options.kind(cells, scorer),
            repeat=cells.whole_number("repeat"),
            value=cells.required_value(),
            missing_reason=cells.key("missing_reason"),
            value_a_first=cells.optional_number("value_a_first"),
            value_b_first=cells.optional_number("value_b_first"),
            text_format=cells.key("text_format"),
        )

    yield from reader.rows(row)


def rows_side_by_side(source: RecordSource, columns: PreferenceColumns) -> Rows:
    """Read rows with the preferences of judges and of people: a comparison for each of them."""
    fields: Fields = {column: (column,) for column in columns.scorers}
    if columns.query is not None:
        fields = {**fields, "query_id": (columns.query,)}
    raters = columns.raters
    if raters is not None:
        fields = {**fields, "rater": (raters.rater,)}
    reader = Reader(source, fields)
    first: dict[tuple[str, str], tuple[float, int]] = {}

    def comparisons(cells: RecordCells) -> Rows:
        place = f"row {cells.number}"
        if raters is not None:
            place = ", ".join(raters.response(cells.written))
        query = cells.key("query_id") if columns.query is not None else None
        for column, kind in columns.scorers.items():
            text = cells.key(column)
            if text is None or is_missing(text):
                source.report.rules["blank preferences left out"] += 1
                continue
            value = preference_in(text)
            if value is None:
                cells.fault(
                    f"{text!r} is none of A, B and tie.",
                    "Write A where response_a is preferred, B where response_b is, and tie.",
                    column,
                )
                continue
            if raters is not None and kind == "judge":
                earlier, row = first.setdefault((column, place), (value, cells.number))
                if earlier != value:
                    cells.fault(
                        f"{text!r} is another preference of the judge than in row {row}.",
                        "Each rater's row of a pair repeats one preference of the judge: correct "
                        "it.",
                        column,
                    )
                if row != cells.number:
                    continue
            yield from cells.row(
                PreferenceRow,
                at=column,
                query_id=query or place,
                response_a=f"{place} A",
                response_b=f"{place} B",
                construct_key=ONLY_CONSTRUCT,
                scorer=column if raters is None or kind == "judge" else raters.of(cells.written),
                scorer_kind=kind,
                value=value,
            )

    yield from reader.rows(comparisons)
