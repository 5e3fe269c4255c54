"""Pairs of responses to a query: which are to be compared, their prompts, and stored answers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, case, func, insert, select

from judge.engines.engine import Ready
from judge.metrics.metric import Content, Prompt
from judge.metrics.pairwise import Pairwise
from judge.protocol.exchange import TOO_LONG, Answer
from judge.running.judgment_store import answer_columns, decision_columns
from judge.running.metric_requests import MetricRequest
from judge.running.pages import Place, pages
from judge.running.remaining_work import is_due
from judge.running.scope import Scope
from judge.running.shown_texts import ShownTexts
from study.facts.pair_choices import ComparedPairs
from study.schema import PairAnswerBase, now
from study.schema.database import writing
from study.schema.tables import pair_answers
from study.study import Study

# Rows that are stored together.
_BATCH = 200

BOTH = 2
"""Orders in which two responses can be shown."""

AskedPairs = Mapping[tuple[int, int, str, int], Sequence[str | None]]
"""Missing reasons of the stored answers, in the order of their attempts; None for a value. By the
first and the second response (database keys), construct and repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRequest(MetricRequest):
    """A prompt that compares two responses, which are its `response_ids` as they are shown."""


class PairItem(NamedTuple):
    """Two responses in the order in which they are shown, on one construct."""

    construct_key: str
    repeat: int
    attempt: int
    first: Content
    second: Content
    texts: ShownTexts

    @property
    def prompt(self) -> Prompt:
        """The prompt with its text."""
        metric = self.texts.metric
        assert isinstance(metric, Pairwise)  # noqa: S101  (the plan has no other)
        first, second = (
            self.texts.input_of(content, self.construct_key)
            for content in (self.first, self.second)
        )
        return metric.compare(first, second)

    def request(self) -> PairRequest:
        """Return the request with the text of the prompt."""
        prompt = self.prompt
        flags = (self.texts.flags(each, self.construct_key) for each in (self.first, self.second))
        return PairRequest(
            self.construct_key,
            self.repeat,
            (self.first.id, self.second.id),
            (self.attempt, self.attempt),
            prompt.text,
            tuple(dict.fromkeys(flag for each in flags for flag in each)),
            str(self.first.query),
            prompt.max_tokens,
            prompt.schema,
            response=self.texts.input_of(self.first, self.construct_key),
            step=prompt.step,
            number=0,
        )


@dataclass(frozen=True)
class PairPlan:
    """The pairs that a run compares."""

    scope: Scope
    order: Sequence[Place]
    compared: ComparedPairs | None
    """The pairs to ask; None: all responses to a query with each other."""
    stored: AskedPairs

    def items(self, study: Study) -> Iterator[PairItem]:
        """Yield the prompts to ask, both orders of a pair one after the other.

        Asked again is a pair whose earlier prompts did not reach the model, or not whole.
        """
        texts = ShownTexts(self.scope.metric, self.scope.shuffle)
        selected = [place for place in self.order if place.selected]
        for page in pages(study, selected, None, texts=True):
            for _, group in groupby(page.contents, lambda content: content.query):
                contents = list(group)
                for key in self.scope.constructs:
                    for pair in combinations(contents, 2):
                        if self._is_wanted(key, *pair):
                            yield from self._items_of(key, *pair, texts)

    def _is_wanted(self, key: str, one: Content, other: Content) -> bool:
        return self.compared is None or (key, frozenset((one.id, other.id))) in self.compared

    def _items_of(
        self, key: str, one: Content, other: Content, texts: ShownTexts
    ) -> Iterator[PairItem]:
        for repeat in range(self.scope.repeats):
            for first, second in ((one, other), (other, one)):
                earlier = self.stored.get((first.id, second.id, key, repeat), ())
                if is_due(earlier, retry_unparsed=self.scope.retry_unparsed):
                    yield PairItem(key, repeat, len(earlier) + 1, first, second, texts)


@dataclass(frozen=True)
class PlannedPairs:
    """A plan under the conditions of an engine; each method goes through the whole plan."""

    plan: PairPlan
    ready: Ready

    def requests(self, study: Study) -> Iterator[PairRequest]:
        """Yield the prompts that fit the window."""
        for item in self.plan.items(study):
            if _fits(item.prompt, self.ready):
                yield item.request()

    def too_long(self, study: Study) -> Iterator[PairRequest]:
        """Yield the prompts that exceed the window and are not stored yet."""
        for item in self.plan.items(study):
            if item.attempt == 1 and not _fits(item.prompt, self.ready):
                yield item.request()


def _fits(prompt: Prompt, ready: Ready) -> bool:
    return ready.fits(prompt.size, lambda: prompt.parts)


