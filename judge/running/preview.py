"""What a run would ask, without a single call."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import func, select

from judge.engines.engine import Ready, TokenCount
from judge.metrics.registry import load_metric
from judge.protocol.conditions import Conditions
from judge.protocol.exchange import TOKENS, Answer
from judge.running.calls import account, calls_of
from judge.running.forecast import CountedAnswer, Projection, project
from judge.running.pages import Place, places
from judge.running.plan import sample_prompts, survey, too_long
from judge.running.prompt_sample import Name, sizes
from judge.running.runs import likely_run
from judge.running.scope import (
    Scope,
    check_scales,
    later_steps_note,
    run_scope,
    select_constructs,
    unprompted_note,
)
from judge.running.text_scores import check_text_metrics, text_metrics
from judge.settings import JudgeSettings
from study.schema import Judgment, table
from study.study import Study

# An endpoint of a provider answers a prompt of a few thousand tokens in about this time.
_SECONDS = 1.0
# And an engine without a limit works on about so many prompts.
_AT_ONCE = 64


@dataclass(frozen=True)
class Preview:
    """What `judge_study` would ask under the same settings."""

    run: str | None
    """The run that it would most likely go on with; None: it would begin one."""
    prompts: dict[str, int]
    """Prompts to ask, by construct."""
    left: int
    """Prompts that `limit` leaves for later."""
    settled: dict[str, int]
    """Judgments that need no call, by what settles them."""
    prompt_tokens: int
    """An estimate."""
    seconds: float
    """An estimate; `basis` says on what."""
    projection: Projection | None
    """From what the run has counted; None: nothing yet, and tokens are bytes by four."""
    basis: str
    too_long: str | None
    """Which prompts exceed the window; None: none does, or no window is known."""
    example: str | None
    """The first prompts of the study, as it would be sent."""
    cost: float | None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the preview as values that JSON can hold."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the preview as lines of text."""
        count = sum(self.prompts.values())
        by = ", ".join(f"{key} {n}" for key, n in self.prompts.items())
        lines = [
            f"It would go on with the run {self.run!r}." if self.run else "It would begin a run.",
            f"Prompts to ask: {count}" + (f" ({by})" if by else ""),
        ]
        lines += self._from_counts() if self.projection else self._by_rule()
        if self.left:
            lines.append(f"Left for later by --limit: {self.left} prompts")
        lines += [f"Without a call: {n} {why}" for why, n in self.settled.items()]
        lines += list(self.notes)
        if self.too_long:
            lines.append(self.too_long)
        return [*lines, "Nothing was asked, and nothing was stored."]

    def _by_rule(self) -> list[str]:
        lines = [
            f"Prompt tokens: about {self.prompt_tokens:,} (at four bytes each)",
            f"Time: about {_time(self.seconds)} ({self.basis})",
        ]
        if self.cost is not None:
            lines.append(f"Cost: about {self.cost:,.2f}")
        return lines

    def _from_counts(self) -> list[str]:
        assert self.projection is not None  # noqa: S101  (the caller looked)
        return [
            *self.projection.lines(),
            "  As if those that were answered so far were a random sample; --estimate draws one.",
        ]


