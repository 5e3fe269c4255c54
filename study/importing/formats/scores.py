"""Scores, one a row: response, construct, scorer, value."""

from collections.abc import Sequence
from typing import Any

from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields, folded, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows, ScoreRow

DESCRIPTION = "response_id (or query_id and system), construct, scorer and value"

IDENTIFIERS: Fields = {
    "response_id": ("response_id", "item_id"),
    "query_id": ("query_id", "question_id", "prompt_id", "qid"),
    "system": ("system",),
}
OPTIONAL: Fields = {
    "scorer": (
        *("scorer", "rater", "annotator", "judge"),
        *("rater_id", "annotator_id", "worker_id", "evaluator"),
    ),
    "scorer_kind": ("scorer_kind", "kind"),
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
    "value": ("value", "score", "rating", "label"),
}


def fields_of_table(columns: Sequence[str]) -> Fields:
    """Return the fields of a table that is read without a study, where less may be named.

    Without response_id, a column named model is that of the systems. Without a system as well,
    each query has one response; without a query, each response is one of a separate query.
    """
    fields = dict(FIELDS)
    if has(FIELDS, columns, "response_id"):
        if not has(FIELDS, columns, "query_id"):
            del fields["query_id"]
        return fields
    fields["system"] = (*FIELDS["system"], "model")
    if has(FIELDS, columns, "query_id") and not has(fields, columns, "system"):
        fields["response_id"] = fields.pop("query_id")
    return fields


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

    def row(cells: RecordCells) -> Rows:
        scorer, construct = options.scorer_of(cells), options.construct_of(cells)
        value, verdict = cells.required_score((scorer, construct))
        return cells.row(
            ScoreRow,
            **identifiers(cells, options),
            construct_key=construct,
            scorer=scorer,
            scorer_kind=options.kind(cells, scorer),
            value=value,
            verdict=verdict,
            missing_reason=cells.key("missing_reason"),
            rule=cells.key("rule"),
            **optional_fields(cells),
        )

    yield from reader.rows(row)


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
