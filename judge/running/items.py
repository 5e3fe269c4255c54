"""Items of a call: what is judged of a response, and what is left to ask about it."""

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

from sqlalchemy import FromClause

from judge.metrics.metric import Content, Metric
from judge.perturbations.perturbation import Change, Probe
from judge.protocol.exchange import FINAL, NO_PASSAGES, NO_REFERENCE, NOT_SERVED, UNASKED
from judge.running.pages import AnsweredItem, ContentPage, Place
from judge.running.scope import Scope
from study.schema import (
    CONTROL_TOKENS,
    DRIFT,
    PROMPT_NOT_WHOLE,
    SUSPECTED,
    CallKind,
    Fault,
)
from study.schema.tables import judgments

EMPTY_RESPONSE = "empty_response"
"""Rule of the value that a metric gives to every response without text."""
SHARED = "shared_prompt"
"""Flag of a judgment whose answers were asked for another response."""

FLAGS = {
    SUSPECTED: "Judged text that may contain an instruction to the judge (only a suspicion)",
    CONTROL_TOKENS: "Judged text that may contain control tokens of a chat template",
    SHARED: "Same prompt as another response, asked once",
}
"""The meaning of a judgment's flags."""

_TURNED: dict[Fault, Fault] = {"rise": "fall", "fall": "rise", "either": "either"}


ItemKey = tuple[int | None, str | None, int]
"""Second response (database key), probe and round: an item among those with the same response."""


@dataclass(frozen=True, slots=True)
class Item:
    """What is judged: a response as it is, with one change, asked again, or beside another one."""

    probe: Probe | None = None
    change: Change | None = None
    """What the probe changed."""
    round: int | None = None
    """Number of the round of drift in which the response is asked again."""
    second: Content | None = None
    """The response with which it is compared, and which is shown second."""

    @property
    def probe_name(self) -> str | None:
        """Name of the probe in tables; None: it is not a probe."""
        if self.probe is not None:
            return self.probe.key
        return None if self.round is None else DRIFT

    @property
    def is_response(self) -> bool:
        """Whether a response is judged as it is."""
        return self.second is None and self.probe_name is None

    @property
    def changes_nothing(self) -> bool:
        """Whether the prompts are those of the run, to be asked once more."""
        return self.change is None or self.change == Change()

    @property
    def key(self) -> ItemKey:
        """What distinguishes it from other items with the same response."""
        second = None if self.second is None else self.second.id
        return second, self.probe_name, self.round or 0

    @property
    def purpose(self) -> str:
        """What distinguishes its prompts from those of the run with the same words."""
        if self.probe is not None:
            return f"probe {self.probe.key}"
        if self.round is not None:
            return f"drift {self.round}"
        return "" if self.second is None else "pair"

    def columns(self, *, low_is_good: bool) -> dict[str, Any]:
        """Return the columns of `JudgeAnswerBase` that describe it."""
        if self.second is not None:
            return {"item": f"beside {self.second.id}"}
        if self.probe_name is None:
            return {}
        fault: Fault = "either" if self.probe is None else self.probe.fault
        return {
            "item": self.purpose,
            "kind": DRIFT if self.probe is None else self.probe.kind,
            "probe": self.probe_name,
            "round": self.round or 0,
            # A value that is good when it is low moves the other way.
            "fault": _TURNED[fault] if low_is_good else fault,
            "change": {} if self.change is None else self.change.as_json(),
        }


RESPONSE = Item()
"""A response as it is."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """An item that needs no further answer: its value or missing reason is known."""

    response: int
    construct_key: str
    repeat: int
    attempt: int
    value: float | None = None
    missing_reason: str | None = None
    rule: str | None = None
    copy_of: int | None = None
    """Judgment (database key) on the same content, whose answer is used again."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Intermediate figures of the value."""
    flags: tuple[str, ...] = ()
    parser_version: str | None = None
    """Version of the metric that read the answers; None where there was no answer."""
    item: Item = RESPONSE
    further: Mapping[str, Any] = field(default_factory=dict)
    """Further columns of its answer, such as the hash of its prompts and the model."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An evaluation that needs answers: its construct, and the responses that share it."""

    construct_key: str
    repeat: int
    contents: tuple[Content, ...]
    """Equal in every field that the metric reads."""
    attempts: tuple[int, ...]
    """The attempt of each response's judgment."""
    again: bool = False
    """Whether every prompt is asked again, because earlier answers had no value."""
    for_reparse: bool = False
    """Whether its judgment is stored, and prompts are asked that its answers now lead to."""
    item: Item = RESPONSE
    """What is judged of the responses."""

    def resolved(self, **known: Any) -> Iterator[Resolved]:
        """Yield the item of each response, with the fields of `Resolved` that are known."""
        for content, attempt in zip(self.contents, self.attempts, strict=True):
            key = (content.id, self.construct_key, self.repeat, attempt)
            yield Resolved(*key, item=self.item, **known)

    def answered(
        self, flags: tuple[str, ...], responses: Container[int] | None = None, **known: Any
    ) -> Iterator[Resolved]:
        """Yield the item of each response; those after the first share its answers.

        `responses` (database keys) limits them: files may answer a prompt for each one.
        """
        items = (
            item for item in self.resolved(**known)
            if responses is None or item.response in responses
        )  # fmt: skip
        for number, item in enumerate(items):
            yield replace(item, flags=(*flags, SHARED) if number else flags)


class Skipped(NamedTuple):
    """A probe that is not asked about a response."""

    probe: str
    asked_before: bool
    """Whether its answer is stored; if not, the response has nothing to alter."""


