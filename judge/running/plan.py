"""The plan of a call: what is to be asked, counted in advance, and the prompts in their order."""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from judge.engines.engine import Ready
from judge.protocol.exchange import TOO_LONG
from judge.running.metric_requests import (
    Compare,
    MetricRequest,
    PlannedPrompt,
    PromptName,
    planned_prompts,
    prompt_name,
)
from judge.running.pages import Place
from judge.running.remaining_work import SHARED, Pending, Resolved
from judge.running.scope import Scope
from study.facts.current_responses import current_responses
from study.study import Study

_SAMPLE = 12
# Judgments that are stored together.
_BATCH = 240


@dataclass
class Survey:
    """The work of a call, counted before it begins."""

    prompts: Counter[str] = field(default_factory=Counter)
    """Prompts to ask, by construct. Later steps of a metric depend on answers and are not
    counted."""
    judgments: int = 0
    """Judgments that wait for these prompts."""
    now: Counter[str] = field(default_factory=Counter)
    """The prompts up to --limit, by construct."""
    now_bytes: int = 0
    now_answer_tokens: int = 0
    """Limits of the tokens of answers now, of the prompts whose step has a limit of its own."""
    now_with_own_limit: int = 0
    """Number of these prompts."""
    too_long: list[tuple[int, Resolved]] = field(default_factory=list)
    """Judgments whose prompt exceeds the window, with its estimated tokens."""
    resolved: Counter[str] = field(default_factory=Counter)
    """Judgments that need no further answer, by their missing reason or rule."""


def survey(
    study: Study,
    order: Sequence[Place],
    scope: Scope,
    run_id: int | None,
    ready: Ready,
    store: Callable[[list[Resolved]], object] | None = None,
    limit: int | None = None,
    compare: Compare | None = None,
) -> Survey:
    """Count the work of a call, reading passages only where they are needed.

    Judgments that need no further answer are passed to `store` in batches, and comparisons of texts
    to `compare`.
    """
    counts = Survey()
    batch: list[Resolved] = []
    query, counted = -1, set[tuple[str, int, int]]()
    planned = planned_prompts(
        study, order, scope, run_id, texts=ready.count is not None, compare=compare
    )
    for item in planned:
        if isinstance(item, Resolved):
            batch.append(item)
            counts.resolved[item.missing_reason or item.rule or SHARED] += 1
            if store is not None and len(batch) >= _BATCH:
                store(batch)
                batch = []
            continue
        if isinstance(item, Pending):
            counts.judgments += len(item.contents)
            continue
        key = item.item.construct_key
        first = item.item.contents[0]
        if first.query != query:
            query, counted = first.query, set()
        # The judgments of an evaluation are counted at the first of its prompts.
        evaluation = (key, item.item.repeat, first.id)
        is_first = evaluation not in counted
        counted.add(evaluation)
        if not item.fits(ready):
            if is_first and not item.item.for_reparse:
                tokens = round(ready.tokens.estimate(item.size))
                counts.too_long += [(tokens, judgment) for judgment in _too_long(item)]
            continue
        counts.prompts[key] += 1
        if is_first:
            counts.judgments += len(item.item.contents)
        if limit is None or counts.now.total() < limit:
            counts.now[key] += 1
            counts.now_bytes += item.size
            if item.answer_limit is not None:
                counts.now_answer_tokens += item.answer_limit
                counts.now_with_own_limit += 1
    if store is not None and batch:
        store(batch)
    return counts


def requests(
    study: Study,
    order: Sequence[Place],
    scope: Scope,
    run_id: int,
    ready: Ready,
    sample: Container[PromptName] | None = None,
) -> Iterator[MetricRequest]:
    """Yield the prompts to ask that fit the window; those of one context follow each other.

    Constructs whose prompts show no passages, such as QR, are a separate pass. With a `sample`,
    only its prompts are yielded.
    """
    for item in planned_prompts(study, order, scope, run_id, texts=True):
        if not isinstance(item, PlannedPrompt):
            continue
        if sample is not None and prompt_name(item) not in sample:
            continue
        if item.fits(ready):
            yield item.request()


def sizes(
    study: Study, order: Sequence[Place], scope: Scope, run_id: int | None, ready: Ready
) -> dict[PromptName, int]:
    """Return the length of each prompt that a run can ask now and that fits the window.

    In tokens where the engine counts them, else in bytes. Without a run, all its first prompts.
    """
    planned = planned_prompts(study, order, scope, run_id, texts=ready.count is not None)
    return {
        prompt_name(item): item.length(ready)
        for item in planned
        if isinstance(item, PlannedPrompt) and item.fits(ready)
    }


def draw_prompts(prompts: dict[PromptName, int], number: int, seed: int) -> frozenset[PromptName]:
    """Draw prompts at equal steps through the constructs, and through the lengths within each.

    Every prompt has the same probability (systematic sampling with a random start: Cochran 1977,
    Sampling Techniques, chapter 8); each construct has its share to within one prompt. If there
    are fewer prompts than `number`, all are drawn.
    """
    if len(prompts) <= number:
        return frozenset(prompts)
    order = sorted(prompts, key=lambda name: (name.construct_key, prompts[name], name))
    step = len(order) / number
    start = Random(seed).random() * step  # noqa: S311  (not for cryptography)
    return frozenset(order[int(start + k * step)] for k in range(number))


def draw_queries(order: Sequence[Place], number: int, seed: int) -> frozenset[int]:
    """Draw queries (database keys) with selected responses; all if there are no more.

    The draw depends only on the seed, so that all metrics and calls have the same sample.
    """
    queries = sorted({place.query for place in order if place.selected})
    if len(queries) <= number:
        return frozenset(queries)
    return frozenset(Random(seed).sample(queries, number))  # noqa: S311  (not for cryptography)


def sample_prompts(study: Study, order: Sequence[Place], scope: Scope) -> list[str]:
    """Return some prompts, spread over the study, for an engine to test itself on."""
    selected = [place for place in order if place.selected]
    step = max(1, len(selected) // _SAMPLE)
    # A response without passages has only prompts of the second pass.
    keys = [constructs[0] for constructs in scope.passes()]
    fresh = replace(scope, constructs=tuple(keys), repeats=1, retry_unparsed=False)
    prompts = []
    for place in selected[::step][:_SAMPLE]:
        planned = planned_prompts(study, [place], fresh, None, texts=True)
        first = next((item for item in planned if isinstance(item, PlannedPrompt)), None)
        if first is not None:
            prompts.append(first.prompt.text)
    return prompts


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
            f"{len(longest)} judgments need prompts beyond the window of {window} tokens; "
            "nothing was asked:",
            *lines,
            "Use a model with a larger window, correct the window with --window, or judge the "
            "others with --skip-too-long, which stores these as missing.",
        ]
    )


def _too_long(planned: PlannedPrompt) -> list[Resolved]:
    # Later attempts: an earlier call stored the judgment as missing already.
    item = planned.item
    return [
        Resolved(content.id, item.construct_key, item.repeat, attempt, missing_reason=TOO_LONG)
        for content, attempt in zip(item.contents, item.attempts, strict=True)
        if attempt == 1
    ]
