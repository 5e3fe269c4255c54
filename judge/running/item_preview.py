"""Preview of a call on probes or pairs: what it would ask, without sending a prompt."""

from dataclasses import dataclass

from judge.engines.engine import Ready, TokenCount
from judge.engines.files.files_engine import NOT_READ
from judge.protocol.conditions import Conditions
from judge.run_settings import JudgeSettings
from judge.running.item_counts import ItemCounts, item_counts
from judge.running.pages import places
from judge.running.plan import CallPlan
from judge.running.preview import cost_lines
from judge.running.remaining_work import Items
from judge.running.scope import Scope, later_steps_note
from judge.running.survey import survey
from judge.text import Result
from study.study import Study


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
        return [*lines, *self.notes, "No prompt was sent and nothing was written."]


def preview_items(
    study: Study,
    settings: JudgeSettings,
    scope: Scope,
    items: Items,
    run: tuple[int, str] | None,
) -> ItemPreview:
    """Return what a call on items would ask; `run` is the key and name of its run, if any."""
    prompts = scope.metric.prompts
    answer_tokens = settings.max_tokens or (prompts.max_tokens if prompts else 0)
    conditions = Conditions(settings.engine, settings.model or "")
    ready = Ready(conditions, TokenCount(), settings.window, answer_tokens)
    run_id, name = run or (None, None)
    plan = CallPlan(study, scope, items.places(places(study, settings.systems)), run_id, items)
    work = survey(plan, ready, limit=settings.limit)
    count = work.now.total()
    tokens = ready.tokens.per_byte * work.now_bytes
    reasoning = settings.tokens_of_reasoning
    return ItemPreview(
        run=name,
        planned=item_counts(plan, work),
        prompt_tokens=round(tokens),
        cost=settings.cost(tokens, count * answer_tokens),
        cost_if_reasoning=(
            settings.cost(tokens, count * (answer_tokens + reasoning)) if reasoning else None
        ),
        notes=(
            *later_steps_note(scope.metric),
            *([NOT_READ] if getattr(settings, "answers", ()) else []),
        ),
    )
