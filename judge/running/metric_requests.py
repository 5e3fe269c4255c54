"""Prompts of a metric, planned before their text is made, and as an engine is asked them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from judge.engines.engine import Ready
from judge.metrics.evaluation import Evaluation, WaitingPrompt, evaluate, not_single
from judge.metrics.metric import MetricInput, Prompt
from judge.protocol.exchange import Request
from judge.running.pages import Place, pages
from judge.running.scope import Scope
from judge.running.shown_texts import ShownTexts
from judge.running.step_answers import StepAnswers, resolved, stored_answers
from judge.running.work_items import Pending, Resolved, work
from study.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRequest(Request):
    """A prompt with the evaluation that waits for its answer."""

    response: MetricInput
    """What the metric reads."""
    step: str
    number: int
    """Place of the prompt in its step's list, from 0."""

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
    """None: the metric's only prompt, whose text is made when it is needed."""

    @property
    def size(self) -> int:
        """Length in bytes of UTF-8, at most."""
        if self.waiting is None:
            size = self.texts.metric.prompt_size(self.item.contents[0], self.item.construct_key)
            if size is not None:
                return size
        return self.prompt.size

    @cached_property
    def prompt(self) -> Prompt:
        """The prompt with its text, for which the passages must have been read."""
        return self._waiting.prompt

    @property
    def parts(self) -> tuple[str, ...]:
        """The text in parts, of which the passages are one."""
        return self.prompt.parts

    def fits(self, ready: Ready) -> bool:
        """Tell whether prompt and answer fit the window, as far as one is known."""
        further = 0
        prompts = self.texts.metric.prompts
        if self.waiting is not None and self.prompt.max_tokens is not None and prompts is not None:
            further = max(0, self.prompt.max_tokens - prompts.max_tokens)
        return ready.fits(self.size, lambda: self.parts, further)

    def length(self, ready: Ready) -> int:
        """Return the prompt's tokens where the engine counts them, else its bytes."""
        return self.size if ready.count is None else ready.count(self.parts)

    def request(self) -> MetricRequest:
        """Return the request with its prompt's text."""
        item = self.item
        content = item.contents[0]
        reads = self.texts.metric.reads(item.construct_key)
        # Prompts without passages of one query go together as well.
        context = content.context_hash if "context" in reads else b""
        group = f"{content.query} {context.hex()}"
        prompt = self.prompt
        return MetricRequest(
            item.construct_key,
            item.repeat,
            tuple(content.id for content in item.contents),
            item.attempts,
            prompt.text,
            self.texts.flags(content, item.construct_key),
            group,
            prompt.max_tokens,
            response=self.texts.input_of(content, item.construct_key),
            step=prompt.step,
            number=self._waiting.number,
        )

    @cached_property
    def _waiting(self) -> WaitingPrompt:
        if self.waiting is not None:
            return self.waiting
        found = _evaluated(self.item, self.texts)
        if len(found.waiting) != 1:
            raise not_single(self.texts.metric)
        return found.waiting[0]


def planned_prompts(
    study: Study, order: Sequence[Place], scope: Scope, run_id: int | None, *, texts: bool
) -> Iterator[PlannedPrompt | Pending | Resolved]:
    """Yield what a run waits for, prompts that begin alike side by side, and what is resolved.

    An evaluation that waits only for prompts of others before it comes as such, as `Pending`.

    Parameters
    ----------
    study, order, scope, run_id
        The run; without a key, all that a new one would ask.
    texts
        Whether the texts of the prompts are wanted. Without them, passages are read only for
        metrics whose prompts can't be sized otherwise.
    """
    sized = scope.metric.single_prompt
    for constructs in scope.passes():
        shown = ShownTexts(scope.metric, scope.shuffle)
        for page in pages(study, order, run_id, texts=texts or not sized):
            if sized:
                for item in work(page, scope, constructs):
                    yield item if isinstance(item, Resolved) else PlannedPrompt(item, shown)
                continue
            answers = stored_answers(study, run_id, [content.id for content in page.contents])
            query, asked = -1, set[tuple[str, int]]()
            for item in work(page, scope, constructs):
                if isinstance(item, Resolved):
                    yield item
                    continue
                if item.contents[0].query != query:
                    query, asked = item.contents[0].query, set()
                found = _evaluated(item, shown, answers)
                if found.result is not None:
                    flags = shown.flags(item.contents[0], item.construct_key)
                    yield from resolved(scope.metric, item, found, flags)
                fresh = False
                for waiting in found.waiting:
                    # Equal prompts of a query are asked once; the others find the answer stored.
                    name = (waiting.prompt.hash, item.repeat)
                    if name not in asked:
                        asked.add(name)
                        fresh = True
                        yield PlannedPrompt(item, shown, waiting)
                if found.waiting and not fresh:
                    yield item


def _evaluated(item: Pending, texts: ShownTexts, answers: StepAnswers | None = None) -> Evaluation:
    response = texts.input_of(item.contents[0], item.construct_key)
    if answers is None:
        return evaluate(texts.metric, response)
    return evaluate(texts.metric, response, lambda prompt: answers.find(prompt, item))
