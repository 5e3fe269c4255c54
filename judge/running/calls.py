"""Stored calls of the judge on a run: beginning and end of each, and their sums."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select

from judge.run_settings import JudgeSettings
from judge.running.runs import software
from judge.text import by_number
from study.schema import (
    CallKind,
    JudgeCallBase,
    JudgeCallEndBase,
    now,
)
from study.schema.tables import judge_call_ends, judge_calls
from study.study import Study


@dataclass(frozen=True)
class Call:
    """One call of the judge on a run."""

    kind: str
    """run; estimate: a sample to estimate a run from; probe: altered prompts."""
    began: str
    """Time in UTC, as ISO 8601."""
    planned: int
    """Prompts to ask in this call."""
    concurrency: int | None
    prices: dict[str, float] | None
    """Of a million tokens: prompt, completion, and cached if it has a price."""
    software: dict[str, str]
    ended: str | None
    """done, interrupted or stopped; None: it was killed or is still running, and the fields below
    are not known."""
    answered: int | None = None
    judged: int | None = None
    missing: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    retries: dict[str, int] = field(default_factory=dict)
    """Further tries of a prompt, by the failure of the try before."""
    tokens: dict[str, int] = field(default_factory=dict)
    overhead: dict[str, int] = field(default_factory=dict)
    """Calls and tokens of the engine's own requests: its probe, prompts counted again."""
    uncounted: int = 0
    """Answers whose prompt tokens are not known."""
    seconds: float | None = None
    cost: float | None = None
    notes: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Account:
    """Sums over the calls on a run; of calls without an end only the number is included."""

    calls: int
    unended: int
    """Calls that were killed or are still running."""
    answered: int
    failed: dict[str, int]
    retries: dict[str, int]
    overhead: dict[str, int]
    seconds: float
    """Sum over calls; the time of simultaneous calls counts twice."""
    cost: float | None
    """Sum over calls with prices; None if no call has prices."""
    unpriced: int
    """Ended calls without prices."""
    tokens_a_second: float | None
    """Prompt and completion tokens, over the calls that counted any."""
    figures: dict[str, float]
    """Means of what the engine measured, weighted by the prompt tokens of the calls."""


def account(calls: Sequence[Call]) -> Account:
    """Return the sums over calls."""
    ended = [call for call in calls if call.ended is not None]
    priced = [call for call in ended if call.cost is not None]
    counted = [call for call in ended if call.tokens and call.seconds]
    tokens = sum(call.tokens.get(n, 0) for call in counted for n in ("prompt", "completion"))
    seconds = sum(call.seconds or 0.0 for call in counted)
    return Account(
        calls=len(calls),
        unended=len(calls) - len(ended),
        answered=sum(call.answered or 0 for call in ended),
        failed=_sum(call.failed for call in ended),
        retries=_sum(call.retries for call in ended),
        overhead=_sum(call.overhead for call in ended),
        seconds=sum(call.seconds or 0.0 for call in ended),
        cost=sum(call.cost or 0.0 for call in priced) if priced else None,
        unpriced=len(ended) - len(priced),
        tokens_a_second=tokens / seconds if seconds else None,
        figures=_weighted_means(ended),
    )


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return dict(by_number(total))


def _weighted_means(calls: Iterable[Call]) -> dict[str, float]:
    sums: dict[str, tuple[float, int]] = {}
    for call in calls:
        weight = call.tokens.get("prompt", 0)
        for name, value in call.figures.items():
            total, weights = sums.get(name, (0.0, 0))
            sums[name] = (total + value * weight, weights + weight)
    return {name: total / weights for name, (total, weights) in sums.items() if weights}


def begin_call(
    study: Study, run_id: int, settings: JudgeSettings, planned: int, kind: CallKind = "run"
) -> int:
    """Store the beginning of a call; return its key."""
    call = JudgeCallBase(
        kind=kind,
        planned=planned,
        concurrency=settings.at_once,
        prices=settings.prices,
        software=software(),
    )
    row = {
        **call.model_dump(),
        "run_id": run_id,
        "config_hash": study.config_hash,
        "created_at": now(),
    }
    with study.write() as connection:
        key = connection.execute(insert(judge_calls).values(**row)).inserted_primary_key
    assert key is not None  # noqa: S101  (the table has one)
    return int(key[0])


def end_call(study: Study, call: int, **columns: Any) -> None:
    """Store the end of a call: the fields of `JudgeCallEndBase`."""
    end = JudgeCallEndBase.model_validate(columns)
    row = {**end.model_dump(), "call_id": call, "created_at": now()}
    with study.write() as connection:
        connection.execute(insert(judge_call_ends).values(**row))


def calls_of(connection: Connection, run_id: int) -> list[Call]:
    """Return the calls on a run, in the order in which they began."""
    end_columns = tuple(JudgeCallEndBase.model_fields)
    statement = (
        select(judge_calls, *(judge_call_ends.c[name] for name in end_columns))
        .join_from(
            judge_calls,
            judge_call_ends,
            judge_call_ends.c.call_id == judge_calls.c.id,
            isouter=True,
        )
        .where(judge_calls.c.run_id == run_id)
        .order_by(judge_calls.c.id)
    )
    calls = []
    for row in connection.execute(statement).mappings():
        end = {name: row[name] for name in end_columns} if row["ended"] else {"ended": None}
        calls.append(
            Call(
                kind=row["kind"],
                began=row["created_at"].isoformat(timespec="seconds"),
                planned=row["planned"],
                concurrency=row["concurrency"],
                prices=row["prices"],
                software=row["software"],
                **end,
            )
        )
    return calls
