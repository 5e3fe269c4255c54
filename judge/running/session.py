"""What a call on a run needs: an engine that is started, a run that is locked, answers stored."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Self

from judge.engines.engine import Delivery, Engine, Ready, load_engine
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Run, with_encoder, with_metric, with_shuffle
from judge.protocol.exchange import TOKENS, UNANSWERED, Answer, Failure, Request
from judge.run_settings import JudgeSettings
from judge.running.answer_store import AnswerStore
from judge.running.metric_requests import MetricRequest, PromptName, prompt_name
from judge.running.pages import Place, places
from judge.running.plan import CallPlan, sample_prompts
from judge.running.runs import find, find_or_begin, sole_writer
from judge.running.scope import Scope, scales
from study.errors import StudyError
from study.lifecycle.file_system import check_file_system
from study.settings.constructs import RETRIEVAL
from study.study import Study

_EXAMPLES = 3


@dataclass(frozen=True)
class RunProgress:
    """The progress of a call."""

    answered: int
    failed: int
    total: int
    """Prompts to ask as far as they are known: later steps of a metric add theirs."""
    tokens: int
    """Prompt and completion tokens that the server counted."""


OnProgress = Callable[[RunProgress], None]


class AnswerDelivery(Delivery):
    """Stores and counts the answers of one call."""

    def __init__(
        self, store: AnswerStore, total: int = 0, on_progress: OnProgress | None = None
    ) -> None:
        super().__init__()
        self._store = store
        self._on_progress = on_progress
        self._counting = Lock()
        self._unanswered: set[tuple[str, int, int]] = set()
        self.total = total
        """Prompts to ask, as far as they are known."""
        self.sample: dict[PromptName, Answer] | None = None
        """Answers by prompt, where the call asks a sample of the run."""
        self.answered = 0
        self.judged = 0
        self.failures: Counter[str] = Counter()
        self.failed_prompts: set[tuple[str, int]] = set()
        """Prompts (hash, repeat) without an answer in this call."""
        self.examples: list[str] = []
        """The first failure of each kind, in the words of the server."""
        self.tokens: Counter[str] = Counter()
        """Of the answers, by name; a name is missing until an answer has it."""
        self.uncounted = 0
        """Answers whose prompt tokens are not known."""

    @property
    def unanswered(self) -> int:
        """Judgments of prompts without an answer, for which the run has no earlier attempt."""
        return len(self._unanswered)

    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        """Store answers; return when they are on disk."""
        answers = [(_checked(request), answer) for request, answer in pairs]
        judged = self._store.commit(answers)
        with self._counting:
            self.judged += judged
            for request, answer in answers:
                if self.sample is not None:
                    self.sample[prompt_name(request)] = answer
                self.answered += 1
                is_answer = answer.missing not in UNANSWERED
                self.uncounted += is_answer and answer.prompt_tokens is None
                for name in TOKENS:
                    count = getattr(answer, f"{name}_tokens")
                    if count is not None:
                        self.tokens[name] += count
        self._report()

    def failed(self, request: Request, failure: Failure) -> None:
        """Count a prompt without an answer; the next call asks it again."""
        prompt = _checked(request)
        with self._counting:
            if failure.reason not in self.failures and len(self.examples) < _EXAMPLES:
                self.examples.append(f"{failure.reason}: {failure.detail}")
            self.failures[failure.reason] += 1
            self.failed_prompts.add((prompt.prompt_hash, prompt.repeat))
            self._unanswered |= {
                (prompt.construct_key, prompt.repeat, response)
                for response, attempt in zip(prompt.response_ids, prompt.attempts, strict=True)
                if attempt == 1
            }
        self._report()

    def _report(self) -> None:
        if self._on_progress is not None:
            tokens = self.tokens["prompt"] + self.tokens["completion"]
            failed = self.failures.total()
            self._on_progress(RunProgress(self.answered, failed, self.total, tokens))


def _checked(request: Request) -> MetricRequest:
    assert isinstance(request, MetricRequest)  # noqa: S101  (engines return what they got)
    return request


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
