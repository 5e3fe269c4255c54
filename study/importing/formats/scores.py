"""Scores, one a row: response, construct, scorer, value; and which columns identify a response."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from study.errors import Fault
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import (
    Fields,
    apart,
    folded,
    has,
    missing_column,
    separators_hint,
)
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.readers.written_values import ScoredCell
from study.importing.rows import Rows, ScoreRow
from study.importing.score_columns.contents import ColumnContent, contents_of
from study.importing.score_columns.names import (
    field_name,
    folded as folded_name,
    names_reason,
    whole_role,
)
from study.importing.score_columns.scorer_rows import kinds_alone
from study.importing.score_columns.words import PERHAPS_CONSTRUCTS, VALUES, WHOLE_NAMES
from study.text import quoted_names

DESCRIPTION = "response_id (or query_id and system), construct, scorer and value"

IDENTIFIERS: Fields = {
    "response_id": ("response_id",),
    "query_id": ("query_id", "question_id", "prompt_id", "qid"),
    "system": ("system",),
}
OPTIONAL: Fields = {
    "scorer": WHOLE_NAMES["scorer"],
    "scorer_kind": (
        *("scorer_kind", "kind", "rater_type", "annotator_type", "scorer_type", "evaluator_type"),
        *("rater_kind", "annotator_kind", "evaluator_kind", "reviewer_type", "judge_type"),
    ),
    "repeat": ("repeat",),
    "missing_reason": ("missing_reason",),
    "rule": ("rule",),
    "inclusion_prob": ("inclusion_prob",),
    "stratum": ("stratum",),
    "source": ("source",),
    "response_words": ("response_words",),
    "position": ("position",),
    "layout": ("layout",),
    "domain": ("domain",),
    "passages_opened": ("passages_opened",),
    "text_format": ("text_format",),
}
FIELDS: Fields = {
    **IDENTIFIERS,
    **OPTIONAL,
    "construct_key": ("construct", "construct_key", "criterion", "aspect", "dimension"),
    "value": VALUES,
}

ITEMS = (
    *("item_id", "session_id", "sample_id", "trace_id", "record_id", "conversation_id"),
    *("case_id", "task_id", "example_id", "run_id", "doc_id", "document_id", "unit_id"),
    *("output_id", "answer_id", "message_id", "item", "sample", "example", "case", "unit"),
    *("id", "uid", "uuid", "key", "doc", "document"),
    *("text_id", "post_id", "entry_id", "instance_id", "segment_id", "instance", "segment"),
)
"""Names of what was judged, a response or, beside systems, a query."""

QUERIES = ("query", "question", "prompt", "user_input", "input", "instruction")
"""Names of the text of a query, which identifies it where nothing else does."""


@dataclass(frozen=True)
class TableFields:
    """The columns of a table that is read without a study, where less may be named."""

    fields: Fields
    assumptions: tuple[str, ...] = ()
    """What was concluded from the names that are missing, in sentences."""
    query_per_response: bool = False
    """Whether each response is read as that of a separate query."""


def fields_of_table(
    columns: Sequence[str],
    named: Mapping[str, str] | None = None,
    not_items: Collection[str] = (),
) -> TableFields:
    """Return the fields of a table of scores, with what is assumed where it names less.

    Without query_id, the text of a query identifies it. Without response_id, a column `model` names
    the systems, and `item_id`, `session_id` and the like the query if there are systems, else the
    response. Without a system as well, each query has one response; without a
    query, each response is that of a separate one. `named` has columns by field where the user
    names them; `not_items` are columns that identify no response, whatever they are called.
    """
    assumed = []
    named_columns = {field: (column,) for field, column in (named or {}).items()}
    # A column that the user names is nothing else, whatever it is called.
    fields: dict[str, tuple[str, ...]] = {
        field: tuple(name for name in names if (name,) not in named_columns.values())
        for field, names in FIELDS.items()
    } | named_columns
    fields = {name: _as_written(names, columns) for name, names in fields.items()}
    like = [c for c in columns if folded_name(c) in PERHAPS_CONSTRUCTS]
    if like and not has(fields, columns, "construct_key") and has(fields, columns, "scorer"):
        fields["construct_key"] = (like[0].casefold(),)
        assumed.append(f"the column {like[0]!r} is read as the construct.")
    items = _as_written(ITEMS, [name for name in columns if name not in not_items])
    if not has(fields, columns, "query_id"):
        texts: Fields = {"query": QUERIES}
        if has(texts, columns, "query"):
            fields["query_id"] = QUERIES
    if not has(fields, columns, "response_id"):
        item: Fields = {"item": items}
        if not has(fields, columns, "system") and has({"model": ("model",)}, columns, "model"):
            fields["system"] = ("model",)
            assumed.append("the column 'model' is read as the system that gave the response.")
        if has(item, columns, "item"):
            is_query = not has(fields, columns, "query_id") and has(fields, columns, "system")
            fields["query_id" if is_query else "response_id"] = item["item"]
            if is_query:
                assumed.append(f"the column {_first(items, columns)!r} is read as the query.")
            else:
                read_as = f"the column {_first(items, columns)!r} is read as the response."
                assumed += [] if named else [read_as]
        elif has(fields, columns, "query_id") and not has(fields, columns, "system"):
            fields["response_id"] = fields.pop("query_id")
            assumed.append(
                "no column names the response or its system, such as response_id or system; each "
                "query is read as having one response."
            )
            return TableFields(fields, tuple(assumed), query_per_response=True)
    alone = has(fields, columns, "response_id") and not has(fields, columns, "query_id")
    if alone:
        fields.pop("query_id", None)
        assumed.append(
            "no column names the query, such as query_id; each response is read as that of a "
            "separate query."
        )
    return TableFields(fields, tuple(assumed), query_per_response=alone)


def _as_written(names: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Names of a field, with those of the columns that are written otherwise: item id, itemId."""
    further = [
        column.casefold()
        for column in columns
        if column not in names and not {folded_name(column), apart(column)}.isdisjoint(names)
    ]
    return (*names, *further)