def preview(study: Study, settings: JudgeSettings) -> Preview:
    """Return what a run would ask: prompts, tokens and time, without a call.

    Tokens are estimated from the prompts' length: as the run has counted them so far, or at four
    bytes a token; time from the pace of the run so far. Prompts are held against the window only
    where `settings.window` gives it.

    Raises
    ------
    StudyError
        As `judge_study` does for settings and study.
    """
    metric = load_metric(settings.metric, settings.prompts, study.folder)
    constructs = select_constructs(study, metric, settings.constructs)
    check_text_metrics(study, text_metrics(settings.text_metrics), constructs)
    order = places(study, settings.systems)
    held = likely_run(study, settings)
    check_scales(study, metric, constructs, settings.name or settings.model or "")
    scope = run_scope(study, settings, metric, constructs)
    answer_tokens = settings.max_tokens or (metric.prompts.max_tokens if metric.prompts else 0)
    ready = Ready(
        Conditions(settings.engine, settings.model or ""),
        TokenCount(),
        settings.window,
        answer_tokens,
    )
    run_id, name = held if held else (None, None)
    found = survey(study, order, scope, run_id, ready, limit=settings.limit)
    asked = found.now.total()
    tokens = ready.tokens.per_byte * found.now_bytes
    pace, basis = _pace(study, run_id, settings)
    seconds, paid = asked * pace, settings.cost(tokens, asked * answer_tokens)
    projection = None
    if run_id is not None and asked and metric.single_prompt:
        told = _counted(study, order, scope, run_id, ready)
        wall = _wall(study, run_id, len(told))
        projection = project(
            told, asked, found.now_bytes, settings, wall=wall, at_once=settings.at_once
        )
    if projection is not None:
        tokens = projection.tokens["prompt"].estimate
        paid = None if projection.cost is None else projection.cost.estimate
        seconds = seconds if projection.seconds is None else projection.seconds.estimate
    example = next(iter(sample_prompts(study, order[:1], scope)), None)
    return Preview(
        run=name,
        prompts=dict(found.now),
        left=found.prompts.total() - asked,
        settled=dict(found.resolved),
        prompt_tokens=round(tokens),
        seconds=seconds,
        projection=projection,
        basis=basis,
        too_long=too_long(study, found, settings.window or 0) if found.too_long else None,
        example=example,
        cost=paid,
        notes=(*unprompted_note(study, metric, settings.constructs), *later_steps_note(metric)),
    )


def _counted(
    study: Study, order: Sequence[Place], scope: Scope, run_id: int, ready: Ready
) -> list[CountedAnswer]:
    """Return the prompts that the run has counted answers to, with their lengths."""
    every = replace(scope, retry_unparsed=False)
    lengths = sizes(study, order, every, None, replace(ready, window=None))
    j = table(Judgment)
    counts = [j.c[f"{name}_tokens"] for name in TOKENS]
    with study.read() as connection:
        rows = connection.execute(
            select(j.c.construct_key, j.c.repeat, j.c.response_id, j.c.milliseconds, *counts)
            .where(j.c.run_id == run_id, j.c.attempt == 1, j.c.prompt_tokens.is_not(None))
            .order_by(j.c.id)
        ).all()
    found = []
    for construct, repeat, response, milliseconds, *tokens in rows:
        length = lengths.get(Name(construct, repeat, response))
        if length is not None:
            told = {f"{n}_tokens": number for n, number in zip(TOKENS, tokens, strict=True)}
            found.append(CountedAnswer(length, Answer(None, milliseconds=milliseconds, **told)))
    return found


def _wall(study: Study, run_id: int, answers: int) -> float | None:
    """Return the seconds that so many answers took by the run's calls; None: none is known."""
    with study.read() as connection:
        total = account(calls_of(connection, run_id))
    return total.seconds / total.answered * answers if total.answered else None


def _pace(study: Study, run_id: int | None, settings: JudgeSettings) -> tuple[float, str]:
    """Return the seconds a prompt takes, and how that is known."""
    at_once = settings.at_once or _AT_ONCE
    if run_id is not None:
        j = table(Judgment)
        with study.read() as connection:
            mean, count = connection.execute(
                select(func.avg(j.c.milliseconds), func.count(j.c.milliseconds)).where(
                    j.c.run_id == run_id
                )
            ).one()
        if count:
            seconds = float(mean) / 1000
            return (
                seconds / at_once,
                f"the run's {count} answers so far took {seconds:.2f} s each, {at_once} at once",
            )
    return (
        _SECONDS / at_once,
        f"if an answer takes {_SECONDS:g} s and {at_once} are under way at once",
    )


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
