"""A call of the judge, from its settings to the outcome."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

from judge.engines.engine import FileEngine, Ready
from judge.metrics.metric import Metric
from judge.metrics.registry import ASKED_FIRST, expanded, load_metric
from judge.run_settings import JudgeSettings
from judge.running.answer_store import AnswerStore
from judge.running.comparisons import encoder_for
from judge.running.drift import DriftRounds
from judge.running.item_counts import item_counts
from judge.running.judgments import count, served
from judge.running.pages import Place
from judge.running.plan import CallPlan, draw_queries
from judge.running.remaining_work import Items
from judge.running.rounds import Rounds
from judge.running.run_outcome import Outcome
from judge.running.runs import check_words, run_id_of
from judge.running.scale_use import FEW, ScaleUse, stored_values
from judge.running.scope import (
    as_declared,
    check_scales,
    check_used,
    fitting_metrics,
    later_steps_note,
    run_scope,
    select_constructs,
    settings_of_metric,
    unprompted_note,
)
from judge.running.session import (
    AnswerDelivery,
    CallResult,
    OnProgress,
    RunSession,
    StartedEngine,
    ask,
    open_session,
    start_engine,
    store_end,
)
from judge.running.suite_forecast import forecast_metrics
from judge.running.survey import survey, too_long_message
from judge.running.text_scores import check_text_metrics, store_text_metrics, text_metrics
from study.errors import StudyError
from study.study import Study


class RunStoppedError(StudyError):
    """A call stopped early; `outcome` contains the result so far."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.outcome = outcome


def judge_study(
    study: Study, settings: JudgeSettings, on_progress: OnProgress | None = None
) -> Outcome:
    """Judge the responses of a study that have no judgment under these settings.

    Every answer is committed before its prompt's slot is free again, so a run that is killed
    loses at most the prompts under way; the next call with the same settings resumes the run.

    Parameters
    ----------
    study : Study
    settings : JudgeSettings
    on_progress : callable, optional
        Called with a `RunProgress` after every commit, from any thread.

    Raises
    ------
    RunStoppedError
        The call was interrupted, or could not continue; its `outcome` contains the result so far.
    StudyError
        Nothing can be judged, the engine cannot answer, or another process works on the run.

    Examples
    --------
    >>> settings = OpenAISettings(                             # doctest: +SKIP
    ...     base_url="http://localhost:8000/v1", model="llama-3-70b"
    ... )
    >>> judge_study(Study.open("my-study"), settings).missing  # doctest: +SKIP
    {'refusal': 2}
    """
    outcome = _judge_with(study, settings, on_progress)
    if outcome.queries is not None:
        by_step = forecast_metrics(study, [settings], [run_id_of(study, outcome.run)])
        outcome = replace(outcome, by_step=by_step)
    return outcome


def judge_metrics(
    study: Study, settings: JudgeSettings, on_progress: OnProgress | None = None
) -> list[Outcome]:
    """Judge with several metrics in turn, on an engine that is started once if it can be.

    Each metric is a separate run, and answers to equal prompts are shared. Metrics without a
    construct that is to be judged are left out.

    Parameters
    ----------
    study, on_progress
        As for `judge_study`.
    settings : JudgeSettings
        Its `metric` names metrics or suites, separated by commas; its `name`, if there is one, is
        the beginning of the runs' names.

    Raises
    ------
    RunStoppedError, StudyError
        As for `judge_study`; or no metric fits the constructs.
    """
    keys = expanded(settings.metric)
    if len(keys) < 2:
        only = {"metric": keys[0]} if keys else {}
        return [judge_study(study, settings.model_copy(update=only), on_progress)]
    fitting = fitting_metrics(study, settings)
    by_place: dict[int, Outcome] = {}
    each = [settings_of_metric(settings, key, metric) for key, metric in fitting]
    encoder = encoder_for([metric for _, metric in fitting], settings)
    for group in _engine_groups([metric for _, metric in fitting]):
        first = fitting[group[0]][1]
        constructs = select_constructs(study, first, each[group[0]].constructs)
        scope = run_scope(study, each[group[0]], first, constructs)
        with start_engine(study, settings, scope) as engine:
            first_run = replace(engine, encoder=encoder)
            # What the engine asked for itself at its start is counted in the first run alone.
            later = replace(first_run, ready=replace(engine.ready, overhead={}, notes=()))
            for place in group:
                started = replace(
                    first_run if place == group[0] else later, is_last=place == group[-1]
                )
                if settings.max_tokens is None:
                    started = started.limited(first.prompts, fitting[place][1].prompts)
                by_place[place] = _judge_with(study, each[place], on_progress, started)
    outcomes = [by_place[place] for place in sorted(by_place)]
    if settings.estimate and outcomes[-1].queries is not None:
        runs = [run_id_of(study, outcome.run) for outcome in outcomes]
        outcomes[-1] = replace(outcomes[-1], by_step=forecast_metrics(study, each, runs))
    return outcomes


