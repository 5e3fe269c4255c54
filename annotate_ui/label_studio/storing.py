"""Storing what was pulled: each difference from what is stored is a revision, and nothing else."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, insert, select

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.asides import Asides
from annotate_ui.label_studio.claiming import Claims, Wanted
from annotate_ui.label_studio.exposure import Exposures, store_reveals
from annotate_ui.label_studio.pulled import Fetched, Pulled
from annotate_ui.label_studio.raters import Raters
from annotate_ui.label_studio.reading import SKIPPED, Annotation, Unfit
from annotate_ui.label_studio.slots import Slot
from annotate_ui.label_studio.stored import StoredProject
from annotate_ui.label_studio.tasks import study_name, task_name
from annotate_ui.work.saving import rules_hash
from study.campaign import Study
from study.nouns import Assignment, Rating, RatingBase, Response, table

DELETED = "deleted in Label Studio"
UNFIT = "changed in Label Studio to what can't be taken"
DUPLICATE = "a further annotation of the same task by the same user; the latest counts"
NO_SLOT = "more people rated this than slots are reserved"
OTHER_CHANNEL = "the rater has this response on another channel, whose value counts"
LEFT = "the rater has left the study"
# Rows that are written at once, so that not all of them are held.
_TOGETHER = 2000

UNKNOWN_TASK = "of a task that was not pushed"


class _Placed(NamedTuple):
    """An annotation, with the response that it is of and the rater who gave it."""

    project: StoredProject
    annotation: Annotation
    response_id: int | None
    """None: of a task that is none of the study's."""
    rater_id: int | None
    """None: erased from the study."""

    @property
    def wanted(self) -> Wanted:
        """What the task asks for."""
        return self.response_id or 0, self.project.construct_keys

    @property
    def same(self) -> tuple[Any, ...]:
        """Equal for annotations of which only one can count."""
        task = self.annotation.task if self.response_id is None else None
        return self.annotation.user, self.wanted, task

    @property
    def age(self) -> tuple[Any, int]:
        """Later is greater."""
        return self.annotation.updated, self.annotation.number


