"""Two tables of scores, one of judges and one of people, joined by the ids of responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from study.importing.readers.column_words import number_in
from study.importing.readers.judgment_cells import Ranged
from study.importing.readers.source import table_source
from study.importing.readers.value_words import folded_word, missing_numbers, words_alone
from study.importing.score_columns.contents import inner_score
from study.importing.score_columns.named_columns import NamedColumns, parts
from study.importing.score_columns.names import construct_in_name
from study.importing.score_columns.reading import read_named_columns
from study.importing.score_columns.shared_ids import (
    PEOPLE,
    SharedIds,
    as_key,
    matched,
    refused,
    share_identifiers,
)
from study.importing.score_columns.shared_parts import by_construct, shared_construct_pairs
from study.importing.score_columns.table_side import TableSide
from study.importing.score_columns.words import ONLY_CONSTRUCT
from study.text import counted, quoted_names, shell_word

if TYPE_CHECKING:
    from pandas import DataFrame


class UnclearConstructsError(ValueError):
    """It is not evident which columns of two tables are on the same construct."""


@dataclass(frozen=True)
class Declared:
    """What the user declares about the scores of both tables."""

    kinds: Mapping[str, str]
    scales: Mapping[str, Ranged]
    scorer_scales: Mapping[tuple[str, str], Ranged]
    words: Mapping[str, float | None]
    """Numbers of words."""
    looks_like: Callable[[Sequence[float]], str | None] | None = None


def read_joined(
    sides: tuple[TableSide, TableSide],
    on: SharedIds,
    declared: Declared,
    *,
    only_construct: Callable[[Path], str | None],
    allow_unmatched: bool = False,
) -> DataFrame:
    """Read two tables of scores into one.

    Responses are those of the same id; their queries and systems are those of the table that names
    them. Responses without people's scores are kept. `only_construct` returns the construct of a
    table that has a row for each score and names none. `allow_unmatched` leaves out people's
    scores on responses that no judge has scored.

    Returns
    -------
    DataFrame
        As `read_scores`; `attrs["summary"]` says how many responses are in both tables.

    Raises
    ------
    InputError
        A table has faults, an id has no partner, or the tables contradict each other.
    UnclearConstructsError
        It is not evident which columns are on the same construct.
    """
    import pandas as pd

    rows = [side.columns is None or side.scorer is not None for side in sides]
    file_words = _words_of_each(sides, declared)
    frames: list[DataFrame | None] = [
        _read_rows(side, given, only_construct) if long else None
        for side, given, long in zip(sides, file_words, rows, strict=True)
    ]
    if not all(rows):
        for place, columns in enumerate(_by_construct(sides, frames)):
            if frames[place] is None:
                frames[place] = _read_columns(sides[place], columns, file_words[place])
    read = [_keyed(frame) for frame in frames if frame is not None]
    names = _names(sides)
    _check_kinds(read, names)
    _check_words(read, names)
    read, counted = matched(read, names, on, allow_unmatched)
    _tell_apart(read)
    share_identifiers(read, names)
    joined = pd.concat(read, ignore_index=True)
    _check_repeated(joined, names)
    joined.attrs["word_scales"] = _joined_attribute(read, "word_scales")
    joined.attrs["value_names"] = _joined_attribute(read, "value_names")
    joined.attrs["summary"] = [*_summaries(read, names), *counted]
    return joined


def _words_of_each(sides: Sequence[TableSide], declared: Declared) -> list[Declared]:
    """What is declared about each table; words of neither are left to the first, to be refused."""
    if not declared.words:
        return [declared, declared]
    words = words_alone(declared.words)
    given = {folded_word(word) for word in words}
    missing = {n: w for w in declared.words for n in missing_numbers({w: declared.words[w]})}
    present = [_words_in(side, frozenset(missing)) for side in sides]
    used = [bool(given & words_there) for words_there, _ in present]
    result = []
    for place, (_, numbers) in enumerate(present):
        own = dict(words) if used[place] or (place == 0 and not used[1]) else {}
        # A number that is in neither table is left to the first.
        absent = missing.keys() - present[1][1] if place == 0 else set()
        own |= {missing[number]: None for number in sorted(numbers | absent)}
        result.append(replace(declared, words=own))
    return result


def _words_in(side: TableSide, missing: frozenset[float]) -> tuple[set[str], set[float]]:
    """The words of a table, and those of the numbers that its scores have."""
    source = table_source(side.path)
    scores = set(source.head.columns) - {side.on}
    if side.columns is not None:
        texts = (*side.columns.judge, *side.columns.human)
        scores = {parts(text, source.head.columns)[1] for text in texts}
    words: set[str] = set()
    numbers: set[float] = set()
    for record in source.peeked():
        for column, written in record.cells.items():
            cell = inner_score(written)
            if isinstance(cell, str):
                words.add(folded_word(cell))
            if missing and column in scores and (number := number_in(cell)) in missing:
                numbers.add(number)
    return words, numbers


def _summaries(frames: Sequence[DataFrame], names: tuple[str, str]) -> list[str]:
    """The lines on each table; what only one of them lacks is that of the other."""
    lines = [frame.attrs.get("summary", ()) for frame in frames]
    lacking = [line for line in lines[0] if line in lines[1] and "no column names" in line]
    own = [
        f"{name}: {line}"
        for name, table_lines in zip(names, lines, strict=True)
        for line in table_lines
        if "no column names" not in line
    ]
    return [*lacking, *own]


def _names(sides: Sequence[TableSide]) -> tuple[str, str]:
    first, second = (side.path for side in sides)
    if first.name == second.name:
        return str(first), str(second)
    return first.name, second.name


def _read_rows(
    side: TableSide, declared: Declared, only_construct: Callable[[Path], str | None]
) -> DataFrame:
    """A table with a row for each score."""
    from study.importing.read_table import read_scores

    exported = side.recognized.form == "tool export"
    columns = {} if exported else {"response_id": side.on, **side.fields}
    kinds = {**side.recognized.kinds, **declared.kinds}
    construct = only_construct(side.path)
    if side.scorer is not None and side.columns is not None:
        present = table_source(side.path).head.columns
        kind = "judge" if side.columns.judge else "human"
        text = (*side.columns.judge, *side.columns.human)[0]
        named, column = parts(text, present)
        columns |= {"scorer": side.scorer, "value": column}
        construct = named or construct_in_name(column) or ONLY_CONSTRUCT
        kinds = dict.fromkeys(_distinct(side.path, side.scorer), kind) | kinds
    return read_scores(
        side.path,
        kinds=kinds,
        construct=construct,
        scales=declared.scales,
        scorer_scales=declared.scorer_scales,
        values=declared.words,
        columns=columns,
    )


def _distinct(path: Path, column: str) -> list[str]:
    cells = (record.cells.get(column) for record in table_source(path).peeked())
    return list(dict.fromkeys(str(cell) for cell in cells if cell not in (None, "")))


def _by_construct(
    sides: Sequence[TableSide], frames: Sequence[DataFrame | None]
) -> tuple[NamedColumns, NamedColumns]:
    """The columns of each table with their constructs, as those of the other table are called."""
    first, second = (side.columns or NamedColumns() for side in sides)
    given = any("=" in text for c in (first, second) for text in (*c.judge, *c.human))
    rows = next((frame for frame in frames if frame is not None), None)
    if given:
        return first, second
    if rows is not None:
        constructs = {str(key).casefold(): str(key) for key in rows["construct"].unique()}
        named = tuple(_called(c, constructs) for c in (first, second))
        return named[0], named[1]
    judges, people = (*first.judge, *second.judge), (*first.human, *second.human)
    pairs = by_construct(judges, people) or shared_construct_pairs(judges, people)
    if pairs is None:
        raise UnclearConstructsError(
            "it is not clear which columns of the two files are on the same construct"
        )
    found = [
        replace(
            columns,
            judge=_own_columns(pairs[0], columns.judge),
            human=_own_columns(pairs[1], columns.human),
        )
        for columns in (first, second)
    ]
    return found[0], found[1]


def _own_columns(texts: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(t for t in texts if t in columns or t.partition("=")[2] in columns)


def _called(columns: NamedColumns, constructs: Mapping[str, str]) -> NamedColumns:
    """Columns on the constructs that the other table names in its rows."""
    texts = (*columns.judge, *columns.human)
    written = {text: construct_in_name(text) for text in texts}
    if all(word.casefold() in constructs for word in written.values()):
        keys = {text: constructs[word.casefold()] for text, word in written.items()}
    elif len(constructs) == 1 and len(set(written.values())) <= 1:
        keys = dict.fromkeys(texts, next(iter(constructs.values())))
    else:
        raise UnclearConstructsError(
            f"the rows of one file are on {quoted_names(constructs.values())}; it is not clear on "
            f"which of these the columns of the other one are: {quoted_names(map(repr, texts))}"
        )
    return replace(
        columns,
        judge=tuple(f"{keys[text]}={text}" for text in columns.judge),
        human=tuple(f"{keys[text]}={text}" for text in columns.human),
    )


def _read_columns(side: TableSide, columns: NamedColumns, declared: Declared) -> DataFrame:
    table = read_named_columns(
        side.path,
        columns,
        values=declared.words,
        scales=declared.scales,
        scorer_scales=declared.scorer_scales,
        looks_like=declared.looks_like,
        one_side=True,
    )
    return table.to_frame()


def _keyed(frame: DataFrame) -> DataFrame:
    """A table with ids as they are compared; a query that is the response's own goes with it."""
    own = frame["query_id"] == frame["response_id"]
    keys = frame["response_id"].map(as_key)
    kept = frame.assign(response_id=keys, query_id=frame["query_id"].where(~own, keys))
    kept.attrs = dict(frame.attrs)
    return kept


