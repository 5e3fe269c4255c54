"""Answers to probes into the study: committed before the slot of their prompt is free again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

from sqlalchemy import Connection, insert, select

from judge.parsing import PARSER_VERSION
from judge.protocol.answer import TOKENS, TOO_LONG, Answer, Failure
from judge.protocol.request import Request
from judge.protocol.usage import Spending
from judge.running.judgment_store import parsed
from judge.running.probe_requests import Done, ProbeRequest
from judge.running.work_items import Scope
from study.schema import ProbeAnswer, ProbeAnswerBase, now, table
from study.schema.database import writing
from study.study import Study

_EXAMPLES = 3


def done(connection: Connection, run_id: int, versions: Mapping[str, int]) -> Done:
    """Return what a run has asked already, on the constructs as they are now."""
    t = table(ProbeAnswer)
    rows = connection.execute(
        select(
            t.c.response_id, t.c.construct_key, t.c.probe, t.c.round, t.c.construct_version
        ).where(t.c.run_id == run_id)
    )
    return frozenset(
        (response, key, probe, number)
        for response, key, probe, number, version in rows
        if version == versions.get(key)
    )


class ProbeDelivery(Spending):
    """Stores the answers to the probes of one run, and counts them."""

    def __init__(
        self,
        study: Study,
        run_id: int,
        scope: Scope,
        confirm: Callable[[], None],
        reached: Callable[["ProbeDelivery"], None] | None = None,
    ) -> None:
        super().__init__()
        self._engine = study.engine
        self._run_id = run_id
        self._scope = scope
        self._confirm = confirm
        self._reached = reached
        self._insert = insert(table(ProbeAnswer))
        self._counting = Lock()
        self.answered = 0
        self.by_kind: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.examples: list[str] = []
        self.tokens: Counter[str] = Counter()
        self.uncounted = 0
        """Answers whose prompt tokens nobody told."""

    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        """Store answers; return when they are on disk."""
        rows = [self._row(_probe(request), answer) for request, answer in pairs]
        self._store(rows)
        with self._counting:
            for request, answer in pairs:
                self.answered += 1
                self.by_kind[_probe(request).kind] += 1
                self.uncounted += answer.prompt_tokens is None
                for name in TOKENS:
                    told = getattr(answer, f"{name}_tokens")
                    if told is not None:
                        self.tokens[name] += told
            self._count(rows)
        self._tell()

    def failed(self, request: Request, failure: Failure) -> None:
        """Count a prompt that got no answer; the next call asks it again."""
        del request
        with self._counting:
            if failure.reason not in self.failures and len(self.examples) < _EXAMPLES:
                self.examples.append(f"{failure.reason}: {failure.detail}")
            self.failures[failure.reason] += 1
        self._tell()

    def leave_out(self, too_long: Iterable[ProbeRequest]) -> None:
        """Store probes whose prompt exceeds the window: missing, and asked of nobody."""
        rows = [self._row(request, Answer(None, missing=TOO_LONG)) for request in too_long]
        if rows:
            self._store(rows)
            self._count(rows)

    def _store(self, rows: list[dict[str, Any]]) -> None:
        self._confirm()
        with writing(self._engine) as connection:
            connection.execute(self._insert, rows)

    def _count(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self.missing.update(row["missing_reason"] for row in rows if row["missing_reason"])

    def _row(self, request: ProbeRequest, answer: Answer) -> dict[str, Any]:
        version = self._scope.version
        found = parsed(answer, version.scale, version.form)
        row = ProbeAnswerBase(
            construct_key=request.construct_key,
            construct_version=self._scope.versions[request.construct_key],
            repeat=request.repeat,
            value=found.value,
            missing_reason=found.reason,
            rule=found.rule,
            parser_version=PARSER_VERSION,
            raw_answer=answer.text,
            finish_reason=answer.finish_reason,
            served_model=answer.served_model,
            fingerprint=answer.fingerprint,
            distribution=answer.distribution,
            flags=[*request.flags],
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            reasoning_tokens=answer.reasoning_tokens,
            cached_tokens=answer.cached_tokens,
            milliseconds=answer.milliseconds,
            kind=request.kind,
            probe=request.probe,
            round=request.round,
            fault=request.fault,
            change=request.change.as_json(),
            prompt_hash=request.prompt_hash,
        )
        return {
            **row.model_dump(),
            "run_id": self._run_id,
            "response_id": request.response_ids[0],
            "created_at": now(),
        }

    def _tell(self) -> None:
        if self._reached is not None:
            self._reached(self)


def _probe(request: Request) -> ProbeRequest:
    assert isinstance(request, ProbeRequest)  # noqa: S101  (engines hand back what they got)
    return request
