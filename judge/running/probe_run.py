"""Probes of a run, from its settings to the outcome."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from judge.engines.engine import Ready, TokenCount, load_engine
from judge.metrics.registry import load_metric
from judge.perturbations.catalogue import select_probes
from judge.perturbations.perturbation import Probe
from judge.protocol.conditions import Conditions
from judge.running.delivery import AnswerDelivery, Reached
from judge.running.pages import Place, places
from judge.running.probe_outcome import ProbeOutcome, ProbePreview, ProbeWork
from judge.running.probe_requests import ProbePlan, ProbeRequest
from judge.running.probe_sample import drawn, scored
from judge.running.probe_store import ProbeStore, done
from judge.running.runs import likely_run
from judge.running.scope import Scope, run_scope, select_constructs
from judge.running.session import CallResult, ask, open_session, store_end
from judge.settings import JudgeSettings
from study.errors import StudyError
from study.study import Study

SAMPLE = 60
"""Responses that are probed unless another number is given."""
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

    The answers are kept apart from the run's judgments. A call that was stopped is continued by
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
        Called with a `RunProgress` after every commit, from any thread.

    Raises
    ------
    ProbingStoppedError
        It was interrupted, or continuing made no sense; its `outcome` says how far it came.
    StudyError
        There is no run under these settings, the engine can't ask altered prompts, or another
        process works on the run.
    """
    probes = select_probes(kinds)
    scope = _scope(study, settings)
    if not load_engine(settings.engine).asks_now:
        raise StudyError(
            f"The engine {settings.engine} can't answer altered prompts; probe a run of another."
        )

    def check(ready: Ready, order: list[Place], run_id: int | None) -> None:
        del ready, order
        if run_id is None:
            raise StudyError(
                "The study has no run under these settings. Judge first, with the same options: "
                f"ccrs judge {study.folder} ..."
            )

    with open_session(study, settings, scope, check=check) as session:
        # What another process has asked until now is known once the run is locked.
        plan = _plan(study, settings, scope, probes, session.run.id, sample)
        planned = _Planned(plan, session.ready, settings)
        work = planned.survey(study)
        total = sum(work.prompts.values())
        total = min(total, settings.limit or total)
        store = ProbeStore(study, session.run.id, scope, session.confirm)
        for some in planned.too_long(study):
            store.leave_out(some)
        delivery = AnswerDelivery(store, total, reached)
        rounds = [islice(planned.requests(study), settings.limit)] if total else []
        call, result = ask(session, "probe", delivery, rounds)
        outcome = _outcome(session.run.name, work, delivery, store, result)
        store_end(session, call, delivery, result, judged=0, missing=outcome.missing)
    if result.stopped is not None:
        raise ProbingStoppedError(result.message, outcome) from result.stopped
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
    probes = select_probes(kinds)
    scope = _scope(study, settings)
    run = likely_run(study, settings)
    if run is None:
        raise StudyError("The study has no run under these settings. Judge first.")
    run_id, name = run
    prompts = scope.metric.prompts
    answer_tokens = settings.max_tokens or (prompts.max_tokens if prompts else 0)
    conditions = Conditions(settings.engine, settings.model or "")
    ready = Ready(conditions, TokenCount(), settings.window, answer_tokens)
    plan = _plan(study, settings, scope, probes, run_id, sample)
    work = _Planned(plan, ready, settings).survey(study)
    count = sum(work.prompts.values())
    count = min(count, settings.limit or count)
    tokens = ready.tokens.per_byte * work.prompt_bytes
    return ProbePreview(name, work, round(tokens), settings.cost(tokens, count * answer_tokens))


def _scope(study: Study, settings: JudgeSettings) -> Scope:
    metric = load_metric(settings.metric, settings.prompts, study.folder)
    if not metric.single_prompt:
        raise StudyError(
            f"The metric {metric.key} asks in steps; only metrics with one prompt for each "
            "judgment can be probed."
        )
    constructs = select_constructs(study, metric, settings.constructs)
    return run_scope(
        study, settings.model_copy(update={"retry_unparsed": False}), metric, constructs
    )


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
        raise StudyError("The run has no score yet that could shift. Judge first.")
    return ProbePlan(scope, probes, chosen, judged, before)


@dataclass(frozen=True)
class _Planned:
    """A plan under the conditions of an engine; the plan is gone through once for each purpose."""

    plan: ProbePlan
    ready: Ready
    settings: JudgeSettings

    def survey(self, study: Study) -> ProbeWork:
        """Count what is to be asked."""
        prompts: Counter[str] = Counter()
        unalterable: Counter[str] = Counter()
        size = too_long = 0
        for item in self.plan.items(study):
            if isinstance(item, Probe):
                unalterable[item.key] += 1
            elif not item.prompt.fits(self.ready):
                too_long += 1
            else:
                prompts[item.probe.kind] += 1
                if self.settings.limit is None or prompts.total() <= self.settings.limit:
                    size += item.prompt.size
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
        for item in self.plan.items(study):
            if not isinstance(item, Probe) and item.prompt.fits(self.ready):
                yield item.request()

    def too_long(self, study: Study) -> Iterator[list[ProbeRequest]]:
        """Yield those that do not fit, some at a time."""
        some: list[ProbeRequest] = []
        for item in self.plan.items(study):
            if not isinstance(item, Probe) and not item.prompt.fits(self.ready):
                some.append(item.request())
                if len(some) >= _TOO_LONG_TOGETHER:
                    yield some
                    some = []
        if some:
            yield some


def _outcome(
    run: str, work: ProbeWork, delivery: AnswerDelivery, store: ProbeStore, result: CallResult
) -> ProbeOutcome:
    return ProbeOutcome(
        run=run,
        planned=work,
        answered=delivery.answered,
        missing=dict(store.missing),
        failed=dict(delivery.failures),
        left=sum(work.prompts.values()) - delivery.answered,
        tokens=dict(delivery.tokens),
        seconds=result.seconds,
        cost=result.cost,
        notes=result.notes,
        examples=tuple(delivery.examples),
    )