def _check_kinds(frames: Sequence[DataFrame], names: tuple[str, str]) -> None:
    kinds = {kind for frame in frames for kind in frame["scorer_kind"]}
    for side_kinds, noun, other in (
        (set(PEOPLE), "people", "judges"), ({"judge", "metric"}, "judges", "people"),
    ):  # fmt: skip
        if not kinds & side_kinds:
            raise refused(
                names,
                f"both files have scores of {other} alone, and none of {noun}.",
                "Give a file of each; if a scorer is called what it is not, --kind SCORER=KIND.",
            )


def _check_words(frames: Sequence[DataFrame], names: tuple[str, str]) -> None:
    """Refuse words that are on one scale in one table and on another one in the other."""
    scales = [
        {
            construct: next(iter(words_by_scorer.values()))
            for construct, words_by_scorer in frame.attrs.get("word_scales", {}).items()
        }
        for frame in frames
    ]
    for construct in scales[0].keys() & scales[1].keys():
        one, other = (table_scales[construct] for table_scales in scales)
        if list(one[:2]) != list(other[:2]):
            raise refused(
                names,
                f"the words for {construct} are {one[0]:g} to {one[1]:g} in {names[0]} and "
                f"{other[0]:g} to {other[1]:g} in {names[1]}.",
                "Give each word of both files its number: --values WORD=NUMBER,...",
            )
        words = [
            {value: folded_word(word) for value, word in of.items()}
            for frame in frames
            if (of := frame.attrs.get("value_names", {}).get(construct)) is not None
        ]
        if "nominal" in (one[3], other[3]) and words[0] != words[-1]:
            raise refused(
                names,
                f"the words for {construct} have no known order, and are others in {names[0]} than "
                f"in {names[1]}, so that their numbers differ.",
                "Give each word of both files its number: --values WORD=NUMBER,...",
            )


