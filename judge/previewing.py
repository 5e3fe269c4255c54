"""What a run would ask, without a single call."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import func, select

from judge.ac_metrics import check_metrics
from judge.costs import cost
from judge.engines.engine import Ready
from judge.runs.run import Conditions, shuffle_of
from judge.schedule.choosing import check_scales, unprompted, wanted_constructs
from judge.schedule.content import places
from judge.schedule.survey import sample_prompts, survey, too_long
from judge.schedule.work import Scope
from judge.settings import JudgeSettings
from judge.tokens import TokenCount
from judge.versions import prompt_version
from study.campaign import Study
from study.nouns import JudgeRun, Judgment, table

# An endpoint of a provider answers a prompt of a few thousand tokens in about this time.
_SECONDS = 1.0


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
            f"Prompt tokens: about {self.prompt_tokens:,}",
            f"Time: about {_time(self.seconds)} ({self.basis})",
        ]
        if self.cost is not None:
            lines.append(f"Cost: about {self.cost:,.2f}")
        if self.left:
            lines.append(f"Left for later by --limit: {self.left} prompts")
        lines += [f"Without a call: {n} {why}" for why, n in self.settled.items()]
        lines += list(self.notes)
        if self.too_long:
            lines.append(self.too_long)
        return [*lines, "Nothing was asked, and nothing was stored."]


def preview(study: Study, settings: JudgeSettings) -> Preview:
    """Return what a run would ask: prompts, tokens and time, without a call.

    Tokens are estimated from the prompts' length, at four bytes a token, or as the run counted
    them so far; time from the pace of the run so far. Prompts are held against the window only
    where `settings.window` gives it.

    Raises
    ------
    StudyError
        As `judge_study` does for settings and study.
    """
    prompts = prompt_version(settings.prompts, study.folder)
    constructs = wanted_constructs(study, prompts, settings.constructs)
    check_metrics(study, settings.ac_metrics, constructs)
    order = places(study, settings.systems)
    held = likely_run(study, settings)
    check_scales(study, prompts, constructs, settings.name or settings.model or "")
    with study.read() as connection:
        versions = study.construct_versions(connection)
    scope = Scope(
        prompts,
        constructs,
        versions,
        settings.repeats,
        settings.retry_unparsed,
        settings.shuffle_passages,
    )
    answer_tokens = settings.max_tokens or prompts.max_tokens
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
    example = next(iter(sample_prompts(study, order[:1], scope)), None)
    return Preview(
        run=name,
        prompts=dict(found.now),
        left=found.prompts.total() - asked,
        settled=dict(found.settled),
        prompt_tokens=round(tokens),
        seconds=asked * pace,
        basis=basis,
        too_long=too_long(study, found, settings.window or 0) if found.too_long else None,
        example=example,
        cost=cost(settings, tokens, asked * answer_tokens),
        notes=unprompted(study, prompts, settings.constructs),
    )


def likely_run(study: Study, settings: JudgeSettings) -> tuple[int, str] | None:
    """Return the run that these settings most likely mean: without a probe it is not certain."""
    t = table(JudgeRun)
    statement = select(t.c.id, t.c.name, t.c.decoding).where(
        t.c.engine == settings.engine, t.c.prompt_version == settings.prompts
    )
    if settings.name is not None:
        statement = statement.where(t.c.name == settings.name)
    elif settings.model is not None:
        statement = statement.where(t.c.model == settings.model)
    if settings.addresses:
        statement = statement.where(t.c.endpoint.in_(settings.addresses))
    with study.read() as connection:
        rows = connection.execute(statement.order_by(t.c.id.desc())).all()
    rows = [row for row in rows if shuffle_of(dict(row._mapping)) == settings.shuffle_passages]
    return (int(rows[0].id), str(rows[0].name)) if rows else None


def _pace(study: Study, run_id: int | None, settings: JudgeSettings) -> tuple[float, str]:
    """Return the seconds a prompt takes, and how that is known."""
    at_once = settings.concurrency * max(1, len(settings.addresses))
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
