"""Scores, one a row: response, construct, scorer, value."""

from study.importing.formats.options import Options
from study.importing.reading.layout import Fields, has
from study.importing.reading.record_cells import Reader, RecordCells
from study.importing.reading.source import Head, Source
from study.importing.rows import Rows, ScoreRow

WANTS = "response_id (or query_id and system), construct, scorer and value"

NAMING: Fields = {
    "response_id": ("response_id",),
    "query_id": ("query_id",),
    "system": ("system",),
}
BESIDE: Fields = {
    "scorer": ("scorer", "rater", "annotator", "judge"),
    "scorer_kind": ("scorer_kind", "kind"),
    "repeat": ("repeat",),
    "missing_reason": ("missing_reason",),
    "inclusion_prob": ("inclusion_prob",),
    "stratum": ("stratum",),
    "source": ("source",),
}
FIELDS: Fields = {
    **NAMING,
    **BESIDE,
    "construct_key": ("construct", "construct_key"),
    "value": ("value", "score", "rating"),
}


def names_responses(head: Head) -> bool:
    """Whether rows name a response."""
    return has(FIELDS, head.columns, "response_id") or has(FIELDS, head.columns, "query_id")


def recognises(head: Head) -> bool:
    """Whether each row holds one score."""
    one = names_responses(head) and has(FIELDS, head.columns, "value", "construct_key")
    return one and "response_a" not in head.columns


def lacks(head: Head) -> list[tuple[str, ...]]:
    """Return the columns that a file of scores needs and this one has not."""
    wanted = [FIELDS[name] for name in ("construct_key", "scorer", "value")]
    missing = [names for names in wanted if not set(names) & set(head.columns)]
    return missing if names_responses(head) else [FIELDS["response_id"], *missing]


def rows(source: Source, options: Options) -> Rows:
    """Read the rows."""
    reader = Reader(source, FIELDS)
    reader.require("value")
    if options.construct is None:
        reader.require("construct_key")
    if options.scorer is None:
        reader.require("scorer", instead="--scorer NAME")
    for cells in reader:
        if not isinstance(cells, RecordCells):
            yield cells
            continue
        scorer = cells.key("scorer") or options.scorer
        yield from cells.row(
            ScoreRow,
            **naming(cells, options),
            construct_key=cells.key("construct_key") or options.construct,
            scorer=scorer,
            scorer_kind=options.kind(cells, scorer),
            value=cells.value("value"),
            missing_reason=cells.key("missing_reason"),
            **beside(cells),
        )


def naming(cells: RecordCells, options: Options) -> dict[str, str | None]:
    """Read what names the response."""
    return {
        "response_id": cells.key("response_id"),
        "query_id": cells.key("query_id"),
        "system": cells.key("system") or options.system,
    }


def beside(cells: RecordCells) -> dict[str, str | float | int | None]:
    """Read what stands beside a value."""
    return {
        "repeat": cells.whole("repeat"),
        "inclusion_prob": cells.share("inclusion_prob"),
        "stratum": cells.key("stratum"),
        "source": cells.key("source"),
    }
