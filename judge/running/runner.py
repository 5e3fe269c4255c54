"""A run of the judge, from its settings to the outcome."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from time import monotonic

from judge.engines.engine import Ready
from judge.metrics.metric import Metric
from judge.metrics.registry import ASKED_FIRST, expanded, load_metric
from judge.run_settings import JudgeSettings
from judge.running.comparisons import Comparisons, encoder_for
from judge.running.drift import DriftRounds
from judge.running.forecast import CountedAnswer, Forecast, forecast
from judge.running.judgment_store import JudgmentStore
from judge.running.judgments import count, served
from judge.running.metric_requests import MetricRequest, PromptName
from judge.running.pages import Place
from judge.running.plan import (
    Survey,
    draw_prompts,
    draw_queries,
    requests,
    sizes,
    survey,
    too_long_message,
)
from judge.running.run_outcome import Outcome
from judge.running.runs import check_words, run_id_of
from judge.running.scale_use import FEW, ScaleUse, stored_values
from judge.running.scope import (
    as_declared,
    check_scales,
    check_used,
    fitting_metrics,
    run_scope,
    select_constructs,
    settings_of_metric,
    unprompted_note,
)
from judge.running.session import (
    AnswerDelivery,
    OnProgress,
    RunSession,
    StartedEngine,
    ask,
    open_session,
    start_engine,
    store_end,
)
from judge.running.suite_forecast import forecast_metrics
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
    for group in _of_one_engine([metric for _, metric in fitting]):
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


def _of_one_engine(metrics: Sequence[Metric]) -> list[list[int]]:
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
            work = survey(study, order, scope, run_id, ready)
            if work.too_long:
                raise StudyError(too_long_message(study, work, ready.window))

    with open_session(study, settings, scope, check=check, started=started) as session:
        check_scales(study, metric, constructs, session.run.name)
        return _judge(session, without_prompts, on_progress)


class _CallWork:
    """The work of one call: surveyed again after each round, until nothing is left."""

    def __init__(self, session: RunSession, store: JudgmentStore) -> None:
        self._session = session
        self._store = store
        encoder = session.scope.encoder
        self._compare = None if encoder is None else Comparisons(encoder, store)
        self.survey = self._survey(session.settings.limit)
        settings = session.settings
        self.lengths: dict[PromptName, int] = {}
        """Length of each prompt, where a sample is asked."""
        self.sample: frozenset[PromptName] | None = None
        if settings.estimate and session.scope.metric.single_prompt:
            self.lengths = sizes(
                session.study, session.order, session.scope, session.run.id, session.ready
            )
            self.sample = draw_prompts(self.lengths, settings.estimate, session.study.config.seed)
        self.planned = self.survey.now.total() if self.sample is None else len(self.sample)

    def rounds(self, delivery: AnswerDelivery) -> Iterator[Iterable[MetricRequest]]:
        """Yield the prompts of each round: the first steps, then those that depend on answers."""
        limit = self._session.settings.limit
        remaining = limit
        while self.planned:
            steps = self._store.steps
            prompts = self._requests(delivery)
            yield prompts if remaining is None else islice(prompts, remaining)
            if self._store.steps == steps:
                # Single prompts need one round; and without new answers no prompts follow.
                return
            remaining = None if limit is None else limit - delivery.answered
            self.survey = self._survey(remaining)
            if self.sample is not None:
                return
            self.planned = self.survey.now.total() if remaining is None or remaining > 0 else 0
            delivery.total += self.planned

    def judgments_left(self, delivery: AnswerDelivery) -> int:
        """Return the judgments that are still to be made."""
        if self._session.scope.metric.single_prompt:
            return self.survey.judgments - delivery.judged
        # From the survey after the last round with answers.
        return self.survey.judgments

    def forecast(self, delivery: AnswerDelivery, wall: float) -> Forecast | None:
        """Return the forecast for the prompts outside the sample."""
        settings = self._session.settings
        answers = delivery.sample or {}
        lengths = [size for name, size in self.lengths.items() if name not in answers]
        counted = [CountedAnswer(self.lengths[name], answer) for name, answer in answers.items()]
        return forecast(
            counted, len(lengths), sum(lengths), settings, wall=wall, at_once=settings.at_once
        )

    def _requests(self, delivery: AnswerDelivery) -> Iterator[MetricRequest]:
        session = self._session
        for request in requests(
            session.study,
            session.order,
            session.scope,
            session.run.id,
            session.ready,
            self.sample,
        ):
            failed = delivery.failed_prompts
            if not failed or (request.prompt_hash, request.repeat) not in failed:
                yield request

    def _survey(self, limit: int | None) -> Survey:
        session, store = self._session, self._store
        work = survey(
            session.study,
            session.order,
            session.scope,
            session.run.id,
            session.ready,
            store.resolve,
            limit,
            self._compare,
        )
        store.resolve(judgment for _, judgment in work.too_long)
        return work


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
    store = JudgmentStore(study, run.id, scope, scale_use, session.confirm)
    work = _CallWork(session, store)
    is_sample = work.sample is not None
    delivery = AnswerDelivery(store, work.planned, on_progress)
    delivery.sample = {} if is_sample else None
    scores = store_text_metrics(study, whole, without_prompts, scope.constructs)
    drift = DriftRounds(session, settings.drift) if settings.drift else None
    call, result = ask(
        session,
        "estimate" if settings.estimate else "run",
        delivery,
        work.rounds(delivery),
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
        estimate = work.forecast(delivery, result.asking_seconds)
    remaining = work.judgments_left(delivery)
    if queries is not None:
        remaining = survey(study, whole, scope, run.id, session.ready).judgments
    outcome = Outcome(
        run=run.name,
        begun=run.begun,
        judged=store.judged,
        answered=delivery.answered,
        remaining=remaining,
        missing=dict(store.missing),
        failed=dict(delivery.failures),
        unanswered=delivery.unanswered,
        run_judgments=by_reason.total(),
        run_missing=dict(run_missing),
        flags=dict(store.flags),
        tokens=dict(delivery.tokens),
        seconds=result.seconds,
        served={model.name or "(not named)": model.answers for model in answered_by},
        text_metrics=scores,
        notes=(
            *unprompted_note(study, scope.metric, settings.constructs),
            *session.ready.notes,
            *([run.note] if run.note else []),
            *result.notes,
            *([low] if (low := scale_use.note()) and result.stopped is None else []),
        ),
        examples=tuple(delivery.examples),
        cost=result.cost,
        cost_is_most=settings.price_cached is None and bool(delivery.tokens.get("cached")),
        uncounted=delivery.uncounted,
        sample=is_sample,
        estimate=estimate,
        queries=None if queries is None else len(queries),
        retries=dict(delivery.retries),
        overhead=dict(delivery.overhead),
        max_missing=settings.max_missing,
        asks=session.ready.asks,
        reasons=dict(scope.metric.reasons),
    )
    store_end(session, call, delivery, result, judged=store.judged, missing=outcome.missing)
    if result.stopped is not None:
        raise RunStoppedError(result.message, outcome) from result.stopped
    return outcome
