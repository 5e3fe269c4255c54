"""Whose scores a table has of which another table, or the user, tells the other side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from study.errors import nearest
from study.importing.readers.source import table_source
from study.importing.score_columns.contents import contents_of
from study.importing.score_columns.identifying import identifying_columns
from study.importing.score_columns.named_columns import (
    PLACEHOLDER,
    ColumnEvidence,
    NamedColumns,
    Recognized,
    parts,
)
from study.importing.score_columns.names import (
    folded,
    kind_of,
    names_model,
    summaries,
    whole_role,
    words,
)
from study.importing.score_columns.recognition import recognized_table
from study.importing.score_columns.scorer_evidence import Contents, evident_scorers
from study.importing.score_columns.shared_parts import by_construct
from study.importing.score_columns.side_by_side import (
    may_be_scores,
    named_without_scores,
)
from study.importing.score_columns.words import FILLERS
from study.text import quoted_names


@dataclass(frozen=True)
class TableSide:
    """One of two tables, and how it is read."""

    path: Path
    on: str
    """The column with the ids that both tables have."""
    columns: NamedColumns | None = None
    """Its columns of judges and raters; None where it names its scorers in rows."""
    recognized: Recognized = field(default_factory=lambda: Recognized("unclear"))
    scorer: str | None = None
    """The column that names the scorer of the only column of scores."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """query_id and system to the columns that the user names for them."""

    @property
    def is_clear(self) -> bool:
        """Whether it is evident how the table is read."""
        return self.columns is None or bool(self.columns.judge or self.columns.human)

    @property
    def candidates(self) -> tuple[str, ...]:
        """Columns that may be scores, of which nothing says whose they are."""
        return self.recognized.candidates


def sides_of(
    paths: Sequence[Path], on: Sequence[str], named: NamedColumns
) -> tuple[TableSide, TableSide]:
    """Return how two tables are read.

    A column that both have and that the user names for judges and for raters is the judge's in the
    first table, and people's in the second.
    """
    present = [table_source(path).head.columns for path in paths]
    given = [
        replace(
            NamedColumns(),
            judge=_in(named.judge, present[place], [] if place == 0 else present[0]),
            human=_in(named.human, present[place], [] if place == 1 else present[1]),
        )
        for place in (0, 1)
    ]
    sides = [
        _given(path, column, columns) if columns else _evident(path, column)
        for path, column, columns in zip(paths, on, given, strict=True)
    ]
    first, second = (
        _with_identifying(_by_file_name(_by_model(side), other), named)
        for side, other in (sides, sides[::-1])
    )
    return first, second


def _with_identifying(side: TableSide, named: NamedColumns) -> TableSide:
    """A table with the columns of the query and the system that the user names."""
    present = table_source(side.path).head.columns
    given = {name: text for name in ("query", "system")
             if (text := getattr(named, name)) in present}  # fmt: skip
    columns = None if side.columns is None else replace(side.columns, **given)
    fields = {{"query": "query_id"}.get(name, name): text for name, text in given.items()}
    return replace(side, columns=columns, fields=fields)


def _in(texts: Sequence[str], present: Sequence[str], elsewhere: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        text
        for text in texts
        if parts(text, present)[1] in present and parts(text, elsewhere)[1] not in elsewhere
    )


def _contents(path: Path) -> tuple[tuple[str, ...], Contents]:
    source = table_source(path)
    return source.head.columns, contents_of(source.peeked(), source.head.columns)


def _given(path: Path, on: str, columns: NamedColumns) -> TableSide:
    present, contents = _contents(path)
    taken = [on, *(parts(text, present)[1] for text in (*columns.judge, *columns.human))]
    recognized = Recognized("named columns")
    scorer = None
    if len(taken) == 2:
        scorer = _scorer_column(present, contents, taken)
    return TableSide(path, on, _identified(path, columns, taken, contents), recognized, scorer)


def _evident(path: Path, on: str) -> TableSide:
    recognized = recognized_table(path)
    if recognized.form in ("long", "wide", "tool export", "preferences"):
        return TableSide(path, on, None, recognized)
    present, contents = _contents(path)
    scores = evident_scorers([name for name in present if name != on], contents)
    found = {kind: [item.column for item in items] for kind, items in scores.items()}
    found = {kind: [n for n in names if n not in summaries(names)] for kind, names in found.items()}
    columns = NamedColumns(tuple(found["judge"]), tuple(found["human"]))
    taken = [*columns.judge, *columns.human]
    further = [c for c in present if c not in (on, *taken) and may_be_scores(c, contents, taken)]
    evidence = [item for items in scores.values() for item in items if item.column in taken]
    identified = _identified(path, columns, [on, *taken], contents)
    scorer = _scorer_column(present, contents, [on, *taken]) if len(taken) == 1 else None
    return TableSide(
        path, on, identified,
        Recognized("named columns", evidence=tuple(evidence), candidates=tuple(further)), scorer,
    )  # fmt: skip


def _identified(
    path: Path, columns: NamedColumns, taken: Sequence[str], contents: Contents
) -> NamedColumns:
    """The columns with those of the query and the system."""
    rest = [name for name in contents if name not in taken]
    source = table_source(path)
    found, _ = identifying_columns(rest, contents, taken, source.peeked)
    return replace(columns, id=taken[0], query=found.get("query"), system=found.get("system"))


def _scorer_column(present: Sequence[str], contents: Contents, taken: Sequence[str]) -> str | None:
    """The column with the names of scorers, where a response has a row for each of them."""
    for column in present:
        content = contents[column]
        several = whole_role(column) == "scorer" and column not in taken and not content.is_empty
        if several and not content.mostly_numbers and content.repeats:
            return column
    return None


def _by_model(side: TableSide) -> TableSide:
    """A table whose only scores stand beside the names of models that gave them, as a judge's."""
    if side.is_clear or side.columns is None or len(side.candidates) != 1:
        return side
    present, contents = _contents(side.path)
    judges = [
        column for column in present
        if (kind_of(column) or ("",))[0] == "judge" and contents[column].distinct
        and all(map(names_model, contents[column].distinct))
    ]  # fmt: skip
    if not judges:
        return side
    evidence = ColumnEvidence(side.candidates[0], "judge", f"beside {judges[0]}, the judge's model")
    recognized = replace(side.recognized, evidence=(evidence,), candidates=())
    columns = replace(side.columns, judge=side.candidates)
    return replace(side, columns=columns, recognized=recognized)