@dataclass(frozen=True)
class PairWork:
    """The prompts that are still to be asked."""

    prompts: dict[str, int]
    """By construct; two of each pair and repeat."""
    prompt_bytes: int
    """Of the prompts within --limit."""
    pairs: int
    """Pairs of responses that these prompts compare."""
    queries: int
    too_long: int
    without: dict[str, int]
    """Prompts that lack a field which the construct may see, by field: passages, reference."""

    def lines(self) -> list[str]:
        """Return the counts as lines of text."""
        total = sum(self.prompts.values())
        by_construct = ", ".join(f"{key} {n}" for key, n in self.prompts.items())
        lines = [
            f"Pairs to compare: {self.pairs} of {self.queries} queries, each in both orders",
            f"Prompts to ask: {total}" + (f" ({by_construct})" if by_construct else ""),
        ]
        lines += [
            f"Compared without {field}, since there is none: {n} prompts"
            for field, n in self.without.items()
        ]
        if self.too_long:
            lines.append(
                f"Longer than the window: {self.too_long} prompts, which are stored as missing."
            )
        return lines


def survey_pairs(study: Study, planned: PlannedPairs, limit: int | None) -> PairWork:
    """Count the prompts to ask."""
    prompts: Counter[str] = Counter()
    without: Counter[str] = Counter()
    pairs: set[frozenset[int]] = set()
    queries: set[int] = set()
    size = too_long = 0
    reads = planned.plan.scope.metric.reads
    for item in planned.plan.items(study):
        prompt = item.prompt
        if not _fits(prompt, planned.ready):
            too_long += 1
            continue
        key = item.construct_key
        prompts[key] += 1
        pairs.add(frozenset((item.first.id, item.second.id)))
        queries.add(item.first.query)
        if limit is None or prompts.total() <= limit:
            size += prompt.size
        if "reference" in reads(key) and item.first.reference is None:
            without["a reference answer"] += 1
        if "context" in reads(key) and not (item.first.passages and item.second.passages):
            without["passages of a response"] += 1
    return PairWork(dict(prompts), size, len(pairs), len(queries), too_long, dict(without))


def asked_pairs(connection: Connection, run_id: int, versions: Mapping[str, int]) -> AskedPairs:
    """Return the stored answers of a run on the current versions of constructs."""
    columns = pair_answers.c
    rows = connection.execute(
        select(
            columns.first_response_id,
            columns.second_response_id,
            columns.construct_key,
            columns.repeat,
            columns.missing_reason,
            columns.construct_version,
        )
        .where(columns.run_id == run_id)
        .order_by(columns.attempt)
    )
    found: dict[tuple[int, int, str, int], list[str | None]] = defaultdict(list)
    for first, second, key, repeat, reason, version in rows:
        if version == versions.get(key):
            found[first, second, key, repeat].append(reason)
    return dict(found)


class PairCount(NamedTuple):
    """Pairs with an answer, counted for each construct and repeat."""

    pairs: int
    missing: int
    """Of these, those without a choice in both orders."""


def pair_counts(connection: Connection) -> dict[int, PairCount]:
    """Return the numbers of pairs by run (database key); a pair counts once for all its answers."""
    columns = pair_answers.c
    one, other = columns.first_response_id, columns.second_response_id
    pair = (
        columns.run_id,
        case((one < other, one), else_=other),
        case((one < other, other), else_=one),
        columns.construct_key,
        columns.construct_version,
        columns.repeat,
    )
    orders = func.count(case((columns.value.is_not(None), one)).distinct())
    rows = select(columns.run_id, orders.label("orders")).group_by(*pair).subquery()
    statement = select(
        rows.c.run_id, func.count(), func.count(case((rows.c.orders < BOTH, 1)))
    ).group_by(rows.c.run_id)
    return {run: PairCount(pairs, missing) for run, pairs, missing in connection.execute(statement)}


class PairStore:
    """Writes the answers of one run on pairs, and counts those without a value."""

    def __init__(
        self, study: Study, run_id: int, scope: Scope, confirm: Callable[[], None]
    ) -> None:
        self._engine = study.engine
        self._run_id = run_id
        self._scope = scope
        self._confirm = confirm
        self._insert = insert(pair_answers)
        self.missing: Counter[str] = Counter()

    def commit(self, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        """Store answers; return 0 once they are on disk, since none of them is a judgment."""
        rows = [self._row(request, answer) for request, answer in pairs]
        self._confirm()
        with writing(self._engine) as connection:
            connection.execute(self._insert, rows)
        self.missing.update(row["missing_reason"] for row in rows if row["missing_reason"])
        return 0

    def store_too_long(self, requests: Iterable[PairRequest]) -> None:
        """Store prompts that exceed the window as missing, without asking them."""
        remaining = iter(requests)
        while batch := list(islice(remaining, _BATCH)):
            self.commit([(request, Answer(None, missing=TOO_LONG)) for request in batch])

    def _row(self, request: MetricRequest, answer: Answer) -> dict[str, Any]:
        row = PairAnswerBase(
            construct_key=request.construct_key,
            construct_version=self._scope.versions[request.construct_key],
            repeat=request.repeat,
            attempt=request.attempts[0],
            flags=[*request.flags],
            prompt_hash=request.prompt_hash,
            **decision_columns(self._scope, request, answer),
            **answer_columns(answer),
        )
        first, second = request.response_ids
        return {
            **row.model_dump(),
            "run_id": self._run_id,
            "first_response_id": first,
            "second_response_id": second,
            "created_at": now(),
        }
