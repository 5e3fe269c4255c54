"""A call of the judge, from its settings to the outcome."""

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from time import monotonic
from typing import Any, NamedTuple

from sqlalchemy import select

from judge.engines.engine import FileEngine, Ready
from judge.metrics.metric import Metric
from judge.metrics.registry import ASKED_FIRST, expanded
from judge.run_settings import PRICED, JudgeSettings
from judge.running.answer_store import AnswerStore, OnProgress
from judge.running.calls import begin_call, end_call
from judge.running.items import ALL_RESPONSES, Items, Responses
from judge.running.judgments import count, served
from judge.running.plan import CallPlan, draw_queries
from judge.running.rounds import DriftRounds, Rounds
from judge.running.run_outcome import Outcome
from judge.running.runs import check_words, run_id_of
from judge.running.scale_use import FEW, ScaleUse, stored_values
from judge.running.scope import (
    Scope,
    check_scales,
    fitting_metrics,
    later_steps_note,
    run_scope,
    unprompted_note,
)
from judge.running.session import (
    RunSession,
    open_session,
    start_engine,
)
from judge.running.suite_forecast import forecast_metrics
from judge.running.survey import item_counts, survey, too_long_message
from judge.running.text_scores import store_text_metrics
from judge.running.unprompted_metrics import checked_text_metrics, encoder_for
from study.errors import StudyError
from study.schema import CallKind
from study.study import Study

_INTERRUPTED = "Interrupted. All answers so far are stored; run the command again to continue."


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
    return _judged(study, settings, [settings], on_progress)[0]


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
    each = [one for one, _ in fitting_metrics(study, settings)]
    return _judged(study, settings, each, on_progress)


def _judged(
    study: Study,
    settings: JudgeSettings,
    each: Sequence[JudgeSettings],
    on_progress: OnProgress | None,
) -> list[Outcome]:
    """Judge with the settings of each metric, after all of them were checked."""
    prepared = [_prepared(study, one) for one in each]
    metrics = [scope.metric for scope, _ in prepared]
    encoder = encoder_for(metrics, settings)
    by_place: dict[int, Outcome] = {}
    for group in _engine_groups(metrics):
        with start_engine(study, settings, prepared[group[0]][0]) as engine:
            # What the engine asked for itself at its start is counted in the first run alone.
            later = replace(engine, ready=replace(engine.ready, overhead={}, notes=()))
            for place in group:
                started = engine if place == group[0] else later
                started = replace(started, is_last=place == group[-1])
                scope, without_prompts = prepared[place]
                if settings.max_tokens is None:
                    started = started.limited(metrics[group[0]].prompts, metrics[place].prompts)
                if scope.metric.compares_texts:
                    scope = replace(scope, encoder=encoder)
                with open_session(study, each[place], scope, started, _check_window) as session:
                    check_scales(study, scope.metric, scope.constructs, session.run.name)
                    by_place[place] = judge_items(
                        session, on_progress, without_prompts=without_prompts
                    )
    outcomes = [by_place[place] for place in sorted(by_place)]
    if outcomes[-1].queries is not None:
        runs = [run_id_of(study, outcome.run) for outcome in outcomes]
        outcomes[-1] = replace(outcomes[-1], by_step=forecast_metrics(study, each, runs))
    return outcomes


def _prepared(study: Study, settings: JudgeSettings) -> tuple[Scope, list[Metric]]:
    """Return the scope of a metric, and the metrics without prompts on its constructs."""
    scope = run_scope(study, settings)
    without_prompts = checked_text_metrics(study, settings.text_metrics, scope.constructs)
    if scope.metric.prompts is not None:
        with study.read() as connection:
            check_words(connection, scope.metric.prompts)
    return scope, without_prompts


def _check_window(plan: CallPlan, settings: JudgeSettings, ready: Ready) -> None:
    """Refuse prompts beyond the window before the run is begun, so that nothing is left behind."""
    if ready.window is not None and not settings.skip_too_long:
        work = survey(plan, ready)
        if work.too_long:
            raise StudyError(too_long_message(plan.study, work, ready.window))


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


