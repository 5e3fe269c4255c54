"""Scores, one a row: response, construct, scorer, value."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields, apart, folded, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.readers.words_ahead import ScoredCell
from study.importing.rows import Rows, ScoreRow
from study.importing.score_columns.names import folded as folded_name
from study.importing.score_columns.words import VALUES, WHOLE_NAMES

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

    def judged_cells() -> Iterator[ScoredCell]:
        for cells in Reader(RecordSource(source.path), fields):
            if isinstance(cells, RecordCells):
                scorer, construct = options.scorer_of(cells), options.construct_of(cells)
                yield ScoredCell(scorer, construct, cells.raw("value"), cells.number)

    words = options.read_values(reader, judged_cells)

    def row(cells: RecordCells) -> Rows:
        scorer, construct = options.scorer_of(cells), options.construct_of(cells)
        value, word_range = cells.required_score((scorer, construct))
        return cells.row(
            ScoreRow,
            **identifiers(cells, options),
            construct_key=construct,
            scorer=scorer,
            scorer_kind=options.kind(cells, scorer),
            value=value,
            word_range=word_range,
            missing_reason=cells.key("missing_reason"),
            rule=cells.key("rule"),
            **optional_fields(cells),
        )

    yield from reader.rows(row)
    yield from words.concluded(source.report)


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
