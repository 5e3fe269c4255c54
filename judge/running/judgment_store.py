"""Writing judgments and step answers: committed before a prompt's slot is free again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import insert

from judge.metrics.evaluation import decided_by
from judge.metrics.metric import Metric, MetricValue, MissingValue
from judge.protocol.exchange import Answer
from judge.running.metric_requests import ANSWER_COLUMNS, MetricRequest
from judge.running.remaining_work import SHARED, Resolved
from judge.running.scale_use import ScaleUse
from judge.running.scope import Scope
from study.facts.judgments import as_read
from study.schema import JudgmentBase, StepAnswerBase, now
from study.schema.database import writing
from study.schema.tables import judgments as judgment_table, step_answers
from study.study import Study

_COPIED = (
    "value",
    "missing_reason",
    "rule",
    "parts",
    "parser_version",
    "raw_answer",
    "reasoning",
    "finish_reason",
    "served_model",
    "fingerprint",
    "flags",
    "distribution",
)
"""Columns of a judgment that a judgment on the same content shares with it."""


class AnswerStore(Protocol):
    """Writes answers to the database."""

    def commit(self, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        """Store answers; return the number of judgments that they decide, once on disk."""


class JudgmentStore:
    """Writes the judgments of one run, and counts them.

    The answer to a single prompt decides a judgment and is stored with it. Answers to the steps of
    other metrics are stored separately; the evaluation resumes from them.
    """

    def __init__(
        self,
        study: Study,
        run_id: int,
        scope: Scope,
        scale_use: ScaleUse,
        confirm: Callable[[], None] = lambda: None,
    ) -> None:
        self._confirm = confirm
        self._scale_use = scale_use
        self._engine = study.engine
        self._run_id = run_id
        self._scope = scope
        self._judgments = insert(judgment_table)
        self._steps = insert(step_answers)
        self.missing: Counter[str] = Counter()
        """Judgments without a value, by reason."""
        self.judged = 0
        self.steps = 0
        """Step answers."""
        self.flags: Counter[str] = Counter()

    def commit(self, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        """Store answers; return the number of judgments that they decide, once on disk.

        Raises
        ------
        StudyError
            The database is busy for too long, or the disk is full; none of the answers is stored.
            Or they are stored, and the scores of the run are on another scale.
        """
        self._confirm()
        judgments: list[dict[str, Any]] = []
        steps: list[dict[str, Any]] = []
        for request, answer in pairs:
            if self._scope.metric.single_prompt:
                judgments += self._judgment_rows(request, answer)
            else:
                steps.append(self._step_row(request, answer))
        with writing(self._engine) as connection:
            if judgments:
                connection.execute(self._judgments, judgments)
            if steps:
                connection.execute(self._steps, steps)
        self._count(judgments)
        self.steps += len(steps)
        self._scale_use.check()
        return len(judgments)

    def resolve(self, resolved: Iterable[Resolved]) -> None:
        """Store judgments that need no further answer."""
        items = list(resolved)
        if not items:
            return
        originals = self._originals([item.copy_of for item in items if item.copy_of is not None])
        rows = [self._resolved_row(item, originals) for item in items]
        self._confirm()
        with writing(self._engine) as connection:
            connection.execute(self._judgments, rows)
        self._count(rows)

    def _count(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._scale_use.add(rows)
        for row in rows:
            self.judged += 1
            if row["missing_reason"] is not None:
                self.missing[row["missing_reason"]] += 1
            self.flags.update(row["flags"])

    def _judgment_rows(self, request: MetricRequest, answer: Answer) -> list[dict[str, Any]]:
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
            rows.append(self._row(judgment, response))
        return rows

    def _step_row(self, request: MetricRequest, answer: Answer) -> dict[str, Any]:
        step = step_columns(self._scope.metric, request, answer)
        return self._row(step, request.response_ids[0])

    def _resolved_row(
        self, item: Resolved, originals: Mapping[int, Mapping[str, Any]]
    ) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "value": item.value,
            "missing_reason": item.missing_reason,
            "rule": item.rule,
            "parts": dict(item.parts) or None,
            "flags": [*item.flags],
            "parser_version": item.parser_version,
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
        return self._row(judgment, item.response)

    def _originals(self, judgments: list[int]) -> dict[int, dict[str, Any]]:
        originals = {}
        with self._engine.connect() as connection:
            for start in range(0, len(judgments), 500):
                keys = judgments[start : start + 500]
                # As they are read now: an answer may have been read again since.
                rows = connection.execute(as_read(("id", *_COPIED), judgment_table.c.id.in_(keys)))
                originals.update({row[0]: dict(zip(_COPIED, row[1:], strict=True)) for row in rows})
        return originals

    def _row(self, base: JudgmentBase | StepAnswerBase, response: int) -> dict[str, Any]:
        return {
            **base.model_dump(),
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


def step_columns(metric: Metric, request: MetricRequest, answer: Answer) -> StepAnswerBase:
    """Return the columns of an answer to a step."""
    return StepAnswerBase(
        metric=metric.key,
        step=request.step,
        number=request.number,
        repeat=request.repeat,
        attempt=request.attempts[0],
        prompt_hash=request.prompt_hash,
        raw_answer=answer.text,
        missing_reason=answer.missing,
        **{name: getattr(answer, name) for name in ANSWER_COLUMNS},
    )


def answer_columns(answer: Answer, *, counted: bool = True) -> dict[str, Any]:
    """Return the columns of an answer as it was received.

    Tokens and time are counted once: `counted` is False where another row has them.
    """
    usage = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
    return {
        "raw_answer": answer.text,
        "reasoning": answer.reasoning,
        "finish_reason": answer.finish_reason,
        "served_model": answer.served_model,
        "fingerprint": answer.fingerprint,
        "distribution": answer.distribution,
        **{name: getattr(answer, name) if counted else None for name in (*usage, "milliseconds")},
    }