def _engine_groups(metrics: Sequence[Metric]) -> list[list[int]]:
    """Return the places of metrics with one system message and temperature, for one engine.

    Each group is in the order in which its metrics are asked.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, metric in enumerate(metrics):
        prompts = metric.prompts
        key = prompts and (type(prompts), prompts.system, prompts.temperature)
        groups.setdefault((key,), []).append(place)
    return [
        sorted(group, key=lambda place: metrics[place].key not in ASKED_FIRST)
        for group in groups.values()
    ]


def _judge_with(
    study: Study,
    settings: JudgeSettings,
    on_progress: OnProgress | None,
    started: StartedEngine | None = None,
) -> Outcome:
    metric = as_declared(study, load_metric(settings.metric, settings.prompts, study.folder))
    check_used(settings, [metric])
    constructs = select_constructs(study, metric, settings.constructs)
    without_prompts = text_metrics(settings.text_metrics)
    check_text_metrics(study, without_prompts, constructs)
    if metric.prompts is not None:
        with study.read() as connection:
            check_words(connection, metric.prompts)
    scope = run_scope(study, settings, metric, constructs)
    if started is not None:
        metric.max_tokens = started.max_tokens
    encoder = started.encoder if started else encoder_for([metric], settings)
    if metric.compares_texts:
        scope = replace(scope, encoder=encoder)

    def check(ready: Ready, order: list[Place], run_id: int | None) -> None:
        if ready.window is not None and not settings.skip_too_long:
            # Before the run is begun, so that a refused call leaves nothing behind.
            work = survey(CallPlan(study, scope, order, run_id), ready)
            if work.too_long:
                raise StudyError(too_long_message(study, work, ready.window))

    with open_session(study, settings, scope, check=check, started=started) as session:
        check_scales(study, metric, constructs, session.run.name)
        return _judge(session, without_prompts, on_progress)


def _judge(
    session: RunSession, without_prompts: list[Metric], on_progress: OnProgress | None
) -> Outcome:
    study, settings, scope, run = session.study, session.settings, session.scope, session.run
    began = monotonic()
    whole = session.order
    queries = None
    if settings.estimate and not scope.metric.single_prompt:
        queries = draw_queries(whole, settings.estimate, study.config.seed)
        session = replace(session, order=[place for place in whole if place.query in queries])
    with study.read() as connection:
        earlier = stored_values(connection, run.id)
    # A share of claims may well be low everywhere; a score that a prompt asks for is not.
    accept = settings.accept_low_scores or not scope.metric.single_prompt
    scale_use = ScaleUse(scope.metric.scale_of, earlier, accept=accept)
    store = AnswerStore(study, run.id, scope, session.confirm, scale_use)
    plan = CallPlan(study, scope, session.order, run.id)
    rounds = Rounds(plan, session.ready, store, settings.limit, settings.estimate)
    is_sample = rounds.sample is not None
    delivery = AnswerDelivery(store, rounds.planned, on_progress)
    delivery.sample = {} if is_sample else None
    scores = store_text_metrics(study, whole, without_prompts, scope.constructs)
    drift = DriftRounds(session, settings.drift) if settings.drift else None
    call, result = ask(
        session,
        "estimate" if settings.estimate else "run",
        delivery,
        rounds.prompts(delivery),
        drift,
        began,
    )
    if is_sample and result.stopped is None:
        # Nobody should decide on a run by a forecast for a judge on another scale.
        try:
            scale_use.check(FEW)
        except StudyError as error:
            result = replace(result, stopped=error)
    with study.read() as connection:
        by_reason = count(connection, scope.versions, ("missing_reason",), run.id).by
        answered_by = served(connection, run.id)
    run_missing: Counter[str] = Counter()
    for (_, reason), number in by_reason.items():
        if reason is not None:
            run_missing[reason] += number
    estimate = None
    if is_sample and result.stopped is None:
        estimate = rounds.forecast(delivery, session, result.asking_seconds)
    remaining = rounds.items_left(delivery)
    if queries is not None:
        remaining = survey(replace(plan, places=whole), session.ready).judgments
    low = scale_use.note() if result.stopped is None else None
    outcome = _outcome(
        session,
        store,
        delivery,
        result,
        judged=store.judged,
        remaining=remaining,
        unanswered=delivery.unanswered,
        run_judgments=by_reason.total(),
        run_missing=dict(run_missing),
        flags=dict(store.flags),
        served={model.name or "(not named)": model.answers for model in answered_by},
        text_metrics=scores,
        sample=is_sample,
        estimate=estimate,
        queries=None if queries is None else len(queries),
        max_missing=settings.max_missing,
        notes=(
            *unprompted_note(study, scope.metric, settings.constructs),
            *_notes(session, result),
            *([low] if low else []),
        ),
    )
    return _ended(session, call, delivery, result, outcome)


def judge_items(session: RunSession, items: Items, on_progress: OnProgress | None) -> Outcome:
    """Ask about the items of an open session other than responses: probes or pairs.

    Their answers are stored separately from the judgments of the run, and prompts beyond the
    window as missing.

    Raises
    ------
    RunStoppedError
        The call was interrupted, or could not continue.
    """
    run = session.run
    plan = CallPlan(session.study, session.scope, items.places(session.order), run.id, items)
    store = AnswerStore(session.study, run.id, session.scope, session.confirm)
    rounds = Rounds(plan, session.ready, store, session.settings.limit)
    planned = item_counts(plan, rounds.survey)
    delivery = AnswerDelivery(store, rounds.planned, on_progress)
    call, result = ask(session, items.kind, delivery, rounds.prompts(delivery))
    outcome = _outcome(
        session,
        store,
        delivery,
        result,
        planned=planned,
        remaining=rounds.prompts_left(delivery),
        notes=(*later_steps_note(session.scope.metric), *_notes(session, result)),
    )
    return _ended(session, call, delivery, result, outcome)


def _outcome(
    session: RunSession,
    store: AnswerStore,
    delivery: AnswerDelivery,
    result: CallResult,
    **further: Any,
) -> Outcome:
    return Outcome(
        run=session.run.name,
        begun=session.run.begun,
        answered=delivery.answered,
        missing=dict(store.missing),
        failed=dict(delivery.failures),
        tokens=dict(delivery.tokens),
        seconds=result.seconds,
        examples=tuple(delivery.examples),
        cost=result.cost,
        cost_is_most=(
            session.settings.price_cached is None and bool(delivery.tokens.get("cached"))
        ),
        uncounted=delivery.uncounted,
        retries=dict(delivery.retries),
        overhead=dict(delivery.overhead),
        asks=session.ready.asks,
        by_files=isinstance(session.engine, FileEngine),
        reasons=dict(session.scope.metric.reasons),
        **further,
    )


def _notes(session: RunSession, result: CallResult) -> tuple[str, ...]:
    run_notes = (session.run.note,) if session.run.note else ()
    return (*session.ready.notes, *run_notes, *result.notes)


def _ended(
    session: RunSession, call: int, delivery: AnswerDelivery, result: CallResult, outcome: Outcome
) -> Outcome:
    """Store the end of a call; return its outcome, or raise it where the call was stopped."""
    store_end(session, call, delivery, result, judged=outcome.judged, missing=outcome.missing)
    if result.stopped is not None:
        raise RunStoppedError(result.message, outcome) from result.stopped
    return outcome
