"""Prompts of a run: planned before their text is made, answered from what is stored, and sent."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import select

from judge.engines.engine import Ready
from judge.metrics.evaluation import (
    Evaluation,
    KnownAnswer,
    WaitingPrompt,
    evaluate,
    single_prompt_error,
)
from judge.metrics.metric import MetricInput, MetricValue, MissingValue, Prompt
from judge.parsing.parse_answer import Parsed
from judge.protocol.conditions import runs_of_other_metrics
from judge.protocol.exchange import TOKENS, Answer, Request
from judge.running.items import Pending
from judge.running.scope import Scope
from judge.running.shown_texts import ShownTexts
from study.schema import DRIFT, PROMPT_NOT_WHOLE
from study.schema.tables import responses, step_answers
from study.study import Study

USAGE_COLUMNS = (*(f"{name}_tokens" for name in TOKENS), "milliseconds")
SAID_COLUMNS = ("reasoning", "finish_reason", "served_model", "fingerprint")
ANSWER_COLUMNS = (*SAID_COLUMNS, *USAGE_COLUMNS)
"""Columns of a stored answer that have the names of the fields of an `Answer`."""


class PromptName(NamedTuple):
    """Identifies a prompt among those that a run can ask now, before its text is made."""

    construct_key: str
    repeat: int
    response: int
    """Database key of the first response that the answer is for."""
    number: int = 0
    """Position of the prompt in the list of its step."""


@dataclass(frozen=True)
class PlannedPrompt:
    """A prompt that an evaluation waits for."""

    pending: Pending
    texts: ShownTexts
    waiting: WaitingPrompt | None = None
    """None: the metric's single prompt, whose text is made when it is needed."""

    @property
    def size(self) -> int:
        """Upper bound of the length in bytes of UTF-8."""
        if self.waiting is None:
            size = self.texts.metric.prompt_size(
                self.pending.contents[0], self.pending.construct_key
            )
            if size is not None:
                return size
        return self.prompt.size

    @cached_property
    def prompt(self) -> Prompt:
        """The prompt with its text; needs the passages to have been read."""
        if self.waiting is not None:
            return self.waiting.prompt
        waiting = evaluate_pending(self.pending, self.texts).waiting
        if len(waiting) != 1:
            raise single_prompt_error(self.texts.metric)
        return waiting[0].prompt

    @property
    def context(self) -> bytes:
        """Hash of the passages; empty for a metric without, whose prompts are grouped by query."""
        reads = self.texts.metric.reads(self.pending.construct_key)
        return self.pending.contents[0].context_hash if "context" in reads else b""

    @property
    def answer_limit(self) -> int | None:
        """Limit of the answer's tokens by the prompt's step; None: that of the whole run."""
        if self.waiting is None:
            return self.texts.metric.answer_limit(self.pending.construct_key)
        return self.waiting.prompt.max_tokens

    def fits(self, ready: Ready) -> bool:
        """Return whether prompt and answer fit the window; True where no window is known."""
        further = 0
        prompts = self.texts.metric.prompts
        if self.answer_limit is not None and prompts is not None:
            further = max(0, self.answer_limit - prompts.max_tokens)
        return ready.fits(self.size, lambda: self.prompt.parts, further)

    def length(self, ready: Ready) -> int:
        """Return the length in tokens where the engine counts them, else in bytes."""
        return self.size if ready.count is None else ready.count(self.prompt.parts)

    @property
    def name(self) -> PromptName:
        """What distinguishes it from other prompts that can be asked now."""
        key = (self.pending.construct_key, self.pending.repeat, self.pending.contents[0].id)
        return PromptName(*key, 0 if self.waiting is None else self.waiting.number)

    def request(self) -> "MetricRequest":
        """Return the request with the text of the prompt."""
        pending = self.pending
        content = pending.contents[0]
        prompt = self.prompt
        return MetricRequest(
            pending.construct_key,
            pending.repeat,
            tuple(content.id for content in pending.contents),
            pending.attempts,
            prompt.text,
            flags_of(pending, self.texts),
            f"{content.query} {self.context.hex()}",
            prompt.max_tokens or self.texts.metric.max_tokens,
            prompt.schema,
            prompt.score_scale,
            pending.item.purpose,
            planned=self,
            response=input_of(pending, self.texts),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRequest(Request):
    """A planned prompt with its text."""

    planned: PlannedPrompt = field(compare=False)
    response: MetricInput
    """The response as the metric reads it."""

    @property
    def prompt_hash(self) -> str:
        """SHA-256 (hexadecimal) of the prompt."""
        return self.planned.prompt.hash


class PromptKey(NamedTuple):
    """Identifies the answers to a prompt of a metric in steps."""

    hash: str
    repeat: int
    probe: str = ""
    round: int = 0


class StepAnswers:
    """The stored answers to the steps of a metric for some responses, by prompt."""

    def __init__(self, answers: Iterable[tuple[PromptKey, KnownAnswer]] = ()) -> None:
        self._by_prompt: dict[PromptKey, list[KnownAnswer]] = defaultdict(list)
        for key, known in answers:
            self._by_prompt[key].append(known)

    def find(self, prompt: Prompt, pending: Pending) -> KnownAnswer | None:
        """Return the answer that counts for an evaluation; None: the prompt is to be asked.

        The first answer to the whole prompt counts. A repeated evaluation uses only answers of its
        own attempt and later ones. A prompt that a probe leaves as it was has its answer in the
        run; where nothing is altered (the probe `again`, a round of drift) all prompts are asked
        anew, so that the shift includes every step.
        """
        item = pending.item
        if item.probe_name is not None:
            key = PromptKey(prompt.hash, pending.repeat, item.probe_name, item.round or 0)
            known = self._by_prompt.get(key, [])
            if known or item.changes_nothing:
                return known[0] if known else None
        attempt = pending.attempts[0]
        known = self._by_prompt.get(PromptKey(prompt.hash, pending.repeat), [])
        if pending.again:
            return next((answer for answer in known if answer.attempt >= attempt), None)
        whole = (k for k in known if k.answer.missing not in PROMPT_NOT_WHOLE)
        return next(whole, None) or next((k for k in known if k.attempt == attempt), None)


def stored_answers(
    study: Study,
    run_id: int | None,
    response_ids: Sequence[int],
    before: datetime | None = None,
    *,
    with_probes: bool = False,
) -> StepAnswers:
    """Return the answers that are stored for responses, up to a time if one is given.

    They are those of the run, and those of runs that ask the same prompts under the same
    conditions for other metrics, attempt by attempt: the metrics of a suite share the answers to
    a further attempt as well, and with `with_probes` those to their probes.
    """
    if run_id is None:
        return StepAnswers()
    columns = step_answers.c
    with study.read() as connection:
        runs = [run_id, *runs_of_other_metrics(connection, run_id)]
        statement = (
            select(step_answers)
            .where(columns.run_id.in_(runs), columns.response_id.in_(response_ids))
            # Rounds of drift are a run's own.
            .where((columns.probe != DRIFT) | (columns.run_id == run_id))
            .order_by(columns.attempt, columns.run_id != run_id, columns.id)
        )
        if not with_probes:
            statement = statement.where(columns.probe == "")
        if before is not None:
            statement = statement.where(columns.created_at <= before)
        rows = connection.execute(statement).all()
    return StepAnswers(
        (PromptKey(row.prompt_hash, row.repeat, row.probe, row.round), _known_answer(row))
        for row in rows
    )


def answers_to_queries(
    study: Study, run_id: int, queries: Collection[int], before: datetime | None = None
) -> StepAnswers:
    """Return the answers of a run that count for responses to these queries (database keys).

    Equal prompts of a query are asked once, for any of its responses.
    """
    statement = select(responses.c.id).where(responses.c.query_id.in_(queries))
    with study.read() as connection:
        ids = list(connection.execute(statement).scalars())
    return stored_answers(study, run_id, ids, before)


def _known_answer(row: Any) -> KnownAnswer:
    columns = {name: row._mapping[name] for name in ANSWER_COLUMNS}
    answer = Answer(row.raw_answer, missing=row.missing_reason, **columns)
    return KnownAnswer(answer, row.response_id, row.attempt)


def evaluate_pending(
    pending: Pending, texts: ShownTexts, answers: StepAnswers | None = None
) -> Evaluation:
    """Evaluate the metric on an item, with the answers that are stored."""
    response = input_of(pending, texts)
    if answers is None:
        return evaluate(texts.metric, response)
    return evaluate(texts.metric, response, lambda prompt: answers.find(prompt, pending))


def input_of(pending: Pending, texts: ShownTexts) -> MetricInput:
    """Return the first response of an item as the metric reads it, with the one beside it."""
    response = texts.input_of(pending.contents[0], pending.construct_key)
    second = pending.item.second
    if second is None:
        return response
    return replace(response, second=texts.input_of(second, pending.construct_key))


def flags_of(pending: Pending, texts: ShownTexts) -> tuple[str, ...]:
    """Return the flags of the texts that the metric reads of an item."""
    flags = texts.flags(pending.contents[0], pending.construct_key)
    if pending.item.second is not None:
        flags += texts.flags(pending.item.second, pending.construct_key)
    return tuple(dict.fromkeys(flags))


def parsed_result(scope: Scope, construct: str, result: MetricValue | MissingValue) -> Parsed:
    """Return the result of an evaluation on the scale of the construct."""
    if isinstance(result, MissingValue):
        return Parsed(None, result.reason, None)
    source = scope.metric.scale_of(construct)
    scale = scope.scales.get(construct, source)
    return Parsed(scale.converted(result.value, source), None, result.rule or scope.metric.key)
