"""How far each response is: raters who have finished it, of those that it was assigned to."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Connection, select

from study.schema import Query, Response, table


@dataclass(frozen=True)
class ItemProgress:
    """One response: how many raters have finished it."""

    response: str
    query: str
    finished: int
    wanted: int
    """Raters that it was assigned to, open slots and places that nobody has included."""
    nobodys: int
    """Of those wanted: places of raters who left, which nobody has taken over."""


def item_progress(connection: Connection, assignments: pd.DataFrame) -> tuple[ItemProgress, ...]:
    """Return each response that is assigned to be rated, in the order of the study."""
    r, q = table(Response), table(Query)
    rows = connection.execute(
        select(r.c.id, r.c.key, q.c.key.label("query"))
        .join_from(r, q, r.c.query_id == q.c.id)
        .order_by(q.c.id, r.c.id)
    )
    main = assignments[
        (assignments["purpose"] == "main")
        & (assignments["repeat"] == 0)
        & ~assignments["handed_on"]
    ]
    by_response: dict[int, list[Any]] = defaultdict(list)
    slots: list[Any] = list(main.itertuples())
    for slot in slots:
        by_response[slot.response].append(slot)
    return tuple(
        ItemProgress(row.key, row.query, *_counts(by_response[row.id]))
        for row in rows
        if row.id in by_response
    )


def _counts(slots: list[Any]) -> tuple[int, int, int]:
    """Return how many raters finished, how many are wanted, and how many places nobody has."""
    lost = [s for s in slots if s.released and s.entered < len(s.construct_keys)]
    gone = {s.assignment for s in lost}
    live = [s for s in slots if s.assignment not in gone]
    nobodys = _most(_uncovered(lost, live))
    by_rater: dict[int, list[bool]] = defaultdict(list)
    for slot in live:
        if slot.rater is not None:
            by_rater[slot.rater].append(slot.entered >= len(slot.construct_keys))
    finished = sum(all(done) for done in by_rater.values())
    # One construct a pass: a rater has several slots for a response, each on its constructs.
    wanted = _most(key for slot in live for key in slot.construct_keys)
    return finished, wanted + nobodys, nobodys


def _uncovered(lost: list[Any], live: list[Any]) -> Iterator[str]:
    """Yield the constructs of slots that were taken back and not replaced by a later slot."""
    taken: set[int] = set()
    for slot in sorted(lost, key=lambda slot: slot.released_at):
        later = next(
            (
                other.assignment
                for other in live
                if other.assignment not in taken
                and other.created_at > slot.released_at
                and set(other.construct_keys) & set(slot.construct_keys)
            ),
            None,
        )
        if later is None:
            yield from slot.construct_keys
        else:
            taken.add(later)


def _most(keys: Iterable[str]) -> int:
    return max(Counter(keys).values(), default=0)
