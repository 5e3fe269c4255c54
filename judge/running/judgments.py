"""Numbers of the judgments that count, by any of their columns."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from study.facts.current_responses import current_responses
from study.facts.judgments import counted_judgments
from study.schema import Judgment, Response, table

# Responses named in one statement. Databases bind at least this many parameters.
_TOGETHER = 500


class Counted(NamedTuple):
    """Numbers of judgments in the score table, and of those that it leaves out."""

    by: Counter[tuple[Any, ...]]
    left_out: dict[str, int]
    """Reason to number; empty where nothing is left out."""


def count(
    connection: Connection,
    versions: Mapping[str, int],
    by: Sequence[str],
    run_id: int | None = None,
) -> Counted:
    """Count the judgments of one run, or of all, as the score table has them.

    Parameters
    ----------
    connection
    versions
        Current version of each construct of study.toml.
    by
        Columns of `counted_judgments`. Together with the construct's key, which comes first, they
        are the keys of the numbers.
    run_id
        Database key of a run; None: all runs.

    Returns
    -------
    Counted
        One score for each response, construct and repeat: the first attempt whose prompt
        reached the model whole, or the first where none did.
    """
    everything = _count(connection, by, run_id)
    replaced = _replaced(connection)
    stale: Counter[tuple[Any, ...]] = Counter()
    for start in range(0, len(replaced), _TOGETHER):
        stale += _count(connection, by, run_id, replaced[start : start + _TOGETHER])
    current: Counter[tuple[Any, ...]] = Counter()
    left_out: Counter[str] = Counter()
    for group, number in everything.items():
        key, version, *rest = group
        there = number - stale[group]
        if key not in versions:
            left_out["of a construct that study.toml no longer has"] += number
        elif version != versions[key]:
            left_out["of an earlier version of a construct"] += number
        else:
            left_out["of a response that a later one replaced"] += number - there
            current[key, *rest] += there
    return Counted(+current, dict(+left_out))


def _count(
    connection: Connection,
    by: Sequence[str],
    run_id: int | None,
    responses: Sequence[int] | None = None,
) -> Counter[tuple[Any, ...]]:
    j = table(Judgment)
    conditions = [] if run_id is None else [j.c.run_id == run_id]
    if responses is not None:
        conditions.append(j.c.response_id.in_(responses))
    rows = counted_judgments(("construct_key", "construct_version", *by), *conditions)
    statement = select(*rows.c, func.count()).group_by(*rows.c)
    return Counter({tuple(row[:-1]): int(row[-1]) for row in connection.execute(statement)})


def _replaced(connection: Connection) -> list[int]:
    """Return the responses that the score table no longer speaks of."""
    current, others = current_responses(connection)
    if not others:
        return []
    known = {response.id for response in current}
    ids = connection.execute(select(table(Response).c.id)).scalars()
    return [response for response in ids if response not in known]
