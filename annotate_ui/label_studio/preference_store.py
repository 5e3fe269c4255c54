"""Storing preferences of annotations: each change of a pair's decision becomes a revision."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio import CHANNEL, PREFILLED, reasons
from annotate_ui.label_studio.annotations import ComparedPair
from annotate_ui.label_studio.located_annotations import FetchedProject, LocatedAnnotation
from annotate_ui.label_studio.results import Pulled
from annotate_ui.label_studio.revisions import DECISIONS, Revisions, origin, project_of
from study.schema import now
from study.schema.tables import comparisons, responses
from study.study import Study

PairKey = tuple[int, frozenset[int], str]
"""Rater, the two responses, construct."""
Reject = Callable[..., None]
_OURS = (CHANNEL, PREFILLED)


class _Pair(NamedTuple):
    """A comparison: its key, and that of the response that is called a."""

    id: int
    response_a_id: int


class _Wanted(NamedTuple):
    """A preference of an annotation, with the database keys of its responses."""

    located: LocatedAnnotation
    pair: ComparedPair
    first: int
    second: int


class PreferenceStore:
    """The comparisons of the study, and what a pull changes in those of this channel.

    A pair that a rater compares in Label Studio is not planned: it is stored as one that was
    released, so that it is nobody's task on the project's own pages.
    """

    def __init__(self, connection: Connection, study: Study, result: Pulled) -> None:
        self._connection, self._study = connection, study
        self._comparisons = {
            (
                row.rater_id,
                frozenset((row.response_a_id, row.response_b_id)),
                row.construct_key,
            ): _Pair(row.id, row.response_a_id)
            for row in connection.execute(select(comparisons))
        }
        self._decisions = Revisions(connection, study, result, DECISIONS)

    def store(
        self,
        projects: Sequence[FetchedProject],
        annotations: Sequence[LocatedAnnotation],
        kept: Collection[str],
        has_left: Callable[[int], bool],
        reject: Reject,
    ) -> None:
        """Store the preferences of annotations that have a rater; the latest of a pair counts.

        `kept` are the ids of annotations whose stored preferences stay as they are.
        """
        compared = {fetched.project.id: fetched.compared for fetched in projects}
        wanted: dict[PairKey, _Wanted] = {}
        invalid: set[tuple[str, str]] = set()
        for located in sorted(annotations, key=lambda located: located.recency):
            if located.rater_id is None:
                continue
            names = compared[located.project.id].get(located.annotation.task, {})
            external_id = origin(located.project, located.annotation.number)
            invalid |= {(external_id, i.construct_key or "") for i in located.annotation.invalid}
            for pair in located.annotation.preferences:
                if pair.first not in names or pair.second not in names:
                    reject(located, pair.rejected(reasons.UNKNOWN_RESPONSE))
                    continue
                first, second = names[pair.first], names[pair.second]
                key = (located.rater_id, frozenset((first, second)), pair.construct_key)
                if key in wanted:
                    reject(wanted[key].located, wanted[key].pair.rejected(reasons.DUPLICATE))
                wanted[key] = _Wanted(located, pair, first, second)
        counted: dict[PairKey, _Wanted] = {}
        for key, want in wanted.items():
            reason = reasons.LEFT if has_left(key[0]) else self._counts_elsewhere(key)
            if reason is not None:
                reject(want.located, want.pair.rejected(reason))
            else:
                counted[key] = want
        self._add_comparisons(counted)
        for key, want in counted.items():
            self._decide(key, want)
        self._withdraw({fetched.project.id for fetched in projects}, wanted, kept, invalid)
        self._decisions.flush()

    def _counts_elsewhere(self, key: PairKey) -> str | None:
        """Return the reason why a preference does not count if the rater has one elsewhere."""
        if key not in self._comparisons:
            return None
        newest = self._decisions.newest.get((self._comparisons[key].id, key[2]))
        return reasons.OTHER_CHANNEL if newest is None or newest.channel not in _OURS else None

    def _add_comparisons(self, counted: dict[PairKey, _Wanted]) -> None:
        """Add the comparisons of pairs that the study does not have."""
        new = {key: want for key, want in counted.items() if key not in self._comparisons}
        if not new:
            return
        rows = self._connection.execute(select(responses.c.id, responses.c.query_id))
        query_of = {row.id: row.query_id for row in rows}
        for key, want in new.items():
            rater, _, construct = key
            made = insert(comparisons).values(
                construct_key=construct,
                inclusion_prob=1.0,
                rater_id=rater,
                query_id=query_of[want.first],
                response_a_id=want.first,
                response_b_id=want.second,
                released_at=now(),
                config_hash=self._study.config_hash,
            )
            number = self._connection.execute(made.returning(comparisons.c.id)).scalar_one()
            self._comparisons[key] = _Pair(number, want.first)

    def _decide(self, key: PairKey, want: _Wanted) -> None:
        located, value, comparison = want.located, want.pair.value, self._comparisons[key]
        if value is not None and comparison.response_a_id != want.first:
            # The comparison has the two responses the other way round.
            value = 0.0 - value
        self._decisions.add(
            comparison.id,
            key[2],
            located.project,
            located.annotation,
            construct_version=want.pair.construct_version,
            value=value,
            comment=located.annotation.comment,
            revealed=list(located.project.fields),
        )

    def _withdraw(
        self,
        project_ids: Collection[int],
        wanted: Collection[PairKey],
        kept: Collection[str],
        invalid: set[tuple[str, str]],
    ) -> None:
        """Withdraw the decisions from these projects that they no longer have."""
        for key, comparison in self._comparisons.items():
            newest = self._decisions.newest.get((comparison.id, key[2]))
            if newest is None or key in wanted or newest.external_id in kept:
                continue
            if newest.channel in _OURS and project_of(newest.external_id) in project_ids:
                changed = (newest.external_id, key[2]) in invalid
                reason = reasons.CHANGED_TO_INVALID if changed else reasons.DELETED
                self._decisions.withdraw(comparison.id, [key[2]], reason)
