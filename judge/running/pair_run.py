"""Comparing pairs of responses: from the settings to the outcome."""

from dataclasses import dataclass
from itertools import islice
from typing import Literal

from judge.engines.engine import Ready, TokenCount
from judge.metrics.pairwise import Pairwise
from judge.protocol.conditions import Conditions
from judge.run_settings import JudgeSettings
from judge.running.call_outcome import CallOutcome
from judge.running.pages import Place, places
from judge.running.pairs import (
    PairPlan,
    PairStore,
    PairWork,
    PlannedPairs,
    asked_pairs,
    survey_pairs,
)
from judge.running.preview import cost_lines
from judge.running.runs import newest_run
from judge.running.scope import Scope, run_scope, select_constructs
from judge.running.session import AnswerDelivery, OnProgress, ask, open_session, store_end
from judge.text import Result
from study.errors import StudyError
from study.facts.pair_choices import compared_by_people
from study.study import Study

Pairs = Literal["all", "compared"]
"""All responses to a query with each other, or only the pairs that people compared."""


@dataclass(frozen=True)
class PairPreview(Result):
    """The prompts that `compare_pairs` would ask under the same settings."""

    run: str | None
    """The run that it would most likely continue; None: it would begin one."""
    planned: PairWork
    prompt_tokens: int
    """An estimate, at four bytes a token."""
    cost: float | None
    cost_if_reasoning: float | None
    """The largest cost if the model reasons before each answer."""

    def lines(self) -> list[str]:
        """Return the preview as lines of text."""
        run = f"It would continue the run {self.run!r}." if self.run else "It would begin a run."
        lines = [run, *self.planned.lines(), f"Prompt tokens: about {self.prompt_tokens:,}"]
        lines += cost_lines(self.cost, self.cost_if_reasoning)
        return [*lines, "No prompt was sent and nothing was written."]


@dataclass(frozen=True, kw_only=True)
class PairOutcome(CallOutcome):
    """The result of one call of `compare_pairs`."""

    begun: bool
    """Whether the call began the run."""
    planned: PairWork

    def lines(self) -> list[str]:
        """Return the outcome as lines of text."""
        run = f"Run {self.run!r}" + (" was begun." if self.begun else " was continued.")
        return [run, *self.planned.lines(), *self.answer_lines()]


class PairsStoppedError(StudyError):
    """Comparing stopped early; `outcome` contains the result so far."""

    def __init__(self, message: str, outcome: PairOutcome) -> None:
        super().__init__(message)
        self.outcome = outcome


def compare_pairs(
    study: Study,
    settings: JudgeSettings,
    pairs: Pairs = "all",
    on_progress: OnProgress | None = None,
) -> PairOutcome:
    """Ask which of two responses to a query is better, on each construct and in both orders.

    The same choice in both orders is a preference, two different ones are a tie; they are in the
    preference table of the study beside the comparisons of people. After an interruption the same
    call continues; no prompt is asked twice.

    Parameters
    ----------
    study : Study
    settings : JudgeSettings
        Its `metric` and `prompts` are not used.
    pairs : {"all", "compared"}
        The pairs to ask.
    on_progress : callable, optional
        Called with a `RunProgress` after every commit, from any thread.

    Raises
    ------
    PairsStoppedError
        It was interrupted, or could not continue; its `outcome` contains the result so far.
    StudyError
        There is no pair to compare, the engine cannot answer, or another process works on the run.
    """
    scope = _scope(study, settings)

    def check(ready: Ready, order: list[Place], run_id: int | None) -> None:
        del ready, order, run_id

    # Before the engine is started, which may take minutes.
    _check_pairs(study, settings, scope, pairs)
    with open_session(study, settings, scope, check=check) as session:
        plan = _plan(study, settings, scope, pairs, session.run.id)
        planned = PlannedPairs(plan, session.ready)
        work = survey_pairs(study, planned, settings.limit)
        prompts = sum(work.prompts.values())
        total = prompts if settings.limit is None else min(prompts, settings.limit)
        store = PairStore(study, session.run.id, scope, session.confirm)
        store.store_too_long(planned.too_long(study))
        delivery = AnswerDelivery(store, total, on_progress)
        rounds = [islice(planned.requests(study), settings.limit)] if total else []
        call, result = ask(session, "pairs", delivery, rounds)
        outcome = PairOutcome(
            run=session.run.name,
            begun=session.run.begun,
            planned=work,
            answered=delivery.answered,
            missing=dict(store.missing),
            failed=dict(delivery.failures),
            remaining=prompts - delivery.answered,
            reasons=dict(scope.metric.reasons),
            tokens=dict(delivery.tokens),
            seconds=result.seconds,
            cost=result.cost,
            notes=(
                *session.ready.notes,
                *([session.run.note] if session.run.note else []),
                *result.notes,
            ),
            examples=tuple(delivery.examples),
            asks=session.ready.asks,
        )
        store_end(session, call, delivery, result, judged=0, missing=outcome.missing)
    if result.stopped is not None:
        raise PairsStoppedError(result.message, outcome) from result.stopped
    return outcome


def preview_pairs(study: Study, settings: JudgeSettings, pairs: Pairs = "all") -> PairPreview:
    """Return what `compare_pairs` would ask, without sending a prompt.

    Raises
    ------
    StudyError
        As `compare_pairs` does, as far as that is known without the engine.
    """
    scope = _scope(study, settings)
    _check_pairs(study, settings, scope, pairs)
    prompts = scope.metric.prompts
    run = None if prompts is None else newest_run(study, settings, scope.metric.key, prompts.name)
    answer_tokens = settings.max_tokens or (prompts.max_tokens if prompts else 0)
    ready = Ready(
        Conditions(settings.engine, settings.model or ""),
        TokenCount(),
        settings.window,
        answer_tokens,
    )
    plan = _plan(study, settings, scope, pairs, run[0] if run else None)
    work = survey_pairs(study, PlannedPairs(plan, ready), settings.limit)
    count = sum(work.prompts.values())
    count = count if settings.limit is None else min(count, settings.limit)
    tokens = ready.tokens.per_byte * work.prompt_bytes
    reasoning = settings.tokens_of_reasoning
    return PairPreview(
        run=run[1] if run else None,
        planned=work,
        prompt_tokens=round(tokens),
        cost=settings.cost(tokens, count * answer_tokens),
        cost_if_reasoning=(
            settings.cost(tokens, count * (answer_tokens + reasoning)) if reasoning else None
        ),
    )


def _scope(study: Study, settings: JudgeSettings) -> Scope:
    metric = Pairwise(study.config.constructs)
    constructs = select_constructs(study, metric, settings.constructs)
    return run_scope(study, settings, metric, constructs)


def _check_pairs(study: Study, settings: JudgeSettings, scope: Scope, pairs: Pairs) -> None:
    """Raise an error if there is no pair to compare."""
    whole = _plan(study, settings, scope, pairs, None)
    if next(whole.items(study), None) is not None:
        return
    if pairs == "compared":
        raise StudyError(
            "People compared no pair of current responses on these constructs; leave --pairs out "
            "to compare all responses to a query."
        )
    raise StudyError(
        "No query has two responses to compare. Import the responses of another system, or name "
        "more systems."
    )


def _plan(
    study: Study, settings: JudgeSettings, scope: Scope, pairs: Pairs, run_id: int | None
) -> PairPlan:
    with study.read() as connection:
        stored = {} if run_id is None else asked_pairs(connection, run_id, scope.versions)
        compared = None if pairs == "all" else compared_by_people(connection)
    return PairPlan(scope, places(study, settings.systems), compared, stored)
