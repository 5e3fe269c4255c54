"""Preview of a call on items of any kind: what it would ask, without sending a prompt."""

from dataclasses import dataclass, replace

from sqlalchemy import select

from judge.engines.engine import Ready, TokenCount
from judge.engines.files.files_engine import NOT_READ, answers_in_files
from judge.protocol.conditions import Conditions
from judge.protocol.exchange import Answer
from judge.run_settings import JudgeSettings
from judge.running.calls import account, calls_of
from judge.running.forecast import CountedAnswer, Forecast, forecast
from judge.running.items import ALL_RESPONSES, Items
from judge.running.metric_requests import USAGE_COLUMNS, PromptName
from judge.running.pages import places
from judge.running.plan import CallPlan, sample_prompts
from judge.running.runs import likely_run
from judge.running.scope import (
    Scope,
    check_scales,
    fitting_metrics,
    later_steps_note,
    run_scope,
    unprompted_note,
)
from judge.running.suite_forecast import SuiteForecast, forecast_metrics
from judge.running.survey import ItemCounts, item_counts, survey, too_long_message
from judge.running.unprompted_metrics import checked_text_metrics
from judge.text import Result, duration
from study.schema.tables import judgments
from study.study import Study
from study.text import counted

# A typical time of a hosted endpoint for a prompt of a few thousand tokens.
_SECONDS = 1.0
# Typical number of simultaneous prompts of an engine without a limit.
_AT_ONCE = 64

_NOTHING_SENT = "No prompt was sent and nothing was written."


@dataclass(frozen=True)
class Preview(Result):
    """What `judge_study` would ask under the same settings."""

    run: str | None
    """The run that it would most likely continue; None: it would begin a new one."""
    prompts: dict[str, int]
    """Prompts to ask, by construct."""
    postponed: int
    """Prompts beyond --limit."""
    resolved: dict[str, int]
    """Judgments that need no prompt, by missing reason, rule or value."""
    prompt_tokens: int
    """An estimate."""
    answer_tokens: int
    """The most that the answers may have, without reasoning before them."""
    reasoning_tokens: int
    """The most that a model that reasons may have in addition."""
    seconds: float
    """An estimate; `basis` states the assumption."""
    forecast: Forecast | None
    """From the answers of the run; None: there are none, and tokens are a quarter of the bytes."""
    basis: str
    too_long: str | None
    """A message that lists the prompts beyond the window; None: all fit, or none is known."""
    example: str | None
    """The text of the first prompt of the study."""
    cost: float | None
    cost_if_reasoning: float | None
    """The largest cost if the model reasons before each answer; None if it is not asked to, or
    where a forecast includes the reasoning."""
    notes: tuple[str, ...] = ()
    answered: int = 0
    """Prompts up to --limit that the files of answers answer; `prompts` lacks them."""

    def lines(self) -> list[str]:
        """Return the preview as lines of text."""
        total = sum(self.prompts.values())
        by_construct = ", ".join(f"{key} {n}" for key, n in self.prompts.items())
        lines = [
            f"It would continue the run {self.run!r}." if self.run else "It would begin a run.",
            f"Prompts to ask: {total}" + (f" ({by_construct})" if by_construct else ""),
        ]
        if self.answered:
            lines.append(f"Answered by the files: {counted(self.answered, 'prompt')}")
        if self.forecast is not None:
            lines += [
                *self.forecast.lines(),
                "  This treats the answers so far as a random sample; --estimate draws one.",
            ]
        else:
            lines += [
                f"Prompt tokens: about {self.prompt_tokens:,} (at four bytes each)",
                f"Answer tokens: {self._answer_tokens()}",
                f"Time: about {duration(self.seconds)} ({self.basis})",
            ]
            lines += cost_lines(self.cost, self.cost_if_reasoning)
        if self.postponed:
            lines.append(f"Postponed by --limit: {counted(self.postponed, 'prompt')}")
        lines += self.resolved_lines()
        lines += list(self.notes)
        if self.too_long:
            lines.append(self.too_long)
        return [*lines, _NOTHING_SENT]

    def resolved_lines(self) -> list[str]:
        """Return the lines on the judgments that need no prompt."""
        return [
            f"Without a prompt: {counted(n, 'judgment')} ({reason})"
            for reason, n in self.resolved.items()
        ]

    def _answer_tokens(self) -> str:
        text = f"at most {self.answer_tokens:,}"
        if self.reasoning_tokens:
            total = self.answer_tokens + self.reasoning_tokens
            text += f", or {total:,} if the model reasons before it answers"
        return text


