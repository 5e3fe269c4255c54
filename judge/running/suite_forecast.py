"""Forecast of the prompts of one or several metrics, by step.

The first prompts of an evaluation are known; those of later steps depend on answers. Where an
answer is missing, the stored answer to the prompt of the same step that is nearest in length takes
its place, and the metric is evaluated with it: it then asks as many prompts as after such an
answer. Without stored answers to a step that lists claims, a list is assumed.
"""

import json
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from judge.metrics.evaluation import KnownAnswer, evaluate
from judge.metrics.metric import Metric, MetricValue, Prompt
from judge.protocol.exchange import Answer
from judge.run_settings import JudgeSettings
from judge.running.items import Pending
from judge.running.metric_requests import (
    StepAnswers,
    evaluate_pending,
    input_of,
    stored_answers,
)
from judge.running.pages import pages, places
from judge.running.plan import CallPlan
from judge.running.scope import run_scope
from judge.running.shown_texts import ShownTexts
from judge.text import Result
from study.study import Study
from study.text import counted

ASSUMED_BYTES = 40
"""Bytes of text for each item of a list that is assumed: about ten tokens of a claim."""

_BYTES_PER_TOKEN = 4.0
# Stored answers of a step that are kept, and that are tried for a prompt.
_MOST_ANSWERS, _TRIED = 5000, 8
# Characters in which items of lists differ from those of another prompt.
_MARK = 12

StepKey = tuple[str, str]
"""Name of a prompt version, and of a step."""


@dataclass
class StepForecast:
    """The prompts of one step that are still to be asked, each counted once."""

    prompts: str
    """Name of the prompt version."""
    step: str
    calls: int = 0
    known: int = 0
    """Of these, prompts that can be asked now; the others are estimated."""
    prompt_tokens: float = 0.0
    answer_tokens: float = 0.0
    cost: float | None = None


@dataclass(frozen=True)
class SuiteForecast(Result):
    """The prompts that metrics still have to ask, by step."""

    steps: list[StepForecast]
    answers: int
    """Stored answers that it is based on."""
    assumed: bool
    """Whether the length of a list was assumed, since there is no answer to its step yet."""
    calls: int = 0
    prompt_tokens: float = 0.0
    answer_tokens: float = 0.0
    cost: float | None = None

    def lines(self) -> list[str]:
        """Return the forecast as lines of text."""
        rows = [(f"  {each.prompts}, {each.step}", each.calls, each) for each in self.steps]
        width = max((len(name) for name, *_ in rows), default=0)
        lines = ["Prompts to ask, those that metrics share counted once:"]
        for name, calls, each in rows:
            exact = "" if each.known == calls else f"  ({each.known:,} known, the others estimated)"
            lines.append(f"{name:<{width}}  {calls:>9,} prompts{_amount(each)}{exact}")
        lines.append(f"{'  total':<{width}}  {self.calls:>9,} prompts{_amount(self)}")
        if self.answers:
            lines.append(
                f"  Later steps follow {counted(self.answers, 'answer')} so far, each for the "
                "texts of its length."
            )
        elif self.assumed:
            lines.append(
                f"  No answers yet: lists are assumed to have an item for every "
                f"{ASSUMED_BYTES} bytes of their text. --estimate N asks N queries and counts."
            )
        return lines


def _amount(figures: StepForecast | SuiteForecast) -> str:
    tokens = f", about {figures.prompt_tokens:,.0f} + {figures.answer_tokens:,.0f} tokens"
    return tokens + ("" if figures.cost is None else f", {figures.cost:,.2f}")