class Storing:
    """Stores the projects of one server, within a transaction that the caller has opened."""

    def __init__(
        self, connection: Connection, study: Study, raters: Raters, result: Pulled
    ) -> None:
        self._connection, self._study = connection, study
        self._raters, self._result = raters, result
        self._claims = Claims(connection, study)
        self._newest = _newest(connection)
        self._rows: list[dict[str, Any]] = []
        self._responses = _response_keys(connection)
        self._aside = Asides(connection, self._responses)
        self._rules = {spec.key: rules_hash(spec) for spec in study.config.constructs}

    def store(self, fetched: Sequence[Fetched]) -> None:
        """Store everything that is new, edited or gone."""
        placed = self._placed(fetched)
        counted = _latest(placed)
        present = {(one.rater_id, one.wanted) for one in counted.values()}
        gone = self._gone(fetched, present)
        self._claims.abandon(gone)
        filled: list[tuple[_Placed, Slot]] = []
        for one in placed:
            if one.rater_id is None:
                self._result.erased += 1
                continue
            slot, refusal = self._slot(one, counted)
            if slot is None:
                self._refuse(one, refusal)
            else:
                filled.append((one, slot))
        self._claims.store()
        store_reveals(self._connection, [(slot, one.annotation) for one, slot in filled])
        exposures = Exposures(self._connection)
        for one, slot in filled:
            self._store_annotation(one, slot, exposures)
        for slot in gone:
            self._withdraw(slot, slot.construct_keys, DELETED)
        for project in fetched:
            for unfit in project.unreadable:
                self._aside.add(project.project, unfit)
        self._flush()
        self._aside.store(self._result)

    def _placed(self, fetched: Sequence[Fetched]) -> list["_Placed"]:
        """Return every annotation with its response and rater, in the order of rating."""
        own = study_name(self._connection)
        found = []
        for one in fetched:
            by_task = {number: response for response, number in one.project.tasks.items()}
            # An interrupted push may have sent tasks that it did not note.
            by_name = {task_name(own, r, one.project.stage): r for r in self._responses}
            for annotation in one.annotations:
                response = by_task.get(annotation.task) or by_name.get(annotation.name or "")
                found.append((one.project, annotation, response))
        found.sort(key=lambda one: (one[1].created, one[1].number))
        return [
            _Placed(project, annotation, response, self._raters.rater(annotation.user))
            for project, annotation, response in found
        ]

    def _slot(self, one: "_Placed", counted: dict[Any, "_Placed"]) -> tuple[Slot | None, str]:
        """Return the slot that an annotation fills, or why it fills none."""
        if one.response_id is None or one.rater_id is None:
            return None, UNKNOWN_TASK
        if counted[one.same] is not one:
            return None, DUPLICATE
        if self._claims.assigned_elsewhere(one.rater_id, one.wanted):
            return None, OTHER_CHANNEL
        if self._raters.left(one.rater_id):
            return None, LEFT
        return self._claims.claim(one.rater_id, one.wanted), NO_SLOT

    def _gone(
        self, fetched: Sequence[Fetched], present: set[tuple[int | None, Wanted]]
    ) -> list[Slot]:
        """Return the slots whose annotation was pulled before and is no longer over there."""
        asked = {
            (response, one.project.construct_keys)
            for one in fetched
            for response in one.project.tasks
        }
        return [
            slot
            for slot in self._claims.slots()
            if slot.wanted in asked and (slot.rater_id, slot.wanted) not in present
        ]

    def _store_annotation(self, one: _Placed, slot: Slot, exposures: Exposures) -> None:
        annotation = one.annotation
        for unfit in annotation.unfit:
            self._aside.add(one.project, unfit, annotation, one.rater_id, one.response_id)
        said = {unfit.construct_key for unfit in annotation.unfit}
        self._withdraw(slot, [key for key in slot.construct_keys if key in said], UNFIT, annotation)
        seen = exposures.seen(slot, annotation.updated)
        for number, answer in enumerate(annotation.answers):
            row = RatingBase(
                construct_key=answer.construct_key,
                construct_version=answer.construct_version,
                value=answer.value,
                status="skipped" if annotation.skipped else "rated",
                reason=SKIPPED if annotation.skipped else None,
                input_kind=CHANNEL,
                wall_seconds=annotation.lead_seconds,
                # One comment stands for the whole task: with the first of its values.
                comment=annotation.comment if number == 0 else None,
                revealed=list(seen.revealed),
                after_reveal=seen.after_reveal,
                seen_more=seen.seen_more,
                flags=list(answer.flags),
                channel=CHANNEL,
                external_id=str(annotation.number),
                external_at=annotation.updated,
                rules_hash=self._rules.get(answer.construct_key),
            )
            self._add(slot, row)

    def _add(self, slot: Slot, row: RatingBase) -> None:
        before = self._newest.get((slot.id, row.construct_key))
        if before is not None and _content(before) == _content(row):
            self._result.unchanged += 1
            return
        if before is None:
            self._result.new += 1
        else:
            self._result.changed += 1
        self._result.skipped += row.status == "skipped"
        self._write(slot, row, 0 if before is None else before.revision)

    def _withdraw(
        self,
        slot: Slot,
        construct_keys: Iterable[str],
        reason: str,
        annotation: Annotation | None = None,
    ) -> None:
        """Take back what was stored of these constructs, since it no longer stands over there."""
        for key in construct_keys:
            before = self._newest.get((slot.id, key))
            if before is None or before.status == "withdrawn":
                continue
            self._result.withdrawn += 1
            row = RatingBase(
                construct_key=key,
                construct_version=before.construct_version,
                status="withdrawn",
                reason=reason,
                input_kind=CHANNEL,
                revealed=list(before.revealed),
                after_reveal=before.after_reveal,
                seen_more=before.seen_more,
                channel=CHANNEL,
                external_id=before.external_id,
                external_at=None if annotation is None else annotation.updated,
                rules_hash=before.rules_hash,
            )
            self._write(slot, row, before.revision)

    def _write(self, slot: Slot, row: RatingBase, revision: int) -> None:
        self._rows.append(
            {
                **row.model_dump(),
                "revision": revision + 1,
                "assignment_id": slot.id,
                "config_hash": self._study.config_hash,
            }
        )
        if len(self._rows) >= _TOGETHER:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._connection.execute(insert(table(Rating)), self._rows)
            self._rows = []

    def _refuse(self, one: _Placed, reason: str) -> None:
        """Set a whole annotation aside. Of a skip nothing would be lost."""
        annotation = one.annotation
        values = [
            Unfit(answer.construct_key, json.dumps(answer.value), reason)
            for answer in annotation.answers
            if not annotation.skipped
        ]
        for unfit in [*values, *annotation.unfit]:
            told = Unfit(unfit.construct_key, unfit.value, reason)
            self._aside.add(one.project, told, annotation, one.rater_id, one.response_id)


def _latest(placed: Sequence["_Placed"]) -> dict[Any, "_Placed"]:
    """Return the annotations that count: of a rater and what is asked of them, the latest."""
    newest: dict[Any, _Placed] = {}
    for one in placed:
        before = newest.get(one.same)
        if before is None or before.age < one.age:
            newest[one.same] = one
    return newest


def _newest(connection: Connection) -> dict[tuple[int, str], Row[Any]]:
    """Return the newest revision of each rating of this channel."""
    g, a = table(Rating), table(Assignment)
    rows: Any = connection.execute(
        select(
            g.c.assignment_id,
            g.c.construct_key,
            g.c.construct_version,
            g.c.revision,
            g.c.value,
            g.c.status,
            g.c.reason,
            g.c.comment,
            g.c.flags,
            g.c.revealed,
            g.c.after_reveal,
            g.c.seen_more,
            g.c.external_id,
            g.c.rules_hash,
        )
        .join_from(g, a, g.c.assignment_id == a.c.id)
        .where(a.c.channel == CHANNEL)
        .order_by(g.c.revision)
    )
    return {(row.assignment_id, row.construct_key): row for row in rows}


def _response_keys(connection: Connection) -> dict[int, str]:
    r = table(Response)
    return {row.id: row.key for row in connection.execute(select(r.c.id, r.c.key))}


def _content(rating: Any) -> tuple[Any, ...]:
    return (
        rating.construct_version,
        rating.value,
        rating.status,
        rating.reason,
        rating.comment,
        tuple(rating.flags),
    )
