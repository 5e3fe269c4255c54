"""Probes of a run, from its settings to the outcome."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from itertools import islice
from time import monotonic

from judge.engines.engine import Ready, load_engine
from judge.perturbations.catalogue import wanted_probes
from judge.perturbations.perturbation import Probe
from judge.prompts.prompt_versions import prompt_version
from judge.protocol.conditions import Conditions, Run, with_shuffle
from judge.protocol.token_count import TokenCount
from judge.running.calls import ENDS, begin_call, end_call
from judge.running.construct_selection import wanted_constructs
from judge.running.lock import sole_writer
from judge.running.pages import places
from judge.running.plan import sample_prompts
from judge.running.preview import likely_run
from judge.running.pricing import PAID, cost
from judge.running.probe_outcome import ProbeOutcome, ProbePreview, ProbeWork
from judge.running.probe_requests import ProbePlan, ProbeRequest, made
from judge.running.probe_sample import drawn, scored
from judge.running.probe_store import ProbeDelivery, done
from judge.running.runner import Reach, Reached
from judge.running.runs import find, find_or_begin
from judge.running.work_items import Scope
from judge.settings import JudgeSettings
from study.errors import StudyError
from study.study import Study

SAMPLE = 60
"""Responses that are probed unless said otherwise."""
_TOO_LONG_TOGETHER = 200


class ProbingStoppedError(StudyError):
    """Probing ended before its time; `outcome` says how far it came."""

    def __init__(self, message: str, outcome: ProbeOutcome) -> None:
        super().__init__(message)
        self.outcome = outcome


def probe_study(
    study: Study,
    settings: JudgeSettings,
    kinds: Sequence[str] = (),
    sample: int = SAMPLE,
    reached: Reached | None = None,
) -> ProbeOutcome:
    """Ask altered prompts of a run, under the run's own conditions.

    The answers are kept apart from the run's judgments. A call that was stopped is gone on with by
    the same call; nothing is asked twice.

    Parameters
    ----------
    study : Study
    settings : JudgeSettings
        Those of the run: they say which run is probed.
    kinds : sequence of str
        Kinds or names of probes; all unless given.
    sample : int
        Responses to probe, of those that the run has scored; drawn by the study's seed.
    reached : callable, optional
        Called with a `Reach` after every commit, from any thread.

    Raises
    ------
    ProbingStoppedError
        It was interrupted, or going on made no sense; its `outcome` says how far it came.
    StudyError
        There is no run under these settings, the engine can't ask altered prompts, or another
        process works on the run.
    """
    probes = wanted_probes(kinds)
    scope = _scope(study, settings)
    engine_class = load_engine(settings.engine)
    if not engine_class.asks_now:
        raise StudyError(
            f"The engine {settings.engine} can't answer altered prompts; probe a run of another."
        )
    with closing(engine_class(settings, study, scope.version)) as engine:
        order = places(study, settings.systems)
        ready = engine.start(sample_prompts(study, order, scope))
        shown = with_shuffle(ready.conditions, settings.shuffle_passages)
        conditions = (shown, scope.version, settings.repeats, settings.name)
        held = find(study, *conditions)
        if held is None:
            raise StudyError(
                "The study has no run under these settings. Judge first, with the same options: "
                f"ccrs judge {study.folder} ..."
            )
        run = find_or_begin(study, *conditions)
        with sole_writer(study, run.id, run.name) as confirm:
            # What another process has asked until now is known once the run is ours.
            asking = _Asking(_plan(study, settings, scope, probes, run.id, sample), ready, settings)
            planned = asking.survey(study)
            total = min(
                sum(planned.prompts.values()), settings.limit or sum(planned.prompts.values())
            )
            delivery = ProbeDelivery(study, run.id, scope, confirm, _telling(reached, total))
            for some in asking.too_long(study):
                delivery.leave_out(some)
            delivery.spent(ready.spent)
            call = begin_call(study, run.id, settings, total, kind="probe")
            started = monotonic()
            notes: tuple[str, ...] = ()
            stopped: StudyError | KeyboardInterrupt | None = None
            try:
                if total:
                    stream = islice(asking.requests(study), settings.limit)
                    notes = engine.run(run, stream, delivery)
            except (StudyError, KeyboardInterrupt) as error:
                stopped = error
            outcome = _outcome(run, planned, delivery, settings, monotonic() - started, notes)
            with nullcontext() if stopped is None else suppress(StudyError):
                end_call(
                    study,
                    call,
                    ended=ENDS.get(type(stopped), "stopped"),
                    answered=delivery.answered,
                    judged=0,
                    missing=outcome.missing,
                    failed=outcome.failed,
                    retries=dict(delivery.retries),
                    tokens=outcome.tokens,
                    beside=dict(delivery.beside),
                    uncounted=delivery.uncounted,
                    seconds=outcome.seconds,
                    cost=outcome.cost,
                    notes=list(notes),
                    figures=delivery.figures,
                )
    if stopped is not None:
        said = str(stopped) or "Interrupted. What was answered is kept; run the command again."
        raise ProbingStoppedError(said, outcome) from stopped
    return outcome


def preview_probes(
    study: Study, settings: JudgeSettings, kinds: Sequence[str] = (), sample: int = SAMPLE
) -> ProbePreview:
    """Return what `probe_study` would ask, without a call.

    Raises
    ------
    StudyError
        As `probe_study` does, as far as it can be known without asking.
    """
    probes = wanted_probes(kinds)
    scope = _scope(study, settings)
    held = likely_run(study, settings)
    if held is None:
        raise StudyError("The study has no run under these settings. Judge first.")
    run_id, name = held
    answer_tokens = settings.max_tokens or scope.version.max_tokens
    conditions = Conditions(settings.engine, settings.model or "")
    ready = Ready(conditions, TokenCount(), settings.window, answer_tokens)
    asking = _Asking(_plan(study, settings, scope, probes, run_id, sample), ready, settings)
    planned = asking.survey(study)
    count = sum(planned.prompts.values())
    count = min(count, settings.limit or count)
    tokens = ready.tokens.per_byte * planned.prompt_bytes
    return ProbePreview(name, planned, round(tokens), cost(settings, tokens, count * answer_tokens))


def _scope(study: Study, settings: JudgeSettings) -> Scope:
    prompts = prompt_version(settings.prompts, study.folder)
    constructs = wanted_constructs(study, prompts, settings.constructs)
    with study.read() as connection:
        versions = study.construct_versions(connection)
    return Scope(prompts, constructs, versions, settings.repeats, shuffle=settings.shuffle_passages)


def _plan(
    study: Study,
    settings: JudgeSettings,
    scope: Scope,
    probes: Sequence[Probe],
    run_id: int,
    sample: int,
) -> ProbePlan:
    with study.read() as connection:
        judged = scored(connection, run_id, scope.versions, scope.constructs)
        before = done(connection, run_id, scope.versions)
    chosen = drawn(places(study, settings.systems), judged, sample, study.config.seed)
    if not chosen:
        raise StudyError("The run has no score yet that a shift could be told from. Judge first.")
    return ProbePlan(scope, probes, chosen, judged, before)


@dataclass(frozen=True)
class _Asking:
    """A plan under the conditions of an engine; the plan is gone through once for each purpose."""

    plan: ProbePlan
    ready: Ready
    settings: JudgeSettings

    def survey(self, study: Study) -> ProbeWork:
        """Count what is to be asked."""
        prompts: Counter[str] = Counter()
        unalterable: Counter[str] = Counter()
        size = too_long = 0
        for found in self.plan.items(study, self.ready):
            if isinstance(found, Probe):
                unalterable[found.key] += 1
                continue
            item, _ = found
            if not item.fits:
                too_long += 1
                continue
            prompts[item.probe.kind] += 1
            if self.settings.limit is None or prompts.total() <= self.settings.limit:
                size += item.asked.size(self.plan.scope.version)
        here = {place.response for place in self.plan.places}
        names = {probe.key for probe in self.plan.probes}
        return ProbeWork(
            prompts=dict(prompts),
            prompt_bytes=size,
            not_alterable=dict(unalterable),
            too_long=too_long,
            responses=len(here),
            queries=len({place.query for place in self.plan.places}),
            asked_before=sum(
                response in here and probe in names for response, _, probe, _ in self.plan.done
            ),
        )

    def requests(self, study: Study) -> Iterator[ProbeRequest]:
        """Yield the prompts to ask that fit."""
        for found in self.plan.items(study, self.ready):
            if not isinstance(found, Probe) and found[0].fits:
                yield made(found[0], self.plan.scope, found[1])

    def too_long(self, study: Study) -> Iterator[list[ProbeRequest]]:
        """Yield those that do not fit, some at a time."""
        some: list[ProbeRequest] = []
        for found in self.plan.items(study, self.ready):
            if not isinstance(found, Probe) and not found[0].fits:
                some.append(made(found[0], self.plan.scope, found[1]))
                if len(some) >= _TOO_LONG_TOGETHER:
                    yield some
                    some = []
        if some:
            yield some


def _telling(reached: Reached | None, total: int) -> Callable[[ProbeDelivery], None] | None:
    if reached is None:
        return None

    def tell(delivery: ProbeDelivery) -> None:
        spent = delivery.tokens["prompt"] + delivery.tokens["completion"]
        reached(Reach(delivery.answered, delivery.failures.total(), total, spent))

    return tell


def _outcome(
    run: Run,
    planned: ProbeWork,
    delivery: ProbeDelivery,
    settings: JudgeSettings,
    seconds: float,
    notes: tuple[str, ...],
) -> ProbeOutcome:
    tokens = dict(delivery.tokens)
    paid = None
    if "prompt" in tokens or not delivery.answered:
        paid = cost(settings, *(tokens.get(name, 0) + delivery.beside[name] for name in PAID))
    return ProbeOutcome(
        run=run.name,
        planned=planned,
        answered=delivery.answered,
        missing=dict(delivery.missing),
        failed=dict(delivery.failures),
        left=sum(planned.prompts.values()) - delivery.answered,
        tokens=tokens,
        seconds=seconds,
        cost=paid,
        notes=notes,
        examples=tuple(delivery.examples),
    )