def cost_lines(cost: float | None, if_reasoning: float | None) -> list[str]:
    """Return the line on the cost: a range where the model may reason before it answers."""
    if cost is None:
        return []
    if if_reasoning is None:
        return [f"Cost: about {cost:,.2f}"]
    return [
        f"Cost: about {cost:,.2f}, or up to {if_reasoning:,.2f} if the model reasons before it "
        "answers"
    ]


def preview(study: Study, settings: JudgeSettings) -> Preview:
    """Return what a call would ask: prompts, tokens, time and cost, without sending a prompt.

    Tokens are estimated from the length of the prompts: by the ratio that the run has counted so
    far, else at four bytes a token; time by the pace of the run so far, else by a typical one.
    Prompts are compared with the window only where `settings.window` states it.

    Raises
    ------
    StudyError
        As `judge_study` does for settings and study.
    """
    scope = run_scope(study, settings)
    metric = scope.metric
    checked_text_metrics(study, settings.text_metrics, scope.constructs)
    run = likely_run(study, settings, metric)
    plan, ready = _plan(study, settings, scope, run)
    check_scales(study, metric, scope.constructs, settings.name or settings.model or "")
    with answers_in_files(study, settings, metric.prompts) as in_files:
        work = survey(plan, ready, limit=settings.limit, answers=in_files)
    count = work.now.total()
    tokens, answer_tokens = ready.tokens.per_byte * work.now_bytes, work.now_answer_tokens
    most_reasoning = count * settings.tokens_of_reasoning
    at_once = settings.at_once or _AT_ONCE
    seconds, cost = count * _SECONDS / at_once, settings.cost(tokens, answer_tokens)
    estimate = None
    if run is not None and count and metric.single_prompt:
        answers = _counted_answers(plan, run[0], ready)
        wall = _wall_time(study, run[0], len(answers))
        estimate = forecast(answers, count, work.now_bytes, settings, wall=wall)
    if estimate is not None:
        tokens = estimate.tokens["prompt"].estimate
        cost = None if estimate.cost is None else estimate.cost.estimate
        seconds = seconds if estimate.seconds is None else estimate.seconds.estimate
    highest = settings.cost(tokens, answer_tokens + most_reasoning)
    return Preview(
        run=run and run[1],
        prompts=dict(work.now),
        postponed=work.prompts.total() - count - work.answered,
        answered=work.answered,
        resolved=dict(work.resolved),
        prompt_tokens=round(tokens),
        answer_tokens=answer_tokens,
        reasoning_tokens=most_reasoning,
        seconds=seconds,
        forecast=estimate,
        basis=f"if an answer takes {_SECONDS:g} s and {at_once} prompts are under way at once",
        too_long=too_long_message(study, work, settings.window or 0) if work.too_long else None,
        example=next(iter(sample_prompts(study, plan.places[:1], scope)), None),
        cost=cost,
        cost_if_reasoning=highest if most_reasoning and estimate is None else None,
        notes=(*unprompted_note(study, metric, settings.constructs), *later_steps_note(metric)),
    )