def _tell_apart(frames: list[DataFrame]) -> None:
    """Call a judge and a person of one name by their kinds, in place."""
    kinds = [dict(zip(f["scorer"], f["scorer_kind"], strict=True)) for f in frames]
    same = [n for n in kinds[0] if n in kinds[1] and kinds[0][n] != kinds[1][n]]
    for place, frame in enumerate(frames):
        renamed = {name: f"{kinds[place][name]} {name}" for name in same}
        if renamed:
            changed = frame.assign(scorer=frame["scorer"].replace(renamed))
            changed.attrs = dict(frame.attrs) | {
                "word_scales": {
                    construct: {renamed.get(name, name): scale for name, scale in of.items()}
                    for construct, of in frame.attrs.get("word_scales", {}).items()
                }
            }
            frames[place] = changed


def _check_repeated(joined: DataFrame, names: tuple[str, str]) -> None:
    """Refuse two values of a scorer for one response."""
    key = ["response_id", "construct", "scorer", *(["repeat"] if "repeat" in joined else [])]
    twice = joined[joined.duplicated(key)]
    if len(twice):
        first = twice.iloc[0]
        raise refused(
            names,
            f"{counted(len(twice), 'score is', 'scores are')} there twice, such as that of "
            f"{first['scorer']!r} on {first['response_id']!r}.",
            f"Keep one of them, or give the scorers of {shell_word(names[1])} other names.",
        )


def _joined_attribute(
    frames: Sequence[DataFrame], attribute: str
) -> dict[str, dict[object, object]]:
    """What an attribute of the frames has for each construct."""
    both: dict[str, dict[object, object]] = {}
    for frame in frames:
        for construct, frame_words in frame.attrs.get(attribute, {}).items():
            both.setdefault(construct, {}).update(frame_words)
    return both
