"""The ids by which two tables are joined: their column, how they are compared, and the responses
that they match.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from study.errors import Fault, InputError, nearest
from study.importing.readers.source import RecordSource
from study.importing.score_columns.names import folded, whole_role
from study.text import counted, quoted_names, shell_word

if TYPE_CHECKING:
    from pandas import DataFrame

# Numbers that pandas made floats of, since some cells of the column were missing.
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
#: Roles of columns whose cells are shared by many rows, or are no names.
_NO_IDS = ("construct", "scorer", "scorer_kind", "passages", "reference", "metadata")


class SharedIds(NamedTuple):
    """The column with ids in each of two tables."""

    columns: tuple[str, str]
    given: bool
    """Whether the user named it."""

    def reversed(self) -> SharedIds:
        """The same of the tables in the other order."""
        return SharedIds((self.columns[1], self.columns[0]), self.given)

    def __str__(self) -> str:
        first, second = self.columns
        return first if first == second else f"{first}={second}"


def refused(names: Sequence[str], problem: str, remedy: str) -> InputError:
    """Return the error of two files, by their names, that cannot be joined."""
    return InputError(" and ".join(names), [Fault(problem, remedy)])


def as_key(cell: Any) -> str:
    """An id as it is compared: without white space around it, and 1.0 as 1; "" where missing."""
    if cell is None or (isinstance(cell, float) and cell != cell):  # noqa: PLR0124  (NaN)
        return ""
    text = str(cell).strip()
    match = _WHOLE.fullmatch(text)
    return match[1] if match else text


def named_ids(text: str, sources: Sequence[RecordSource]) -> SharedIds:
    """The columns that COLUMN, or COLUMN=COLUMN where the names differ, names in two tables.

    Raises
    ------
    InputError
        A table has no such column.
    """
    first, second = (source.head.columns for source in sources)
    left, equals, right = text.partition("=")
    both = (text, text) if not equals or text in first or text in second else (left, right)
    found = [_column(name.strip(), source) for name, source in zip(both, sources, strict=True)]
    return SharedIds((found[0], found[1]), given=True)


def _column(name: str, source: RecordSource) -> str:
    present = source.head.columns
    alike = [column for column in present if folded(column) == folded(name)]
    if name in present or len(alike) == 1:
        return name if name in present else alike[0]
    raise source.refused(
        f"the column {name!r} of --on is missing; there are {quoted_names(map(repr, present))}.",
        f"{nearest(name, present)} Where the names differ, write both in the order of the files: "
        "--on COLUMN=COLUMN.".strip(),
    )


def evident_ids(sources: Sequence[RecordSource]) -> SharedIds:
    """The only column that identifies responses in both tables, by its cells.

    Raises
    ------
    InputError
        There is none, or there are several.
    """
    found: dict[str, tuple[str, str]] = {}
    cells = [_keys(source) for source in sources]
    for column in sources[0].head.columns:
        other = next((c for c in sources[1].head.columns if folded(c) == folded(column)), None)
        if other is None or whole_role(column) in _NO_IDS:
            continue
        if _match(cells[0].get(column, []), cells[1].get(other, [])):
            found[column] = (column, other)
    for role in ("id", "query"):
        # An id is the clearer one beside the text of a question.
        role_columns = [names for name, names in found.items() if whole_role(name) == role]
        role_columns = role_columns or [
            n for name, n in found.items() if name.casefold().endswith("id")
        ]
        if len(role_columns) == 1:
            return SharedIds(role_columns[0], given=False)
        if role_columns:
            break
    if len(found) == 1:
        return SharedIds(next(iter(found.values())), given=False)
    shared = ", ".join(map(repr, found))
    problem = (
        f"several columns may identify a response in both files: {shared}."
        if found
        else "no column has the same ids in both files."
    )
    listed = "; ".join(
        f"{source.path.name} has {quoted_names(map(repr, source.head.columns))}"
        for source in sources
    )
    remedy = "Name it: --on COLUMN, or --on COLUMN=COLUMN where the two names differ."
    renamed = [] if found else [
        f"{one}={other}"
        for one, one_cells in cells[0].items()
        for other, other_cells in cells[1].items()
        if not {whole_role(one), whole_role(other)} & {*_NO_IDS} and _match(one_cells, other_cells)
    ]  # fmt: skip
    if len(renamed) == 1:
        remedy = f"Two columns of different names have the same ids: --on {shell_word(*renamed)}."
    raise refused([source.path.name for source in sources], f"{problem} {listed}.", remedy)


def _keys(source: RecordSource) -> Mapping[str, list[str]]:
    keys: dict[str, list[str]] = {column: [] for column in source.head.columns}
    for record in source.peeked():
        for column, cell in record.cells.items():
            if not isinstance(cell, list | dict):
                keys.setdefault(column, []).append(as_key(cell))
    return keys


def _match(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether cells identify rows, and most of the fewer ones occur among the others."""
    one, other = set(first) - {""}, set(second) - {""}
    if not one or not other:
        return False
    # Several scorers of a response have a row each, so that ids may be repeated.
    telling = any(len(keys) > 2 and 5 * len(keys) >= len(cells) for keys, cells in
                  ((one, first), (other, second)))  # fmt: skip
    as_scores = all(_is_short_number(key) for key in one | other) and len(one | other) <= 12
    fewer = min(len(one), len(other))
    return telling and not as_scores and 2 * len(one & other) > fewer