def judge_items(
    session: RunSession,
    on_progress: OnProgress | None,
    items: Items = ALL_RESPONSES,
    without_prompts: Sequence[Metric] = (),
) -> Outcome:
    """Ask about the items of an open session, and store their answers.

    The answers on probes and pairs are stored separately from the judgments of the run, and their
    prompts beyond the window as missing. Metrics without prompts score the responses.

    Raises
    ------
    RunStoppedError
        The call was interrupted, or could not continue.
    """
    study, settings, scope, run = session.study, session.settings, session.scope, session.run
    began = monotonic()
    of_run = isinstance(items, Responses)
    kind: CallKind = "estimate" if of_run and settings.estimate else items.kind
    plan = whole = CallPlan(study, scope, items.places(session.order), run.id, items)
    queries = scale_use = drift = None
    if kind == "estimate" and not scope.metric.single_prompt:
        queries = draw_queries(whole.places, settings.estimate or 0, study.config.seed)
        plan = replace(whole, places=[each for each in whole.places if each.query in queries])
    if of_run:
        scale_use = _scale_use(session)
    store = AnswerStore(session, scale_use, on_progress)
    rounds = Rounds(
        plan, session.ready, store, settings.limit, settings.estimate if of_run else None
    )
    planned = None if of_run else item_counts(plan, rounds.survey)
    scores = store_text_metrics(study, whole.places, without_prompts, scope.constructs)
    if of_run and settings.drift:
        drift = DriftRounds(replace(session, order=list(plan.places)), settings.drift)
    store.add_overhead(session.ready.overhead)
    call = begin_call(study, run.id, settings, store.total, kind)
    asked = _ask(session, kind, rounds, store, drift)
    seconds = monotonic() - began
    cost = None
    if "prompt" in store.tokens or not store.answered:
        cost = settings.cost(*(store.tokens[n] + store.overhead[n] for n in PRICED))
    stopped, estimate = asked.stopped, None
    if rounds.sample is not None and scale_use is not None and stopped is None:
        # Nobody should decide on a run by a forecast for a judge on another scale.
        try:
            scale_use.check(FEW)
            estimate = rounds.forecast(settings, asked.seconds)
        except StudyError as error:
            stopped = error
    low = scale_use.note() if scale_use is not None and stopped is None else None
    remaining = rounds.left()
    if queries is not None:
        remaining = survey(whole, session.ready).judgments
    notes = unprompted_note(study, scope.metric, settings.constructs)
    outcome = Outcome(
        run=run.name,
        begun=run.begun,
        answered=store.answered,
        remaining=remaining,
        missing=dict(store.missing),
        failed=dict(store.failures),
        planned=planned,
        tokens=dict(store.tokens),
        seconds=seconds,
        text_metrics=scores,
        notes=(
            *(notes if of_run else later_steps_note(scope.metric)),
            *session.ready.notes,
            *([run.note] if run.note else []),
            *asked.notes,
            *([low] if low else []),
        ),
        examples=tuple(store.examples),
        cost=cost,
        cost_is_most=settings.price_cached is None and bool(store.tokens.get("cached")),
        uncounted=store.uncounted,
        sample=rounds.sample is not None,
        queries=None if queries is None else len(queries),
        estimate=estimate,
        retries=dict(store.retries),
        overhead=dict(store.overhead),
        asks=session.ready.asks,
        by_files=isinstance(session.engine, FileEngine),
        reasons=dict(scope.metric.reasons),
        **(_of_run(session, store) if of_run else _of_pairs(session, store, items)),
    )
    _store_end(session, call, store, asked.notes, stopped, outcome)
    if stopped is not None:
        raise RunStoppedError(str(stopped) or _INTERRUPTED, outcome) from stopped
    return outcome


def _scale_use(session: RunSession) -> ScaleUse:
    with session.study.read() as connection:
        earlier = stored_values(connection, session.run.id)
    metric = session.scope.metric
    # A share of claims may well be low everywhere; a score that a prompt asks for is not.
    accept = session.settings.accept_low_scores or not metric.single_prompt
    return ScaleUse(metric.scale_of, earlier, accept=accept)


