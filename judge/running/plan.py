"""What is to be done, before it is begun; and the prompts, one after the other."""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace

from judge.engines.engine import Ready
from judge.protocol.answer import TOO_LONG
from judge.protocol.request import Request
from judge.running.pages import Place, pages
from judge.running.prompt_sample import Name, name_of
from judge.running.work_items import Asked, Contexts, Scope, Settled, parts, request, work
from study.facts.response_rows import current_responses
from study.study import Study

_SAMPLE = 12


@dataclass
class Survey:
    """What is to be done before it is begun."""

    prompts: Counter[str]
    """Prompts to ask, by construct."""
    judgments: int
    """Judgments that these prompts make."""
    now: Counter[str]
    """Of these, the prompts that --limit lets through, by construct."""
    now_bytes: int
    too_long: list[tuple[int, Settled]]
    """Judgments whose prompt does not fit the window, with its estimated tokens."""
    still_too_long: int
    """Judgments that an earlier call left out, and that still do not fit."""
    settled: Counter[str]
    """Judgments that need no call, by what settles them."""


def survey(
    study: Study,
    order: Sequence[Place],
    scope: Scope,
    run_id: int | None,
    ready: Ready,
    settle: Callable[[list[Settled]], object] | None = None,
    limit: int | None = None,
) -> Survey:
    """Go once through all that is to be done, reading passages only where tokens are counted.

    Judgments that need no call are handed to `settle`, some at a time.
    """
    found = Survey(Counter(), 0, Counter(), 0, [], 0, Counter())
    for constructs in scope.passes():
        contexts = Contexts(scope.version, scope.shuffle)
        for page in pages(study, order, run_id, texts=ready.count is not None):
            settled: list[Settled] = []
            for item in work(page, scope, constructs):
                if isinstance(item, Settled):
                    settled.append(item)
                    why = item.missing_reason or item.rule or "shared_prompt"
                    found.settled[why] += 1
                    continue
                size = item.size(scope.version)
                if not _fits(ready, item, scope, contexts):
                    tokens = ready.tokens.estimate(size)
                    new = _left_out(item)
                    found.too_long += [(round(tokens), left_out) for left_out in new]
                    found.still_too_long += len(item.contents) - len(new)
                    continue
                found.prompts[item.construct_key] += 1
                found.judgments += len(item.contents)
                if limit is None or found.now.total() < limit:
                    found.now[item.construct_key] += 1
                    found.now_bytes += size
            if settle is not None and settled:
                settle(settled)
    return found


def requests(
    study: Study,
    order: Sequence[Place],
    scope: Scope,
    run_id: int,
    ready: Ready,
    chosen: Container[Name] | None = None,
) -> Iterator[Request]:
    """Yield the prompts to ask that fit, those of one context side by side.

    QR, which shows no passages, comes in a pass of its own. `chosen` leaves all others out.
    """
    for constructs in scope.passes():
        contexts = Contexts(scope.version, scope.shuffle)
        for page in pages(study, order, run_id, texts=True):
            for item in work(page, scope, constructs):
                if not isinstance(item, Asked):
                    continue
                if chosen is not None and name_of(item) not in chosen:
                    continue
                if _fits(ready, item, scope, contexts):
                    yield request(item, scope.version, contexts)


def _fits(ready: Ready, item: Asked, scope: Scope, contexts: Contexts) -> bool:
    return ready.fits(item.size(scope.version), lambda: parts(item, scope.version, contexts))


def sample_prompts(study: Study, order: Sequence[Place], scope: Scope) -> list[str]:
    """Return some prompts, spread over the study, for an engine to try itself on."""
    step = max(1, sum(place.wanted for place in order) // _SAMPLE)
    # A response without passages has only prompts of the second pass.
    keys = [constructs[0] for constructs in scope.passes()]
    contexts = Contexts(scope.version, scope.shuffle)
    fresh = replace(scope, constructs=tuple(keys), repeats=1, retry_unparsed=False)
    found = []
    for place in [place for place in order if place.wanted][::step][:_SAMPLE]:
        for page in pages(study, [place], None, texts=True):
            items = (item for key in keys for item in work(page, fresh, (key,)))
            asked = next((item for item in items if isinstance(item, Asked)), None)
            if asked is not None:
                found.append(request(asked, scope.version, contexts).prompt)
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


def _left_out(asked: Asked) -> list[Settled]:
    # What an earlier call left out, or the server cut, is stored as such already.
    return [
        Settled(content.id, asked.construct_key, asked.repeat, attempt, missing_reason=TOO_LONG)
        for content, attempt in zip(asked.contents, asked.attempts, strict=True)
        if attempt == 1
    ]