def _is_short_number(key: str) -> bool:
    try:
        return abs(float(key)) <= 100
    except ValueError:
        return False


PEOPLE = ("human", "adjudicated")
"""Kinds of scorers that are people."""

# So many ids without a partner are listed.
_LISTED = 5


def matched(
    frames: Sequence[DataFrame], names: tuple[str, str], on: SharedIds, allow_unmatched: bool
) -> tuple[list[DataFrame], list[str]]:
    """The tables without people's scores that have no partner, and lines that count the ids.

    Raises
    ------
    InputError
        No id is in both tables, people's scores have no partner although that is not allowed, or
        all of them have one although it is.
    """
    ids = [dict.fromkeys(frame["response_id"]) for frame in frames]
    both = [key for key in ids[0] if key in ids[1]]
    by_people = [frame["scorer_kind"].isin(PEOPLE) for frame in frames]
    judged = [set(f.loc[~p, "response_id"]) for f, p in zip(frames, by_people, strict=True)]
    alone = [[key for key in ids[place] if key not in ids[1 - place]] for place in (0, 1)]
    people_alone = [[key for key in alone[place] if key not in judged[place]] for place in (0, 1)]
    if not both or (any(people_alone) and not allow_unmatched):
        shown = alone if not both else people_alone
        problem = _unmatched_in_words(shown, ids, names, on)
        place = 0 if people_alone[0] else 1
        remedy = (
            "Name the column that identifies a response in both: --on COLUMN, or --on "
            "COLUMN=COLUMN where the names differ."
            if not both
            else f"Correct the ids of {names[place]}, or leave such rows out with "
            "--allow-unmatched."
        )
        raise refused(names, problem, remedy)
    if allow_unmatched and not any(people_alone):
        raise refused(
            names,
            "--allow-unmatched has no effect: a judge scored each response that people scored.",
            "Leave it out.",
        )
    kept = []
    for frame, left in zip(frames, people_alone, strict=True):
        part = frame[~frame["response_id"].isin(left)]
        part.attrs = dict(frame.attrs)
        kept.append(part)
    lines = [f"Joined by {on}: {counted(len(both), 'response is', 'responses are')} in both files."]
    for name, left, others in zip(names, people_alone, alone, strict=True):
        without = len(others) - len(left)
        if left:
            lines.append(
                f"{name}: scores on {counted(len(left), 'response')} left out, which no judge "
                f"scored ({_some(left)})."
            )
        if without:
            lines.append(
                f"{name}: {counted(without, 'response is', 'responses are')} "
                "without people's scores."
            )
    return kept, lines


def _unmatched_in_words(
    alone: Sequence[Sequence[str]],
    ids: Sequence[Mapping[str, None]],
    names: tuple[str, str],
    on: SharedIds,
) -> str:
    parts_of = [
        f"{len(left):,} of {len(table_ids):,} ids of {names[place]} "
        f"{'is' if len(left) == 1 else 'are'} not in {names[1 - place]} "
        f"({_some(left)})"
        for place, (left, table_ids) in enumerate(zip(alone, ids, strict=True))
        if left
    ]
    return f"by the column {str(on)!r} {', and '.join(parts_of)}."


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _LISTED:,} more" if len(ids) > _LISTED else ""
    return f"{', '.join(map(repr, ids[:_LISTED]))}{more}"


def share_identifiers(frames: list[DataFrame], names: tuple[str, str]) -> None:
    """Give each response the query and the system that one of the tables names, in place."""
    for column, own in (("query_id", True), ("system", False)):
        known: dict[str, tuple[str, str]] = {}
        for name, frame in zip(names, frames, strict=True):
            for key, value in zip(frame["response_id"], frame[column], strict=True):
                if not isinstance(value, str) or (own and value == key):
                    continue
                before, where = known.setdefault(key, (value, name))
                if before != value:
                    noun = column.removesuffix("_id")
                    raise refused(
                        names,
                        f"the response {key!r} has the {noun} {before!r} in {where} and {value!r} "
                        f"in {name}.",
                        f"Correct one of them, or name the {noun} that counts: rename or remove "
                        "the column of the other file.",
                    )
        for place, frame in enumerate(frames):
            filled = [
                known[key][0] if key in known else value
                for key, value in zip(frame["response_id"], frame[column], strict=True)
            ]
            changed = frame.assign(**{column: filled})
            changed[column] = changed[column].astype(object)
            changed.attrs = dict(frame.attrs)
            frames[place] = changed
