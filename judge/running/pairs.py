"""Pairs of responses to a query: which are to be compared, and how many are."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import ClassVar, NamedTuple

from sqlalchemy import Connection, FromClause, case, func, select

from judge.metrics.metric import Content
from judge.running.items import Item
from judge.running.pages import ContentPage, Place
from judge.running.remaining_work import Items, Pending, is_due
from judge.running.scope import Scope
from study.facts.pair_choices import ComparedPairs
from study.schema import CallKind
from study.schema.tables import pair_answers

BOTH = 2
"""Orders in which two responses can be shown."""

_Asked = dict[tuple[int, int | None, str, int], list[str | None]]
"""Missing reasons of the stored answers in the order of their attempts, None for a value, by the
first and the second response (database keys), construct and repeat."""


@dataclass(frozen=True)
class ResponsePairs(Items):
    """Responses to a query, each beside each other one, in both orders."""

    compared: ComparedPairs | None = None
    """The pairs to ask; None: all."""
    kind: ClassVar[CallKind] = "pairs"
    answers: ClassVar[FromClause] = pair_answers
    reads_passages: ClassVar[bool] = True

    def places(self, order: Sequence[Place]) -> Sequence[Place]:
        """Return the responses that are compared with each other."""
        return [place for place in order if place.selected]

    def work(self, page: ContentPage, scope: Scope, constructs: Sequence[str]) -> Iterator[Pending]:
        """Yield the prompts to ask, both orders of a pair one after the other.

        Asked again is a pair whose earlier prompts did not reach the model, or not whole.
        """
        asked: _Asked = defaultdict(list)
        for row in sorted(page.answers, key=lambda row: row.attempt):
            if row.construct_version == scope.versions.get(row.construct_key):
                key = (row.response, row.item.second, row.construct_key, row.repeat)
                asked[key].append(row.missing_reason)
        for _, group in groupby(page.contents, lambda content: content.query):
            contents = list(group)
            for construct in constructs:
                for pair in combinations(contents, 2):
                    if self._is_wanted(construct, *pair):
                        yield from self._both_orders(construct, *pair, scope, asked)

    def _is_wanted(self, construct: str, one: Content, other: Content) -> bool:
        return self.compared is None or (construct, frozenset((one.id, other.id))) in self.compared

    def _both_orders(
        self, construct: str, one: Content, other: Content, scope: Scope, asked: _Asked
    ) -> Iterator[Pending]:
        for repeat in range(scope.repeats):
            for first, second in ((one, other), (other, one)):
                earlier = asked.get((first.id, second.id, construct, repeat), [])
                if is_due(earlier, retry_unparsed=scope.retry_unparsed):
                    attempt = len(earlier) + 1
                    yield Pending(construct, repeat, (first,), (attempt,), item=Item(second=second))


class PairCount(NamedTuple):
    """Pairs with an answer, counted for each construct and repeat."""

    pairs: int
    missing: int
    """Of these, those without a choice in both orders."""


def pair_counts(connection: Connection) -> dict[int, PairCount]:
    """Return the numbers of pairs by run (database key); a pair counts once for all its answers."""
    columns = pair_answers.c
    one, other = columns.response_id, columns.second_response_id
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
