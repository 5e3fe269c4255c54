"""The prompts about probes or pairs that are still to be asked, as counts and as lines of text."""

from collections import Counter
from dataclasses import dataclass, field

from judge.running.plan import CallPlan
from judge.running.survey import Survey
from study.text import counted

FEW_QUERIES = 30
"""With fewer queries, intervals of the shifts of probes are wide."""


@dataclass(frozen=True)
class ItemCounts:
    """The prompts about probes or pairs that are still to be asked."""

    prompts: dict[str, int]
    """Of probes by kind, two of each pair and repeat by construct."""
    prompt_bytes: int
    """Of the prompts within --limit."""
    queries: int
    too_long: int
    responses: int = 0
    """Responses that are probed."""
    not_alterable: dict[str, int] = field(default_factory=dict)
    """Prompts that a probe cannot alter, by probe: one sentence, one passage, ..."""
    asked_before: int = 0
    pairs: int = 0
    """Pairs of responses that are compared."""
    without: dict[str, int] = field(default_factory=dict)
    """Prompts that lack a field which the construct may see, by field: passages, reference."""

    def lines(self, run: str | None) -> list[str]:
        """Return the counts as lines of text."""
        queries = counted(self.queries, "query", "queries")
        if self.responses:
            lines = [
                f"Run {run!r}: {counted(self.responses, 'response')} to {queries} to be probed."
            ]
        else:
            lines = [f"Pairs to compare: {self.pairs:,} of {queries}, each in both orders"]
        by_group = ", ".join(f"{group} {n}" for group, n in self.prompts.items())
        lines.append(
            f"Prompts to ask: {sum(self.prompts.values())}" + (f" ({by_group})" if by_group else "")
        )
        if self.responses and self.queries < FEW_QUERIES:
            lines.append(
                f"Fewer than {FEW_QUERIES} queries: intervals will be wide. Judge more responses, "
                "or choose a larger --sample."
            )
        if self.asked_before:
            lines.append(f"Asked before: {self.asked_before}")
        if self.not_alterable:
            counts = ", ".join(f"{n} {probe}" for probe, n in self.not_alterable.items())
            lines.append(f"Not altered, since there is nothing to alter: {counts}")
        lines += [
            f"Compared without {missing}, since there is none: {counted(n, 'prompt')}"
            for missing, n in self.without.items()
        ]
        if self.too_long:
            too_long = counted(self.too_long, "prompt")
            lines.append(f"Longer than the window, to be stored as missing: {too_long}.")
        return lines


def item_counts(plan: CallPlan, work: Survey) -> ItemCounts:
    """Return the counts of a survey of probes or pairs."""
    if plan.items.kind == "pairs":
        return ItemCounts(
            prompts=dict(work.prompts),
            queries=len(work.queries),
            pairs=len(work.pairs),
            without=dict(work.without),
            prompt_bytes=work.now_bytes,
            too_long=len(work.too_long),
        )
    probed = [place for place in plan.places if place.selected]
    not_alterable: Counter[str] = Counter()
    asked_before = 0
    for skipped, number in work.skipped.items():
        if skipped.asked_before:
            asked_before += number
        else:
            not_alterable[skipped.probe] += number
    return ItemCounts(
        prompts=dict(work.kinds),
        queries=len({place.query for place in probed}),
        responses=len(probed),
        not_alterable=dict(not_alterable),
        asked_before=asked_before,
        prompt_bytes=work.now_bytes,
        too_long=len(work.too_long),
    )