class Items(ABC):
    """The items of a call, and what is left to ask about them."""

    kind: ClassVar[CallKind] = "run"
    """Of the call that asks about them."""
    answers: ClassVar[FromClause] = judgments
    """The stored answers on such items."""
    reads_passages: ClassVar[bool] = False
    """Whether passages have to be read before the size of a prompt is known."""

    @abstractmethod
    def places(self, order: Sequence[Place]) -> Sequence[Place]:
        """Return the responses to read in the order of work; the selected ones have items."""

    @abstractmethod
    def work(
        self, page: ContentPage, scope: Scope, constructs: Sequence[str]
    ) -> Iterator[Resolved | Pending | Skipped]:
        """Yield what is left on a page for the constructs of one pass."""


class Responses(Items):
    """All responses, as they are."""

    def places(self, order: Sequence[Place]) -> Sequence[Place]:
        """Return the responses as they are given: those that are not selected share prompts."""
        return order

    def work(
        self, page: ContentPage, scope: Scope, constructs: Sequence[str]
    ) -> Iterator[Resolved | Pending]:
        """Yield the judgments to make, the prompts of a group together."""
        stored: _StoredJudgments = {}
        for row in page.answers:
            if row.construct_version == scope.versions.get(row.construct_key):
                stored.setdefault((row.response_id, row.construct_key, row.repeat), []).append(row)
        by_context = any("context" in scope.metric.reads(key) for key in constructs)
        groups = groupby(page.contents, lambda c: (c.query, c.context_hash if by_context else b""))
        for group in (list(contents) for _, contents in groups):
            for key in constructs:
                for repeat in range(scope.repeats):
                    for equal in _equal_texts(group, scope.metric):
                        yield from _work_on(equal, key, repeat, scope, stored)


ALL_RESPONSES = Responses()

_StoredJudgments = dict[tuple[int, str, int], list[AnsweredItem]]


def _equal_texts(group: Sequence[Content], metric: Metric) -> Iterable[list[Content]]:
    """Return the responses of a group by their text as the metric reads it."""
    by_text: dict[str, list[Content]] = {}
    for content in group:
        by_text.setdefault(metric.trimmed(content.text), []).append(content)
    return by_text.values()


def _work_on(
    equal: list[Content], key: str, repeat: int, scope: Scope, stored: _StoredJudgments
) -> Iterator[Resolved | Pending]:
    rows = {content.id: stored.get((content.id, key, repeat), []) for content in equal}
    whole = {
        response: [row for row in of_response if row.missing_reason not in PROMPT_NOT_WHOLE]
        for response, of_response in rows.items()
    }
    metric = scope.metric
    if scope.for_reparse and not metric.single_prompt:
        yield from _for_reparse(equal, key, repeat, whole)
    due = [
        c
        for c in equal
        if c.selected
        and is_due([row.missing_reason for row in rows[c.id]], retry_unparsed=scope.retry_unparsed)
    ]
    if not due:
        return
    attempts = tuple(1 + max((row.attempt for row in rows[c.id]), default=0) for c in due)
    item = Pending(key, repeat, tuple(due), attempts)
    reason = _unaskable(due[0], metric, key)
    empty_response = metric.empty_response_of(key)
    if empty_response is not None and not metric.trimmed(due[0].text):
        yield from item.resolved(value=empty_response, rule=EMPTY_RESPONSE)
    elif reason is not None:
        yield from item.resolved(missing_reason=reason)
    else:
        yield from _ask_or_copy(item, whole)


_WholeAnswers = dict[int, list[AnsweredItem]]
"""Answers to whole prompts, by response (database key)."""


def _for_reparse(
    equal: list[Content], key: str, repeat: int, whole: _WholeAnswers
) -> Iterator[Pending]:
    for content in equal:
        counted = min(whole[content.id], key=lambda row: row.attempt, default=None)
        if content.selected and counted is not None and counted.missing_reason not in FINAL:
            yield Pending(key, repeat, (content,), (counted.attempt,), for_reparse=True)


def _ask_or_copy(item: Pending, whole: _WholeAnswers) -> Iterator[Resolved | Pending]:
    answered = [min(rows, key=lambda row: row.attempt) for rows in whole.values() if rows]
    due = list(zip(item.contents, item.attempts, strict=True))
    to_ask = [(content, attempt) for content, attempt in due if whole[content.id]]
    again = bool(to_ask)
    others = [(content, attempt) for content, attempt in due if not whole[content.id]]
    if answered:
        # The same content was judged for another response; its answer is used again.
        for content, attempt in others:
            one = replace(item, contents=(content,), attempts=(attempt,))
            yield from one.resolved(copy_of=answered[0].id)
    else:
        to_ask += others
    if to_ask:
        contents, attempts = zip(*to_ask, strict=True)
        yield replace(item, contents=contents, attempts=attempts, again=again)


def is_due(reasons: Sequence[str | None], *, retry_unparsed: bool) -> bool:
    """Return whether a prompt is asked, by the missing reasons of its attempts; None: a value.

    A prompt that an endpoint did not serve has been tried several times: only `retry_unparsed`
    asks it again.
    """
    if all(reason in PROMPT_NOT_WHOLE for reason in reasons):
        return retry_unparsed or NOT_SERVED not in reasons
    return retry_unparsed and not any(reason is None or reason in UNASKED for reason in reasons)


def _unaskable(content: Content, metric: Metric, key: str) -> str | None:
    reads = metric.reads(key)
    if "context" in reads and not content.context_hash:
        return NO_PASSAGES
    if "reference" in reads and content.reference is None:
        return NO_REFERENCE
    return None
