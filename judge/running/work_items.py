"""What is left to do for some responses: prompts to ask, and judgments that need no call."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby

from judge.metrics.content import Content
from judge.prompts.template import Field, PromptVersion
from judge.protocol.answer import NO_PASSAGES, NO_REFERENCE, UNASKED
from judge.protocol.request import Request
from judge.running.injection_detection import is_suspected, labels_of
from judge.running.pages import ContentPage, Judged
from study.schema import CONTROL_TOKENS, PROMPT_NOT_WHOLE, SUSPECTED

EMPTY_RESPONSE = "empty_response"
"""Rule of a value that the prompts themselves give to a response without text."""
SHARED = "shared_prompt"
"""Flag of a judgment whose very prompt was asked for another response."""

FLAGS = {
    SUSPECTED: "Judged text with what may be an instruction to the judge (a suspicion, no more)",
    CONTROL_TOKENS: "Judged text with what may be control tokens of a chat template",
    SHARED: "The very prompt of another response, asked once",
}
"""What a flag of a judgment says."""

# Signs of the chat templates in use: <|eot_id|>, <|im_start|>, [INST], <start_of_turn>, <s> ...
_CONTROL = re.compile(
    r"<\|[^\s|<>]{1,40}\|>|<｜[^<>]{1,40}｜>|\[/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|"
    r"SYSTEM_PROMPT)\]|<<SYS>>|<</SYS>>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>"
)


def control_tokens(text: str) -> str | None:
    """Return the first of what may be a control token of a chat template in a text."""
    found = _CONTROL.search(text)
    return found.group() if found else None


@dataclass(frozen=True)
class Scope:
    """What a run asks, and of that what is wanted now."""

    version: PromptVersion
    constructs: tuple[str, ...]
    """Keys of constructs to judge now, in order."""
    versions: Mapping[str, int]
    """Current version of each construct."""
    repeats: int
    retry_unparsed: bool = False
    shuffle: int | None = None
    """Seed of the order of passages; None: as they were ranked."""

    def passes(self) -> tuple[tuple[str, ...], ...]:
        """Return constructs whose prompts show passages, then the others.

        Responses with one context follow each other, so a server finds the beginning of a
        prompt in its cache; prompts without passages would only push it out.
        """
        shows = {key: "context" in self.version.templates[key].sees for key in self.constructs}
        parts = (
            tuple(key for key in self.constructs if shows[key]),
            tuple(key for key in self.constructs if not shows[key]),
        )
        return tuple(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Settled:
    """A judgment that needs no call: its value or reason is known."""

    response: int
    construct_key: str
    repeat: int
    attempt: int
    value: float | None = None
    missing_reason: str | None = None
    rule: str | None = None
    copy_of: int | None = None
    """Judgment (database key) whose answer was given to the very same prompt."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt to be asked: its construct, and the responses that make it, with attempts."""

    construct_key: str
    repeat: int
    contents: tuple[Content, ...]
    attempts: tuple[int, ...]

    def size(self, version: PromptVersion) -> int:
        """Return the prompt's length in bytes of UTF-8, from above by its fields' white space."""
        content = self.contents[0]
        separators = len(version.passage_separator.encode()) * max(content.passage_count - 1, 0)
        of: dict[Field, int] = {
            "question": len(content.question.encode()),
            "response": len(content.text.encode()),
            "context": content.passage_bytes + separators,
            "ground_truth": len((content.reference or "").encode()),
        }
        template = version.templates[self.construct_key]
        return template.own_bytes + sum(of[field] for field in template.shown)


def work(page: ContentPage, scope: Scope, constructs: Sequence[str]) -> Iterator[Settled | Asked]:
    """Yield what the constructs of one pass still lack on a page, a group's prompts together."""
    done = _done(page.judged, scope)
    shows_context = "context" in scope.version.templates[constructs[0]].sees
    for group in _groups(page.contents, by_context=shows_context):
        for key in constructs:
            for repeat in range(scope.repeats):
                for alike in _alike(group, scope.version):
                    yield from _of_prompt(alike, key, repeat, scope, done)


def request(asked: Asked, version: PromptVersion, contexts: "Contexts") -> Request:
    """Return the request with its prompt's text."""
    content = asked.contents[0]
    template = version.templates[asked.construct_key]
    values = _values(asked, version, contexts)
    shown = (values[field] for field in template.fields if field != "context")
    marked = any(_CONTROL.search(text) for text in shown) or (
        "context" in template.sees and contexts.holds_control_tokens(content)
    )
    suspected = is_suspected(content.text, contexts.labels) or (
        "context" in template.sees and contexts.is_suspected(content)
    )
    # Prompts without passages of one query go together as well.
    shown_context = content.context_hash if "context" in template.sees else b""
    group = f"{content.query} {shown_context.hex()}"
    return Request(
        asked.construct_key,
        asked.repeat,
        tuple(content.id for content in asked.contents),
        asked.attempts,
        template.fill(values),
        (*((CONTROL_TOKENS,) if marked else ()), *((SUSPECTED,) if suspected else ())),
        group,
    )


def parts(asked: Asked, version: PromptVersion, contexts: "Contexts") -> list[str]:
    """Return the prompt's text in parts, of which the passages are one."""
    template = version.templates[asked.construct_key]
    return template.parts(_values(asked, version, contexts))


