"""Writing the answers of a run: committed before a prompt's slot is free again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from sqlalchemy import insert

from judge.engines.engine import Delivery
from judge.metrics.evaluation import decided_by
from judge.protocol.exchange import TOKENS, UNANSWERED, Answer, Failure, Request
from judge.running.items import SHARED, Resolved
from judge.running.metric_requests import (
    ANSWER_COLUMNS,
    SAID_COLUMNS,
    USAGE_COLUMNS,
    MetricRequest,
    PromptName,
    parsed_result,
)
from judge.running.scale_use import ScaleUse
from judge.running.session import RunSession
from study.facts.judgments import as_read
from study.schema import JudgeAnswerBase, StepAnswerBase, now
from study.schema.database import writing
from study.schema.tables import judge_answers, judgments, step_answers

_EXAMPLES = 3

_COPIED = (
    "value",
    "missing_reason",
    "rule",
    "parts",
    "parser_version",
    "raw_answer",
    "flags",
    "distribution",
    *SAID_COLUMNS,
)
"""Columns of a judgment that a judgment on the same content shares with it."""


@dataclass(frozen=True)
class RunProgress:
    """The progress of a call."""

    answered: int
    failed: int
    total: int
    """Prompts to ask as far as they are known: later steps of a metric add theirs."""
    tokens: int
    """Prompt and completion tokens that the server counted."""


OnProgress = Callable[[RunProgress], None]


class AnswerStore(Delivery):
    """Writes the answers of one call on a run, and counts them.

    The answer to a single prompt decides the value of an item and is stored with it. Answers to
    the steps of other metrics are stored separately; the evaluation resumes from them.
    """

    def __init__(
        self,
        session: RunSession,
        scale_use: ScaleUse | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        super().__init__()
        self._confirm = session.confirm
        self._engine = session.study.engine
        self._run_id = session.run.id
        self._scope = session.scope
        self._scale_use = scale_use
        self._on_progress = on_progress
        self._counting = Lock()
        self._unanswered: set[tuple[str, int, int]] = set()
        self._answers = insert(judge_answers)
        self._steps = insert(step_answers)
        self.missing: Counter[str] = Counter()
        """Items without a value, by reason."""
        self.judged = 0
        """Items whose answer was stored."""
        self.steps = 0
        """Step answers."""
        self.flags: Counter[str] = Counter()
        self.total = 0
        """Prompts to ask, as far as they are known."""
        self.sample: dict[PromptName, Answer] | None = None
        """Answers by prompt, where the call asks a sample of the run."""
        self.answered = 0
        self.decided = 0
        """Items that answers of this call decided."""
        self.failures: Counter[str] = Counter()
        self.failed_prompts: set[tuple[str, int]] = set()
        """Prompts (hash, repeat) without an answer in this call."""
        self.examples: list[str] = []
        """The first failure of each kind, in the words of the server."""
        self.tokens: Counter[str] = Counter()
        """Of the answers, by name; a name is missing until an answer has it."""
        self.uncounted = 0
        """Answers whose prompt tokens are not known."""

    @property
    def unanswered(self) -> int:
        """Judgments of prompts without an answer, for which the run has no earlier attempt."""
        return len(self._unanswered)

    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        """Store answers; return when they are on disk."""
        answers = [(_checked(request), answer) for request, answer in pairs]
        decided = self.store(answers)
        with self._counting:
            self.decided += decided
            for request, answer in answers:
                if self.sample is not None:
                    self.sample[request.planned.name] = answer
                self.answered += 1
                is_answer = answer.missing not in UNANSWERED
                if not is_answer and answer.text:
                    self._add_example(str(answer.missing), answer.text)
                self.uncounted += is_answer and answer.prompt_tokens is None
                for name in TOKENS:
                    count = getattr(answer, f"{name}_tokens")
                    if count is not None:
                        self.tokens[name] += count
        self._report()

    def failed(self, request: Request, failure: Failure) -> None:
        """Count a prompt without an answer; the next call asks it again."""
        prompt = _checked(request)
        with self._counting:
            self._add_example(failure.reason, failure.detail)
            self.failures[failure.reason] += 1
            self.failed_prompts.add((prompt.prompt_hash, prompt.repeat))
            self._unanswered |= {
                (prompt.construct_key, prompt.repeat, response)
                for response, attempt in zip(prompt.response_ids, prompt.attempts, strict=True)
                if attempt == 1
            }
        self._report()

    def _add_example(self, reason: str, detail: str) -> None:
        known = any(example.startswith(f"{reason}: ") for example in self.examples)
        if not known and len(self.examples) < _EXAMPLES:
            self.examples.append(f"{reason}: {detail}")

    def _report(self) -> None:
        if self._on_progress is not None:
            tokens = self.tokens["prompt"] + self.tokens["completion"]
            failed = self.failures.total()
            self._on_progress(RunProgress(self.answered, failed, self.total, tokens))

    def store(self, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        """Store answers, once on disk; return the number of items that they decide.

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
        rows = [self._row(item, originals) for item in items]
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
        """Return the rows of the items that a single answer decides."""
        metric, planned = self._scope.metric, request.planned
        result = decided_by(metric, request.response, answer)
        value, reason, rule = parsed_result(self._scope, request.construct_key, result)
        further = {name: getattr(answer, name) for name in ("distribution", *ANSWER_COLUMNS)}
        if not planned.pending.item.is_response:
            further["prompt_hash"] = request.prompt_hash
        items = planned.pending.answered(
            request.flags,
            request.response_ids,
            value=value,
            missing_reason=reason,
            rule=rule,
            parts=result.parts,
            parser_version=metric.version,
            further={"raw_answer": answer.text, **further},
        )
        rows = [self._row(item) for item in items]
        for row in rows[1:]:
            # Tokens and time are counted once.
            row.update(dict.fromkeys(USAGE_COLUMNS))
        return rows

    def _step_row(self, request: MetricRequest, answer: Answer) -> dict[str, Any]:
        planned = request.planned
        row = StepAnswerBase(
            metric=self._scope.metric.key,
            step=planned.prompt.step,
            number=planned.name.number,
            repeat=request.repeat,
            attempt=request.attempts[0],
            prompt_hash=request.prompt_hash,
            probe=planned.pending.item.probe_name or "",
            round=planned.pending.item.round or 0,
            raw_answer=answer.text,
            missing_reason=answer.missing,
            **{name: getattr(answer, name) for name in ANSWER_COLUMNS},
        )
        return self._run_columns(row, request.response_ids[0])

    def _row(
        self, item: Resolved, originals: Mapping[int, Mapping[str, Any]] | None = None
    ) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "value": item.value,
            "missing_reason": item.missing_reason,
            "rule": item.rule,
            "parts": dict(item.parts) or None,
            "flags": [*item.flags],
            "parser_version": item.parser_version,
        }
        if item.copy_of is not None and originals is not None:
            columns = dict(originals[item.copy_of])
            columns["flags"] = sorted({*columns["flags"], SHARED})
        row = JudgeAnswerBase(
            construct_key=item.construct_key,
            construct_version=self._scope.versions[item.construct_key],
            repeat=item.repeat,
            attempt=item.attempt,
            **{**columns, **item.further},
            **item.item.columns(low_is_good=self._scope.metric.low_is_good),
        )
        return {**self._run_columns(row, item.response), "second_response_id": item.item.key[0]}

    def _originals(self, copied: list[int]) -> dict[int, dict[str, Any]]:
        originals = {}
        with self._engine.connect() as connection:
            for start in range(0, len(copied), 500):
                keys = copied[start : start + 500]
                # As they are read now: an answer may have been read again since.
                rows = connection.execute(as_read(("id", *_COPIED), judgments.c.id.in_(keys)))
                originals.update({row[0]: dict(zip(_COPIED, row[1:], strict=True)) for row in rows})
        return originals

    def _run_columns(self, base: JudgeAnswerBase | StepAnswerBase, response: int) -> dict[str, Any]:
        return {
            **base.model_dump(),
            "run_id": self._run_id,
            "response_id": response,
            "created_at": now(),
        }


def _checked(request: Request) -> MetricRequest:
    assert isinstance(request, MetricRequest)  # noqa: S101  (engines return what they got)
    return request
