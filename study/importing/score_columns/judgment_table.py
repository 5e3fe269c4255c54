"""A table of judgments that was read: a row for each response, with the columns of scorers; and how
rows of raters, each with the judge's score of the response again, become such a table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from study.importing.readers.written_values import Group, GroupWords
from study.importing.score_columns.names import (
    folded,
    kind_of,
    named_for,
    names_people,
    names_scorer,
    whole_role,
)
from study.importing.score_columns.words import IDENTIFIES_FOR_SURE

if TYPE_CHECKING:
    from pandas import DataFrame

KEPT = ("response_words", "domain")
"""Columns of a table of scores that are kept where the table has them."""


class WordScale(NamedTuple):
    """The scale of the words that values were read from."""

    min: float
    max: float
    step: float | None
    level: str
    """ordinal, or nominal for names without an order."""


def as_attribute(scales: Mapping[tuple[str, str], WordScale]) -> dict[str, dict[str, list[Any]]]:
    """Return the scales of words as a frame can keep them: by construct and scorer."""
    by_construct: dict[str, dict[str, list[Any]]] = {}
    for (scorer, construct), scale in scales.items():
        by_construct.setdefault(construct, {})[scorer] = list(scale)
    return by_construct


def scales_of_words(words: Mapping[Group, GroupWords]) -> dict[tuple[str, str], WordScale]:
    """Return the scale of the words of each scorer and construct that have several values."""
    return {
        (str(scorer), str(construct)): WordScale(
            *found.vocabulary.range, "nominal" if found.vocabulary.nominal else "ordinal"
        )
        for (scorer, construct), found in words.items()
        if found.vocabulary is not None and found.vocabulary.range is not None
    }


def names_of_values(words: Mapping[Group, GroupWords]) -> dict[str, dict[float, str]]:
    """Return the word for each value by construct.

    Where scorers have different words for a value, it is that of the last one.
    """
    names: dict[str, dict[float, str]] = {}
    for (_, construct), found in words.items():
        if found.vocabulary is not None:
            names.setdefault(str(construct), {}).update(found.vocabulary.names())
    return {construct: dict(sorted(of.items())) for construct, of in names.items()}


@dataclass(frozen=True)
class ScoreColumn:
    """The values of one column; None is missing."""

    column: str
    scorer: str
    kind: str
    """judge or human."""
    construct: str | None
    """None where each row names its construct."""
    values: list[float | None]


@dataclass(frozen=True)
class JudgmentTable:
    """The judgments of a file in pure Python: lists with an item for each row of the file."""

    response_ids: list[str]
    query_ids: list[str]
    systems: list[str | None]
    row_numbers: list[int]
    """Rows as an editor or spreadsheet counts them."""
    columns: tuple[ScoreColumn, ...]
    constructs: list[str] | None = None
    """The construct of each row, where a column names it."""
    kept: Mapping[str, list[Any]] = field(default_factory=dict)
    """response_words and domain, where the file has them."""
    value_names: Mapping[str, Mapping[float, str]] = field(default_factory=dict)
    """By construct: the word for each value, where values were words."""
    word_scales: Mapping[tuple[str, str], WordScale] = field(default_factory=dict)
    """By scorer and construct: the scale of known words."""
    levels: Mapping[str, str] = field(default_factory=dict)
    """By construct, where values were words: binary, ordinal or nominal."""
    summary: tuple[str, ...] = ()
    """Lines on what was accepted by a rule or left out."""

    def __len__(self) -> int:
        return len(self.response_ids)

    def to_frame(self) -> DataFrame:
        """Return the scores, one a row, in the order of the columns.

        The columns are those of a table of scores; `attrs["summary"]` has the lines of `summary`,
        `attrs["word_scales"]` lowest and highest value, step and level by construct and scorer,
        `attrs["value_names"]` the word for each value by construct.
        """
        import pandas as pd

        base = pd.DataFrame(
            {
                "response_id": pd.Series(self.response_ids, dtype=object),
                "query_id": pd.Series(self.query_ids, dtype=object),
                "system": pd.Series(self.systems, dtype=object),
                **{name: pd.Series(cells, dtype=object) for name, cells in self.kept.items()},
            }
        )
        parts = [
            base.assign(
                construct=self.constructs if column.construct is None else column.construct,
                scorer=column.scorer,
                scorer_kind=column.kind,
                value=pd.Series(column.values, dtype="float64"),
            )
            for column in self.columns
        ]
        frame = pd.concat(parts, ignore_index=True)
        frame.attrs["summary"] = list(self.summary)
        frame.attrs["word_scales"] = as_attribute(self.word_scales)
        frame.attrs["value_names"] = {key: dict(names) for key, names in self.value_names.items()}
        return frame


# So few responses with equal scores may be equal by chance, where only the query tells them apart.
_FEWEST_QUERIES = 3


@dataclass(frozen=True)
class RaterRows:
    """How the rows of several raters become one row for each response."""

    rater: str
    """The column that names the rater."""
    key: tuple[str, ...]
    """The columns that identify the response, such as its id."""

    def of(self, cells: Mapping[str, Any]) -> str:
        """Return the name of a row's rater; numbers are named by what their column is."""
        return rater_name(self.rater, cells.get(self.rater))

    def identifying(self, found: Mapping[str, str]) -> dict[str, str]:
        """Return the columns by role, with the one that identifies the responses in its place."""
        column, *others = self.key
        if column == found.get("query") and whole_role(column) == "query":
            return dict(found)
        rest = {name: text for name, text in found.items() if text != column}
        if found.get("system") in others:
            return {"query": column} | rest
        return rest | {"id": column}

    def response(self, cells: Mapping[str, Any]) -> tuple[str, ...]:
        """Return what identifies the response of a row."""
        return tuple(_text(cells.get(column)) for column in self.key)


