"""A table that names its scorers, in rows or as SCORER:CONSTRUCT: of which kind each one is."""

from collections.abc import Iterable, Mapping, Sequence

from study.importing.readers.input_file import Record
from study.importing.score_columns.contents import ColumnContent
from study.importing.score_columns.named_columns import ColumnEvidence, Recognized
from study.importing.score_columns.names import (
    field_name,
    folded,
    kind_of,
    names_no_score,
    names_people,
    whole_role,
    without_prompt,
    words,
)
from study.importing.score_columns.words import (
    ADJUDICATED,
    KINDS,
    METRICS,
    NAME_PEOPLE,
    VALUES,
    WHOLE_NAMES,
)

_VALUES = {*VALUES}
_LONGEST_NAME = 60
_CONSTRUCTS = {"construct", "construct_key", "criterion", "aspect", "dimension"}


def names_scorers(columns: Sequence[str], contents: Mapping[str, ColumnContent]) -> bool:
    """Whether a table has a row for each score, a column for each SCORER:CONSTRUCT, or pairs."""
    names = {field_name(column) for column in columns}
    numeric = {field_name(c) for c in columns if contents[c].mostly_numbers}
    if names & {"response_a", "response_b"} or "scorer" in names:
        return True
    if any(
        ":" in n.strip(":") and whole_role(n) is None and without_prompt(n) == n for n in columns
    ):
        return True
    # A column `user` may have what the user wrote.
    texts = {field_name(column) for column in columns if not _may_be_names(contents[column])}
    scorer = next(
        (n for n in WHOLE_NAMES["scorer"] if n in names and not (n in NAME_PEOPLE and n in texts)),
        None,
    )
    if scorer == "judge" and scorer in numeric:
        return False
    words_of = {column: contents[column].distinct for column in columns}
    scorer = scorer or kinds_alone(columns, words_of)
    named = [
        name
        for name in columns
        if contents[name].mostly_numbers
        and kind_of(name) is not None
        and names_no_score(name) is None
        and (field_name(name) not in WHOLE_NAMES["scorer"] or folded(name) == "judge" != scorer)
    ]
    if named and not names & {"value", "score", "rating"}:
        # A label next to columns of judges and raters may be anything.
        return False
    judge_names = [name for name in named if (kind_of(name) or ("",))[0] == "judge"]
    by_judges = any(field_name(c) == scorer and names_judges(c, contents[c]) for c in columns)
    if (judge_names and any(names_people(column) for column in columns)) or (
        named and not judge_names and by_judges
    ):
        # Each row has the value of one rater and that of one judge, and names one of them.
        return False
    return bool(names & (_VALUES | _CONSTRUCTS)) and bool(
        (names & _VALUES and scorer is not None)
        or (names & _VALUES and names & _CONSTRUCTS and not named)
    )


def names_judges(column: str, content: ColumnContent) -> bool:
    """Whether a column of names of scorers has those of judges alone, such as gpt-4o."""
    named = whole_role(column) == "scorer" and content.distinct
    return bool(named) and all(kind_of_scorer(name) == "judge" for name in content.distinct)


def kinds_alone(columns: Sequence[str], distinct: Mapping[str, Iterable[str]]) -> str | None:
    """The column with kinds of scorers, such as human and llm, of a table without their names.

    Each kind is then one scorer. `distinct` has the words of each column.
    """
    if _first(columns, "scorer") is not None:
        return None
    for name in WHOLE_NAMES["scorer_kind"]:
        for column in columns:
            found = {folded(word) for word in distinct.get(column, ())}
            if field_name(column) == name and len(found) > 1 and found <= set(KINDS):
                return column
    return None


def _may_be_names(content: ColumnContent) -> bool:
    """Whether cells may be names or numbers of scorers, each of which has several rows."""
    return content.repeats and all(len(str(cell)) <= _LONGEST_NAME for _, cell in content.cells)


