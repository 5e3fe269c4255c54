"""Judgments as they count: the first answer to a whole prompt, as it was last read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, select

from study.facts.response_rows import current_responses
from study.schema import PROMPT_NOT_WHOLE, Judgment, Reading, Response, table

# Responses named in one statement. Databases bind at least this many parameters.
_TOGETHER = 500


class Counted(NamedTuple):
    """Numbers of judgments in the score table, and of those that it leaves out."""

    by: Counter[tuple[Any, ...]]
    left_out: dict[str, int]
    """Reason to number; empty where nothing is left out."""


def as_read(columns: Sequence[str], *conditions: ColumnElement[bool]) -> Select[Any]:
    """Return the statement for these columns of judgments with their newest reading.

    `value`, `missing_reason`, `rule` and `parser_version` are those of the reading with the
    highest revision; where nothing was read again, those of the judgment. The column `revision`
    is the reading's, or 0.
    """
    j, g = table(Judgment), table(Reading)
    last = (
        select(g.c.judgment_id, func.max(g.c.revision).label("revision"))
        .group_by(g.c.judgment_id)
        .subquery()
    )
    again = g.c.id.is_not(None)
    read: dict[str, ColumnElement[Any]] = {
        name: case((again, g.c[name]), else_=j.c[name]).label(name)
        for name in ("value", "missing_reason", "rule", "parser_version")
    }
    read["revision"] = func.coalesce(g.c.revision, 0).label("revision")
    return (
        select(*(read[name] if name in read else j.c[name] for name in columns))
        .join_from(j, last, last.c.judgment_id == j.c.id, isouter=True)
        .join(
            g,
            and_(g.c.judgment_id == last.c.judgment_id, g.c.revision == last.c.revision),
            isouter=True,
        )
        .where(*conditions)
    )


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
        Columns of `as_read`: with the construct's key before them, what the numbers are keyed by.
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
    cut = case((j.c.missing_reason.in_(PROMPT_NOT_WHOLE), 1), else_=0)
    same = (j.c.run_id, j.c.response_id, j.c.construct_key, j.c.construct_version, j.c.repeat)
    turn = func.row_number().over(partition_by=same, order_by=(cut, j.c.attempt)).label("turn")
    names = ("construct_key", "construct_version", *by)
    read = as_read(names).add_columns(turn)
    if run_id is not None:
        read = read.where(j.c.run_id == run_id)
    if responses is not None:
        read = read.where(j.c.response_id.in_(responses))
    rows = read.subquery()
    columns = [rows.c[name] for name in names]
    statement = select(*columns, func.count()).where(rows.c.turn == 1).group_by(*columns)
    return Counter({tuple(row[:-1]): int(row[-1]) for row in connection.execute(statement)})


def _replaced(connection: Connection) -> list[int]:
    """Return the responses that the score table no longer speaks of."""
    current, others = current_responses(connection)
    if not others:
        return []
    known = {response.id for response in current}
    ids = connection.execute(select(table(Response).c.id)).scalars()
    return [response for response in ids if response not in known]
