"""A run from its settings to its outcome."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from judge.ac_metrics import CONSTRUCT, check_metrics, store_ac_metrics
from judge.answers import Answer, Failure
from judge.costs import cost
from judge.engines.engine import Engine, Ready, load_engine
from judge.outcome import Outcome
from judge.requests import Request
from judge.runs.judgments import count
from judge.runs.lock import sole_writer
from judge.runs.run import Run, check_words, find, find_or_begin
from judge.schedule.choosing import check_scales, unprompted, wanted_constructs
from judge.schedule.content import Place, places
from judge.schedule.survey import requests, sample_prompts, survey, too_long
from judge.schedule.work import Scope
from judge.settings import JudgeSettings
from judge.storing import Store, served
from judge.versions import prompt_version
from study.campaign import Study
from study.errors import StudyError

if TYPE_CHECKING:
    from judge.probes.drifting import Drift

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
    >>> settings = JudgeSettings(                              # doctest: +SKIP
    ...     base_url="http://localhost:8000/v1", model="llama-3-70b"
    ... )
    >>> judge_study(Study.open("my-study"), settings).missing  # doctest: +SKIP
    {'refusal': 2}
    """
    if settings.drift and settings.engine in {"recorded", "batch"}:
        raise StudyError(f"--drift: the engine {settings.engine} asks nobody now; leave it out.")
    prompts = prompt_version(settings.prompts, study.folder)
    constructs = wanted_constructs(study, prompts, settings.constructs)
    check_metrics(study, settings.ac_metrics, constructs)
    check_words(study, prompts)
    order = places(study, settings.systems)
    engine = load_engine(settings.engine)(settings, study, prompts)
    with study.read() as connection:
        versions = study.construct_versions(connection)
    scope = Scope(prompts, constructs, versions, settings.repeats, settings.retry_unparsed)
    ready = engine.start(sample_prompts(study, order, scope))
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
    wanted = found.now.total()
    delivery = _Delivery(store, wanted, reached)
    judges_ac = CONSTRUCT in scope.constructs
    metrics = store_ac_metrics(study, order, settings.ac_metrics) if judges_ac else {}
    stream = requests(study, order, scope, run.id, ready)
    drift = _drift(study, settings, run, scope, order, ready, confirm)
    closing: tuple[str, ...] = ()
    stopped: StudyError | KeyboardInterrupt | None = None
    try:
        if drift is not None:
            closing += (drift.ask(engine),)
        if wanted:
            closing += engine.run(run, islice(stream, settings.limit), delivery)
        if wanted and drift is not None:
            closing += (drift.ask(engine),)
    except (StudyError, KeyboardInterrupt) as error:
        stopped = error
    tokens = dict(delivery.tokens)
    without = unprompted(study, scope.version, settings.constructs)
    notes = (*without, *ready.notes, *([run.note] if run.note else []), *closing)
    with study.read() as connection:
        by_reason = count(connection, scope.versions, ("missing_reason",), run.id).by
    whole: Counter[str | None] = Counter()
    for (_, reason), number in by_reason.items():
        whole[reason] += number
    missing = Counter({reason: n for reason, n in whole.items() if reason is not None})
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
        seconds=monotonic() - started,
        served=served(study, run.id),
        ac_metrics=metrics,
        notes=notes,
        examples=tuple(delivery.examples),
        cost=cost(settings, tokens.get("prompt", 0), tokens.get("completion", 0)),
        max_missing=settings.max_missing,
        asks=ready.asks,
    )
    if stopped is not None:
        raise RunStoppedError(str(stopped) or INTERRUPTED, outcome) from stopped
    return outcome


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
    from judge.probes.drifting import Drift

    return Drift(study, run, scope, order, settings.drift, ready, confirm)


INTERRUPTED = "Interrupted. What was judged is kept; run the command again to go on."


class RunStoppedError(StudyError):
    """A run ended before its time; `outcome` says how far it came."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.outcome = outcome


class _Delivery:
    """Stores what comes back, and counts it."""

    def __init__(self, store: Store, total: int, reached: Reached | None) -> None:
        self._store = store
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

    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        self._store.commit(pairs)
        with self._counting:
            self._count(pairs)
        self._tell()

    def _count(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        for request_, answer in pairs:
            self.answered += 1
            self.judged += len(request_.response_ids)
            self.tokens["prompt"] += answer.prompt_tokens or 0
            self.tokens["completion"] += answer.completion_tokens or 0
            self.tokens["reasoning"] += answer.reasoning_tokens or 0
            self.tokens["cached"] += answer.cached_tokens or 0

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
