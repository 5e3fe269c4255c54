"""Rounds of drift: a fixed set of a run's own prompts, asked before and after each of its calls."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from judge.engines.engine import Engine, Ready, Usage
from judge.perturbations.perturbation import Change
from judge.running.delivery import AnswerDelivery
from judge.running.metric_requests import PlannedPrompt, planned_prompts
from judge.running.pages import Place
from judge.running.probe_requests import ProbeRequest, as_probe
from judge.running.probe_sample import rank
from judge.running.probe_store import ProbeStore
from judge.running.scope import Scope
from judge.running.session import RunSession
from study.schema import DRIFT, ProbeAnswer, table
from study.study import Study

_Prompt = tuple[int, str]
"""Response (database key) and construct."""


class DriftRounds(Usage):
    """The rounds of one call on a run; each `ask` is one."""

    def __init__(self, session: RunSession, size: int) -> None:
        super().__init__()
        self._session = session
        self._requests = _chosen(session, size)

    def ask(self, engine: Engine) -> str:
        """Ask every prompt of the set once; return in words what came of it.

        Raises
        ------
        StudyError
            As `Engine.run` does. What was answered is kept.
        """
        session = self._session
        with session.study.read() as connection:
            number = _next_round(connection, session.run.id)
        delivery = AnswerDelivery(
            ProbeStore(session.study, session.run.id, session.scope, session.confirm)
        )
        try:
            requests = [as_probe(made, Change(), number=number) for made in self._requests]
            engine.run(session.run, requests, delivery)
        finally:
            self.add_overhead({"calls": delivery.answered, **delivery.tokens})
            self.add_overhead(delivery.overhead)
            self.retries.update(delivery.retries)
        failed = delivery.failures.total()
        lost = f", {failed} got no answer" if failed else ""
        return f"Drift, round {number}: {delivery.answered} prompts were asked{lost}."

    def add_usage(self, delivery: AnswerDelivery) -> None:
        """Add what the rounds took to the usage of the call."""
        delivery.add_overhead(self.overhead)
        delivery.retries.update(self.retries)


def _chosen(session: RunSession, size: int) -> list[ProbeRequest]:
    """Return the set: what was asked before, filled up by what the seed draws.

    One prompt a query as long as there are queries. Each is asked as the run asks it.
    """
    run, scope = session.run, session.scope
    places = {place.response: place for place in session.order if place.selected}
    with session.study.read() as connection:
        before = _asked_before(connection, run.id, scope)
    turns: dict[int, int] = {}
    drawn: list[tuple[int, bytes, _Prompt]] = []
    pairs = [(response, key) for response in places for key in scope.constructs]
    for pair in sorted(pairs, key=lambda pair: rank(0, run.identity, *pair)):
        query = places[pair[0]].query
        drawn.append((turns.get(query, 0), rank(0, run.identity, -query), pair))
        turns[query] = turns.get(query, 0) + 1
    in_order = [*before, *(pair for _, _, pair in sorted(drawn, key=lambda item: item[:2]))]
    found: list[ProbeRequest] = []
    for response, key in dict.fromkeys(in_order):
        if len(found) == size:
            break
        if response in places:
            made = _made(session.study, [places[response]], key, scope, session.ready)
            found += [made] if made else []
    return found


def _made(
    study: Study, place: Sequence[Place], key: str, scope: Scope, ready: Ready
) -> ProbeRequest | None:
    """Return the prompt of a response; None where nothing is asked, or it does not fit."""
    fresh = Scope(scope.metric, (key,), scope.versions, 1, shuffle=scope.shuffle)
    for item in planned_prompts(study, place, fresh, None, texts=True):
        if isinstance(item, PlannedPrompt) and item.fits(ready):
            return as_probe(item.request(), Change())
    return None


def _asked_before(connection: Connection, run_id: int, scope: Scope) -> list[_Prompt]:
    t = table(ProbeAnswer)
    rows = connection.execute(
        select(t.c.response_id, t.c.construct_key, t.c.construct_version)
        .where(t.c.run_id == run_id, t.c.kind == DRIFT)
        .order_by(t.c.id)
    )
    return [
        (response, key)
        for response, key, version in rows
        if key in scope.constructs and version == scope.versions.get(key)
    ]


def _next_round(connection: Connection, run_id: int) -> int:
    t = table(ProbeAnswer)
    last = connection.execute(
        select(func.max(t.c.round)).where(t.c.run_id == run_id, t.c.kind == DRIFT)
    ).scalar_one()
    return 0 if last is None else int(last) + 1
