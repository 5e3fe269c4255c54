"""What is to be done, before it is begun; and the prompts, one after the other."""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace

from judge.engines.engine import Ready
from judge.protocol.exchange import TOO_LONG
from judge.running.metric_requests import MetricRequest, PlannedPrompt, planned_prompts
from judge.running.pages import Place
from judge.running.prompt_sample import Name, name_of
from judge.running.scope import Scope
from judge.running.work_items import SHARED, Pending, Resolved
from study.facts.current_responses import current_responses
from study.study import Study

_SAMPLE = 12
# Judgments that are stored together.
_TOGETHER = 240


@dataclass
class Survey:
    """What is to be done before it is begun."""

    prompts: Counter[str]
    """Prompts to ask, by construct. Further steps of a metric depend on the answers, and are not
    counted."""
    judgments: int
    """Judgments that wait for these prompts."""
    now: Counter[str]
    """Of these, the prompts that --limit lets through, by construct."""
    now_bytes: int
    too_long: list[tuple[int, Resolved]]
    """Judgments whose prompt does not fit the window, with its estimated tokens."""
    still_too_long: int
    """Judgments that an earlier call left out, and that still do not fit."""
    resolved: Counter[str]
    """Judgments that need no further answer, by what resolves them."""


def survey(
    study: Study,
    order: Sequence[Place],
    scope: Scope,
    run_id: int | None,
    ready: Ready,
    store: Callable[[list[Resolved]], object] | None = None,
    limit: int | None = None,
) -> Survey:
    """Go once through all that is to be done, reading passages only where they are needed.

    Judgments that need no further answer are handed to `store`, some at a time.
    """
    found = Survey(Counter(), 0, Counter(), 0, [], 0, Counter())
    ready_to_store: list[Resolved] = []
    waiting: tuple[str, int, int] | None = None
    for item in planned_prompts(study, order, scope, run_id, texts=ready.count is not None):
        if isinstance(item, Resolved):
            ready_to_store.append(item)
            found.resolved[item.missing_reason or item.rule or SHARED] += 1
            if store is not None and len(ready_to_store) >= _TOGETHER:
                store(ready_to_store)
                ready_to_store = []
            continue
        if isinstance(item, Pending):
            found.judgments += len(item.contents)
            continue
        key = item.item.construct_key
        # The prompts of one evaluation follow each other; its judgments are counted once.
        evaluation = (key, item.item.repeat, item.item.contents[0].id)
        if not item.fits(ready):
            tokens = ready.tokens.estimate(item.size)
            new = _left_out(item)
            if evaluation != waiting:
                found.too_long += [(round(tokens), left_out) for left_out in new]
                found.still_too_long += len(item.item.contents) - len(new)
            waiting = evaluation
            continue
        found.prompts[key] += 1
        found.judgments += len(item.item.contents) if evaluation != waiting else 0
        waiting = evaluation
        if limit is None or found.now.total() < limit:
            found.now[key] += 1
            found.now_bytes += item.size
    if store is not None and ready_to_store:
        store(ready_to_store)
    return found


def requests(
    study: Study,
    order: Sequence[Place],
    scope: Scope,
    run_id: int,
    ready: Ready,
    chosen: Container[Name] | None = None,
) -> Iterator[MetricRequest]:
    """Yield the prompts to ask that fit, those of one context side by side.

    Constructs whose prompts show no passages, such as QR, come in a pass of their own. `chosen`
    leaves all others out.
    """
    for item in planned_prompts(study, order, scope, run_id, texts=True):
        if not isinstance(item, PlannedPrompt):
            continue
        if chosen is not None and name_of(item) not in chosen:
            continue
        if item.fits(ready):
            yield item.request()


def sample_prompts(study: Study, order: Sequence[Place], scope: Scope) -> list[str]:
    """Return some prompts, spread over the study, for an engine to try itself on."""
    step = max(1, sum(place.selected for place in order) // _SAMPLE)
    # A response without passages has only prompts of the second pass.
    keys = [constructs[0] for constructs in scope.passes()]
    fresh = replace(scope, constructs=tuple(keys), repeats=1, retry_unparsed=False)
    found = []
    for place in [place for place in order if place.selected][::step][:_SAMPLE]:
        planned = planned_prompts(study, [place], fresh, None, texts=True)
        first = next((item for item in planned if isinstance(item, PlannedPrompt)), None)
        if first is not None:
            found.append(first.prompt.text)
    return found


def too_long(study: Study, found: Survey, window: int) -> str:
    """Return in words which prompts do not fit the window, the longest first."""
    with study.read() as connection:
        ids = {response.id: response.response_id for response in current_responses(connection)[0]}
    longest = sorted(found.too_long, key=lambda item: -item[0])
    named = [
        f"  {item.construct_key} of {ids[item.response]}: about {tokens} tokens"
        for tokens, item in longest[:10]
    ]
    if len(longest) > len(named):
        named.append(f"  and {len(longest) - len(named)} more")
    return "\n".join(
        [
            f"{len(longest)} judgments need prompts beyond the window of {window} tokens; "
            "nothing was asked:",
            *named,
            "Take a model with a larger window, say its window with --window if this one is wrong, "
            "or judge the others with --skip-too-long, which stores these as missing.",
        ]
    )


def _left_out(planned: PlannedPrompt) -> list[Resolved]:
    # What an earlier call left out, or the server cut, is stored as such already.
    item = planned.item
    return [
        Resolved(content.id, item.construct_key, item.repeat, attempt, missing_reason=TOO_LONG)
        for content, attempt in zip(item.contents, item.attempts, strict=True)
        if attempt == 1
    ]