def rater_name(column: str, cell: Any) -> str:
    """Return the name of a rater; a number behind what its column is called."""
    name = _text(cell)
    return f"{column} {name}" if name.isdigit() else name


def rater_rows(
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    judges: Sequence[str],
    people: Sequence[str],
    identifying: Mapping[str, str],
    *,
    declared: bool = False,
) -> RaterRows | None:
    """Return how rows of raters are read; None where each row is a response.

    `rows` are by column, and only gone through where a column names raters. The rows of a response
    name different raters, and most have the same score of the judge. A declared id, or one named
    response_id, id or item_id, is that of the response in any case.
    """
    taken = {*judges, *people}
    rater = rater_column(columns, taken)
    if rater is None or not people or not judges:
        return None
    rows = list(rows)
    construct = [identifying[name] for name in ("construct",) if name in identifying]
    for key, sure in _keys(columns, taken | {rater}, identifying, declared=declared):
        found = RaterRows(rater, (*key, *construct))
        groups: defaultdict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
        for cells in rows:
            groups[found.response(cells)].append(cells)
        several = [group for group in groups.values() if len(group) > 1]
        distinct = all(len({found.of(c) for c in group}) == len(group) for group in several)
        if not several or not distinct:
            continue
        alike = sum(all(_alike(group, judge) for judge in judges) for group in several)
        enough = 2 * alike > len(several)
        if "query" in identifying and identifying["query"] == key[0]:
            enough = alike == len(several) >= _FEWEST_QUERIES
        if sure or (enough and _differs(several, judges)):
            return found
    return None


def numbers_raters(rater: str, judge: str, rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether numbers name raters: each has as many rows, with the same scores of the judge."""
    scores: defaultdict[str, list[str]] = defaultdict(list)
    for cells in rows:
        scores[_text(cells.get(rater))].append(_text(cells.get(judge)))
    each = [sorted(values) for values in scores.values()]
    return len(each) > 1 and len(set(each[0])) > 1 and all(one == each[0] for one in each)


def by_response(table: JudgmentTable, raters: Sequence[str]) -> JudgmentTable:
    """Return the table with a row for each response, and a column for each of the raters."""
    keys = [
        (response, None if table.constructs is None else table.constructs[place])
        for place, response in enumerate(table.response_ids)
    ]
    places: dict[Any, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    first = [row_places[0] for row_places in places.values()]
    names = list(dict.fromkeys(raters))

    def taken(cells: Sequence[Any]) -> list[Any]:
        return [cells[place] for place in first]

    def one_each(column: ScoreColumn, scorer: str, *, judge: bool) -> ScoreColumn:
        """The column with one value for each response: the judge's first, or that of a rater."""
        values = column.values  # noqa: PD011
        found = (
            [values[p] for p in of if (values[p] is not None if judge else raters[p] == scorer)]
            for of in places.values()
        )
        return replace(column, scorer=scorer, values=[(of or [None])[0] for of in found])

    columns: list[ScoreColumn] = []
    scales = dict(table.word_scales)
    for column in table.columns:
        if column.kind == "judge":
            columns.append(one_each(column, column.scorer, judge=True))
            continue
        columns += [one_each(column, name, judge=False) for name in names]
        for scorer, construct in list(table.word_scales):
            if scorer == column.scorer:
                scale = scales.pop((scorer, construct))
                scales |= {(name, construct): scale for name in names}
    return replace(
        table,
        response_ids=taken(table.response_ids),
        query_ids=taken(table.query_ids),
        systems=taken(table.systems),
        row_numbers=taken(table.row_numbers),
        columns=tuple(columns),
        constructs=None if table.constructs is None else taken(table.constructs),
        kept={name: taken(cells) for name, cells in table.kept.items()},
        word_scales=scales,
    )


def rater_column(columns: Sequence[str], taken: Collection[str]) -> str | None:
    """Return the column that is named as one with the names of raters."""
    for column in columns:
        kind = kind_of(column)
        judge = kind is not None and kind[0] == "judge"
        if column not in taken and not judge and (names_people(column) or names_scorer(column)):
            return column
    return None


def _keys(
    columns: Sequence[str], taken: set[str], identifying: Mapping[str, str], *, declared: bool
) -> Iterable[tuple[tuple[str, ...], bool]]:
    """What may identify a response, and whether it is sure to."""
    system = [identifying["system"]] if "system" in identifying else []
    named = [identifying["id"]] if "id" in identifying else []
    for column in named if declared else (c for c in named_for("id", columns) if c not in taken):
        # Beside a column that differs in each row, another one may be that of the query.
        sure = declared or (folded(column) in IDENTIFIES_FOR_SURE and not named)
        yield (column,), sure
        if system and not declared:
            yield (column, *system), sure
    if "query" in identifying and not named:
        texts = [c for c in columns if whole_role(c) == "response" and c not in taken]
        yield (identifying["query"], *system, *texts), False


def _alike(group: Sequence[Mapping[str, Any]], judge: str) -> bool:
    return len({text for cells in group if (text := _text(cells.get(judge)))}) <= 1


def _differs(groups: Sequence[Sequence[Mapping[str, Any]]], judges: Sequence[str]) -> bool:
    """Whether a judge's scores differ between responses, so that equal ones tell something."""
    return any(len({_text(group[0].get(judge)) for group in groups}) > 1 for judge in judges)


def _text(cell: Any) -> str:
    text = "" if cell is None or cell != cell else str(cell).strip()  # noqa: PLR0124  (NaN)
    return text.removesuffix(".0")