def _values(asked: Asked, version: PromptVersion, contexts: "Contexts") -> dict[Field, str]:
    content = asked.contents[0]
    shows_context = "context" in version.templates[asked.construct_key].sees
    return {
        "question": version.trimmed(content.question),
        "response": version.trimmed(content.text),
        "context": contexts.text(content) if shows_context else "",
        "ground_truth": version.trimmed(content.reference or ""),
    }


class Contexts:
    """The joined passages of the context at hand: made once for all its prompts."""

    def __init__(self, version: PromptVersion, shuffle: int | None = None) -> None:
        self._version = version
        self._shuffle = shuffle
        self._of: tuple[str, ...] | None = None
        self._text = ""
        self._marked = False
        self._suspected: bool | None = None
        self.labels = labels_of(version)
        """Headings of the prompts."""

    def text(self, content: Content) -> str:
        """Return the passages of a response as the prompts show them."""
        self._hold(content)
        return self._text

    def holds_control_tokens(self, content: Content) -> bool:
        """Tell whether a passage of a response holds what may be a control token."""
        self._hold(content)
        return self._marked

    def is_suspected(self, content: Content) -> bool:
        """Tell whether a passage of a response holds what may be an instruction to the judge."""
        self._hold(content)
        if self._suspected is None:
            self._suspected = is_suspected(self._text, self.labels)
        return self._suspected

    def _hold(self, content: Content) -> None:
        if self._of is not content.passages:
            self._of = content.passages
            passages = content.passages or ()
            if self._shuffle is not None:
                passages = shuffled(passages, self._shuffle, content.context_hash)
            joined = self._version.passage_separator.join(passages)
            self._text = self._version.trimmed(joined)
            self._marked = _CONTROL.search(self._text) is not None
            self._suspected = None


def shuffled(passages: Sequence[str], seed: int, context_hash: bytes) -> tuple[str, ...]:
    """Return the passages of a context in the order that a seed gives them.

    It follows from the seed and the context alone: all prompts of a context share one order, and
    so their beginnings, in every run with the seed.
    """
    key = {n: sha256(f"{seed} {n} ".encode() + context_hash).digest() for n in range(len(passages))}
    return tuple(passages[number] for number in sorted(key, key=key.__getitem__))


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


def _alike(group: Sequence[Content], version: PromptVersion) -> list[list[Content]]:
    """Return the responses of a group by prompt: those with one text make one prompt."""
    found: dict[str, list[Content]] = {}
    for content in group:
        found.setdefault(version.trimmed(content.text), []).append(content)
    return list(found.values())


def _of_prompt(
    alike: list[Content], key: str, repeat: int, scope: Scope, done: _Done
) -> Iterator[Settled | Asked]:
    rows = {content.id: done.get((content.id, key, repeat), []) for content in alike}
    todo = [c for c in alike if c.wanted and _is_to_do(rows[c.id], scope)]
    if not todo:
        return
    attempts = tuple(1 + max((row.attempt for row in rows[c.id]), default=0) for c in todo)
    reason = _unaskable(todo[0], scope.version, key)
    blank = not scope.version.trimmed(todo[0].text)
    if blank and scope.version.empty_response is not None:
        value = scope.version.empty_response
        for content, attempt in zip(todo, attempts, strict=True):
            yield Settled(content.id, key, repeat, attempt, value=value, rule=EMPTY_RESPONSE)
    elif reason is not None:
        for content, attempt in zip(todo, attempts, strict=True):
            yield Settled(content.id, key, repeat, attempt, missing_reason=reason)
    else:
        yield from _ask_or_copy(alike, todo, attempts, key, repeat, rows)


def _ask_or_copy(
    alike: list[Content],
    todo: list[Content],
    attempts: tuple[int, ...],
    key: str,
    repeat: int,
    rows: dict[int, list[Judged]],
) -> Iterator[Settled | Asked]:
    whole = {
        content.id: [row for row in rows[content.id] if row.missing_reason not in PROMPT_NOT_WHOLE]
        for content in alike
    }
    answered = [min(rows, key=lambda row: row.attempt) for rows in whole.values() if rows]
    fresh = [(c, n) for c, n in zip(todo, attempts, strict=True) if not whole[c.id]]
    again = [(c, n) for c, n in zip(todo, attempts, strict=True) if whole[c.id]]
    if answered:
        # The very prompt was asked for another response: asking again would ask twice.
        for content, attempt in fresh:
            yield Settled(content.id, key, repeat, attempt, copy_of=answered[0].judgment)
        fresh = []
    asked = fresh + again
    if asked:
        yield Asked(key, repeat, tuple(c for c, _ in asked), tuple(n for _, n in asked))


def _is_to_do(rows: list[Judged], scope: Scope) -> bool:
    if all(row.missing_reason in PROMPT_NOT_WHOLE for row in rows):
        return True
    if not scope.retry_unparsed or any(row.missing_reason is None for row in rows):
        return False
    return not any(row.missing_reason in UNASKED for row in rows)


def _unaskable(content: Content, version: PromptVersion, key: str) -> str | None:
    sees = version.templates[key].sees
    if "context" in sees and not content.context_hash:
        return NO_PASSAGES
    if "reference" in sees and content.reference is None:
        return NO_REFERENCE
    return None
