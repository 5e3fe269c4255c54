"""Rounds of drift: a fixed set of a run's prompts, asked before and after each of its calls."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, func, select

from judge.engines.engine import Engine, Ready, Usage
from judge.running.metric_requests import PlannedPrompt, planned_prompts
from judge.running.pages import Place
from judge.running.probes import PlannedProbe, ProbeRequest, ProbeStore, draw_rank
from judge.running.scope import Scope
from judge.running.session import AnswerDelivery, RunSession
from judge.running.step_probes import StepProbes, last_round
from study.schema import DRIFT
from study.schema.tables import probe_answers
from study.study import Study

_Prompt = tuple[int, str]
"""Response (database key) and construct."""


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
        session = self._session
        with session.study.read() as connection:
            number = _next_round(connection, session.run.id)
        store = ProbeStore(session.study, session.run.id, session.scope, session.confirm)
        delivery = AnswerDelivery(store)
        planned = [PlannedProbe(item.item, item.texts, round=number) for item in self._prompts]
        rounds: Iterable[Iterable[ProbeRequest]] = [[item.request() for item in planned]]
        if not session.scope.metric.single_prompt:
            steps = StepProbes(session.study, session.run.id, session.ready)
            rounds = steps.rounds(lambda: planned, store, delivery, session.scope.encoder)
        try:
            for requests in rounds:
                engine.run(session.run, requests, delivery)
        finally:
            self.add_overhead({"calls": delivery.answered, **delivery.tokens})
            self.add_overhead(delivery.overhead)
            self.retries.update(delivery.retries)
        failed = delivery.failures.total()
        without = f", {failed} got no answer" if failed else ""
        return f"Drift, round {number}: {delivery.answered} prompts were asked{without}."

    def add_usage(self, delivery: AnswerDelivery) -> None:
        """Add the tokens and retries of the rounds to the usage of the call."""
        delivery.add_overhead(self.overhead)
        delivery.retries.update(self.retries)


def _prompt_set(session: RunSession, size: int) -> list[PlannedPrompt]:
    """Return the prompts of earlier rounds, filled up to the size with a random draw.

    Of a metric in steps they are the first prompts of evaluations, which are asked as a whole.

    One prompt is drawn for each query until every query has one.
    """
    run, scope = session.run, session.scope
    places = {place.response: place for place in session.order if place.selected}
    with session.study.read() as connection:
        earlier = _earlier_prompts(connection, run.id, scope)
    turns: dict[int, int] = {}
    drawn: list[tuple[int, bytes, _Prompt]] = []
    pairs = [(response, key) for response in places for key in scope.constructs]
    for pair in sorted(pairs, key=lambda pair: draw_rank(0, run.identity, *pair)):
        query = places[pair[0]].query
        drawn.append((turns.get(query, 0), draw_rank(0, run.identity, -query), pair))
        turns[query] = turns.get(query, 0) + 1
    candidates = [*earlier, *(pair for _, _, pair in sorted(drawn, key=lambda item: item[:2]))]
    prompts: list[PlannedPrompt] = []
    for response, key in dict.fromkeys(candidates):
        if len(prompts) == size:
            break
        if response in places:
            prompt = _prompt(session.study, [places[response]], key, scope, session.ready)
            prompts += [prompt] if prompt else []
    return prompts


def _prompt(
    study: Study, place: Sequence[Place], key: str, scope: Scope, ready: Ready
) -> PlannedPrompt | None:
    """Return the prompt of a response; None where nothing is asked or the prompt is too long."""
    fresh = Scope(scope.metric, (key,), scope.versions, 1, shuffle=scope.shuffle)
    for item in planned_prompts(study, place, fresh, None, texts=True):
        if isinstance(item, PlannedPrompt) and item.fits(ready):
            return item
    return None


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
    last = connection.execute(
        select(func.max(probe_answers.c.round)).where(
            probe_answers.c.run_id == run_id, probe_answers.c.kind == DRIFT
        )
    ).scalar_one()
    # A round that was cut may have answers to steps alone.
    of_steps = last_round(connection, run_id)
    return 1 + max((int(number) for number in (last, of_steps) if number is not None), default=-1)
