"""Prompts of a run: planned before their text is made, resumed from stored answers, and sent."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha256
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
from judge.protocol.exchange import Answer, Request
from judge.running.pages import ContentPage, Place, pages
from judge.running.remaining_work import SHARED, Pending, Resolved, work
from judge.running.scope import Scope
from judge.running.shown_texts import ShownTexts
from study.schema import PROMPT_NOT_WHOLE
from study.schema.tables import step_answers
from study.study import Study

ANSWER_COLUMNS = (
    "reasoning",
    "finish_reason",
    "served_model",
    "fingerprint",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "milliseconds",
)
"""Columns of a stored answer that have the names of the fields of an `Answer`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRequest(Request):
    """A prompt with the evaluation that waits for its answer."""

    response: MetricInput
    """The response as the metric reads it."""
    step: str
    number: int
    """Position of the prompt in the list of its step, from 0."""

    @property
    def prompt_hash(self) -> str:
        """SHA-256 (hexadecimal) of the prompt."""
        return sha256(self.prompt.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class PlannedPrompt:
    """A prompt that an evaluation waits for."""

    item: Pending
    texts: ShownTexts
    waiting: WaitingPrompt | None = None
    """None: the metric's single prompt, whose text is made when it is needed."""

    @property
    def size(self) -> int:
        """Upper bound of the length in bytes of UTF-8."""
        if self.waiting is None:
            size = self.texts.metric.prompt_size(self.item.contents[0], self.item.construct_key)
            if size is not None:
                return size
        return self.prompt.size

    @cached_property
    def prompt(self) -> Prompt:
        """The prompt with its text; needs the passages to have been read."""
        return self._waiting.prompt

    @property
    def parts(self) -> tuple[str, ...]:
        """The text in parts, of which the passages are one."""
        return self.prompt.parts

    @property
    def context(self) -> bytes:
        """Hash of the passages; empty for a metric without, whose prompts are grouped by query."""
        reads = self.texts.metric.reads(self.item.construct_key)
        return self.item.contents[0].context_hash if "context" in reads else b""

    @property
    def answer_limit(self) -> int | None:
        """Limit of the answer's tokens by the prompt's step; None: that of the whole run."""
        if self.waiting is None:
            return self.texts.metric.answer_limit(self.item.construct_key)
        return self.waiting.prompt.max_tokens

    def fits(self, ready: Ready) -> bool:
        """Return whether prompt and answer fit the window; True where no window is known."""
        further = 0
        prompts = self.texts.metric.prompts
        if self.answer_limit is not None and prompts is not None:
            further = max(0, self.answer_limit - prompts.max_tokens)
        return ready.fits(self.size, lambda: self.parts, further)

    def length(self, ready: Ready) -> int:
        """Return the length in tokens where the engine counts them, else in bytes."""
        return self.size if ready.count is None else ready.count(self.parts)

    def request(self) -> MetricRequest:
        """Return the request with the text of the prompt."""
        item = self.item
        content = item.contents[0]
        prompt = self.prompt
        return MetricRequest(
            item.construct_key,
            item.repeat,
            tuple(content.id for content in item.contents),
            item.attempts,
            prompt.text,
            self.texts.flags(content, item.construct_key),
            f"{content.query} {self.context.hex()}",
            prompt.max_tokens or self.texts.metric.max_tokens,
            prompt.schema,
            prompt.score_scale,
            response=self.texts.input_of(content, item.construct_key),
            step=prompt.step,
            number=self._waiting.number,
        )

    @cached_property
    def _waiting(self) -> WaitingPrompt:
        if self.waiting is not None:
            return self.waiting
        waiting = evaluate_item(self.item, self.texts).waiting
        if len(waiting) != 1:
            raise single_prompt_error(self.texts.metric)
        return waiting[0]


class PromptName(NamedTuple):
    """Identifies a prompt among those that a run can ask now, before its text is made."""

    construct_key: str
    repeat: int
    response: int
    """Database key of the first response that the answer is for."""
    number: int = 0
    """Position of the prompt in the list of its step."""


def prompt_name(prompt: PlannedPrompt | MetricRequest) -> PromptName:
    """Return the name of a planned prompt, or of the request made from it."""
    if isinstance(prompt, MetricRequest):
        response = prompt.response_ids[0]
        return PromptName(prompt.construct_key, prompt.repeat, response, prompt.number)
    item = prompt.item
    number = 0 if prompt.waiting is None else prompt.waiting.number
    return PromptName(item.construct_key, item.repeat, item.contents[0].id, number)


class StepAnswers:
    """The stored answers to the steps of a metric for some responses, by prompt."""

    def __init__(self, answers: Iterable[tuple[str, int, KnownAnswer]] = ()) -> None:
        self._by_prompt: dict[tuple[str, int], list[KnownAnswer]] = defaultdict(list)
        for prompt_hash, repeat, known in answers:
            self._by_prompt[prompt_hash, repeat].append(known)

    def find(self, prompt: Prompt, item: Pending) -> KnownAnswer | None:
        """Return the answer that counts for an evaluation; None: the prompt is to be asked.

        The first answer to the whole prompt counts. A repeated evaluation uses only answers of its
        own attempt and later ones.
        """
        attempt = item.attempts[0]
        known = self._by_prompt.get((prompt.hash, item.repeat), [])
        if item.again:
            return next((answer for answer in known if answer.attempt >= attempt), None)
        whole = (k for k in known if k.answer.missing not in PROMPT_NOT_WHOLE)
        return next(whole, None) or next((k for k in known if k.attempt == attempt), None)


def stored_answers(
    study: Study, run_id: int | None, responses: Sequence[int], before: datetime | None = None
) -> StepAnswers:
    """Return the answers that are stored for responses, up to a time if one is given.

    They are those of the run, and those of runs that ask the same prompts under the same
    conditions for other metrics, attempt by attempt: the metrics of a suite share the answers to
    a further attempt as well.
    """
    if run_id is None:
        return StepAnswers()
    with study.read() as connection:
        runs = [run_id, *runs_of_other_metrics(connection, run_id)]
        statement = (
            select(step_answers)
            .where(step_answers.c.run_id.in_(runs), step_answers.c.response_id.in_(responses))
            .order_by(step_answers.c.attempt, step_answers.c.run_id != run_id, step_answers.c.id)
        )
        if before is not None:
            statement = statement.where(step_answers.c.created_at <= before)
        rows = connection.execute(statement).all()
    return StepAnswers((row.prompt_hash, row.repeat, known_answer(row)) for row in rows)


def known_answer(row: Any) -> KnownAnswer:
    """Return the answer of a row of `step_answer` or `probe_step_answer`."""
    columns = {name: row._mapping[name] for name in ANSWER_COLUMNS}
    answer = Answer(row.raw_answer, missing=row.missing_reason, **columns)
    return KnownAnswer(answer, row.response_id, row.attempt)


Compare = Callable[[Sequence[PlannedPrompt]], None]
"""Stores the answers to prompts that compare two texts."""


def planned_prompts(
    study: Study,
    order: Sequence[Place],
    scope: Scope,
    run_id: int | None,
    *,
    texts: bool,
    compare: Compare | None = None,
) -> Iterator[PlannedPrompt | Pending | Resolved]:
    """Yield the prompts that a run waits for, and the judgments that need no further answer.

    Prompts with the same beginning follow each other. An evaluation that waits only for prompts of
    other evaluations is yielded as `Pending`.

    Parameters
    ----------
    study, order, scope, run_id
        The run; without a key, everything that a new run would ask.
    texts
        Whether the texts of the prompts are needed. Without them, passages are read only for
        metrics whose prompts have no size in advance.
    compare
        Stores the answers to comparisons, so that evaluations continue; None: they wait.
    """
    single = scope.metric.single_prompt
    for constructs in scope.passes():
        shown_texts = ShownTexts(scope.metric, scope.shuffle)
        for page in pages(study, order, run_id, texts=texts or not single):
            if single:
                for item in work(page, scope, constructs):
                    yield item if isinstance(item, Resolved) else PlannedPrompt(item, shown_texts)
                continue
            yield from _of_steps(study, page, constructs, scope, run_id, shown_texts, compare)


def _of_steps(
    study: Study,
    page: ContentPage,
    constructs: Sequence[str],
    scope: Scope,
    run_id: int | None,
    texts: ShownTexts,
    compare: Compare | None,
) -> Iterator[PlannedPrompt | Pending | Resolved]:
    """Yield what `planned_prompts` does for a page, for a metric that asks in steps."""
    responses = [content.id for content in page.contents]
    items = list(work(page, scope, constructs))
    answers = stored_answers(study, run_id, responses)
    while compare and (due := _comparisons(items, texts, answers)):
        compare(due)
        answers = stored_answers(study, run_id, responses)
    query, planned = -1, dict[tuple[str, int], PlannedPrompt]()
    for item in items:
        if isinstance(item, Resolved):
            yield item
            continue
        if item.contents[0].query != query:
            yield from _in_order(planned.values())
            query, planned = item.contents[0].query, {}
        evaluation = evaluate_item(item, texts, answers)
        if evaluation.result is not None and not item.for_reparse:
            flags = texts.flags(item.contents[0], item.construct_key)
            yield from _judgments(scope, item, evaluation, flags)
        any_new = False
        for waiting in evaluation.waiting:
            # Equal prompts of a query are asked once; the others find the stored answer.
            key = (waiting.prompt.hash, item.repeat)
            if key not in planned and waiting.prompt.compared is None:
                planned[key] = PlannedPrompt(item, texts, waiting)
                any_new = True
        if evaluation.waiting and not any_new:
            yield item
    yield from _in_order(planned.values())


def _in_order(prompts: Iterable[PlannedPrompt]) -> list[PlannedPrompt]:
    """Return the prompts of a query in an order in which each shares most with its neighbours.

    Prompts on one passage follow each other, whichever responses they are about: a cache need not
    hold all passages of a context.
    """
    return sorted(prompts, key=lambda prompt: (prompt.context, prompt.parts))


def _comparisons(
    items: Iterable[Pending | Resolved], texts: ShownTexts, answers: StepAnswers
) -> list[PlannedPrompt]:
    """Return the comparisons that evaluations wait for, equal ones of a query once."""
    found: dict[tuple[int, str, int], PlannedPrompt] = {}
    for item in items:
        if isinstance(item, Pending):
            for waiting in evaluate_item(item, texts, answers).waiting:
                if waiting.prompt.compared is not None:
                    key = (item.contents[0].query, waiting.prompt.hash, item.repeat)
                    found.setdefault(key, PlannedPrompt(item, texts, waiting))
    return list(found.values())


def evaluate_item(
    item: Pending, texts: ShownTexts, answers: StepAnswers | None = None
) -> Evaluation:
    """Evaluate the metric on the content of an item, with the answers that are stored."""
    response = texts.input_of(item.contents[0], item.construct_key)
    if answers is None:
        return evaluate(texts.metric, response)
    return evaluate(texts.metric, response, lambda prompt: answers.find(prompt, item))


def parsed_result(scope: Scope, construct: str, result: MetricValue | MissingValue) -> Parsed:
    """Return the result of an evaluation on the scale of the construct."""
    if isinstance(result, MissingValue):
        return Parsed(None, result.reason, None)
    source = scope.metric.scale_of(construct)
    scale = scope.scales.get(construct, source)
    return Parsed(scale.converted(result.value, source), None, result.rule or scope.metric.key)


def _judgments(
    scope: Scope, item: Pending, evaluation: Evaluation, flags: tuple[str, ...]
) -> Iterator[Resolved]:
    """Yield the judgments of an evaluation that is complete."""
    result = evaluation.result
    assert result is not None  # noqa: S101  (checked by the caller)
    metric = scope.metric
    value, reason, rule = parsed_result(scope, item.construct_key, result)
    for number, (content, attempt) in enumerate(zip(item.contents, item.attempts, strict=True)):
        yield Resolved(
            content.id,
            item.construct_key,
            item.repeat,
            attempt,
            value,
            reason,
            rule,
            parts=result.parts,
            flags=(*flags, SHARED) if number else flags,
            parser_version=metric.version if evaluation.used else None,
        )
