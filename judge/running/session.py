"""One call on a run: an engine made ready, the run locked, prompts asked, the end stored.

Runs, estimates, probes and rounds of drift all go through here.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Protocol

from judge.engines.engine import Engine, Ready, load_engine
from judge.protocol.conditions import Run, with_shuffle
from judge.protocol.exchange import Request
from judge.running.calls import ENDS, begin_call, end_call
from judge.running.delivery import AnswerDelivery
from judge.running.lock import sole_writer
from judge.running.pages import Place, places
from judge.running.plan import sample_prompts
from judge.running.runs import find, find_or_begin
from judge.running.scope import Scope
from judge.settings import PRICED, JudgeSettings
from study.errors import StudyError
from study.schema import CallKind
from study.study import Study


@dataclass(frozen=True)
class RunSession:
    """An engine that is ready to answer, and a run that no other process writes to."""

    study: Study
    settings: JudgeSettings
    scope: Scope
    order: list[Place]
    engine: Engine
    ready: Ready
    run: Run
    confirm: Callable[[], None]
    """Confirms, before a write, that the run is still locked."""


class Surrounding(Protocol):
    """Prompts that are asked before and after those of a call."""

    def ask(self, engine: Engine) -> str:
        """Ask each prompt once; return in words what came of it."""

    def add_usage(self, delivery: AnswerDelivery) -> None:
        """Add what they took to the usage of the call."""


@dataclass(frozen=True)
class CallResult:
    """What a call came to, apart from its answers."""

    notes: tuple[str, ...]
    """What the engine said at the end."""
    stopped: StudyError | KeyboardInterrupt | None
    """What ended the call before its time."""
    asking_seconds: float
    """Seconds from the first prompt to the last answer."""
    seconds: float
    """Seconds of the whole call."""
    cost: float | None

    @property
    def message(self) -> str:
        """What to tell the user where the call was stopped."""
        return str(self.stopped or "") or INTERRUPTED


INTERRUPTED = "Interrupted. All answers so far are stored; run the command again to continue."


@contextmanager
def open_session(
    study: Study,
    settings: JudgeSettings,
    scope: Scope,
    *,
    check: Callable[[Ready, list[Place], int | None], None],
) -> Iterator[RunSession]:
    """Start the engine, find or begin the run, and lock it.

    Parameters
    ----------
    study, settings, scope
        What is asked, and under which conditions.
    check
        Called before a run is begun, with what the engine found, the order of work, and the key of
        the run that exists already; raises what forbids to go on.

    Raises
    ------
    StudyError
        The engine can't answer, the run can't be continued under these conditions, or another
        process works on it.
    """
    order = places(study, settings.systems)
    prompts = scope.metric.prompts
    if prompts is None:
        raise StudyError(
            f"The metric {scope.metric.key} asks no prompts; name it in --text-metrics."
        )
    with closing(load_engine(settings.engine)(settings, study, prompts)) as engine:
        ready = engine.start(sample_prompts(study, order, scope))
        conditions = with_shuffle(ready.conditions, settings.shuffle_passages)
        ready = replace(ready, conditions=conditions)
        known_by = (ready.conditions, prompts, settings.repeats, settings.name)
        check(ready, order, find(study, *known_by))
        run = find_or_begin(study, *known_by)
        with sole_writer(study, run.id, run.name) as confirm:
            yield RunSession(study, settings, scope, order, engine, ready, run, confirm)


def ask(
    session: RunSession,
    kind: CallKind,
    delivery: AnswerDelivery,
    rounds: Iterable[Iterable[Request]],
    around: Surrounding | None = None,
    began: float | None = None,
) -> tuple[int, CallResult]:
    """Ask the prompts of a call; return its key, and what it came to.

    Parameters
    ----------
    session
        The run, and the engine that answers.
    kind
        What the call is.
    delivery
        Takes the answers; its `total` is what the call is stored to want.
    rounds
        Streams of prompts, each begun when the one before it has come to its end.
    around
        What is asked before and after.
    began
        When the call began, by the monotonic clock; None: now.
    """
    began = monotonic() if began is None else began
    delivery.add_overhead(session.ready.overhead)
    call = begin_call(session.study, session.run.id, session.settings, delivery.total, kind)
    notes: tuple[str, ...] = ()
    stopped: StudyError | KeyboardInterrupt | None = None
    asking = 0.0
    try:
        if around is not None:
            notes += (around.ask(session.engine),)
        asked = False
        for prompts in rounds:
            asked, first = True, monotonic()
            try:
                notes += session.engine.run(session.run, prompts, delivery)
            finally:
                asking += monotonic() - first
        if asked and around is not None:
            notes += (around.ask(session.engine),)
    except (StudyError, KeyboardInterrupt) as error:
        stopped = error
    if around is not None:
        around.add_usage(delivery)
    tokens = delivery.tokens
    paid = None
    if "prompt" in tokens or not delivery.answered:
        spent = (tokens.get(name, 0) + delivery.overhead[name] for name in PRICED)
        paid = session.settings.cost(*spent)
    return call, CallResult(notes, stopped, asking, monotonic() - began, paid)


def store_end(
    session: RunSession,
    call: int,
    delivery: AnswerDelivery,
    result: CallResult,
    *,
    judged: int,
    missing: dict[str, int],
) -> None:
    """Store how a call ended."""
    # What stopped a run, such as a full disk, may keep its end from being stored as well.
    with nullcontext() if result.stopped is None else suppress(StudyError):
        end_call(
            session.study,
            call,
            ended=ENDS.get(type(result.stopped), "stopped"),
            answered=delivery.answered,
            judged=judged,
            missing=missing,
            failed=dict(delivery.failures),
            retries=dict(delivery.retries),
            tokens=dict(delivery.tokens),
            overhead=dict(delivery.overhead),
            uncounted=delivery.uncounted,
            seconds=result.seconds,
            cost=result.cost,
            notes=list(result.notes),
            figures=delivery.figures,
        )
