"""Answers to probes into the study: committed before the slot of their prompt is free again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert, select

from judge.protocol.exchange import TOO_LONG, Answer
from judge.running.judgment_store import answer_columns, decision_columns
from judge.running.metric_requests import MetricRequest
from judge.running.probe_requests import Done, ProbeRequest
from judge.running.scope import Scope
from study.schema import ProbeAnswer, ProbeAnswerBase, now, table
from study.schema.database import writing
from study.study import Study


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


class ProbeStore:
    """Writes the answers to the probes of one run, and counts those without a value."""

    def __init__(
        self, study: Study, run_id: int, scope: Scope, confirm: Callable[[], None]
    ) -> None:
        self._engine = study.engine
        self._run_id = run_id
        self._scope = scope
        self._confirm = confirm
        self._insert = insert(table(ProbeAnswer))
        self.missing: Counter[str] = Counter()

    def commit(self, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        """Store answers; return 0 once they are on disk, since none is a judgment."""
        rows = [self._row(request, answer) for request, answer in pairs]
        self._confirm()
        with writing(self._engine) as connection:
            connection.execute(self._insert, rows)
        self.missing.update(row["missing_reason"] for row in rows if row["missing_reason"])
        return 0

    def leave_out(self, too_long: Iterable[ProbeRequest]) -> None:
        """Store probes whose prompt exceeds the window: missing, and asked of nobody."""
        some = [(request, Answer(None, missing=TOO_LONG)) for request in too_long]
        if some:
            self.commit(some)

    def _row(self, request: MetricRequest, answer: Answer) -> dict[str, Any]:
        assert isinstance(request, ProbeRequest)  # noqa: S101  (engines hand back what they got)
        row = ProbeAnswerBase(
            construct_key=request.construct_key,
            construct_version=self._scope.versions[request.construct_key],
            repeat=request.repeat,
            flags=[*request.flags],
            kind=request.kind,
            probe=request.probe,
            round=request.round,
            fault=request.fault,
            change=request.change.as_json(),
            prompt_hash=request.prompt_hash,
            **decision_columns(self._scope, request, answer),
            **answer_columns(answer),
        )
        return {
            **row.model_dump(),
            "run_id": self._run_id,
            "response_id": request.response_ids[0],
            "created_at": now(),
        }
