"""Probing a run: from the settings to the outcome."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from judge.engines.engine import Ready, TokenCount
from judge.metrics.registry import PROMPTED_SUITES, expanded, load_metric
from judge.perturbations.catalogue import select_probes
from judge.perturbations.perturbation import Probe
from judge.protocol.conditions import Conditions
from judge.run_settings import JudgeSettings
from judge.running.call_outcome import CallOutcome
from judge.running.comparisons import encoder_for
from judge.running.pages import Place, places
from judge.running.preview import cost_lines
from judge.running.probes import (
    PlannedProbe,
    ProbePlan,
    ProbeRequest,
    ProbeStore,
    asked_probes,
    draw_sample,
    scored_constructs,
)
from judge.running.runs import likely_run
from judge.running.scope import (
    Scope,
    as_declared,
    check_used,
    later_steps_note,
    run_scope,
    select_constructs,
)
from judge.running.session import AnswerDelivery, OnProgress, ask, open_session, store_end
from judge.running.step_probes import StepProbes
from judge.text import Result
from study.errors import StudyError
from study.schema import DRIFT
from study.study import Study

SAMPLE = 60
"""Default number of responses to probe."""

FEW_QUERIES = 30
"""With fewer queries, intervals are wide."""


@dataclass(frozen=True)
class ProbeWork:
    """The prompts of probes that are still to be asked."""

    prompts: dict[str, int]
    """By kind of probe."""
    prompt_bytes: int
    not_alterable: dict[str, int]
    """Prompts that a probe cannot alter, by probe: one sentence, one passage, ..."""
    too_long: int
    responses: int
    """Of the sample."""
    queries: int
    asked_before: int

    def lines(self, run: str) -> list[str]:
        """Return the counts as lines of text."""
        total = sum(self.prompts.values())
        by_kind = ", ".join(f"{kind} {n}" for kind, n in self.prompts.items())
        lines = [
            f"Run {run!r}: {self.responses} responses to {self.queries} queries are probed.",
            f"Prompts to ask: {total}" + (f" ({by_kind})" if by_kind else ""),
        ]
        if self.queries < FEW_QUERIES:
            lines.append(
                f"Fewer than {FEW_QUERIES} queries: intervals will be wide. Judge more responses, "
                "or choose a larger --sample."
            )
        if self.asked_before:
            lines.append(f"Asked before: {self.asked_before}")
        if self.not_alterable:
            counts = ", ".join(f"{n} {probe}" for probe, n in self.not_alterable.items())
            lines.append(f"Not altered, since there is nothing to alter: {counts}")
        if self.too_long:
            lines.append(
                f"Longer than the window: {self.too_long} prompts, which are stored as missing."
            )
        return lines


@dataclass(frozen=True)
class ProbePreview(Result):
    """The prompts that `probe_study` would ask under the same settings."""

    run: str
    planned: ProbeWork
    prompt_tokens: int
    """An estimate, at four bytes a token."""
    cost: float | None
    cost_if_reasoning: float | None
    """The largest cost if the model reasons before each answer."""
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the preview as lines of text."""
        lines = [*self.planned.lines(self.run), f"Prompt tokens: about {self.prompt_tokens:,}"]
        lines += cost_lines(self.cost, self.cost_if_reasoning)
        return [*lines, *self.notes, "No prompt was sent and nothing was written."]


@dataclass(frozen=True, kw_only=True)
class ProbeOutcome(CallOutcome):
    """The result of one call of `probe_study`."""

    planned: ProbeWork

    def lines(self) -> list[str]:
        """Return the outcome as lines of text."""
        return [*self.planned.lines(self.run), *self.answer_lines()]


class ProbingStoppedError(StudyError):
    """Probing stopped early; `outcome` contains the result so far."""

    def __init__(self, message: str, outcome: ProbeOutcome) -> None:
        super().__init__(message)
        self.outcome = outcome


def probe_study(
    study: Study,
    settings: JudgeSettings,
    kinds: Sequence[str] = (),
    sample: int = SAMPLE,
    on_progress: OnProgress | None = None,
) -> ProbeOutcome:
    """Ask altered prompts of a run, under the conditions of the run.

    The answers are stored separately from the judgments of the run. After an interruption the same
    call continues; no prompt is asked twice.

    Parameters
    ----------
    study : Study
    settings : JudgeSettings
        The settings of the run to be probed.
    kinds : sequence of str
        Kinds or names of probes; default: all.
    sample : int
        Number of responses to probe, drawn by the study's seed from those that the run has scored.
    on_progress : callable, optional
        Called with a `RunProgress` after every commit, from any thread.

    Raises
    ------
    ProbingStoppedError
        It was interrupted, or could not continue; its `outcome` contains the result so far.
    StudyError
        The study has no run under these settings, the engine cannot answer altered prompts, or
        another process works on the run.
    """
    probes = select_probes(kinds)
    scope = _scope(study, settings)
    encoder = encoder_for([scope.metric], settings)
    scope = replace(scope, encoder=encoder)

    def check(ready: Ready, order: list[Place], run_id: int | None) -> None:
        del ready, order
        if run_id is None:
            raise StudyError(
                "The study has no run under these settings. Judge first, with the same options: "
                f"ccrs judge {study.folder} ..."
            )

    with open_session(study, settings, scope, check=check) as session:
        scope, run_id = session.scope, session.run.id

        # Planned once the run is locked, so that answers to another process are included.
        def planned() -> _PlannedProbes:
            plan = _plan(study, settings, scope, probes, run_id, sample)
            return _PlannedProbes(plan, session.ready, settings, run_id)

        current = planned()
        work = current.survey(study)
        prompts = sum(work.prompts.values())
        total = min(prompts, settings.limit or prompts)
        store = ProbeStore(study, run_id, scope, session.confirm)
        delivery = AnswerDelivery(store, total, on_progress)
        rounds: Iterable[Iterable[ProbeRequest]]
        in_steps = not scope.metric.single_prompt
        if in_steps:
            steps = StepProbes(study, run_id, session.ready)
            rounds = steps.rounds(
                lambda: current.altered(study), store, delivery, scope.encoder, settings.limit
            )
        else:
            store.store_too_long(current.requests(study, fitting=False))
            rounds = [islice(current.requests(study), settings.limit)] if total else []
        call, result = ask(session, "probe", delivery, rounds)
        remaining = prompts - delivery.answered
        if in_steps:
            remaining = sum(planned().survey(study).prompts.values())
        outcome = ProbeOutcome(
            run=session.run.name,
            planned=work,
            answered=delivery.answered,
            missing=dict(store.missing),
            failed=dict(delivery.failures),
            remaining=remaining,
            tokens=dict(delivery.tokens),
            seconds=result.seconds,
            cost=result.cost,
            notes=(*later_steps_note(scope.metric), *session.ready.notes, *result.notes),
            examples=tuple(delivery.examples),
            asks=session.ready.asks,
            reasons=dict(scope.metric.reasons),
        )
        store_end(session, call, delivery, result, judged=0, missing=outcome.missing)
    if result.stopped is not None:
        raise ProbingStoppedError(result.message, outcome) from result.stopped
    return outcome