def kind_of_scorer(name: str) -> str | None:
    """The kind that the name of a scorer tells: gpt-4o is a judge, expert-1 a person."""
    found = words(name)
    if folded(name) in METRICS or any(word in METRICS for word in found):
        return "metric"
    if any(word in ADJUDICATED for word in found):
        return "adjudicated"
    kind = kind_of(name)
    return None if kind is None else kind[0]


def named_scorers(
    columns: Sequence[str],
    contents: Mapping[str, ColumnContent],
    records: Iterable[Record],
) -> Recognized:
    """Return the scorers of a table that names them, with the kinds that it tells."""
    names = {field_name(column) for column in columns}
    if names & {"response_a", "response_b"}:
        return Recognized("preferences")
    part_columns = [column for column in columns if ":" in column and whole_role(column) is None]
    scorer, kind, by_kind = _first(columns, "scorer"), _kind_column(columns, contents), False
    if scorer is None:
        scorer = kinds_alone(columns, {c: contents[c].distinct for c in columns})
        by_kind, kind = scorer is not None, None if scorer == kind else kind
    stated = _stated(records, scorer, kind) if scorer is not None else {}
    for column in part_columns:
        stated.setdefault(column.rpartition(":")[0].strip(), None)
    by_column = scorer is not None and names_people(scorer)
    evidence, kinds, unknown = [], {}, []
    strange = any(word not in KINDS for word in stated.values() if word is not None)
    own_field = kind is not None and field_name(kind) not in ("source", "source_type", "type")
    for name, word in stated.items():
        if word is not None and own_field:
            continue
        found, reason = (
            (KINDS.get(word), f"{word!r} in the column {kind}") if word is not None
            else (kind_of_scorer(name), "its name")
        )  # fmt: skip
        if by_kind and folded(name) in KINDS:
            found, reason = KINDS[folded(name)], f"{name!r} in the column {scorer}"
        if found is None and by_column:
            found, reason = "human", f"{name!r} is in the column {scorer}"
        if found is None:
            unknown.append(name)
            continue
        kinds[name] = found
        evidence.append(ColumnEvidence(name, found, reason))
    known_kinds = (kinds.get(name) or KINDS.get(word or "") for name, word in stated.items())
    sides = {side for side in known_kinds if side in ("judge", "human", "metric")}
    one_side = "" if unknown or strange or len(sides) != 1 else sides.pop()
    form = "wide" if part_columns and not names & _VALUES else "long"
    further = [
        column
        for column in columns
        if column not in (scorer, kind, *part_columns)
        and kind_of(column) is not None
        and whole_role(column) is None
        and names_no_score(column) is None
        and contents[column].may_be_scores
    ]
    return Recognized(
        form,
        kinds=kinds,
        evidence=tuple(evidence),
        unknown_kinds=tuple(unknown),
        one_side=one_side,
        candidates=tuple(further),
    )


def _stated(records: Iterable[Record], scorer: str, kind: str | None) -> dict[str, str | None]:
    """The word for the kind of each scorer, in the order of their appearance."""
    stated: dict[str, str | None] = {}
    for record in records:
        cell = record.cells.get(scorer)
        name = "" if cell is None else str(cell).strip()
        if name:
            word = folded(str(record.cells.get(kind) or "")) if kind is not None else ""
            stated[name] = stated.get(name) or word or None
    return stated


def _kind_column(columns: Sequence[str], contents: Mapping[str, ColumnContent]) -> str | None:
    """The column with kinds of scorers; `source` and `type` are, where all words are kinds."""
    for name in WHOLE_NAMES["scorer_kind"]:
        for column in columns:
            if field_name(column) == name:
                found = {folded(word) for word in contents[column].distinct}
                sure = name not in ("source", "source_type", "type")
                if sure or (found and found <= set(KINDS)):
                    return column
    return None


def _first(columns: Sequence[str], role: str) -> str | None:
    present = {field_name(column): column for column in reversed(columns)}
    return next((present[name] for name in WHOLE_NAMES[role] if name in present), None)
