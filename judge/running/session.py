"""What a call on a run needs: an engine that is started, and a run that is locked."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Self

from judge.engines.engine import Engine, Ready, load_engine
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Run, with_encoder, with_metric, with_shuffle
from judge.run_settings import JudgeSettings
from judge.running.pages import Place, places
from judge.running.plan import CallPlan, sample_prompts
from judge.running.runs import find, find_or_begin, sole_writer
from judge.running.scope import Scope, scales
from study.errors import StudyError
from study.lifecycle.file_system import check_file_system
from study.settings.constructs import RETRIEVAL
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
    is_last: bool
    """Whether the engine gets no prompts after those of this run."""
    run: Run
    confirm: Callable[[], None]
    """Confirms, before a write, that the run is still locked."""


@dataclass(frozen=True)
class StartedEngine:
    """An engine that answers, and what it reported at its start."""

    engine: Engine
    ready: Ready
    is_last: bool = True
    """Whether it gets no prompts after those of the next run."""
    max_tokens: int | None = None
    """Limit of answers of the next run; None: that of the engine."""

    def limited(self, engine_prompts: PromptSet | None, own: PromptSet | None) -> Self:
        """Return the engine for a metric whose prompts may have another limit of answers.

        The conditions are those of a run for which the engine would have been started.
        """
        if engine_prompts is None or own is None or engine_prompts.max_tokens == own.max_tokens:
            return self
        conditions, reserved = self.ready.conditions, self.ready.answer_tokens
        decoding = {**(conditions.decoding or {})}
        if "max_tokens" in decoding:
            decoding["max_tokens"] = own.max_tokens
        if reserved:
            reserved += own.max_tokens - engine_prompts.max_tokens
        ready = replace(
            self.ready, conditions=replace(conditions, decoding=decoding), answer_tokens=reserved
        )
        return replace(self, ready=ready, max_tokens=own.max_tokens)


@contextmanager
def start_engine(study: Study, settings: JudgeSettings, scope: Scope) -> Iterator[StartedEngine]:
    """Start the engine of the settings, and close it at the end.

    Raises
    ------
    StudyError
        The engine cannot answer, or the study is on a network file system.
    """
    check_file_system(study)
    prompts = scope.metric.prompts
    if prompts is None:
        raise StudyError(
            f"The metric {scope.metric.key} sends no prompts; name it in --text-metrics."
        )
    order = places(study, settings.systems)
    with closing(load_engine(settings.engine)(settings, study, prompts)) as engine:
        ready = engine.start(sample_prompts(study, order, scope))
        conditions = with_shuffle(ready.conditions, settings.shuffle_passages)
        yield StartedEngine(engine, replace(ready, conditions=conditions))


@contextmanager
def open_session(
    study: Study,
    settings: JudgeSettings,
    scope: Scope,
    running: StartedEngine,
    check: Callable[[CallPlan, JudgeSettings, Ready], None] | None = None,
) -> Iterator[RunSession]:
    """Find or begin the run, and lock it.

    Parameters
    ----------
    study, settings, scope
        The prompts to ask, and their conditions.
    running
        An engine for these prompts.
    check
        Called before a run is begun, with the plan of the call on responses, whose run is None if
        there is none yet; raises an error if the call must not start.

    Raises
    ------
    StudyError
        The run cannot be continued under these conditions, or another process works on it.
    """
    prompts = scope.metric.prompts
    assert prompts is not None  # noqa: S101  (no engine starts without prompts)
    ready = running.ready
    order = places(study, settings.systems)
    scope.metric.max_tokens = running.max_tokens
    conditions = with_metric(ready.conditions, scope.metric.scorer_kind, scope.metric.low_is_good)
    if scope.encoder is not None:
        scope.metric.encoder = scope.encoder.name
        conditions = with_encoder(conditions, scope.encoder.name, scope.encoder.identity)
    identity = (conditions, prompts, settings.repeats, settings.name)
    stored = find(study, *identity)
    if check is not None:
        check(CallPlan(study, scope, order, stored), settings, ready)
    run = find_or_begin(study, *identity)
    if RETRIEVAL.key in scope.constructs:
        with study.write() as connection:
            study.store_retrieval(connection)
    with sole_writer(study, run.id, run.name) as confirm:
        scope = replace(scope, scales=scales(study, scope, run.name))
        yield RunSession(
            study, settings, scope, order, running.engine, ready, running.is_last, run, confirm
        )
