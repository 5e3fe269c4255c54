"""The responses of two tables of scores, matched by their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from study.errors import Fault, InputError
from study.importing.score_columns.shared_ids import SharedIds
from study.text import counted

if TYPE_CHECKING:
    from pandas import DataFrame

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
        raise InputError(" and ".join(names), [Fault(problem, remedy)])
    if allow_unmatched and not any(people_alone):
        fault = Fault(
            "--allow-unmatched has no effect: a judge scored each response that people scored.",
            "Leave it out.",
        )
        raise InputError(" and ".join(names), [fault])
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
                    fault = Fault(
                        f"the response {key!r} has the {noun} {before!r} in {where} and {value!r} "
                        f"in {name}.",
                        f"Correct one of them, or name the {noun} that counts: rename or remove "
                        "the column of the other file.",
                    )
                    raise InputError(" and ".join(names), [fault])
        for place, frame in enumerate(frames):
            filled = [
                known[key][0] if key in known else value
                for key, value in zip(frame["response_id"], frame[column], strict=True)
            ]
            changed = frame.assign(**{column: filled})
            changed[column] = changed[column].astype(object)
            changed.attrs = dict(frame.attrs)
            frames[place] = changed
