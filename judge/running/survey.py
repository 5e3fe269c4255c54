"""The work of a call, counted before it begins."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from judge.engines.engine import Ready
from judge.protocol.exchange import TOO_LONG, Request
from judge.running.items import SHARED, Pending, Resolved, Skipped
from judge.running.metric_requests import PlannedPrompt, flags_of
from judge.running.plan import CallPlan, Compare
from study.facts.current_responses import current_responses
from study.schema import DRIFT
from study.study import Study
from study.text import counted

FEW_QUERIES = 30
"""With fewer queries, intervals of the shifts of probes are wide."""

# Answers that are stored together.
_BATCH = 240


@dataclass
class Survey:
    """The work of a call, counted before it begins."""

    prompts: Counter[str] = field(default_factory=Counter)
    """Prompts to ask, by construct. Later steps of a metric depend on answers and are not
    counted."""
    judgments: int = 0
    """Items that wait for these prompts, such as judgments of a run."""
    now: Counter[str] = field(default_factory=Counter)
    """The prompts up to --limit, by construct."""
    answered: int = 0
    """The prompts up to --limit whose answer is at hand; `now` lacks them."""
    now_bytes: int = 0
    now_answer_tokens: int = 0
    """The most that the answers to these prompts may have."""
    too_long: list[tuple[int, Resolved]] = field(default_factory=list)
    """Items whose prompt exceeds the window, with its estimated tokens."""
    resolved: Counter[str] = field(default_factory=Counter)
    """Items that need no further answer, by their missing reason, rule or value."""
    kinds: Counter[str] = field(default_factory=Counter)
    """The prompts of probes, by kind of probe."""
    skipped: Counter[Skipped] = field(default_factory=Counter)
    pairs: set[frozenset[int]] = field(default_factory=set)
    """Pairs of responses (database keys) that are compared."""
    queries: set[int] = field(default_factory=set)
    """Queries (database keys) of the prompts."""
    without: Counter[str] = field(default_factory=Counter)
    """Prompts of pairs without a field that the construct may see, by field."""

    def add(
        self,
        planned: PlannedPrompt,
        ready: Ready,
        limit: int | None,
        answers: Callable[[Request], bool] | None = None,
    ) -> None:
        """Count a prompt that is to be asked."""
        pending, item = planned.pending, planned.pending.item
        first, key = pending.contents[0], pending.construct_key
        self.prompts[key] += 1
        self.queries.add(first.query)
        if item.probe_name is not None:
            self.kinds[item.probe.kind if item.probe else DRIFT] += 1
        if item.second is not None:
            self.pairs.add(frozenset((first.id, item.second.id)))
            reads = planned.texts.metric.reads(key)
            if "reference" in reads and first.reference is None:
                self.without["a reference answer"] += 1
            if "context" in reads and not (first.passages and item.second.passages):
                self.without["passages of a response"] += 1
        if limit is None or self.now.total() + self.answered < limit:
            if answers is not None and answers(planned.request()):
                self.answered += 1
                return
            self.now[key] += 1
            self.now_bytes += planned.size
            own = planned.answer_limit
            self.now_answer_tokens += ready.answer_tokens if own is None else own

    def add_too_long(self, planned: PlannedPrompt, ready: Ready) -> None:
        """Count the items of a prompt that exceeds the window."""
        known: dict[str, Any] = {"missing_reason": TOO_LONG}
        if not planned.pending.item.is_response:
            known["flags"] = flags_of(planned.pending, planned.texts)
            known["further"] = {"prompt_hash": planned.prompt.hash}
        tokens = round(ready.tokens.estimate(planned.size))
        # Later attempts: an earlier call stored the item as missing already.
        items = planned.pending.resolved(**known)
        self.too_long += [(tokens, item) for item in items if item.attempt == 1]


def survey(
    plan: CallPlan,
    ready: Ready,
    store: Callable[[list[Resolved]], object] = lambda _: None,
    limit: int | None = None,
    compare: Compare | None = None,
    answers: Callable[[Request], bool] | None = None,
) -> Survey:
    """Count the work of a call, reading passages only where they are needed.

    Items that need no further answer are passed to `store` in batches, and comparisons of texts
    to `compare`. `answers` tells whether the answer to a prompt is at hand.
    """
    counts = Survey()
    batch: list[Resolved] = []
    query, counted = -1, set[tuple[object, ...]]()
    for planned in plan.prompts(
        texts=ready.count is not None or answers is not None, compare=compare
    ):
        if isinstance(planned, Skipped):
            counts.skipped[planned] += 1
            continue
        if isinstance(planned, Resolved):
            batch.append(planned)
            counts.resolved[_reason(planned, plan.scope.metric.key)] += 1
            if len(batch) >= _BATCH:
                store(batch)
                batch = []
            continue
        if isinstance(planned, Pending):
            counts.judgments += len(planned.contents)
            continue
        pending = planned.pending
        first = pending.contents[0]
        if first.query != query:
            query, counted = first.query, set()
        # The items of an evaluation are counted at the first of its prompts.
        evaluation = (pending.construct_key, pending.repeat, first.id, pending.item.key)
        is_first = evaluation not in counted
        counted.add(evaluation)
        if not planned.fits(ready):
            if is_first and not pending.for_reparse:
                counts.add_too_long(planned, ready)
            continue
        if is_first:
            counts.judgments += len(pending.contents)
        counts.add(planned, ready, limit, answers)
    store(batch)
    return counts


def too_long_message(study: Study, work: Survey, window: int) -> str:
    """Return a message that lists the prompts that exceed the window, the longest first."""
    with study.read() as connection:
        ids = {response.id: response.response_id for response in current_responses(connection)[0]}
    longest = sorted(work.too_long, key=lambda item: -item[0])
    lines = [
        f"  {judgment.construct_key} of {ids[judgment.response]}: about {tokens} tokens"
        for tokens, judgment in longest[:10]
    ]
    if len(longest) > len(lines):
        lines.append(f"  and {len(longest) - len(lines)} more")
    return "\n".join(
        [
            f"{counted(len(longest), 'judgment needs', 'judgments need')} prompts beyond the "
            f"window of {window} tokens; nothing was asked:",
            *lines,
            "Use a model with a larger window, correct the window with --window, or judge the "
            "others with --skip-too-long, which stores these as missing.",
        ]
    )


def _reason(resolved: Resolved, metric: str) -> str:
    """Return why an item needs no further answer."""
    if resolved.missing_reason:
        return resolved.missing_reason
    if resolved.rule != metric or resolved.value is None:
        return resolved.rule or SHARED
    # Without an answer it follows from the texts.
    return f"value {resolved.value:g}" if resolved.parser_version is None else "stored answers"


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
    of_pairs = plan.items.kind == "pairs"
    probed = [] if of_pairs else [place for place in plan.places if place.selected]
    return ItemCounts(
        prompts=dict(work.prompts if of_pairs else work.kinds),
        prompt_bytes=work.now_bytes,
        queries=len(work.queries if of_pairs else {place.query for place in probed}),
        too_long=len(work.too_long),
        responses=len(probed),
        not_alterable={one.probe: n for one, n in work.skipped.items() if not one.asked_before},
        asked_before=sum(n for one, n in work.skipped.items() if one.asked_before),
        pairs=len(work.pairs),
        without=dict(work.without),
    )
