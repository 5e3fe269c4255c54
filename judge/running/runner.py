"""A run from its settings to its outcome."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from judge.engines.engine import Engine, Ready, load_engine
from judge.prompts.prompt_versions import prompt_version
from judge.protocol.answer import TOKENS, Answer, Failure
from judge.protocol.conditions import Run, with_shuffle
from judge.protocol.request import Request
from judge.protocol.usage import Spending
from judge.running.calls import ENDS, begin_call, end_call
from judge.running.construct_selection import check_scales, unprompted, wanted_constructs
from judge.running.forecast import CountedAnswer, Projection, project
from judge.running.judgment_store import Store, served
from judge.running.judgments import count
from judge.running.lexical_scores import CONSTRUCT, check_metrics, store_ac_metrics
from judge.running.lock import sole_writer
from judge.running.pages import Place, places
from judge.running.plan import requests, sample_prompts, survey, too_long
from judge.running.pricing import PAID, cost
from judge.running.prompt_sample import Name, name_of, sizes, spread
from judge.running.run_outcome import Outcome
from judge.running.runs import check_words, find, find_or_begin
from judge.running.work_items import Scope
from judge.settings import JudgeSettings
from study.errors import StudyError
from study.schema import CallKind
from study.study import Study

if TYPE_CHECKING:
    from judge.running.drift import Drift

_EXAMPLES = 3


@dataclass(frozen=True)
class Reach:
    """How far a run has come."""

    answered: int
    failed: int
    total: int
    tokens: int
    """Prompt and completion tokens that the server counted."""


Reached = Callable[[Reach], None]


def judge_study(study: Study, settings: JudgeSettings, reached: Reached | None = None) -> Outcome:
    """Judge what a study's responses still lack under these settings.

    Every judgment is committed before its prompt's slot is free again, so a run that is killed
    loses at most the calls under way; the next one with the same settings does what is missing.

    Parameters
    ----------
    study : Study
    settings : JudgeSettings
    reached : callable, optional
        Called with a `Reach` after every commit, from any thread.

    Raises
    ------
    RunStoppedError
        The run was interrupted, or going on made no sense; its `outcome` says how far it came.
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
    prompts = prompt_version(settings.prompts, study.folder)
    constructs = wanted_constructs(study, prompts, settings.constructs)
    check_metrics(study, settings.ac_metrics, constructs)
    check_words(study, prompts)
    order = places(study, settings.systems)
    with closing(load_engine(settings.engine)(settings, study, prompts)) as engine:
        with study.read() as connection:
            versions = study.construct_versions(connection)
        shuffle = settings.shuffle_passages
        scope = Scope(
            prompts, constructs, versions, settings.repeats, settings.retry_unparsed, shuffle
        )
        ready = engine.start(sample_prompts(study, order, scope))
        ready = replace(ready, conditions=with_shuffle(ready.conditions, shuffle))
        held = find(study, ready.conditions, prompts, settings.repeats, settings.name)
        if ready.window is not None and not settings.skip_too_long:
            # Before the run is begun: what is refused here leaves nothing behind.
            found = survey(study, order, scope, held, ready)
            if found.too_long:
                raise StudyError(too_long(study, found, ready.window))
        run = find_or_begin(study, ready.conditions, prompts, settings.repeats, settings.name)
        check_scales(study, prompts, constructs, run.name)
        with sole_writer(study, run.id, run.name) as confirm:
            return _judged(study, settings, engine, ready, run, scope, order, confirm, reached)


def _judged(
    study: Study,
    settings: JudgeSettings,
    engine: Engine,
    ready: Ready,
    run: Run,
    scope: Scope,
    order: Sequence[Place],
    confirm: Callable[[], None],
    reached: Reached | None,
) -> Outcome:
    started = monotonic()
    version = scope.version
    store = Store(study, run.id, version.scale, scope.versions, confirm, version.form)
    found = survey(study, order, scope, run.id, ready, store.settle, settings.limit)
    store.settle(settled for _, settled in found.too_long)
    everything: dict[Name, int] = {}
    chosen: frozenset[Name] | None = None
    if settings.estimate:
        everything = sizes(study, order, scope, run.id, ready)
        chosen = spread(everything, settings.estimate, study.config.seed)
    wanted = found.now.total() if chosen is None else len(chosen)
    delivery = _Delivery(store, wanted, reached, sample=chosen is not None)
    delivery.spent(ready.spent)
    kind: CallKind = "run" if chosen is None else "estimate"
    call = begin_call(study, run.id, settings, wanted, kind)
    judges_ac = CONSTRUCT in scope.constructs
    metrics = store_ac_metrics(study, order, settings.ac_metrics) if judges_ac else {}
    stream = requests(study, order, scope, run.id, ready, chosen)
    drift = _drift(study, settings, run, scope, order, ready, confirm)
    prompts = islice(stream, settings.limit) if wanted else None
    closing, stopped, asked_seconds = _ask(engine, run, prompts, delivery, drift)
    tokens = dict(delivery.tokens)
    without = unprompted(study, scope.version, settings.constructs)
    notes = (*without, *ready.notes, *([run.note] if run.note else []), *closing)
    with study.read() as connection:
        by_reason = count(connection, scope.versions, ("missing_reason",), run.id).by
    whole: Counter[str | None] = Counter()
    for (_, reason), number in by_reason.items():
        whole[reason] += number
    missing = Counter({reason: n for reason, n in whole.items() if reason is not None})
    paid = None
    if "prompt" in tokens or not delivery.answered:
        paid = cost(settings, *(tokens.get(name, 0) + delivery.beside[name] for name in PAID))
    seconds = monotonic() - started
    at_once = settings.at_once
    outcome = Outcome(
        run=run.name,
        begun=run.begun,
        judged=store.judged,
        asked=delivery.answered,
        left=found.judgments - delivery.judged,
        missing=dict(store.missing),
        failed=dict(delivery.failures),
        unanswered=delivery.unanswered,
        run_judgments=whole.total(),
        run_missing={str(key): n for key, n in missing.items()},
        flags=dict(store.flags),
        tokens=tokens,
        seconds=seconds,
        served=served(study, run.id),
        ac_metrics=metrics,
        notes=notes,
        examples=tuple(delivery.examples),
        cost=paid,
        cost_is_most=settings.price_cached is None and bool(tokens.get("cached")),
        uncounted=delivery.uncounted,
        sample=chosen is not None,
        estimate=None
        if chosen is None or stopped is not None
        else _of_the_rest(everything, delivery.sampled, settings, asked_seconds, at_once),
        retries=dict(delivery.retries),
        beside=dict(delivery.beside),
        max_missing=settings.max_missing,
        asks=ready.asks,
    )
    # What stopped a run, such as a full disk, may keep its end from being stored as well.
    with nullcontext() if stopped is None else suppress(StudyError):
        end_call(
            study,
            call,
            ended=ENDS.get(type(stopped), "stopped"),
            answered=delivery.answered,
            judged=store.judged,
            missing=outcome.missing,
            failed=outcome.failed,
            retries=outcome.retries,
            tokens=tokens,
            beside=outcome.beside,
            uncounted=delivery.uncounted,
            seconds=outcome.seconds,
            cost=outcome.cost,
            notes=list(closing),
            figures=delivery.figures,
        )
    if stopped is not None:
        raise RunStoppedError(str(stopped) or INTERRUPTED, outcome) from stopped
    return outcome