@dataclass(frozen=True)
class ItemPreview(Result):
    """The prompts about probes or pairs that a call would ask under the same settings."""

    run: str | None
    """The run that it would most likely continue; None: it would begin one."""
    planned: ItemCounts
    prompt_tokens: int
    """An estimate, at four bytes a token."""
    cost: float | None
    cost_if_reasoning: float | None
    """The largest cost if the model reasons before each answer."""
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the preview as lines of text."""
        lines = [*self.planned.lines(self.run), f"Prompt tokens: about {self.prompt_tokens:,}"]
        if self.planned.pairs:
            run = f"continue the run {self.run!r}" if self.run else "begin a run"
            lines.insert(0, f"It would {run}.")
        lines += cost_lines(self.cost, self.cost_if_reasoning)
        return [*lines, *self.notes, _NOTHING_SENT]


def preview_items(
    study: Study,
    settings: JudgeSettings,
    scope: Scope,
    items: Items,
    run: tuple[int, str] | None,
) -> ItemPreview:
    """Return what a call on items would ask; `run` is the key and name of its run, if any."""
    plan, ready = _plan(study, settings, scope, run, items)
    work = survey(plan, ready, limit=settings.limit)
    tokens, answers = ready.tokens.per_byte * work.now_bytes, work.now_answer_tokens
    highest = settings.cost(tokens, answers + work.now.total() * settings.tokens_of_reasoning)
    return ItemPreview(
        run=run and run[1],
        planned=item_counts(plan, work),
        prompt_tokens=round(tokens),
        cost=settings.cost(tokens, answers),
        cost_if_reasoning=highest if settings.tokens_of_reasoning else None,
        notes=(
            *later_steps_note(scope.metric),
            *([NOT_READ] if getattr(settings, "answers", ()) else []),
        ),
    )


def _plan(
    study: Study,
    settings: JudgeSettings,
    scope: Scope,
    run: tuple[int, str] | None,
    items: Items = ALL_RESPONSES,
) -> tuple[CallPlan, Ready]:
    """Return the plan of a call, and what is known of its engine before it is started."""
    prompts = scope.metric.prompts
    answer_tokens = settings.max_tokens or (prompts.max_tokens if prompts else 0)
    conditions = Conditions(settings.engine, settings.model or "")
    ready = Ready(conditions, TokenCount(), settings.window, answer_tokens)
    order = items.places(places(study, settings.systems))
    return CallPlan(study, scope, order, run and run[0], items), ready


@dataclass(frozen=True)
class MetricsPreview(Result):
    """What `judge_metrics` would ask under the same settings."""

    metrics: dict[str, Preview]
    forecast: SuiteForecast
    """Of all metrics together, by step."""
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the preview as lines of text."""
        lines = []
        for key, each in self.metrics.items():
            run = f"continues the run {each.run!r}" if each.run else "begins a run"
            now = sum(each.prompts.values())
            lines.append(f"{key}: {run}; {counted(now, 'prompt')} can be asked now.")
            lines += [f"  {line}" for line in each.resolved_lines()]
            lines += [each.too_long] if each.too_long else []
        lines += [*self.forecast.lines(), *self.notes]
        return [*lines, _NOTHING_SENT]


def preview_metrics(study: Study, settings: JudgeSettings) -> MetricsPreview:
    """Return what several metrics would ask, each prompt that they share counted once.

    Raises
    ------
    StudyError
        As `judge_metrics` does for settings and study.
    """
    without = {"answers": ()} if getattr(settings, "answers", ()) else {}
    each: list[JudgeSettings] = []
    runs: list[int | None] = []
    previews: dict[str, Preview] = {}
    for one, metric in fitting_metrics(study, settings):
        each.append(one)
        found = likely_run(study, one, metric)
        runs.append(found and found[0])
        # Metrics of a call share their files, and later steps depend on answers.
        previews[metric.key] = preview(study, one.model_copy(update=without))
    notes = (NOT_READ,) if without else ()
    return MetricsPreview(previews, forecast_metrics(study, each, runs), notes)


def _counted_answers(plan: CallPlan, run_id: int, ready: Ready) -> list[CountedAnswer]:
    """Return the answers of a run that have counts of tokens, with the lengths of the prompts."""
    first = replace(plan, scope=replace(plan.scope, retry_unparsed=False), run_id=None)
    lengths = first.sizes(replace(ready, window=None))
    names = ("construct_key", "repeat", "response_id", *USAGE_COLUMNS)
    of_run = (judgments.c.run_id == run_id, judgments.c.attempt == 1)
    statement = select(*(judgments.c[name] for name in names)).order_by(judgments.c.id)
    with plan.study.read() as connection:
        rows = connection.execute(
            statement.where(*of_run, judgments.c.prompt_tokens.is_not(None))
        ).all()
    answers = []
    for construct, repeat, response, *numbers in rows:
        length = lengths.get(PromptName(construct, repeat, response))
        if length is not None:
            usage = dict(zip(USAGE_COLUMNS, numbers, strict=True))
            answers.append(CountedAnswer(length, Answer(None, **usage)))
    return answers


def _wall_time(study: Study, run_id: int, answers: int) -> float | None:
    """Return the seconds that a number of answers took in the run's calls; None: not known."""
    with study.read() as connection:
        total = account(calls_of(connection, run_id))
    return total.seconds / total.answered * answers if total.answered else None