def _first(names: Sequence[str], columns: Sequence[str]) -> str:
    """The column that the first of these names has which is present."""
    present = {column.casefold(): column for column in reversed(columns)}
    return next(present[name] for name in names if name in present)


def names_responses(head: Head) -> bool:
    """Whether rows name a response."""
    return has(FIELDS, head.columns, "response_id") or has(FIELDS, head.columns, "query_id")


def matches(head: Head) -> bool:
    """Whether each row is one score."""
    # A JSON object without a value has a missing_reason instead; in a table the column is there.
    instead = "missing_reason" if head.form.startswith("json") else "value"
    has_value = any(has(FIELDS, head.columns, name, "construct_key") for name in ("value", instead))
    return has_value and names_responses(head) and "response_a" not in folded(head.columns)


def missing_columns(head: Head) -> list[tuple[str, ...]]:
    """Return the columns that a file of scores needs and this one lacks."""
    needed = ("construct_key", "scorer", "value")
    missing = [FIELDS[name] for name in needed if not has(FIELDS, head.columns, name)]
    either = FIELDS["response_id"] + FIELDS["query_id"]
    return missing if names_responses(head) else [either, *missing]


def rows(source: RecordSource, options: FormatOptions, fields: Fields = FIELDS) -> Rows:
    """Read the rows."""
    reader = Reader(source, fields)
    reader.require("value")
    if options.construct is None:
        reader.require("construct_key")
    if options.scorer is None:
        reader.require("scorer", instead="--scorer NAME")

    words = options.read_values(reader, lambda cells: [judged_cell(cells, options)])

    def row(cells: RecordCells) -> Rows:
        fields = judged_fields(cells, options)
        return cells.row(
            ScoreRow,
            **fields,
            **identifiers(cells, options),
            scorer_kind=options.kind(cells, fields["scorer"]),
            missing_reason=cells.key("missing_reason"),
            rule=cells.key("rule"),
            **optional_fields(cells),
        )

    yield from reader.rows(row)
    yield from words.concluded(source.report)


def judged_cell(cells: RecordCells, options: FormatOptions) -> ScoredCell:
    """Return the judgment of a record that has one score."""
    scorer, construct = options.scorer_of(cells), options.construct_of(cells)
    return ScoredCell(scorer, construct, cells.raw("value"), cells.number)


def judged_fields(cells: RecordCells, options: FormatOptions) -> dict[str, Any]:
    """Read the score of a record that has one: its scorer, construct and value."""
    scorer, construct = options.scorer_of(cells), options.construct_of(cells)
    value, word_range = cells.required_score((scorer, construct))
    return {
        "construct_key": construct,
        "scorer": scorer,
        "value": value,
        "word_range": word_range,
    }


def identifiers(cells: RecordCells, options: FormatOptions) -> dict[str, str | None]:
    """Read the fields that identify the response."""
    return {
        "response_id": cells.key("response_id"),
        "query_id": cells.key("query_id"),
        "system": options.system_of(cells),
    }


def optional_fields(cells: RecordCells) -> dict[str, Any]:
    """Read the fields that a score may have in addition to its value."""
    return {
        "repeat": cells.whole_number("repeat"),
        "inclusion_prob": cells.optional_number("inclusion_prob"),
        "stratum": cells.key("stratum"),
        "source": cells.key("source"),
        "response_words": cells.whole_number("response_words"),
        "position": cells.whole_number("position"),
        "layout": cells.key("layout"),
        "domain": cells.key("domain"),
        "passages_opened": cells.key("passages_opened"),
        "text_format": cells.key("text_format"),
    }


# So many times or more a cell occurs that names a system or a scorer, and not a response.
_MOST_ROWS = 50


def numbers_of_rows(source: RecordSource) -> tuple[str, ...]:
    """Columns named as ids of responses that differ in each row, where another such one repeats.

    Several scorers of a response have a row each, so that these are ids of the rows.
    """
    present = source.head.columns
    named = [column for column in present if folded_name(column) in (*ITEMS, *QUERIES)]
    if len(named) < 2:
        return ()
    cells: dict[str, set[str]] = {column: set() for column in named}
    rows = 0
    for record in source.peeked():
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
    for record in source.peeked():
        for column in columns:
            if record.cells.get(column) is not None:
                distinct[column].add(str(record.cells[column]).strip())
    found = kinds_alone(columns, distinct)
    return {} if found is None else {"scorer": found}


def without_response(source: RecordSource) -> Fault:
    """The fault of a table in which nothing identifies a response."""
    columns = source.head.columns
    if not any(has(FIELDS, columns, name) for name in FIELDS):
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
        if folded_name(column) in VALUES
        or (whole_role(column) is None and _is_value(contents[column]))
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
    known = {column for names in FIELDS.values() for column in names}
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