class _Asked(NamedTuple):
    """What the prompts of a call led to, apart from the answers."""

    notes: tuple[str, ...]
    """Closing notes of the engine."""
    stopped: StudyError | KeyboardInterrupt | None
    """The error that stopped the call early."""
    seconds: float
    """From the first prompt to the last answer."""


def _ask(
    session: RunSession,
    kind: CallKind,
    rounds: Rounds,
    store: AnswerStore,
    drift: DriftRounds | None,
) -> _Asked:
    """Ask the prompts of each round, with those of drift before and after."""
    engine = session.engine
    notes: tuple[str, ...] = ()
    stopped: StudyError | KeyboardInterrupt | None = None
    seconds = 0.0
    try:
        if drift is not None:
            notes += (drift.ask(engine),)
        any_round = False
        for prompts in rounds.prompts():
            any_round, start = True, monotonic()
            try:
                notes += engine.run(session.run, prompts, store)
            finally:
                seconds += monotonic() - start
        if any_round and drift is not None:
            notes += (drift.ask(engine),)
        if session.is_last and isinstance(engine, FileEngine):
            notes += engine.finish(kind)
    except (StudyError, KeyboardInterrupt) as error:
        stopped = error
    if drift is not None:
        store.add_overhead(drift.overhead)
        store.retries.update(drift.retries)
    return _Asked(notes, stopped, seconds)


def _of_run(session: RunSession, store: AnswerStore) -> dict[str, Any]:
    """Return the fields of an outcome that only a call on responses has."""
    run_id = session.run.id
    with session.study.read() as connection:
        by_reason = count(connection, session.scope.versions, ("missing_reason",), run_id).by
        answered_by = served(connection, run_id)
    run_missing: Counter[str] = Counter()
    for (_, reason), number in by_reason.items():
        if reason is not None:
            run_missing[reason] += number
    return {
        "judged": store.judged,
        "unanswered": store.unanswered,
        "run_judgments": by_reason.total(),
        "run_missing": dict(run_missing),
        "flags": dict(store.flags),
        "served": {model.name or "(not named)": model.answers for model in answered_by},
        "max_missing": session.settings.max_missing,
    }


def _of_pairs(session: RunSession, store: AnswerStore, items: Items) -> dict[str, Any]:
    """Return what is missing of all pairs so far, by the last answer on each.

    Of probes nothing falls short: that a judge gives no score to an altered text is a result.
    """
    if items.kind != "pairs":
        return {}
    t = items.answers.c
    columns = (t.response_id, t.second_response_id, t.construct_key, t.repeat)
    found = select(*columns, t.construct_version, t.missing_reason)
    versions = session.scope.versions
    with session.study.read() as connection:
        rows = connection.execute(found.where(t.run_id == session.run.id).order_by(t.attempt))
        last = {row[:4]: row[5] for row in rows if row[4] == versions.get(row[2])}
    return {
        "unanswered": store.unanswered,
        "run_judgments": len(last),
        "run_missing": dict(Counter(reason for reason in last.values() if reason is not None)),
        "max_missing": session.settings.max_missing,
    }


def _store_end(
    session: RunSession,
    call: int,
    store: AnswerStore,
    notes: Sequence[str],
    stopped: StudyError | KeyboardInterrupt | None,
    outcome: Outcome,
) -> None:
    ended = "done" if stopped is None else "stopped"
    if isinstance(stopped, KeyboardInterrupt):
        ended = "interrupted"
    counted = (
        *("answered", "judged", "missing", "failed", "retries", "tokens", "overhead"),
        *("uncounted", "seconds", "cost"),
    )
    run = session.run
    # The cause of the stop, such as a full disk, may prevent storing the end as well.
    with nullcontext() if stopped is None else suppress(StudyError):
        end_call(
            session.study,
            call,
            ended=ended,
            notes=[
                *([run.note] if run.note and not run.begun else []),
                *notes,
                *(f"No answer: {example}" for example in store.examples),
            ],
            figures=store.figures,
            **{name: getattr(outcome, name) for name in counted},
        )
