"""The rounds of a call: surveyed, asked, and surveyed again until nothing is left."""

from collections.abc import Iterable, Iterator
from itertools import islice

from judge.engines.engine import Ready
from judge.metrics.embedding import Encoder
from judge.running.answer_store import AnswerStore
from judge.running.comparisons import Comparisons
from judge.running.forecast import CountedAnswer, Forecast, forecast
from judge.running.metric_requests import MetricRequest, PromptName
from judge.running.plan import CallPlan, draw_prompts
from judge.running.session import AnswerDelivery, RunSession
from judge.running.survey import Survey, survey


class Rounds:
    """The prompts of one call on the items of a plan.

    Parameters
    ----------
    plan, ready
        What is to be asked, and the engine's window.
    store
        Receives what needs no further answer.
    limit
        Largest number of prompts.
    sample
        Number of prompts to draw as a sample of all; None: all are asked.
    """

    def __init__(
        self,
        plan: CallPlan,
        ready: Ready,
        store: AnswerStore,
        limit: int | None = None,
        sample: int | None = None,
    ) -> None:
        self.plan = plan
        self._ready = ready
        self._store = store
        self._limit = limit
        encoder: Encoder | None = plan.scope.encoder
        self._compare = None if encoder is None else Comparisons(encoder, store)
        self.survey = self._survey(limit)
        """The newest survey."""
        self.lengths: dict[PromptName, int] = {}
        """Length of each prompt, where a sample is asked."""
        self.sample: frozenset[PromptName] | None = None
        if sample and plan.scope.metric.single_prompt:
            self.lengths = plan.sizes(ready)
            self.sample = draw_prompts(self.lengths, sample, plan.study.config.seed)
        self.planned = self.survey.now.total() if self.sample is None else len(self.sample)
        """Prompts of the next round."""

    def prompts(self, delivery: AnswerDelivery) -> Iterator[Iterable[MetricRequest]]:
        """Yield the prompts of each round: the first steps, then those that depend on answers."""
        remaining = self._limit
        while self.planned:
            steps = self._store.steps
            prompts = self._requests(delivery)
            yield prompts if remaining is None else islice(prompts, remaining)
            if self._store.steps == steps:
                # Single prompts need one round; and without new answers no prompts follow.
                return
            remaining = None if self._limit is None else self._limit - delivery.answered
            self.survey = self._survey(remaining)
            if self.sample is not None:
                return
            self.planned = self.survey.now.total() if remaining is None or remaining > 0 else 0
            delivery.total += self.planned

    def items_left(self, delivery: AnswerDelivery) -> int:
        """Return the judgments that are still to be made."""
        if self.plan.scope.metric.single_prompt:
            return self.survey.judgments - delivery.judged
        # From the survey after the last round with answers.
        return self.survey.judgments

    def prompts_left(self, delivery: AnswerDelivery) -> int:
        """Return the prompts that are still to be asked, as far as they are known."""
        if self.plan.scope.metric.single_prompt:
            return self.survey.prompts.total() - delivery.answered
        return survey(self.plan, self._ready).prompts.total()

    def forecast(
        self, delivery: AnswerDelivery, session: RunSession, wall: float
    ) -> Forecast | None:
        """Return the forecast for the prompts outside the sample."""
        settings = session.settings
        answers = delivery.sample or {}
        lengths = [size for name, size in self.lengths.items() if name not in answers]
        counted = [CountedAnswer(self.lengths[name], answer) for name, answer in answers.items()]
        return forecast(
            counted, len(lengths), sum(lengths), settings, wall=wall, at_once=settings.at_once
        )

    def _requests(self, delivery: AnswerDelivery) -> Iterator[MetricRequest]:
        for request in self.plan.requests(self._ready, self.sample):
            failed = delivery.failed_prompts
            if not failed or (request.prompt_hash, request.repeat) not in failed:
                yield request

    def _survey(self, limit: int | None) -> Survey:
        work = survey(self.plan, self._ready, self._store.resolve, limit, self._compare)
        self._store.resolve(judgment for _, judgment in work.too_long)
        return work
