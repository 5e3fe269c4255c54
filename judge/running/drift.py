"""Rounds of drift: a fixed set of a run's prompts, asked before and after each of its calls."""

from sqlalchemy import Connection, func, select

from judge.engines.engine import Engine, Ready, Usage
from judge.running.answer_store import AnswerStore
from judge.running.metric_requests import PlannedPrompt
from judge.running.pages import Place
from judge.running.plan import CallPlan
from judge.running.probes import DriftRound, draw_rank
from judge.running.rounds import Rounds
from judge.running.scope import Scope
from judge.running.session import AnswerDelivery, RunSession
from study.schema import DRIFT
from study.schema.tables import probe_answers, step_answers
from study.study import Study
from study.text import counted

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
        session, run = self._session, self._session.run
        with session.study.read() as connection:
            number = _next_round(connection, run.id)
        items = DriftRound(self._prompts, number)
        places = items.places(session.order)
        plan = CallPlan(session.study, session.scope, places, run.id, items)
        store = AnswerStore(session.study, run.id, session.scope, session.confirm)
        delivery = AnswerDelivery(store)
        try:
            for requests in Rounds(plan, session.ready, store).prompts(delivery):
                engine.run(run, requests, delivery)
        finally:
            self.add_overhead({"calls": delivery.answered, **delivery.tokens})
            self.add_overhead(delivery.overhead)
            self.retries.update(delivery.retries)
        failed = delivery.failures.total()
        asked = counted(delivery.answered, "prompt was", "prompts were")
        without = f", {failed} got no answer" if failed else ""
        return f"Drift, round {number}: {asked} asked{without}."

    def add_usage(self, delivery: AnswerDelivery) -> None:
        """Add the tokens and retries of the rounds to the usage of the call."""
        delivery.add_overhead(self.overhead)
        delivery.retries.update(self.retries)


def _prompt_set(session: RunSession, size: int) -> list[_Prompt]:
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
    return any(
        isinstance(planned, PlannedPrompt) and planned.fits(ready)
        for planned in CallPlan(study, fresh, [place]).prompts(texts=True)
    )


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
