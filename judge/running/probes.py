"""Probes of a run, and its rounds of drift: which responses are asked about, and how altered."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import ClassVar

from sqlalchemy import Connection, FromClause

from judge.metrics.metric import Content
from judge.perturbations.perturbation import Probe
from judge.running.items import Item
from judge.running.pages import ContentPage, Place
from judge.running.remaining_work import EMPTY_RESPONSE, Items, Pending, Skipped
from judge.running.scope import Scope
from judge.running.shown_texts import shuffled
from study.facts.judgments import as_read
from study.schema import CallKind
from study.schema.tables import judgments, probe_answers

ScoredConstructs = Mapping[int, frozenset[str]]
"""Response (database key) to the constructs on which the run has a score for it."""


def scored_constructs(connection: Connection, run_id: int, scope: Scope) -> ScoredConstructs:
    """Return the scores of a run that a probe can shift: those that the judge was asked for."""
    names = ("response_id", "construct_key", "construct_version", "value", "rule")
    scores: dict[int, set[str]] = {}
    rows = connection.execute(as_read(names, judgments.c.run_id == run_id, judgments.c.repeat == 0))
    for response, key, version, value, rule in rows:
        current = key in scope.constructs and version == scope.versions.get(key)
        if current and value is not None and rule != EMPTY_RESPONSE:
            scores.setdefault(response, set()).add(key)
    return {response: frozenset(keys) for response, keys in scores.items()}


def draw_sample(
    order: Iterable[Place], scores: ScoredConstructs, size: int, seed: int
) -> list[Place]:
    """Draw responses of a run, one for each query until every query has one.

    The draw depends only on the seed: a larger sample contains the smaller one, other runs of the
    study are probed on the same responses, and an interrupted call continues with the same ones.
    """
    by_query: dict[int, list[Place]] = {}
    for place in order:
        if place.selected and place.response in scores:
            by_query.setdefault(place.query, []).append(place)
    turns: list[tuple[int, bytes, Place]] = []
    for query, places in by_query.items():
        mixed = sorted(places, key=lambda place: draw_rank(seed, place.response))
        turns += [(turn, draw_rank(seed, -query), place) for turn, place in enumerate(mixed)]
    sample = [place for _, _, place in sorted(turns, key=lambda item: item[:2])[:size]]
    return sorted(sample, key=lambda place: (place.query, place.context_hash, place.response))


def draw_rank(seed: int, *key: object) -> bytes:
    """Return the position of an item in a random order that is the same every time."""
    return blake2b(repr((seed, *key)).encode(), digest_size=8).digest()


@dataclass(frozen=True)
class Probes(Items):
    """Responses of a run, each altered by every probe."""

    probes: Sequence[Probe]
    sample: Collection[int]
    """The responses to probe (database keys)."""
    scores: ScoredConstructs
    shuffle: int | None = None
    """Seed of the order of passages in the run, which probes alter."""
    kind: ClassVar[CallKind] = "probe"
    answers: ClassVar[FromClause] = probe_answers
    reads_passages: ClassVar[bool] = True

    def places(self, order: Sequence[Place]) -> Sequence[Place]:
        """Return the responses to the queries of the sample, which is selected."""
        return _selected(order, self.sample)

    def work(
        self, page: ContentPage, scope: Scope, constructs: Sequence[str]
    ) -> Iterator[Pending | Skipped]:
        """Yield the prompts to ask, altered, and the probes that are not asked."""
        asked: dict[tuple[int, str], set[str | None]] = defaultdict(set)
        for row in page.answers:
            if row.construct_version == scope.versions.get(row.construct_key):
                asked[row.response, row.construct_key].add(row.item.probe)
        for content in page.contents:
            if content.selected:
                shown = self._in_order(content)
                for key in constructs:
                    if key in self.scores.get(content.id, ()):
                        yield from self._altered(shown, key, scope, asked[content.id, key])

    def _in_order(self, content: Content) -> Content:
        """Return a response with its passages in the order of the run."""
        if self.shuffle is None or not content.passages:
            return content
        order = shuffled(content.passages, self.shuffle, content.context_hash)
        return replace(content, passages=order)

    def _altered(
        self, content: Content, key: str, scope: Scope, asked: Collection[str | None]
    ) -> Iterator[Pending | Skipped]:
        reads = scope.metric.reads(key)
        for probe in self.probes:
            if probe.key in asked:
                yield Skipped(probe.key, asked_before=True)
                continue
            if probe.needs_passages and "context" not in reads:
                continue
            change = probe.alter(content)
            if change is None:
                yield Skipped(probe.key, asked_before=False)
            elif change.response is None or "response" in reads:
                item = Item(probe=probe, change=change)
                yield Pending(key, 0, (change.applied(content),), (1,), item=item)


@dataclass(frozen=True)
class DriftRound(Items):
    """A fixed set of prompts of a run, asked once more."""

    prompts: Collection[tuple[int, str]]
    """Response (database key) and construct."""
    number: int
    kind: ClassVar[CallKind] = "probe"
    answers: ClassVar[FromClause] = probe_answers

    def places(self, order: Sequence[Place]) -> Sequence[Place]:
        """Return the responses to the queries of the set, whose responses are selected."""
        return _selected(order, {response for response, _ in self.prompts})

    def work(self, page: ContentPage, scope: Scope, constructs: Sequence[str]) -> Iterator[Pending]:
        """Yield the prompts of the set that have no answer in this round."""
        stored = {
            (row.response, row.construct_key)
            for row in page.answers
            if row.item.round == self.number
            and row.construct_version == scope.versions.get(row.construct_key)
        }
        for content in page.contents:
            for key in constructs:
                wanted = (content.id, key) in self.prompts and (content.id, key) not in stored
                if content.selected and wanted:
                    yield Pending(key, 0, (content,), (1,), item=Item(round=self.number))


def _selected(order: Sequence[Place], responses: Collection[int]) -> list[Place]:
    """Return the places of all responses to the queries of some, which are selected.

    Responses to a query share the answers to equal prompts.
    """
    queries = {place.query for place in order if place.response in responses}
    return [
        replace(place, selected=place.response in responses)
        for place in order
        if place.query in queries
    ]
