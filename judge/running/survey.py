"""The work of a call, counted before it begins."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from judge.engines.engine import Ready
from judge.protocol.exchange import TOO_LONG, Request
from judge.running.metric_requests import PlannedPrompt, flags_of
from judge.running.plan import CallPlan, Compare
from judge.running.remaining_work import SHARED, Pending, Resolved, Skipped
from study.facts.current_responses import current_responses
from study.schema import DRIFT
from study.study import Study
from study.text import counted

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
    """Limits of the tokens of answers now, of the prompts whose step has a limit of its own."""
    now_with_own_limit: int = 0
    """Number of these prompts."""
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
            if planned.answer_limit is not None:
                self.now_answer_tokens += planned.answer_limit
                self.now_with_own_limit += 1


def survey(
    plan: CallPlan,
    ready: Ready,
    store: Callable[[list[Resolved]], object] | None = None,
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
            if store is not None and len(batch) >= _BATCH:
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
                tokens = round(ready.tokens.estimate(planned.size))
                counts.too_long += [(tokens, item) for item in _too_long(planned)]
            continue
        if is_first:
            counts.judgments += len(pending.contents)
        counts.add(planned, limit, answers)
    if store is not None and batch:
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


def _too_long(planned: PlannedPrompt) -> list[Resolved]:
    # Later attempts: an earlier call stored the item as missing already.
    pending = planned.pending
    flags: tuple[str, ...] = ()
    further = {}
    if not pending.item.is_response:
        flags = flags_of(pending, planned.texts)
        further = {"prompt_hash": planned.prompt.hash}
    return [
        Resolved(
            content.id,
            pending.construct_key,
            pending.repeat,
            attempt,
            missing_reason=TOO_LONG,
            flags=flags,
            item=pending.item,
            further=further,
        )
        for content, attempt in zip(pending.contents, pending.attempts, strict=True)
        if attempt == 1
    ]
