"""The rounds of a call, until nothing is left, and rounds of drift before and after them.

Drift is measured by a fixed set of a run's prompts.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice
from typing import ClassVar, TypeVar

from sqlalchemy import Connection, FromClause, func, select

from judge.engines.engine import Engine, Ready, Usage
from judge.metrics.embedding import TRUNCATED, Encoder, Vectors
from judge.metrics.metric import MissingValue, Prompt
from judge.protocol.exchange import ENCODED, Answer
from judge.run_settings import JudgeSettings
from judge.running.answer_store import AnswerStore
from judge.running.forecast import CountedAnswer, Forecast, forecast
from judge.running.items import Item, Items, Pending, Responses
from judge.running.metric_requests import MetricRequest, PlannedPrompt, PromptName
from judge.running.pages import ContentPage, Place
from judge.running.plan import CallPlan, draw_prompts
from judge.running.scope import Scope
from judge.running.session import RunSession
from judge.running.survey import Survey, survey
from study.schema import DRIFT, CallKind
from study.schema.tables import probe_answers, step_answers
from study.study import Study
from study.text import counted

# Comparisons that are stored together: a kill costs at most these.
_BATCH = 64

_Prompt = tuple[int, str]
"""Response (database key) and construct."""
_Key = TypeVar("_Key", bound=tuple[object, ...])


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
        store.total = self.planned
        store.sample = None if self.sample is None else {}

    def prompts(self) -> Iterator[Iterable[MetricRequest]]:
        """Yield the prompts of each round: the first steps, then those that depend on answers."""
        remaining = self._limit
        while self.planned:
            steps = self._store.steps
            prompts = self._requests()
            yield prompts if remaining is None else islice(prompts, remaining)
            if self._store.steps == steps:
                # Single prompts need one round; and without new answers no prompts follow.
                return
            remaining = None if self._limit is None else self._limit - self._store.answered
            self.survey = self._survey(remaining)
            if self.sample is not None:
                return
            self.planned = self.survey.now.total() if remaining is None or remaining > 0 else 0
            self._store.total += self.planned

    def left(self) -> int:
        """Return the judgments to be made; of probes and pairs the prompts, as far as known."""
        single = self.plan.scope.metric.single_prompt
        if isinstance(self.plan.items, Responses):
            # Of a metric in steps from the survey after the last round with answers.
            return self.survey.judgments - (self._store.decided if single else 0)
        if single:
            return self.survey.prompts.total() - self._store.answered
        return survey(self.plan, self._ready).prompts.total()

    def forecast(self, settings: JudgeSettings, wall: float) -> Forecast | None:
        """Return the forecast for the prompts outside the sample."""
        answers = self._store.sample or {}
        lengths = [size for name, size in self.lengths.items() if name not in answers]
        counted = [CountedAnswer(self.lengths[name], answer) for name, answer in answers.items()]
        return forecast(counted, len(lengths), sum(lengths), settings, wall=wall)

    def _requests(self) -> Iterator[MetricRequest]:
        for request in self.plan.requests(self._ready, self.sample):
            failed = self._store.failed_prompts
            if not failed or (request.prompt_hash, request.repeat) not in failed:
                yield request

    def _survey(self, limit: int | None) -> Survey:
        work = survey(self.plan, self._ready, self._store.resolve, limit, self._compare)
        self._store.resolve(judgment for _, judgment in work.too_long)
        return work


class Comparisons:
    """Answers the comparisons of one run, and stores the answers."""

    def __init__(self, encoder: Encoder, store: AnswerStore) -> None:
        self._vectors = Vectors(encoder)
        self._store = store

    def __call__(self, planned: Sequence[PlannedPrompt]) -> None:
        """Store the answers to planned prompts, all of which compare two texts.

        Raises
        ------
        StudyError
            The encoder can't be used any more; the answers before are stored.
        """
        for start in range(0, len(planned), _BATCH):
            some = planned[start : start + _BATCH]
            texts = (text for each in some for text in each.prompt.compared or ())
            self._vectors.prepare(texts)
            self._store.store([(each.request(), self._answer(each.prompt)) for each in some])

    def _answer(self, prompt: Prompt) -> Answer:
        assert prompt.compared is not None  # noqa: S101  (the caller selects these)
        first, second = prompt.compared
        cosines = self._vectors.cosines(first, [second])
        if isinstance(cosines, MissingValue):
            return Answer(None, missing=cosines.reason, finish_reason=ENCODED)
        [value] = cosines.values
        text = f"{value!r} {TRUNCATED}" if cosines.truncated else repr(value)
        return Answer(text, finish_reason=ENCODED)


@dataclass(frozen=True)
class DriftRound(Items):
    """A fixed set of prompts of a run, asked once more."""

    prompts: Collection[tuple[int, str]]
    """Response (database key) and construct."""
    number: int
    kind: ClassVar[CallKind] = "probe"
    answers: ClassVar[FromClause] = probe_answers

    def places(self, order: Sequence[Place]) -> Sequence[Place]:
        """Return the responses to the queries of the set, whose responses are selected."""
        return selected_places(order, {response for response, _ in self.prompts})

    def work(self, page: ContentPage, scope: Scope, constructs: Sequence[str]) -> Iterator[Pending]:
        """Yield the prompts of the set that have no answer in this round."""
        stored = {
            (row.response_id, row.construct_key)
            for row in page.answers
            if row.round == self.number
            and row.construct_version == scope.versions.get(row.construct_key)
        }
        for content in page.contents:
            for key in constructs:
                wanted = (content.id, key) in self.prompts and (content.id, key) not in stored
                if content.selected and wanted:
                    yield Pending(key, 0, (content,), (1,), item=Item(round=self.number))


class DriftRounds(Usage):
    """The rounds of one call on a run; `ask` asks one round."""

    def __init__(self, session: RunSession, size: int) -> None:
        super().__init__()
        self._session = session
        self._prompts = _prompt_set(session, size)

    def ask(self, engine: Engine) -> str:
        """Ask every prompt of the set once; return a sentence on the result.

        Raises
        ------
        StudyError
            As `Engine.run` does. Answers so far are stored.
        """
        session, run = self._session, self._session.run
        with session.study.read() as connection:
            number = _next_round(connection, run.id)
        items = DriftRound(self._prompts, number)
        places = items.places(session.order)
        plan = CallPlan(session.study, session.scope, places, run.id, items)
        store = AnswerStore(session)
        try:
            for requests in Rounds(plan, session.ready, store).prompts():
                engine.run(run, requests, store)
        finally:
            self.add_overhead({"calls": store.answered, **store.tokens})
            self.add_overhead(store.overhead)
            self.retries.update(store.retries)
        failed = store.failures.total()
        asked = counted(store.answered, "prompt was", "prompts were")
        without = f", {failed} got no answer" if failed else ""
        return f"Drift, round {number}: {asked} asked{without}."


def _prompt_set(session: RunSession, size: int) -> list[_Prompt]:
    """Return the prompts of earlier rounds, filled up to the size with a random draw.

    Of a metric in steps they are the first prompts of evaluations, which are asked as a whole.
    One prompt is drawn for each query until every query has one.
    """
    run, scope = session.run, session.scope
    places = {place.response: place for place in session.order if place.selected}
    with session.study.read() as connection:
        earlier = _earlier_prompts(connection, run.id, scope)
    pairs = [
        (place.query, (place.response, key))
        for place in places.values()
        for key in scope.constructs
    ]
    candidates = [*earlier, *in_turns(pairs, 0, run.identity)]
    prompts: list[_Prompt] = []
    for response, key in dict.fromkeys(candidates):
        if len(prompts) == size:
            break
        if response in places and _is_asked(
            session.study, places[response], key, scope, session.ready
        ):
            prompts.append((response, key))
    return prompts


def _is_asked(study: Study, place: Place, key: str, scope: Scope, ready: Ready) -> bool:
    """Return whether a response has a prompt that fits the window."""
    fresh = Scope(scope.metric, (key,), scope.versions, 1, shuffle=scope.shuffle)
    return any(True for _ in CallPlan(study, fresh, [place]).fitting(ready, texts=True))


def _earlier_prompts(connection: Connection, run_id: int, scope: Scope) -> list[_Prompt]:
    rows = connection.execute(
        select(
            probe_answers.c.response_id,
            probe_answers.c.construct_key,
            probe_answers.c.construct_version,
        )
        .where(probe_answers.c.run_id == run_id, probe_answers.c.kind == DRIFT)
        .order_by(probe_answers.c.id)
    )
    return [
        (response, key)
        for response, key, version in rows
        if key in scope.constructs and version == scope.versions.get(key)
    ]


def _next_round(connection: Connection, run_id: int) -> int:
    """Return the number after the last round, of which a metric in steps may have parts alone."""
    last = (
        select(func.max(t.c.round)).where(t.c.run_id == run_id, t.c.probe == DRIFT)
        for t in (probe_answers, step_answers)
    )
    rounds = [connection.execute(statement).scalar_one() for statement in last]
    return 1 + max((int(number) for number in rounds if number is not None), default=-1)


def in_turns(items: Iterable[tuple[int, _Key]], *seed: object) -> list[_Key]:
    """Return the keys of items in a random order, one of each query until every query had one.

    The order is the same every time with the same seed; items are given as query and key.
    """

    def rank(*key: object) -> bytes:
        return blake2b(repr((*seed, *key)).encode(), digest_size=8).digest()

    turns: Counter[int] = Counter()
    drawn: list[tuple[int, bytes, _Key]] = []
    for query, key in sorted(items, key=lambda item: rank(*item[1])):
        drawn.append((turns[query], rank(-query), key))
        turns[query] += 1
    return [key for _, _, key in sorted(drawn, key=lambda item: item[:2])]


def selected_places(order: Sequence[Place], responses: Collection[int]) -> list[Place]:
    """Return the places of all responses to the queries of some, which are selected.

    Responses to a query share the answers to equal prompts.
    """
    queries = {place.query for place in order if place.response in responses}
    return [
        replace(place, selected=place.response in responses)
        for place in order
        if place.query in queries
    ]
