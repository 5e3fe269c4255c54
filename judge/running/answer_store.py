"""Writing the answers of a run: committed before a prompt's slot is free again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import insert

from judge.metrics.evaluation import decided_by
from judge.metrics.metric import MetricValue, MissingValue
from judge.protocol.exchange import Answer
from judge.running.items import SHARED, Resolved
from judge.running.metric_requests import ANSWER_COLUMNS, USAGE_COLUMNS, MetricRequest
from judge.running.scale_use import ScaleUse
from judge.running.scope import Scope
from study.facts.judgments import as_read
from study.schema import JudgeAnswerBase, StepAnswerBase, now
from study.schema.database import writing
from study.schema.tables import judge_answers, judgments, step_answers
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


class AnswerStore:
    """Writes the answers of one run, and counts them.

    The answer to a single prompt decides the value of an item and is stored with it. Answers to
    the steps of other metrics are stored separately; the evaluation resumes from them.
    """

    def __init__(
        self,
        study: Study,
        run_id: int,
        scope: Scope,
        confirm: Callable[[], None] = lambda: None,
        scale_use: ScaleUse | None = None,
    ) -> None:
        self._confirm = confirm
        self._scale_use = scale_use
        self._engine = study.engine
        self._run_id = run_id
        self._scope = scope
        self._answers = insert(judge_answers)
        self._steps = insert(step_answers)
        self.missing: Counter[str] = Counter()
        """Items without a value, by reason."""
        self.judged = 0
        """Items whose answer was stored."""
        self.steps = 0
        """Step answers."""
        self.flags: Counter[str] = Counter()

    def commit(self, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        """Store answers; return the number of items that they decide, once on disk.

        Raises
        ------
        StudyError
            The database is busy for too long, or the disk is full; none of the answers is stored.
            Or they are stored, and the scores of the run are on another scale.
        """
        self._confirm()
        decided: list[dict[str, Any]] = []
        steps: list[dict[str, Any]] = []
        for request, answer in pairs:
            if self._scope.metric.single_prompt:
                decided += self._decided_rows(request, answer)
            else:
                steps.append(self._step_row(request, answer))
        with writing(self._engine) as connection:
            if decided:
                connection.execute(self._answers, decided)
            if steps:
                connection.execute(self._steps, steps)
        self._count(decided)
        self.steps += len(steps)
        if self._scale_use is not None:
            self._scale_use.check()
        return len(decided)

    def resolve(self, resolved: Iterable[Resolved]) -> None:
        """Store items that need no further answer."""
        items = list(resolved)
        if not items:
            return
        originals = self._originals([item.copy_of for item in items if item.copy_of is not None])
        rows = [self._resolved_row(item, originals) for item in items]
        self._confirm()
        with writing(self._engine) as connection:
            connection.execute(self._answers, rows)
        self._count(rows)

    def _count(self, rows: Sequence[Mapping[str, Any]]) -> None:
        if self._scale_use is not None:
            self._scale_use.add(rows)
        for row in rows:
            self.judged += 1
            if row["missing_reason"] is not None:
                self.missing[row["missing_reason"]] += 1
            self.flags.update(row["flags"])

    def _decided_rows(self, request: MetricRequest, answer: Answer) -> list[dict[str, Any]]:
        decision = self._decision_columns(request, answer)
        further = {} if request.item.is_response else {"prompt_hash": request.prompt_hash}
        rows = []
        for number, (response, attempt) in enumerate(
            zip(request.response_ids, request.attempts, strict=True)
        ):
            first = number == 0
            flags = [*request.flags] if first else [*request.flags, SHARED]
            columns = {"flags": flags, **decision, **_answer_columns(answer, counted=first)}
            rows.append(self._row(request, response, attempt, columns | further))
        return rows

    def _step_row(self, request: MetricRequest, answer: Answer) -> dict[str, Any]:
        row = StepAnswerBase(
            metric=self._scope.metric.key,
            step=request.step,
            number=request.number,
            repeat=request.repeat,
            attempt=request.attempts[0],
            prompt_hash=request.prompt_hash,
            probe=request.item.probe_name or "",
            round=request.item.round or 0,
            raw_answer=answer.text,
            missing_reason=answer.missing,
            **{name: getattr(answer, name) for name in ANSWER_COLUMNS},
        )
        return self._run_columns(row, request.response_ids[0])

    def _resolved_row(
        self, resolved: Resolved, originals: Mapping[int, Mapping[str, Any]]
    ) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "value": resolved.value,
            "missing_reason": resolved.missing_reason,
            "rule": resolved.rule,
            "parts": dict(resolved.parts) or None,
            "flags": [*resolved.flags],
            "parser_version": resolved.parser_version,
        }
        if resolved.copy_of is not None:
            columns = dict(originals[resolved.copy_of])
            columns["flags"] = sorted({*columns["flags"], SHARED})
        columns |= resolved.further
        return self._row(resolved, resolved.response, resolved.attempt, columns)

    def _originals(self, copied: list[int]) -> dict[int, dict[str, Any]]:
        originals = {}
        with self._engine.connect() as connection:
            for start in range(0, len(copied), 500):
                keys = copied[start : start + 500]
                # As they are read now: an answer may have been read again since.
                rows = connection.execute(as_read(("id", *_COPIED), judgments.c.id.in_(keys)))
                originals.update({row[0]: dict(zip(_COPIED, row[1:], strict=True)) for row in rows})
        return originals

    def _decision_columns(self, request: MetricRequest, answer: Answer) -> dict[str, Any]:
        """Return the columns that a single answer decides."""
        metric = self._scope.metric
        result = decided_by(metric, request.response, answer)
        return {
            "value": result.value if isinstance(result, MetricValue) else None,
            "missing_reason": result.reason if isinstance(result, MissingValue) else None,
            "rule": (result.rule or metric.key) if isinstance(result, MetricValue) else None,
            "parts": dict(result.parts) or None,
            "parser_version": metric.version,
        }

    def _row(
        self, of: MetricRequest | Resolved, response: int, attempt: int, columns: Mapping[str, Any]
    ) -> dict[str, Any]:
        row = JudgeAnswerBase(
            construct_key=of.construct_key,
            construct_version=self._scope.versions[of.construct_key],
            repeat=of.repeat,
            attempt=attempt,
            **columns,
            **of.item.columns(low_is_good=self._scope.metric.low_is_good),
        )
        return {**self._run_columns(row, response), "second_response_id": of.item.key[0]}

    def _run_columns(self, base: JudgeAnswerBase | StepAnswerBase, response: int) -> dict[str, Any]:
        return {
            **base.model_dump(),
            "run_id": self._run_id,
            "response_id": response,
            "created_at": now(),
        }


def _answer_columns(answer: Answer, *, counted: bool = True) -> dict[str, Any]:
    """Return the columns of an answer as it was received.

    Tokens and time are counted once: `counted` is False where another row has them.
    """
    names = [name for name in ANSWER_COLUMNS if counted or name not in USAGE_COLUMNS]
    columns = {name: getattr(answer, name) for name in names}
    return {"raw_answer": answer.text, "distribution": answer.distribution, **columns}