def _ask(
    engine: Engine,
    run: Run,
    prompts: Iterable[Request] | None,
    delivery: "_Delivery",
    drift: "Drift | None",
) -> tuple[tuple[str, ...], StudyError | KeyboardInterrupt | None, float]:
    """Ask what is left; return closing notes, what stopped it, and the seconds of the prompts."""
    closing: tuple[str, ...] = ()
    stopped: StudyError | KeyboardInterrupt | None = None
    began = ended = monotonic()
    try:
        if drift is not None:
            closing += (drift.ask(engine),)
        if prompts is not None:
            began = monotonic()
            try:
                closing += engine.run(run, prompts, delivery)
            finally:
                ended = monotonic()
            if drift is not None:
                closing += (drift.ask(engine),)
    except (StudyError, KeyboardInterrupt) as error:
        stopped = error
    if drift is not None:
        delivery.spent(drift.spent)
        delivery.retries.update(drift.retries)
    return closing, stopped, ended - began


def _drift(
    study: Study,
    settings: JudgeSettings,
    run: Run,
    scope: Scope,
    order: Sequence[Place],
    ready: Ready,
    confirm: Callable[[], None],
) -> "Drift | None":
    if not settings.drift:
        return None
    from judge.running.drift import Drift

    return Drift(study, run, scope, order, settings.drift, ready, confirm)


def _of_the_rest(
    everything: Mapping[Name, int],
    sampled: Mapping[Name, Answer],
    settings: JudgeSettings,
    wall: float,
    at_once: int | None,
) -> Projection | None:
    """Return what the prompts beside the sample take."""
    left = [size for name, size in everything.items() if name not in sampled]
    told = [CountedAnswer(everything[name], answer) for name, answer in sampled.items()]
    return project(told, len(left), sum(left), settings, wall=wall, at_once=at_once)


INTERRUPTED = "Interrupted. What was judged is kept; run the command again to go on."


class RunStoppedError(StudyError):
    """A run ended before its time; `outcome` says how far it came."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.outcome = outcome


class _Delivery(Spending):
    """Stores what comes back, and counts it."""

    def __init__(
        self, store: Store, total: int, reached: Reached | None, *, sample: bool = False
    ) -> None:
        super().__init__()
        self._store = store
        self._sample = sample
        self.sampled: dict[Name, Answer] = {}
        """Answers by prompt, where they are a sample of a run."""
        self._total = total
        self._reached = reached
        self.answered = 0
        self.judged = 0
        self.failures: Counter[str] = Counter()
        self.unanswered = 0
        """Judgments of prompts that failed, and that the run has not in any form."""
        self._counting = Lock()
        self.examples: list[str] = []
        self.tokens: Counter[str] = Counter()
        """Of the answers, by name; a name is there once an answer told it."""
        self.uncounted = 0

    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        self._store.commit(pairs)
        with self._counting:
            self._count(pairs)
        self._tell()

    def _count(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        for request_, answer in pairs:
            if self._sample:
                self.sampled[name_of(request_)] = answer
            self.answered += 1
            self.judged += len(request_.response_ids)
            self.uncounted += answer.prompt_tokens is None
            for name in TOKENS:
                told = getattr(answer, f"{name}_tokens")
                if told is not None:
                    self.tokens[name] += told

    def failed(self, request: Request, failure: Failure) -> None:
        with self._counting:
            self._count_failed(request, failure)
        self._tell()

    def _count_failed(self, request: Request, failure: Failure) -> None:
        self.unanswered += sum(attempt == 1 for attempt in request.attempts)
        if failure.reason not in self.failures and len(self.examples) < _EXAMPLES:
            self.examples.append(f"{failure.reason}: {failure.detail}")
        self.failures[failure.reason] += 1

    def _tell(self) -> None:
        if self._reached is not None:
            spent = self.tokens["prompt"] + self.tokens["completion"]
            failed = sum(self.failures.values())
            self._reached(Reach(self.answered, failed, self._total, spent))
