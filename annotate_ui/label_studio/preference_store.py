"""Storing preferences of annotations: each change of a pair's decision becomes a revision."""

import json
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.annotations import SKIPPED, ComparedPair, InvalidValue
from annotate_ui.label_studio.pair_tasks import probabilities
from annotate_ui.label_studio.projects import (
    CHANGED_TO_INVALID,
    DELETED,
    DUPLICATE,
    LEFT,
    OTHER_CHANNEL,
    UNKNOWN_RESPONSE,
)
from annotate_ui.label_studio.results import FetchedProject, Pulled
from annotate_ui.label_studio.revisions import origin
from annotate_ui.label_studio.slot_matching import LocatedAnnotation
from study.facts.comparison_decisions import newest_decisions
from study.importing.bulk_insert import Batch
from study.schema import DecisionBase, now, random_id
from study.schema.tables import comparisons, decisions, responses
from study.study import Study

PairKey = tuple[int, frozenset[int], str]
"""Rater, the two responses, construct."""
Reject = Callable[[LocatedAnnotation, InvalidValue], None]


class _Pair(NamedTuple):
    """A comparison: its key, and that of the response that is called a."""

    id: int
    response_a_id: int


class PreferenceStore:
    """The decisions of this channel as they were before a pull, and the revisions that it adds.

    A pair that a rater compares in Label Studio is not planned: it is stored as one that was
    released, so that it is nobody's task on the project's own pages.
    """

    def __init__(self, connection: Connection, study: Study, result: Pulled) -> None:
        self._connection, self._study, self._result = connection, study, result
        self._comparisons = {
            (
                row.rater_id,
                frozenset((row.response_a_id, row.response_b_id)),
                row.construct_key,
            ): _Pair(row.id, row.response_a_id)
            for row in connection.execute(select(comparisons))
        }
        newest: Any = connection.execute(select(newest_decisions()))
        self._newest = {row.comparison_id: row for row in newest}
        self._query_of = {
            row.id: row.query_id
            for row in connection.execute(select(responses.c.id, responses.c.query_id))
        }
        self._made = Batch(connection, comparisons)
        self._rows: list[dict[str, Any]] = []

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
                    _reject(reject, _Wanted(located, pair, 0, 0), UNKNOWN_RESPONSE)
                    continue
                first, second = names[pair.first], names[pair.second]
                key = (located.rater_id, frozenset((first, second)), pair.construct_key)
                if key in wanted:
                    _reject(reject, wanted[key], DUPLICATE)
                wanted[key] = _Wanted(located, pair, first, second)
        for key, want in wanted.items():
            reason = self._problem(key, want.pair.value, has_left)
            if reason is not None:
                _reject(reject, want, reason)
            else:
                self._decide(key, want)
        self._withdraw({fetched.project.id for fetched in projects}, wanted, kept, invalid)
        self._made.finish()
        if self._rows:
            self._connection.execute(insert(decisions), self._rows)

    @cached_property
    def _probability(self) -> dict[frozenset[int], float]:
        return probabilities(self._connection, self._study)

    def _prepare(self, key: PairKey, first: int, second: int, *, pushed: bool) -> None:
        """Add the comparison of a pair, unless there is one."""
        if key in self._comparisons:
            return
        at = now()
        values = {
            "public_id": random_id(),
            "construct_key": key[2],
            "position": 0,
            "swapped": False,
            "inclusion_prob": self._probability.get(key[1], 1.0) if pushed else 1.0,
            "stratum": None,
            "rater_id": key[0],
            "query_id": self._query_of[first],
            "response_a_id": first,
            "response_b_id": second,
            "opened_at": None,
            "released_at": at,
            "config_hash": self._study.config_hash,
            "created_at": at,
        }
        self._comparisons[key] = _Pair(self._made.add(**values), first)

    def _problem(
        self, key: PairKey, value: float | None, has_left: Callable[[int], bool]
    ) -> str | None:
        if has_left(key[0]):
            return LEFT
        if key in self._comparisons:
            newest = self._newest.get(self._comparisons[key].id)
            if newest is None or newest.channel != CHANNEL:
                return OTHER_CHANNEL
        if value is None:
            return None
        scale = self._study.config.preferences.scale
        return scale.problem(value) or scale.off_grid(value)

    def _decide(self, key: PairKey, want: "_Wanted") -> None:
        located, pair, value = want.located, want.pair, want.pair.value
        self._prepare(key, want.first, want.second, pushed=located.project.following is None)
        annotation = located.annotation
        if value is not None and self._comparisons[key].response_a_id != want.first:
            # The comparison has the two responses the other way round.
            value = -value
        decision = DecisionBase(
            construct_version=pair.construct_version,
            value=value,
            status="skipped" if annotation.skipped else "rated",
            reason=SKIPPED if annotation.skipped else None,
            input_kind=CHANNEL,
            wall_seconds=annotation.lead_seconds,
            comment=annotation.comment,
            revealed=list(located.project.fields),
            channel=CHANNEL,
            external_id=origin(located.project, annotation.number),
            external_at=annotation.updated,
        )
        previous = self._newest.get(self._comparisons[key].id)
        if previous is not None and _content(previous) == _content(decision):
            self._result.unchanged += 1
            return
        if previous is None:
            self._result.new += 1
        else:
            self._result.changed += 1
        self._result.skipped += annotation.skipped
        self._write(key, decision, 0 if previous is None else previous.revision)

    def _withdraw(
        self,
        project_ids: Collection[int],
        wanted: Collection[PairKey],
        kept: Collection[str],
        invalid: set[tuple[str, str]],
    ) -> None:
        for key, comparison in self._comparisons.items():
            newest = self._newest.get(comparison.id)
            if key in wanted or newest is None or newest.status == "withdrawn":
                continue
            if newest.external_id in kept:
                continue
            project, _, _ = (newest.external_id or "").partition("/")
            if newest.channel != CHANNEL or not project or int(project) not in project_ids:
                continue
            self._result.withdrawn += 1
            decision = DecisionBase(
                construct_version=newest.construct_version,
                status="withdrawn",
                reason=CHANGED_TO_INVALID if (newest.external_id, key[2]) in invalid else DELETED,
                input_kind=CHANNEL,
                revealed=list(newest.revealed),
                channel=CHANNEL,
                external_id=newest.external_id,
            )
            self._write(key, decision, newest.revision)

    def _write(self, key: PairKey, decision: DecisionBase, revision: int) -> None:
        self._rows.append(
            {
                **decision.model_dump(),
                "revision": revision + 1,
                "comparison_id": self._comparisons[key].id,
                "construct_key": key[2],
                "config_hash": self._study.config_hash,
            }
        )


class _Wanted(NamedTuple):
    """A preference of an annotation, with the database keys of its responses."""

    located: LocatedAnnotation
    pair: ComparedPair
    first: int
    second: int


def _reject(reject: Reject, want: _Wanted, reason: str) -> None:
    reject(want.located, rejected_preference(want.pair, reason))


def rejected_preference(pair: ComparedPair, reason: str) -> InvalidValue:
    """Return a preference as a rejected value: the names of its responses, and its value."""
    value = json.dumps({"first": pair.first, "second": pair.second, "value": pair.value})
    return InvalidValue(pair.construct_key, value, reason)


def _content(decision: Any) -> tuple[Any, ...]:
    return (
        decision.construct_version,
        decision.value,
        decision.status,
        decision.reason,
        decision.comment,
        decision.external_id,
    )
