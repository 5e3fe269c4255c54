"""Judgments and step answers into the study: committed before a prompt's slot is free again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func, insert, select

from judge.metrics.evaluation import decided_by
from judge.metrics.metric import MetricValue, MissingValue
from judge.protocol.exchange import Answer
from judge.running.metric_requests import MetricRequest
from judge.running.scope import Scope
from judge.running.step_answers import step_answer_row
from judge.running.work_items import SHARED, Resolved
from study.schema import Judgment, JudgmentBase, StepAnswer, now, table
from study.schema.database import writing
from study.study import Study


class JudgmentStore:
    """Writes the judgments of one run, and counts what it wrote.

    The answer to a single prompt decides a judgment and is stored with it. Answers to the steps
    of other metrics are stored by themselves; the evaluation resumes from them.
    """

    def __init__(
        self, study: Study, run_id: int, scope: Scope, confirm: Callable[[], None] = lambda: None
    ) -> None:
        self._confirm = confirm
        self._engine = study.engine
        self._run_id = run_id
        self._scope = scope
        self._judgments = insert(table(Judgment))
        self._steps = insert(table(StepAnswer))
        self.missing: Counter[str] = Counter()
        """First judgments without a value, by reason; one for each response."""
        self.judged = 0
        self.steps = 0
        """Step answers."""
        self.flags: Counter[str] = Counter()

    def commit(self, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        """Store answers; return the number of judgments that they decide, once on disk.

        Raises
        ------
        StudyError
            The database is busy for too long, or the disk is full; nothing of these was stored.
        """
        self._confirm()
        judgments: list[dict[str, Any]] = []
        steps: list[dict[str, Any]] = []
        for request, answer in pairs:
            if self._scope.metric.single_prompt:
                judgments += self._rows(request, answer)
            else:
                steps.append(self._step(request, answer))
        with writing(self._engine) as connection:
            if judgments:
                connection.execute(self._judgments, judgments)
            if steps:
                connection.execute(self._steps, steps)
        self._count(judgments)
        self.steps += len(steps)
        return len(judgments)

    def resolve(self, resolved: Iterable[Resolved]) -> int:
        """Store judgments that need no further answer; return their number."""
        some = list(resolved)
        if not some:
            return 0
        copied = self._originals([item.copy_of for item in some if item.copy_of is not None])
        rows = [self._resolved_row(item, copied) for item in some]
        self._confirm()
        with writing(self._engine) as connection:
            connection.execute(self._judgments, rows)
        self._count(rows)
        return len(rows)

    def _step(self, request: MetricRequest, answer: Answer) -> dict[str, Any]:
        return step_answer_row(
            self._run_id,
            self._scope.metric,
            response=request.response_ids[0],
            step=request.step,
            number=request.number,
            repeat=request.repeat,
            attempt=request.attempts[0],
            prompt_hash=request.prompt_hash,
            answer=answer,
        )

    def _count(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            self.judged += 1
            if row["missing_reason"] is not None:
                self.missing[row["missing_reason"]] += 1
            self.flags.update(row["flags"])

    def _rows(self, request: MetricRequest, answer: Answer) -> list[dict[str, Any]]:
        decision = decision_columns(self._scope, request, answer)
        rows = []
        for number, (response, attempt) in enumerate(
            zip(request.response_ids, request.attempts, strict=True)
        ):
            first = number == 0
            judgment = JudgmentBase(
                construct_key=request.construct_key,
                construct_version=self._scope.versions[request.construct_key],
                repeat=request.repeat,
                attempt=attempt,
                flags=[*request.flags] if first else [*request.flags, SHARED],
                **decision,
                **answer_columns(answer, counted=first),
            )
            rows.append(self._placed(judgment, response))
        return rows

    def _resolved_row(
        self, item: Resolved, originals: Mapping[int, Mapping[str, Any]]
    ) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "value": item.value,
            "missing_reason": item.missing_reason,
            "rule": item.rule,
            "parts": dict(item.parts) or None,
            "flags": [*item.flags],
            "parser_version": item.read_by,
        }
        if item.copy_of is not None:
            columns = dict(originals[item.copy_of])
            columns["flags"] = sorted({*columns["flags"], SHARED})
        judgment = JudgmentBase(
            construct_key=item.construct_key,
            construct_version=self._scope.versions[item.construct_key],
            repeat=item.repeat,
            attempt=item.attempt,
            **columns,
        )
        return self._placed(judgment, item.response)

    def _originals(self, judgments: list[int]) -> dict[int, dict[str, Any]]:
        j = table(Judgment)
        columns = (
            j.c.value,
            j.c.missing_reason,
            j.c.rule,
            j.c.parts,
            j.c.parser_version,
            j.c.raw_answer,
            j.c.finish_reason,
            j.c.served_model,
            j.c.fingerprint,
            j.c.flags,
            j.c.distribution,
        )
        found = {}
        with self._engine.connect() as connection:
            for start in range(0, len(judgments), 500):
                some = judgments[start : start + 500]
                rows = connection.execute(select(j.c.id, *columns).where(j.c.id.in_(some)))
                found.update({row.id: dict(row._mapping) for row in rows})
        for row in found.values():
            del row["id"]
        return found

    def _placed(self, judgment: JudgmentBase, response: int) -> dict[str, Any]:
        return {
            **judgment.model_dump(),
            "run_id": self._run_id,
            "response_id": response,
            "created_at": now(),
        }


def decision_columns(scope: Scope, request: MetricRequest, answer: Answer) -> dict[str, Any]:
    """Return the columns of a judgment that a single answer decides."""
    metric = scope.metric
    result = decided_by(metric, request.response, answer)
    return {
        "value": result.value if isinstance(result, MetricValue) else None,
        "missing_reason": result.reason if isinstance(result, MissingValue) else None,
        "rule": (result.rule or metric.key) if isinstance(result, MetricValue) else None,
        "parts": dict(result.parts) or None,
        "parser_version": metric.version,
    }


def answer_columns(answer: Answer, *, counted: bool = True) -> dict[str, Any]:
    """Return the columns that hold an answer as it came.

    What was spent once is counted once: `counted` is False where another row has the tokens.
    """
    spent = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
    return {
        "raw_answer": answer.text,
        "finish_reason": answer.finish_reason,
        "served_model": answer.served_model,
        "fingerprint": answer.fingerprint,
        "distribution": answer.distribution,
        **{name: getattr(answer, name) if counted else None for name in (*spent, "milliseconds")},
    }


def served(study: Study, run_id: int) -> dict[str, int]:
    """Return the answers of a run by the model and fingerprint that the server named."""
    j, s = table(Judgment), table(StepAnswer)
    statement = (
        select(j.c.served_model, j.c.fingerprint, func.count())
        .where(j.c.run_id == run_id, j.c.raw_answer.is_not(None))
        .group_by(j.c.served_model, j.c.fingerprint)
        .order_by(func.min(j.c.id))
    )
    steps = (
        select(s.c.served_model, s.c.fingerprint, func.count())
        .where(s.c.run_id == run_id, s.c.raw_answer.is_not(None))
        .group_by(s.c.served_model, s.c.fingerprint)
        .order_by(func.min(s.c.id))
    )
    found: Counter[str] = Counter()
    with study.read() as connection:
        for model, fingerprint, number in (
            *connection.execute(statement),
            *connection.execute(steps),
        ):
            name = ", ".join(part for part in (model or "(not named)", fingerprint) if part)
            found[name] += int(number)
    return dict(found)