def _by_file_name(side: TableSide, other: TableSide) -> TableSide:
    """A table with columns that may be scores, read as those of whom its file is named after.

    Of several such columns those count that the other table has too, or that are named as scores
    are in general.
    """
    found = kind_of(side.path.stem)
    if side.is_clear or found is None or side.columns is None:
        return side
    kind, word = found
    shared = {folded(name) for name in _scores_of(other)}
    wanted = side.candidates
    if len(wanted) > 1:
        wanted = tuple(
            c for c in wanted if folded(c) in shared or all(w in FILLERS for w in words(c))
        )
    if not wanted:
        return side
    reason = f"{word!r} in the name of the file"
    evidence = tuple(ColumnEvidence(column, kind, reason) for column in wanted)
    left = tuple(name for name in side.candidates if name not in wanted)
    named = side.columns
    columns = replace(named, judge=wanted) if kind == "judge" else replace(named, human=wanted)
    present, contents = _contents(side.path)
    scorer = _scorer_column(present, contents, [side.on]) if len(wanted) == 1 else None
    recognized = replace(side.recognized, evidence=evidence, candidates=left)
    return replace(side, columns=columns, recognized=recognized, scorer=scorer)


def _scores_of(side: TableSide) -> tuple[str, ...]:
    if side.columns is None:
        return ()
    return (*side.columns.judge, *side.columns.human, *side.candidates)


