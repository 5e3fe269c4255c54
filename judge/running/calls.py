"""Calls of the judge on a run: what each was to do, and how it ended. Both are only ever added."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select

from judge.running.runs import software
from judge.settings import JudgeSettings
from study.schema import (
    CallKind,
    JudgeCall,
    JudgeCallBase,
    JudgeCallEnd,
    JudgeCallEndBase,
    now,
    table,
)
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
    """Of a million tokens: prompt, completion, cached where one was given."""
    software: dict[str, str]
    ended: str | None
    """done, interrupted or stopped; None: it was killed, or is still at work, and what follows is
    not known."""
    answered: int | None = None
    judged: int | None = None
    missing: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    retries: dict[str, int] = field(default_factory=dict)
    """Tries of one prompt beyond its first, by what the try before them met."""
    tokens: dict[str, int] = field(default_factory=dict)
    overhead: dict[str, int] = field(default_factory=dict)
    """Calls and tokens of questions of the engine's own: its probe, prompts counted again."""
    uncounted: int = 0
    """Answers whose prompt tokens nobody told."""
    seconds: float | None = None
    cost: float | None = None
    notes: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the call as values that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True)
class Account:
    """What the calls on a run come to, those without an end left out but for their number."""

    calls: int
    unended: int
    """Killed, or still at work."""
    answered: int
    failed: dict[str, int]
    retries: dict[str, int]
    overhead: dict[str, int]
    seconds: float
    """Sum over calls; those under way at one time count both."""
    cost: float | None
    """Sum over calls with prices; None where none had any."""
    unpriced: int
    """Ended calls without prices."""
    tokens_a_second: float | None
    """Prompt and completion tokens, over the calls that told any."""
    figures: dict[str, float]
    """Means of what the engine measured, weighted by the calls' prompt tokens."""


def account(calls: Sequence[Call]) -> Account:
    """Return what calls come to."""
    ended = [call for call in calls if call.ended is not None]
    priced = [call for call in ended if call.cost is not None]
    counted = [call for call in ended if call.tokens and call.seconds]
    tokens = sum(call.tokens.get(n, 0) for call in counted for n in ("prompt", "completion"))
    seconds = sum(call.seconds or 0.0 for call in counted)
    return Account(
        calls=len(calls),
        unended=len(calls) - len(ended),
        answered=sum(call.answered or 0 for call in ended),
        failed=_summed(call.failed for call in ended),
        retries=_summed(call.retries for call in ended),
        overhead=_summed(call.overhead for call in ended),
        seconds=sum(call.seconds or 0.0 for call in ended),
        cost=sum(call.cost or 0.0 for call in priced) if priced else None,
        unpriced=len(ended) - len(priced),
        tokens_a_second=tokens / seconds if seconds else None,
        figures=_weighted(ended),
    )


def _summed(some: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for counts in some:
        total.update(counts)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def _weighted(calls: Iterable[Call]) -> dict[str, float]:
    sums: dict[str, tuple[float, int]] = {}
    for call in calls:
        weight = call.tokens.get("prompt", 0)
        for name, value in call.figures.items():
            total, weights = sums.get(name, (0.0, 0))
            sums[name] = (total + value * weight, weights + weight)
    return {name: total / weights for name, (total, weights) in sums.items() if weights}


ENDS: dict[type[object], str] = {type(None): "done", KeyboardInterrupt: "interrupted"}
"""How a call ended, by what stopped it; anything else stopped it."""


def begin_call(
    study: Study, run_id: int, settings: JudgeSettings, planned: int, kind: CallKind = "run"
) -> int:
    """Store that a call begins; return its key."""
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
        key = connection.execute(insert(table(JudgeCall)).values(**row)).inserted_primary_key
    assert key is not None  # noqa: S101  (the table has one)
    return int(key[0])


def end_call(study: Study, call: int, **how: Any) -> None:
    """Store how a call ended: the fields of `JudgeCallEndBase`."""
    end = JudgeCallEndBase.model_validate(how)
    row = {**end.model_dump(), "call_id": call, "created_at": now()}
    with study.write() as connection:
        connection.execute(insert(table(JudgeCallEnd)).values(**row))


def calls_of(connection: Connection, run_id: int) -> list[Call]:
    """Return the calls on a run, in the order in which they began."""
    c, e = table(JudgeCall), table(JudgeCallEnd)
    told = tuple(JudgeCallEndBase.model_fields)
    statement = (
        select(c, *(e.c[name] for name in told))
        .join_from(c, e, e.c.call_id == c.c.id, isouter=True)
        .where(c.c.run_id == run_id)
        .order_by(c.c.id)
    )
    return [_call(row, told) for row in connection.execute(statement).mappings()]


def _call(row: Mapping[Any, Any], told: Iterable[str]) -> Call:
    end = {name: row[name] for name in told} if row["ended"] is not None else {"ended": None}
    return Call(
        kind=row["kind"],
        began=row["created_at"].isoformat(timespec="seconds"),
        planned=row["planned"],
        concurrency=row["concurrency"],
        prices=row["prices"],
        software=row["software"],
        **end,
    )