@dataclass
class _StoredStep:
    """Stored answers to one step, by the length of their prompt."""

    answers: list[tuple[int, int, Answer]] = field(default_factory=list)

    hashes: set[str] = field(default_factory=set)

    def add(self, prompt: Prompt, answer: Answer) -> None:
        if len(self.answers) < _MOST_ANSWERS and prompt.hash not in self.hashes:
            self.hashes.add(prompt.hash)
            item = (prompt.size, len(self.answers), answer)
            insort(self.answers, item, key=lambda item: item[:2])

    def nearest(self, size: int, turn: int) -> Answer | None:
        """Return an answer to a prompt of about this size: the nearest, or the next but `turn`."""
        if not self.answers:
            return None
        at = bisect_left(self.answers, (size, 0), key=lambda item: item[:2])
        order = sorted(
            range(max(0, at - _TRIED), min(len(self.answers), at + _TRIED)),
            key=lambda index: abs(self.answers[index][0] - size),
        )
        return self.answers[order[turn % len(order)]][2]

    def mean(self, name: str) -> float | None:
        counts = [n for *_, answer in self.answers if (n := getattr(answer, name)) is not None]
        return fmean(counts) if counts else None

    def tokens_per_byte(self) -> float | None:
        counted = [(size, a.prompt_tokens) for size, _, a in self.answers if a.prompt_tokens]
        return sum(n for _, n in counted) / sum(size for size, _ in counted) if counted else None


def forecast_metrics(
    study: Study, settings: Sequence[JudgeSettings], runs: Sequence[int | None]
) -> SuiteForecast:
    """Return the forecast for metrics with these settings, whose equal prompts are counted once.

    Parameters
    ----------
    settings
        The settings of each metric.
    runs
        The run (database key) of each; None: it would begin one.
    """
    order = places(study, settings[0].systems)
    plans = [
        CallPlan(study, run_scope(study, each), order, run_id)
        for each, run_id in zip(settings, runs, strict=True)
    ]
    return _StepSurvey(settings[0]).forecast(plans)


