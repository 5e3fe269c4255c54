"""A run from its settings to its outcome."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from time import monotonic

from judge.engines.engine import Ready
from judge.metrics.metric import Metric
from judge.metrics.registry import load_metric
from judge.protocol.exchange import Answer
from judge.running.delivery import AnswerDelivery, Reached
from judge.running.drift import DriftRounds
from judge.running.forecast import CountedAnswer, Projection, project
from judge.running.judgment_store import JudgmentStore, served
from judge.running.judgments import count
from judge.running.metric_requests import MetricRequest
from judge.running.pages import Place
from judge.running.plan import Survey, requests, survey, too_long
from judge.running.prompt_sample import Name, sizes, spread
from judge.running.run_outcome import Outcome
from judge.running.runs import check_words
from judge.running.scope import check_scales, run_scope, select_constructs, unprompted_note
from judge.running.session import CallResult, RunSession, ask, open_session, store_end
from judge.running.text_scores import check_text_metrics, store_text_metrics, text_metrics
from judge.settings import JudgeSettings
from study.errors import StudyError
from study.schema import CallKind
from study.study import Study


class RunStoppedError(StudyError):
    """A run ended before its time; `outcome` says how far it came."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.outcome = outcome


def judge_study(study: Study, settings: JudgeSettings, reached: Reached | None = None) -> Outcome:
    """Judge what a study's responses still lack under these settings.

    Every answer is committed before its prompt's slot is free again, so a run that is killed
    loses at most the calls under way; the next one with the same settings does what is missing.

    Parameters
    ----------
    study : Study
    settings : JudgeSettings
    reached : callable, optional
        Called with a `RunProgress` after every commit, from any thread.

    Raises
    ------
    RunStoppedError
        The run was interrupted, or continuing made no sense; its `outcome` says how far it came.
    StudyError
        Nothing can be judged, the engine can't answer, or another process judges the same run.

    Examples
    --------
    >>> settings = OpenAISettings(                             # doctest: +SKIP
    ...     base_url="http://localhost:8000/v1", model="llama-3-70b"
    ... )
    >>> judge_study(Study.open("my-study"), settings).missing  # doctest: +SKIP
    {'refusal': 2}
    """
    metric = load_metric(settings.metric, settings.prompts, study.folder)
    check_single(metric, settings)
    constructs = select_constructs(study, metric, settings.constructs)
    further = text_metrics(settings.text_metrics)
    check_text_metrics(study, further, constructs)
    if metric.prompts is not None:
        check_words(study, metric.prompts)
    scope = run_scope(study, settings, metric, constructs)

    def check(ready: Ready, order: list[Place], run_id: int | None) -> None:
        if ready.window is not None and not settings.skip_too_long:
            # Before the run is begun: what is refused here leaves nothing behind.
            found = survey(study, order, scope, run_id, ready)
            if found.too_long:
                raise StudyError(too_long(study, found, ready.window))

    with open_session(study, settings, scope, check=check) as session:
        check_scales(study, metric, constructs, session.run.name)
        return _judged(session, further, reached)


def check_single(metric: Metric, settings: JudgeSettings) -> None:
    """Refuse options that need a metric with a single prompt.

    Raises
    ------
    StudyError
        One of them was given, and the metric asks in steps.
    """
    given = [f"--{name}" for name in ("estimate", "drift") if getattr(settings, name)]
    if given and not metric.single_prompt:
        raise StudyError(
            f"{', '.join(given)}: needs a metric with one prompt for each judgment, and "
            f"{metric.key} asks in steps; leave it out."
        )


