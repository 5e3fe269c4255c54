"""Which columns identify a row: by their names, or by these and their cells."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from study.importing.readers.input_file import Record
from study.importing.score_columns.contents import ColumnContent
from study.importing.score_columns.names import (
    folded,
    kind_of,
    named_for,
    names_scorer,
    whole_role,
    words,
)
from study.importing.score_columns.words import (
    IDENTIFIES_FOR_SURE,
    PERHAPS_CONSTRUCTS,
    PERHAPS_QUERIES,
    PERHAPS_SYSTEMS,
)

# So many different queries or more are no groups of them, such as tasks.
_FEWEST_QUERIES = 5
# A system has responses to so many queries.
_FEWEST_TO_A_SYSTEM = 2

Contents = Mapping[str, ColumnContent]

Rows = Callable[[], Iterable[Record]]
"""Begins to read the rows anew."""


def identifying_columns(
    columns: Sequence[str], contents: Contents, taken: Sequence[str], rows: Rows
) -> tuple[dict[str, str], str]:
    """Columns with the id, the query, the system and the construct of a row, as far as present.

    The second value says why a column with a certain name is not what its name says.
    """
    found: dict[str, str] = {}
    # TREC numbers its topics beside the names of runs; other topics are what responses are about.
    has_runs = any(
        folded(name) == "run" and name not in taken and not contents[name].only_numbers
        for name in columns
    )
    for role in ("id", "query", "system", "construct"):
        perhaps = perhaps_constructs(columns, contents) if role == "construct" else []
        for column in (*named_for(role, columns), *perhaps):
            content = contents[column]
            if column in taken or content.is_empty:
                continue
            weak = folded(column) not in IDENTIFIES_FOR_SURE
            if role == "id" and weak and (content.blank or repeated(rows(), [column])):
                continue
            if role == "query" and folded(column) == "q" and not content.repeats:
                continue
            if role == "query" and folded(column) == "topic" and not (
                content.only_numbers and has_runs
            ):  # fmt: skip
                continue
            topics_are_queries = folded(found.get("query", "")).startswith("topic")
            if role == "system" and folded(column) == "run" and not topics_are_queries:
                continue
            if role == "construct" and content.blank:
                continue
            # Numbers that no two rows share are those of rows.
            named = folded(column) in ("system", "system_id") and content.repeats
            if role == "system" and content.only_numbers and not named:
                continue
            found[role] = column
            break
    names = [found[role] for role in ("id", "construct") if role in found]
    if "id" in found and (twice := repeated(rows(), names)):
        column = found["id"]
        found.setdefault("query", found.pop("id"))
        found.pop("construct", None)
        return found, f"the column {column!r} does not identify a row: {twice}"
    return found, ""


def perhaps_identifying(
    columns: Sequence[str],
    contents: Contents,
    taken: Sequence[str],
    known: Mapping[str, str],
    rows: Rows,
) -> dict[str, str]:
    """Return further columns with the query and the system of a row, or the query as its id.

    `conversation_id` is the query where several rows share it, since these are not independent;
    `retriever` has the systems where the rows of a query differ in it. `known` are the columns
    that are named for a role, by role.
    """
    found: dict[str, str] = {}
    open_columns = [c for c in columns if c not in (*taken, *known.values())]

    def perhaps(names: Sequence[str]) -> list[str]:
        return [c for c in open_columns if folded(c) in names and not contents[c].blank]

    if "query" not in known:
        for column in _perhaps_queries(open_columns, contents):
            if contents[column].different >= _FEWEST_QUERIES and repeated(rows(), [column]):
                found["query"] = column
                break
    query = {**known, **found}.get("query")
    if "system" not in known and query is not None:
        for column in perhaps(PERHAPS_SYSTEMS):
            key = [query, column, *([known["construct"]] if "construct" in known else [])]
            content = contents[column]
            several = _FEWEST_TO_A_SYSTEM * content.different <= len(content.cells)
            if not (several and content.labels and content.different > 1):
                continue
            if repeated(rows(), [query]) and not repeated(rows(), key):
                found["system"] = column
                break
    if {"query", "construct"} <= {*known} and not {"id", "system"} & {*known, *found}:
        # Each query has one response, and a row for each construct.
        twice = repeated(rows(), [known["query"], known["construct"]])
        found |= {} if twice else {"id": known["query"]}
    return found


def perhaps_constructs(columns: Sequence[str], contents: Contents) -> list[str]:
    """Columns such as `metric` that have several labels, each of them in several rows."""
    return [
        c for c in columns
        if folded(c) in PERHAPS_CONSTRUCTS and contents[c].labels
        and 1 < len(contents[c].distinct) <= len(contents[c].cells) / 2
    ]  # fmt: skip


def _perhaps_queries(columns: Sequence[str], contents: Contents) -> list[str]:
    """Columns of ids that several rows may share, the likeliest first."""
    ids = [
        c for c in columns
        if words(c)[-1:] == ("id",) and whole_role(c) in (None, "id")
        and not names_scorer(c) and kind_of(c) is None
        and not {*words(c)} & _GROUPS and contents[c].cells and not contents[c].blank
    ]  # fmt: skip
    named = [name for name in PERHAPS_QUERIES for c in ids if folded(c) == name]
    return [
        *(c for name in named for c in ids if folded(c) == name),
        *(c for c in ids if folded(c) not in named),
    ]


# Ids with one of these tell groups of rows that are not those of a query.
_GROUPS = {
    *("run", "batch", "experiment", "project", "dataset", "category", "group", "template", "page"),
    *("job", "version", "config", "metric", "rubric", "criterion", "team", "worker"),
}


def repeated(records: Iterable[Record], columns: Sequence[str]) -> str | None:
    """The first two rows with the same cells there, and others elsewhere."""
    rows: dict[tuple[str, ...], Record] = {}
    for record in records:
        cells = tuple(str(record.cells.get(column)) for column in columns)
        first = rows.setdefault(cells, record)
        if first is not record and first.cells != record.cells:
            return f"{cells[0]!r} is in rows {first.number} and {record.number}"
    return None