def sides_in_words(sides: Mapping[str, TableSide]) -> list[str]:
    """What the columns of each table were taken for, with the evidence."""
    lines = []
    for name, side in sides.items():
        if side.columns is None:
            continue
        for noun, role, texts in (
            ("judge", "judge", side.columns.judge),
            ("people", "human", side.columns.human),
        ):
            reasons = side.recognized.reasons(role)
            told = [f"{t} ({reasons[t]})" if t in reasons else t for t in texts]
            lines += [f"{noun}: {', '.join(told)} of {name}"] if told else []
    return lines


@dataclass(frozen=True)
class OtherSide:
    """What a table tells of the side that is not named."""

    recognized: Recognized
    columns: NamedColumns | None = None
    """All columns; None where it is not evident which those of the other side are."""
    missing: tuple[str, ...] = ()
    """Sentences on named columns that the table lacks."""


def columns_of_other_side(path: Path, named: NamedColumns) -> OtherSide:
    """Return the columns of raters beside those of judges that the user names, or the reverse."""
    source = table_source(path)
    present = source.head.columns
    side, other = ("judge", "human") if named.judge else ("human", "judge")
    texts = getattr(named, side)
    taken = [parts(text, present)[1] for text in texts]
    absent = tuple(
        f"the column {column!r} is missing; there are {quoted_names(map(repr, present))}. "
        f"{_nearest(column, present)}".strip()
        for column in taken
        if column not in present
    )
    if absent:
        return OtherSide(Recognized("unclear"), missing=absent)
    contents = contents_of(source.peeked(), present)
    # What a column is called does not count where the user says whose it is.
    scores = evident_scorers([name for name in present if name not in taken], contents)
    found = [item.column for item in scores[other]]
    found = [column for column in found if column not in summaries(found)]
    beside = [name for name in present if name not in (*taken, *found)]
    identifying, _ = identifying_columns(beside, contents, [*taken, *found], source.peeked)
    chosen = {key: value for key, value in vars(named).items() if value}
    rest = [name for name in beside if name not in {*identifying.values(), *map(str, chosen)}]
    candidates = tuple(
        name
        for name in rest
        if name not in chosen.values() and may_be_scores(name, contents, taken)
    )
    evidence = tuple(item for item in scores[other] if item.column in found)
    evidence += tuple(ColumnEvidence(column, side, f"named by --{side}") for column in taken)
    base = Recognized("named columns", evidence=evidence, candidates=candidates)
    by_names = replace(NamedColumns(), **dict[str, Any](identifying))
    example = replace(by_names, **{**chosen, other: (PLACEHOLDER,)})
    pairs = None
    if found:
        judges, people = (texts, found) if side == "judge" else (found, texts)
        given = any(parts(text, present)[0] for text in texts)
        pairs = None if given else by_construct(judges, people)
    if pairs is None:
        problem = "no column is clearly that of " + (
            "people's scores" if other == "human" else "the judge's scores"
        )
        if found:
            problem = "it is not clear which columns of judges and raters belong together"
        problem += named_without_scores((other,), beside, contents)
        enough = bool(candidates)
        unclear = replace(
            base, form="unclear", example=example, unclear=problem, can_be_completed=enough
        )
        return OtherSide(unclear)
    columns = replace(by_names, **{**chosen, "judge": pairs[0], "human": pairs[1]})
    return OtherSide(base, columns)


def _nearest(column: str, present: tuple[str, ...]) -> str:
    """The column that is meant: the most similar one, or the only one that begins so."""
    names = [name.strip() for name in column.split(",")]
    if len(names) > 1 and set(names) <= set(present):
        return "Of several columns each has an option of its own."
    alike = [name for name in present if name.casefold().startswith(column.casefold())]
    if len(alike) == 1:
        return f"Did you mean {alike[0]!r}?"
    return nearest(column, present)
