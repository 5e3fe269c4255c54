"""Answers to the steps of a metric: stored as they come, and sent again to resume."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import select

from judge.metrics.evaluation import Evaluation, KnownAnswer
from judge.metrics.metric import Metric, MetricValue, Prompt
from judge.protocol.exchange import Answer
from judge.running.work_items import SHARED, Pending, Resolved
from study.schema import PROMPT_NOT_WHOLE, StepAnswer, StepAnswerBase, now, table
from study.study import Study

_COLUMNS = (
    "finish_reason",
    "served_model",
    "fingerprint",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "milliseconds",
)
"""Columns that are named like the fields of an `Answer`."""


class StepAnswers:
    """The stored answers of some responses, by prompt."""

    def __init__(self, found: Iterable[tuple[str, int, KnownAnswer]] = ()) -> None:
        self._by_prompt: dict[tuple[str, int], list[KnownAnswer]] = defaultdict(list)
        for prompt_hash, repeat, known in found:
            self._by_prompt[prompt_hash, repeat].append(known)

    def find(self, prompt: Prompt, item: Pending) -> KnownAnswer | None:
        """Return the answer that counts for an evaluation; None: the prompt is to be asked.

        The first answer to the whole prompt counts. An evaluation that is made again takes the
        answers of its own attempt and later ones only.
        """
        if not self._by_prompt:
            return None
        attempt = item.attempts[0]
        some = self._by_prompt.get((prompt.hash, item.repeat), [])
        if item.again:
            return next((one for one in some if one.attempt >= attempt), None)
        whole = (one for one in some if one.answer.missing not in PROMPT_NOT_WHOLE)
        return next(whole, None) or next((one for one in some if one.attempt == attempt), None)


def stored_answers(study: Study, run_id: int | None, responses: Sequence[int]) -> StepAnswers:
    """Return the answers that a run has stored for these responses, in the order of attempts."""
    if run_id is None:
        return StepAnswers()
    s = table(StepAnswer)
    statement = (
        select(
            s.c.prompt_hash,
            s.c.repeat,
            s.c.attempt,
            s.c.response_id,
            s.c.raw_answer,
            s.c.missing_reason,
            *(s.c[name] for name in _COLUMNS),
        )
        .where(s.c.run_id == run_id, s.c.response_id.in_(responses))
        .order_by(s.c.attempt, s.c.id)
    )
    with study.read() as connection:
        rows = connection.execute(statement).all()
    return StepAnswers(
        (
            row.prompt_hash,
            row.repeat,
            KnownAnswer(
                Answer(
                    row.raw_answer,
                    missing=row.missing_reason,
                    **{name: row._mapping[name] for name in _COLUMNS},
                ),
                row.response_id,
                row.attempt,
            ),
        )
        for row in rows
    )


def step_answer_row(
    run_id: int,
    metric: Metric,
    *,
    response: int,
    step: str,
    number: int,
    repeat: int,
    attempt: int,
    prompt_hash: str,
    answer: Answer,
) -> dict[str, Any]:
    """Return the row of an answer that does not decide a judgment alone."""
    row = StepAnswerBase(
        metric=metric.key,
        step=step,
        number=number,
        repeat=repeat,
        attempt=attempt,
        prompt_hash=prompt_hash,
        raw_answer=answer.text,
        missing_reason=answer.missing,
        **{name: getattr(answer, name) for name in _COLUMNS},
    )
    return {**row.model_dump(), "run_id": run_id, "response_id": response, "created_at": now()}


def resolved(
    metric: Metric, item: Pending, evaluation: Evaluation, flags: tuple[str, ...]
) -> Iterator[Resolved]:
    """Yield the judgments of an evaluation that has come to its end with stored answers."""
    result = evaluation.result
    assert result is not None  # noqa: S101  (the caller looked)
    value = result.value if isinstance(result, MetricValue) else None
    reason = None if isinstance(result, MetricValue) else result.reason
    rule = (result.rule or metric.key) if isinstance(result, MetricValue) else None
    for place, (content, attempt) in enumerate(zip(item.contents, item.attempts, strict=True)):
        yield Resolved(
            content.id,
            item.construct_key,
            item.repeat,
            attempt,
            value,
            reason,
            rule,
            parts=result.parts,
            flags=flags if not place else (*flags, SHARED),
            read_by=metric.version if evaluation.used else None,
        )