class _StepSurvey:
    """Counts the prompts that metrics still have to ask."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._stored: dict[StepKey, _StoredStep] = defaultdict(_StoredStep)
        self._steps: dict[StepKey, StepForecast] = {}
        self._counted: set[tuple[str, str, int]] = set()
        self._assumed = False

    def forecast(self, plans: Sequence[CallPlan]) -> SuiteForecast:
        for plan in plans:
            if plan.run_id is not None:
                for item, texts, answers in _evaluations(plan, None):
                    self._learn(item, texts, answers)
        for plan in plans:
            for item, texts, answers in _evaluations(plan, plan.run_id):
                self._count(item, texts, answers)
        steps = list(self._steps.values())
        settings = self._settings
        for each in steps:
            each.cost = settings.cost(each.prompt_tokens, each.answer_tokens)
        costs = [each.cost for each in steps if each.cost is not None]
        return SuiteForecast(
            steps=steps,
            answers=sum(len(stored.answers) for stored in self._stored.values()),
            assumed=self._assumed,
            calls=sum(each.calls for each in steps),
            prompt_tokens=sum(each.prompt_tokens for each in steps),
            answer_tokens=sum(each.answer_tokens for each in steps),
            cost=sum(costs) if costs else settings.cost(0, 0),
        )

    def _learn(self, item: Pending, texts: ShownTexts, answers: StepAnswers) -> None:
        """Remember the stored answers of an evaluation."""

        def known(prompt: Prompt) -> KnownAnswer | None:
            found = answers.find(prompt, item)
            if found is not None and found.answer.missing is None and prompt.compared is None:
                self._stored[_key(texts.metric, prompt)].add(prompt, found.answer)
            return found

        evaluate(texts.metric, input_of(item, texts), known)

    def _count(self, item: Pending, texts: ShownTexts, answers: StepAnswers) -> None:
        """Count the prompts of an evaluation."""
        waiting = evaluate_pending(item, texts, answers).waiting
        known = {each.prompt.hash for each in waiting}
        asked, complete = self._tried(item, texts, answers, known, 0)
        for turn in range(1, _TRIED):
            if complete:
                break
            # An answer that does not fit the prompt, such as labels of another number of items,
            # ends the evaluation: then another one is tried.
            others, complete = self._tried(item, texts, answers, known, turn)
            if complete or len(others) > len(asked):
                asked = others
        for prompt in asked:
            key = _key(texts.metric, prompt)
            name = (key[0], prompt.hash, item.repeat)
            if name not in self._counted:
                self._counted.add(name)
                self._add(texts.metric, prompt, key, exact=prompt.hash in known)

    def _tried(
        self, item: Pending, texts: ShownTexts, answers: StepAnswers, first: set[str], turn: int
    ) -> tuple[list[Prompt], bool]:
        """Evaluate with substitutes for missing answers; return their prompts, and if it ended."""
        asked: list[Prompt] = []

        def known(prompt: Prompt) -> KnownAnswer:
            found = answers.find(prompt, item)
            if found is not None:
                return found
            if prompt.compared is None:
                asked.append(prompt)
            # Metrics that share a first step go on from the same answer.
            own_turn = 0 if prompt.hash in first else turn
            return KnownAnswer(self._substitute(texts.metric, prompt, own_turn), 0)

        result = evaluate(texts.metric, input_of(item, texts), known).result
        return asked, isinstance(result, MetricValue)

    def _add(self, metric: Metric, prompt: Prompt, key: StepKey, *, exact: bool) -> None:
        stored = self._stored[key]
        figures = self._steps.setdefault(key, StepForecast(*key))
        figures.calls += 1
        figures.known += exact
        figures.prompt_tokens += prompt.size * (stored.tokens_per_byte() or 1 / _BYTES_PER_TOKEN)
        answer = stored.mean("completion_tokens")
        limit = self._settings.max_tokens or (metric.prompts.max_tokens if metric.prompts else 0)
        figures.answer_tokens += (prompt.max_tokens or limit) if answer is None else answer

    def _substitute(self, metric: Metric, prompt: Prompt, turn: int) -> Answer:
        """Return what takes the place of a missing answer."""
        if prompt.compared is not None:
            return Answer("0.5")
        answer = self._stored[_key(metric, prompt)].nearest(prompt.size, turn)
        if answer is not None:
            return replace(answer, text=_reworded(answer.text, prompt.hash))
        self._assumed = True
        size = len(prompt.parts[-2 if len(prompt.parts) > 1 else -1].encode("utf-8", "replace"))
        number = max(1, round(size / ASSUMED_BYTES))
        return Answer(json.dumps([f"item {n} {prompt.hash}" for n in range(number)]))


def _evaluations(
    plan: CallPlan, run_id: int | None
) -> Iterator[tuple[Pending, ShownTexts, StepAnswers]]:
    """Yield the evaluations that a run has left with its stored answers; None: all of them."""
    for constructs in plan.scope.passes():
        texts = ShownTexts(plan.scope.metric, plan.scope.shuffle)
        for page in pages(plan.study, plan.places, run_id, texts=True):
            answers = stored_answers(plan.study, plan.run_id, [c.id for c in page.contents])
            for item in plan.items.work(page, plan.scope, constructs):
                if isinstance(item, Pending):
                    yield item, texts, answers


def _reworded(text: str | None, mark: str) -> str | None:
    """Return a list with other items of the same lengths: other texts have other claims.

    Equal claims would be checked by equal prompts, which are counted once.
    """
    try:
        items = json.loads(text or "")
    except (ValueError, RecursionError):
        lines = (text or "").splitlines()
        return text if len(lines) < 2 else "\n".join(_marked(line, mark) for line in lines)
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        return text
    return json.dumps([_marked(item, mark) for item in items], ensure_ascii=False)


def _marked(item: str, mark: str) -> str:
    some = mark[:_MARK]
    return f"{item[: max(0, len(item) - len(some))]}{some}" if item.strip() else item


def _key(metric: Metric, prompt: Prompt) -> StepKey:
    return (metric.prompts.name if metric.prompts is not None else metric.key, prompt.step)
