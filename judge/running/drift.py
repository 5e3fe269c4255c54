"""Rounds of drift: a fixed set of a run's own prompts, asked before and after each of its calls."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy import Connection, func, select

from judge.engines.engine import Engine, Ready
from judge.perturbations.perturbation import Change
from judge.protocol.conditions import Run
from judge.running.pages import Place, pages
from judge.running.probe_requests import ProbeRequest, as_probe
from judge.running.probe_sample import rank
from judge.running.probe_store import ProbeDelivery
from judge.running.work_items import Asked, Contexts, Scope, parts, request, work
from study.schema import DRIFT, ProbeAnswer, table
from study.study import Study

_Prompt = tuple[int, str]
"""Response (database key) and construct."""


class Drift:
    """The rounds of one run; each `ask` is one."""

    def __init__(
        self,
        study: Study,
        run: Run,
        scope: Scope,
        order: Sequence[Place],
        size: int,
        ready: Ready,
        confirm: Callable[[], None],
    ) -> None:
        self._study = study
        self._run = run
        self._scope = scope
        self._confirm = confirm
        self._requests = _chosen(study, run, scope, order, size, ready)
        self.spent: Counter[str] = Counter()
        """What the rounds took: calls, and tokens by name as far as they were told."""
        self.retries: Counter[str] = Counter()
        """Further tries, by what the try before them met."""

    def ask(self, engine: Engine) -> str:
        """Ask every prompt of the set once; return in words what came of it.

        Raises
        ------
        StudyError
            As `Engine.run` does. What was answered is kept.
        """
        with self._study.read() as connection:
            number = _next_round(connection, self._run.id)
        delivery = ProbeDelivery(self._study, self._run.id, self._scope, self._confirm)
        try:
            engine.run(
                self._run,
                [as_probe(made, Change(), number=number) for made in self._requests],
                delivery,
            )
        finally:
            self.spent.update({"calls": delivery.answered, **delivery.tokens})
            self.spent.update(delivery.beside)
            self.retries.update(delivery.retries)
        failed = delivery.failures.total()
        lost = f", {failed} got no answer" if failed else ""
        return f"Drift, round {number}: {delivery.answered} prompts were asked{lost}."


def _chosen(
    study: Study, run: Run, scope: Scope, order: Sequence[Place], size: int, ready: Ready
) -> list[ProbeRequest]:
    """Return the set: what was asked before, filled up by what the seed draws.

    One prompt a query as long as there are queries. Each is asked as the run asks it.
    """
    places = {place.response: place for place in order if place.wanted}
    with study.read() as connection:
        before = _asked_before(connection, run.id, scope)
    turns: dict[int, int] = {}
    drawn: list[tuple[int, bytes, _Prompt]] = []
    pairs = [(response, key) for response in places for key in scope.constructs]
    for pair in sorted(pairs, key=lambda pair: rank(0, run.identity, *pair)):
        query = places[pair[0]].query
        drawn.append((turns.get(query, 0), rank(0, run.identity, -query), pair))
        turns[query] = turns.get(query, 0) + 1
    in_order = [*before, *(pair for _, _, pair in sorted(drawn, key=lambda item: item[:2]))]
    contexts = Contexts(scope.version, scope.shuffle)
    found: list[ProbeRequest] = []
    for response, key in dict.fromkeys(in_order):
        if len(found) == size:
            break
        if response in places:
            made = _made(study, places[response], key, scope, ready, contexts)
            found += [made] if made else []
    return found


def _made(
    study: Study, place: Place, key: str, scope: Scope, ready: Ready, contexts: Contexts
) -> ProbeRequest | None:
    """Return the prompt of a response; None where nothing is asked, or it does not fit."""
    fresh = Scope(scope.version, (key,), scope.versions, 1)
    for page in pages(study, [place], None, texts=True):
        for item in work(page, fresh, (key,)):
            if isinstance(item, Asked) and ready.fits(
                item.size(scope.version), partial(parts, item, scope.version, contexts)
            ):
                return as_probe(request(item, scope.version, contexts), Change())
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
