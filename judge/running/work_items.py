"""What some responses still lack: evaluations that need answers, and judgments that need none."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from judge.metrics.metric import Content, Metric
from judge.protocol.exchange import NO_PASSAGES, NO_REFERENCE, UNASKED
from judge.running.pages import ContentPage, Judged
from judge.running.scope import Scope
from study.schema import CONTROL_TOKENS, PROMPT_NOT_WHOLE, SUSPECTED

EMPTY_RESPONSE = "empty_response"
"""Rule of the value that a metric gives to every response without text."""
SHARED = "shared_prompt"
"""Flag of a judgment that rests on the answers asked for another response."""

FLAGS = {
    SUSPECTED: "Judged text with what may be an instruction to the judge (a suspicion, no more)",
    CONTROL_TOKENS: "Judged text with what may be control tokens of a chat template",
    SHARED: "The very prompt of another response, asked once",
}
"""What a flag of a judgment means."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A judgment that needs no further answer: its value or reason is known."""

    response: int
    construct_key: str
    repeat: int
    attempt: int
    value: float | None = None
    missing_reason: str | None = None
    rule: str | None = None
    copy_of: int | None = None
    """Judgment (database key) whose answer was given to the very same prompt."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """What the value is made of."""
    flags: tuple[str, ...] = ()
    read_by: str | None = None
    """Version of what read the answers; None where there was none to read."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An evaluation that needs answers: its construct, and the responses that share it."""

    construct_key: str
    repeat: int
    contents: tuple[Content, ...]
    """Alike in all that the metric reads."""
    attempts: tuple[int, ...]
    """For each of them, the number under which the judgment is stored."""
    again: bool = False
    """Whether every prompt is asked anew, since earlier answers had no value."""

    def resolved(
        self,
        value: float | None = None,
        missing_reason: str | None = None,
        rule: str | None = None,
    ) -> Iterator[Resolved]:
        """Yield the judgment of each response, made without an answer."""
        for content, attempt in zip(self.contents, self.attempts, strict=True):
            yield Resolved(
                content.id, self.construct_key, self.repeat, attempt, value, missing_reason, rule
            )


def work(
    page: ContentPage, scope: Scope, constructs: Sequence[str]
) -> Iterator[Resolved | Pending]:
    """Yield what the constructs of one pass still lack on a page, a group's prompts together."""
    done = _done(page.judged, scope)
    shows_context = any("context" in scope.metric.reads(key) for key in constructs)
    for group in _groups(page.contents, by_context=shows_context):
        for key in constructs:
            for repeat in range(scope.repeats):
                for alike in _alike(group, scope.metric):
                    yield from _of_response(alike, key, repeat, scope, done)


_Done = dict[tuple[int, str, int], list[Judged]]


def _done(judged: Iterable[Judged], scope: Scope) -> _Done:
    done: _Done = {}
    for row in judged:
        if row.construct_version == scope.versions.get(row.construct_key):
            done.setdefault((row.response, row.construct_key, row.repeat), []).append(row)
    return done


def _groups(contents: Sequence[Content], *, by_context: bool) -> Iterator[list[Content]]:
    """Yield the responses to each query, or to each query with one context, in their order."""
    if by_context:
        groups = groupby(contents, key=lambda content: (content.query, content.context_hash))
    else:
        groups = groupby(contents, key=lambda content: (content.query, b""))
    for _, group in groups:
        yield list(group)


def _alike(group: Sequence[Content], metric: Metric) -> list[list[Content]]:
    """Return the responses of a group by what is read of them: those with one text are alike."""
    found: dict[str, list[Content]] = {}
    for content in group:
        found.setdefault(metric.trimmed(content.text), []).append(content)
    return list(found.values())


def _of_response(
    alike: list[Content], key: str, repeat: int, scope: Scope, done: _Done
) -> Iterator[Resolved | Pending]:
    rows = {content.id: done.get((content.id, key, repeat), []) for content in alike}
    todo = [c for c in alike if c.selected and _is_to_do(rows[c.id], scope)]
    if not todo:
        return
    metric = scope.metric
    attempts = tuple(1 + max((row.attempt for row in rows[c.id]), default=0) for c in todo)
    item = Pending(key, repeat, tuple(todo), attempts)
    reason = _unaskable(todo[0], metric, key)
    blank = not metric.trimmed(todo[0].text)
    if blank and metric.empty_response is not None:
        yield from item.resolved(metric.empty_response, rule=EMPTY_RESPONSE)
    elif reason is not None:
        yield from item.resolved(missing_reason=reason)
    else:
        yield from _ask_or_copy(alike, item, rows)


def _ask_or_copy(
    alike: list[Content], item: Pending, rows: dict[int, list[Judged]]
) -> Iterator[Resolved | Pending]:
    whole = {
        content.id: [row for row in rows[content.id] if row.missing_reason not in PROMPT_NOT_WHOLE]
        for content in alike
    }
    answered = [min(rows, key=lambda row: row.attempt) for rows in whole.values() if rows]
    todo = list(zip(item.contents, item.attempts, strict=True))
    fresh = [(c, n) for c, n in todo if not whole[c.id]]
    again = [(c, n) for c, n in todo if whole[c.id]]
    if answered:
        # The very content was judged for another response: asking again would ask twice.
        for content, attempt in fresh:
            yield Resolved(
                content.id,
                item.construct_key,
                item.repeat,
                attempt,
                copy_of=answered[0].judgment,
            )
        fresh = []
    asked = fresh + again
    if asked:
        yield Pending(
            item.construct_key,
            item.repeat,
            tuple(c for c, _ in asked),
            tuple(n for _, n in asked),
            again=bool(again),
        )


def _is_to_do(rows: list[Judged], scope: Scope) -> bool:
    if all(row.missing_reason in PROMPT_NOT_WHOLE for row in rows):
        return True
    if not scope.retry_unparsed or any(row.missing_reason is None for row in rows):
        return False
    return not any(row.missing_reason in UNASKED for row in rows)


def _unaskable(content: Content, metric: Metric, key: str) -> str | None:
    reads = metric.reads(key)
    if "context" in reads and not content.context_hash:
        return NO_PASSAGES
    if "reference" in reads and content.reference is None:
        return NO_REFERENCE
    return None