class _Work:
    """What one call has to do: surveyed again after each round, until nothing is left."""

    def __init__(self, session: RunSession, store: JudgmentStore) -> None:
        self._session = session
        self._store = store
        self.found = self._survey(session.settings.limit)
        settings = session.settings
        self.everything: dict[Name, int] = {}
        """Length of each prompt, where a sample is asked."""
        self.chosen: frozenset[Name] | None = None
        if settings.estimate:
            self.everything = sizes(
                session.study, session.order, session.scope, session.run.id, session.ready
            )
            self.chosen = spread(self.everything, settings.estimate, session.study.config.seed)
        self.wanted = self.found.now.total() if self.chosen is None else len(self.chosen)

    def rounds(self, delivery: AnswerDelivery) -> Iterator[Iterable[MetricRequest]]:
        """Yield the prompts of each round: the first steps, then those that follow from answers."""
        limit = self._session.settings.limit
        left = limit
        while self.wanted:
            stored = self._store.steps
            prompts = self._requests(delivery)
            yield prompts if left is None else islice(prompts, left)
            if self._store.steps == stored:
                # A single prompt decides at once; and where nothing came, nothing follows.
                return
            left = None if limit is None else limit - delivery.answered
            self.found = self._survey(left)
            self.wanted = self.found.now.total() if left is None or left > 0 else 0
            delivery.total += self.wanted

    def judgments_left(self, delivery: AnswerDelivery) -> int:
        """Return the judgments that are still to be made."""
        if self._session.scope.metric.single_prompt:
            return self.found.judgments - delivery.judged
        # The survey after the last round that brought answers.
        return self.found.judgments

    def _requests(self, delivery: AnswerDelivery) -> Iterator[MetricRequest]:
        session = self._session
        for request in requests(
            session.study,
            session.order,
            session.scope,
            session.run.id,
            session.ready,
            self.chosen,
        ):
            failed = delivery.failed_prompts
            if not failed or (request.prompt_hash, request.repeat) not in failed:
                yield request

    def _survey(self, limit: int | None) -> Survey:
        session, store = self._session, self._store
        found = survey(
            session.study,
            session.order,
            session.scope,
            session.run.id,
            session.ready,
            store.resolve,
            limit,
        )
        store.resolve(left_out for _, left_out in found.too_long)
        return found


def _judged(session: RunSession, further: list[Metric], reached: Reached | None) -> Outcome:
    study, settings, scope, run = session.study, session.settings, session.scope, session.run
    began = monotonic()
    store = JudgmentStore(study, run.id, scope, session.confirm)
    work = _Work(session, store)
    sample = work.chosen is not None
    delivery = AnswerDelivery(store, work.wanted, reached, sample=sample)
    scores = store_text_metrics(study, session.order, further, scope.constructs)
    drift = DriftRounds(session, settings.drift) if settings.drift else None
    kind: CallKind = "estimate" if sample else "run"
    call, result = ask(session, kind, delivery, work.rounds(delivery), drift, began)
    with study.read() as connection:
        by_reason = count(connection, scope.versions, ("missing_reason",), run.id).by
    whole: Counter[str | None] = Counter()
    for (_, reason), number in by_reason.items():
        whole[reason] += number
    missing = Counter({reason: n for reason, n in whole.items() if reason is not None})
    estimate = None
    if sample and result.stopped is None:
        estimate = _of_the_rest(work.everything, delivery.sampled, settings, result.asking_seconds)
    outcome = Outcome(
        run=run.name,
        begun=run.begun,
        judged=store.judged,
        asked=delivery.answered,
        left=work.judgments_left(delivery),
        missing=dict(store.missing),
        failed=dict(delivery.failures),
        unanswered=delivery.unanswered,
        run_judgments=whole.total(),
        run_missing={str(key): n for key, n in missing.items()},
        flags=dict(store.flags),
        tokens=dict(delivery.tokens),
        seconds=result.seconds,
        served=served(study, run.id),
        text_metrics=scores,
        notes=_notes(session, result),
        examples=tuple(delivery.examples),
        cost=result.cost,
        cost_is_most=settings.price_cached is None and bool(delivery.tokens.get("cached")),
        uncounted=delivery.uncounted,
        sample=sample,
        estimate=estimate,
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


def _notes(session: RunSession, result: CallResult) -> tuple[str, ...]:
    settings, scope = session.settings, session.scope
    without = unprompted_note(session.study, scope.metric, settings.constructs)
    of_run = [session.run.note] if session.run.note else []
    return (*without, *session.ready.notes, *of_run, *result.notes)


def _of_the_rest(
    everything: Mapping[Name, int],
    sampled: Mapping[Name, Answer],
    settings: JudgeSettings,
    wall: float,
) -> Projection | None:
    """Return what the prompts outside the sample take."""
    left = [size for name, size in everything.items() if name not in sampled]
    counted = [CountedAnswer(everything[name], answer) for name, answer in sampled.items()]
    return project(counted, len(left), sum(left), settings, wall=wall, at_once=settings.at_once)
