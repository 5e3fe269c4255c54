"""Numbers of stored judgments and pairs, and the models that served the answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, case, func, select, union_all

from judge.protocol.exchange import ENCODED, UNANSWERED
from study.facts.judgments import counted_judgments
from study.facts.table_responses import responses_in_use
from study.schema.tables import judgments, pair_answers, run_answers, run_step_answers

# Responses in one statement. Databases bind at least this many parameters.
_BATCH = 500


class JudgmentCounts(NamedTuple):
    """Numbers of judgments in the score table, and of those that it leaves out."""

    by: Counter[tuple[Any, ...]]
    left_out: dict[str, int]
    """Reason to number; empty where nothing is left out."""


def count(
    connection: Connection,
    versions: Mapping[str, int],
    by: Sequence[str],
    run_id: int | None = None,
) -> JudgmentCounts:
    """Count the judgments of one run, or of all runs, as they are in the score table.

    Parameters
    ----------
    connection
    versions
        Current version of each construct of study.toml.
    by
        Columns of `counted_judgments`. The keys of the numbers are the construct's key, followed
        by the values of these columns.
    run_id
        Database key of a run; None: all runs.

    Returns
    -------
    JudgmentCounts
        One score for each response, construct and repeat: the first attempt whose prompt reached
        the model whole, or the first attempt if none did.
    """
    all_counts = _count(connection, by, run_id)
    replaced = _replaced_responses(connection)
    stale: Counter[tuple[Any, ...]] = Counter()
    for start in range(0, len(replaced), _BATCH):
        stale += _count(connection, by, run_id, replaced[start : start + _BATCH])
    current: Counter[tuple[Any, ...]] = Counter()
    left_out: Counter[str] = Counter()
    for group, number in all_counts.items():
        key, version, *rest = group
        if key not in versions:
            left_out["of a construct that study.toml no longer has"] += number
        elif version != versions[key]:
            left_out["of an earlier version of a construct"] += number
        else:
            left_out["of a response that a later one replaced"] += stale[group]
            current[key, *rest] += number - stale[group]
    return JudgmentCounts(+current, dict(+left_out))


def _count(
    connection: Connection,
    by: Sequence[str],
    run_id: int | None,
    responses: Sequence[int] | None = None,
) -> Counter[tuple[Any, ...]]:
    conditions = [] if run_id is None else [judgments.c.run_id == run_id]
    if responses is not None:
        conditions.append(judgments.c.response_id.in_(responses))
    rows = counted_judgments(("construct_key", "construct_version", *by), *conditions)
    statement = select(*rows.c, func.count()).group_by(*rows.c)
    return Counter({tuple(row[:-1]): int(row[-1]) for row in connection.execute(statement)})


def _replaced_responses(connection: Connection) -> list[int]:
    """Return the responses that later versions replaced."""
    known = responses_in_use(connection)
    return [int(key) for key in known.key[~known.in_use]]


@dataclass(frozen=True)
class Served:
    """Answers with the same model and fingerprint, as the server named them."""

    model: str | None
    fingerprint: str | None
    answers: int
    first: str
    """Time of the first answer in UTC, as ISO 8601."""
    last: str

    @property
    def name(self) -> str:
        """Model and fingerprint; empty if the server named neither."""
        return ", ".join(part for part in (self.model, self.fingerprint) if part)


def served(connection: Connection, run_id: int) -> list[Served]:
    """Return the models that answered the prompts of a run, in the order of their first answer."""
    answers = union_all(
        *(
            select(t.c.id, t.c.served_model, t.c.fingerprint, t.c.created_at).where(
                t.c.run_id == run_id,
                t.c.raw_answer.is_not(None),
                t.c.finish_reason.is_distinct_from(ENCODED),
                func.coalesce(t.c.missing_reason, "").not_in(UNANSWERED),
            )
            for t in (run_answers, run_step_answers)
        )
    ).subquery()
    first, last = func.min(answers.c.created_at), func.max(answers.c.created_at)
    statement = (
        select(answers.c.served_model, answers.c.fingerprint, func.count(), first, last)
        .group_by(answers.c.served_model, answers.c.fingerprint)
        .order_by(func.min(answers.c.id))
    )
    return [
        Served(model, fingerprint, int(number), _time(begin), _time(end))
        for model, fingerprint, number, begin, end in connection.execute(statement)
    ]


def _time(moment: Any) -> str:
    return str(moment.isoformat(timespec="seconds"))


BOTH = 2
"""Orders in which two responses can be shown."""


class PairCount(NamedTuple):
    """Pairs with an answer, counted for each construct and repeat."""

    pairs: int
    missing: int
    """Of these, those without a choice in both orders."""


def pair_counts(connection: Connection) -> dict[int, PairCount]:
    """Return the numbers of pairs by run (database key); a pair counts once for all its answers."""
    columns = pair_answers.c
    one, other = columns.response_id, columns.second_response_id
    pair = (
        columns.run_id,
        case((one < other, one), else_=other),
        case((one < other, other), else_=one),
        columns.construct_key,
        columns.construct_version,
        columns.repeat,
    )
    orders = func.count(case((columns.value.is_not(None), one)).distinct())
    rows = select(columns.run_id, orders.label("orders")).group_by(*pair).subquery()
    statement = select(
        rows.c.run_id, func.count(), func.count(case((rows.c.orders < BOTH, 1)))
    ).group_by(rows.c.run_id)
    return {run: PairCount(pairs, missing) for run, pairs, missing in connection.execute(statement)}