def preview_probes(
    study: Study, settings: JudgeSettings, kinds: Sequence[str] = (), sample: int = SAMPLE
) -> ProbePreview:
    """Return what `probe_study` would ask, without sending a prompt.

    Raises
    ------
    StudyError
        As `probe_study` does, as far as that is known without the engine.
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
    work = _PlannedProbes(plan, ready, settings, run_id).survey(study)
    count = sum(work.prompts.values())
    count = min(count, settings.limit or count)
    tokens = ready.tokens.per_byte * work.prompt_bytes
    cost = settings.cost(tokens, count * answer_tokens)
    reasoning = settings.tokens_of_reasoning
    highest = settings.cost(tokens, count * (answer_tokens + reasoning)) if reasoning else None
    notes = later_steps_note(scope.metric)
    return ProbePreview(name, work, round(tokens), cost, highest, notes)


def _scope(study: Study, settings: JudgeSettings) -> Scope:
    keys = expanded(settings.metric)
    if len(keys) != 1:
        is_suite = settings.metric.strip() in PROMPTED_SUITES
        what = "is a suite of" if is_suite else "names"
        one = f"name one of {', '.join(keys)}" if keys else "name the metric of the run"
        raise StudyError(
            f"--metric: a call probes one metric; {settings.metric!r} {what} {len(keys)}: {one}."
        )
    metric = as_declared(study, load_metric(keys[0], settings.prompts, study.folder))
    constructs = select_constructs(study, metric, settings.constructs)
    update = {"retry_unparsed": False, "for_reparse": False, "accept_low_scores": False}
    of_probes = settings.model_copy(update=update)
    check_used(of_probes, [metric])
    return run_scope(study, of_probes, metric, constructs)


def _plan(
    study: Study,
    settings: JudgeSettings,
    scope: Scope,
    probes: Sequence[Probe],
    run_id: int,
    sample: int,
) -> ProbePlan:
    with study.read() as connection:
        scores = scored_constructs(connection, run_id, scope)
        stored = asked_probes(connection, run_id, scope.versions)
    responses = draw_sample(places(study, settings.systems), scores, sample, study.config.seed)
    if not responses:
        raise StudyError("The run has no score yet that a probe could shift. Judge first.")
    return ProbePlan(scope, probes, responses, scores, stored)


@dataclass(frozen=True)
class _PlannedProbes:
    """A plan under the conditions of an engine; each method goes through the whole plan."""

    plan: ProbePlan
    ready: Ready
    settings: JudgeSettings
    run_id: int

    def survey(self, study: Study) -> ProbeWork:
        """Count the prompts to ask."""
        prompts: Counter[str] = Counter()
        not_alterable: Counter[str] = Counter()
        size = too_long = 0
        items = self.plan.items(study)
        if not self.plan.scope.metric.single_prompt:
            items = StepProbes(study, self.run_id, self.ready).waiting(items)
        for item in items:
            if isinstance(item, Probe):
                not_alterable[item.key] += 1
            elif not item.fits(self.ready):
                too_long += 1
            else:
                prompts[item.probe.kind if item.probe else DRIFT] += 1
                if self.settings.limit is None or prompts.total() <= self.settings.limit:
                    size += item.size
        responses = {place.response for place in self.plan.places}
        names = {probe.key for probe in self.plan.probes}
        return ProbeWork(
            prompts=dict(prompts),
            prompt_bytes=size,
            not_alterable=dict(not_alterable),
            too_long=too_long,
            responses=len(responses),
            queries=len({place.query for place in self.plan.places}),
            asked_before=sum(
                response in responses and probe in names
                for response, _, probe, _ in self.plan.stored
            ),
        )

    def requests(self, study: Study, *, fitting: bool = True) -> Iterator[ProbeRequest]:
        """Yield the prompts that fit the window, or those that do not."""
        for item in self.altered(study):
            if item.fits(self.ready) == fitting:
                yield item.request()

    def altered(self, study: Study) -> Iterator[PlannedProbe]:
        """Yield what the probes can alter."""
        return (item for item in self.plan.items(study) if isinstance(item, PlannedProbe))
