"""Storing annotations that were pulled: each change becomes a revision, nothing else is written."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection, select

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.annotations import (
    SKIPPED,
    Annotation,
    ConstructAnswer,
    InvalidValue,
    MarkedParts,
)
from annotate_ui.label_studio.mark_revisions import MarkRevisions, rejected_marks
from annotate_ui.label_studio.preference_store import PreferenceStore, rejected_preference
from annotate_ui.label_studio.projects import (
    CHANGED_TO_INVALID,
    DELETED,
    DUPLICATE,
    LEFT,
    OTHER_CHANNEL,
    UNKNOWN_RESPONSE,
    StoredProject,
    TaskKey,
    store_blocked,
)
from annotate_ui.label_studio.reserved_slots import Slot
from annotate_ui.label_studio.results import FetchedProject, Pulled, RejectedValues
from annotate_ui.label_studio.reveals import Exposure, Exposures, shown_fields, store_reveals
from annotate_ui.label_studio.revisions import Origins, Revisions, origin
from annotate_ui.label_studio.slot_matching import (
    LocatedAnnotation,
    SlotClaims,
    blocked_places,
    latest,
)
from annotate_ui.label_studio.task_data import task_names
from annotate_ui.label_studio.users import Raters
from annotate_ui.tasks.save import rules_hash
from annotate_ui.tasks.stages import Stage
from study.schema import RatingBase
from study.schema.tables import responses
from study.study import Study

NO_SLOT = "no slot was planned for this task"
UNKNOWN_TASK = "a task that was not pushed"
TASK_CHANGED = "the task was changed in Label Studio after others had annotated it"
NO_ACCOUNT = "its account was deleted in Label Studio, and it was not pulled before"


class AnnotationStore:
    """Stores the annotations of one server, within a transaction that the caller has opened."""

    def __init__(
        self,
        connection: Connection,
        study: Study,
        raters: Raters,
        result: Pulled,
        channel: str = CHANNEL,
    ) -> None:
        self._connection, self._study = connection, study
        self._raters, self._result = raters, result
        self._claims = SlotClaims(connection, study, channel)
        self._revisions = Revisions(connection, study, result, channel)
        self._marks = MarkRevisions(connection, study, result, channel)
        newest = (*self._marks.newest.values(), *self._revisions.newest.values())
        self._origins = Origins(connection, newest)
        keys = {
            row.id: row.key for row in connection.execute(select(responses.c.id, responses.c.key))
        }
        self._rejected = RejectedValues(connection, keys)
        self._rules = {spec.key: rules_hash(spec) for spec in study.config.constructs}

    def store(self, projects: Sequence[FetchedProject]) -> None:
        """Store every annotation that is new, edited or deleted."""
        located_annotations = self._locate(projects)
        annotations, keys, kept = self._without_kept(located_annotations, projects)
        counted = latest(annotations)
        keys |= {(located.rater_id, located.task_key) for located in counted.values()}
        deleted = self._slots_of_deleted(projects, keys)
        self._claims.vacate(deleted)
        filled: list[tuple[LocatedAnnotation, Slot]] = []
        compared = {task for fetched in projects for task in fetched.compared}
        for located in annotations:
            if located.rater_id is None and located.annotation.user is None:
                # The person may have been erased from the study: none of their values is stored.
                self._reject(located, InvalidValue(None, None, NO_ACCOUNT))
                continue
            if located.rater_id is None:
                self._result.erased += 1
                continue
            if located.response_id is None and located.annotation.task in compared:
                # Responses are compared in this task, and none is rated.
                for invalid in located.annotation.invalid:
                    self._reject(located, invalid)
                continue
            slot, reason = self._find_slot(located, located.rater_id, counted)
            if slot is None:
                self._reject_all(located, reason)
            else:
                filled.append((located, slot))
        self._claims.store()
        self._result.further = sum(slot.further for _, slot in filled)
        store_reveals(
            self._connection,
            [(slot, located.project, located.annotation) for located, slot in filled],
        )
        exposures = Exposures(self._connection)
        for located, slot in filled:
            self._store_annotation(located, slot, exposures)
        for slot in deleted:
            self._revisions.withdraw(slot, slot.construct_keys, DELETED)
            self._marks.withdraw(slot)
        if any(one.project.compares or one.project.following for one in projects):
            PreferenceStore(self._connection, self._study, self._result).store(
                projects, annotations, kept, self._raters.has_left, self._reject
            )
        for project in projects:
            self._reject_unreadable(project)
            occupants = self._occupants(project, annotations, counted, filled)
            store_blocked(
                self._connection, project.project, blocked_places(project.project, occupants)
            )
        self._revisions.flush()
        self._rejected.store(self._result)

    def _locate(self, projects: Sequence[FetchedProject]) -> list[LocatedAnnotation]:
        """Return every annotation with its response and rater, in the order of rating."""
        names: dict[int, dict[str, int]] = {}
        responses: list[tuple[StoredProject, Annotation, int | None]] = []
        for fetched in projects:
            project = fetched.project
            if project.stage not in names:
                by_response = task_names(self._connection, project.stage)
                names[project.stage] = {name: response for response, name in by_response.items()}
            for annotation in fetched.annotations:
                # Tasks are found by name: an interrupted push may have sent tasks without storing
                # their numbers, and Label Studio reuses the numbers of deleted tasks.
                response = names[project.stage].get(annotation.name or "")
                if project.following is not None:
                    response = fetched.responses.get(annotation.task)
                responses.append((project, annotation, response))
        responses.sort(key=lambda row: (row[1].created, row[1].number))
        # Raters are looked up in this order, so that new ones are added in the order of rating.
        return [
            LocatedAnnotation(project, annotation, response, self._rater(project, annotation))
            for project, annotation, response in responses
        ]

    def _without_kept(
        self, annotations: Sequence[LocatedAnnotation], projects: Sequence[FetchedProject]
    ) -> tuple[list[LocatedAnnotation], set[tuple[int | None, TaskKey]], set[str]]:
        """Return annotations without those whose task has other texts than when it was pulled.

        Stored values of them are kept as they are: it is unknown which text an edit is about.
        Their raters and tasks, and their ids, are returned as well.
        """
        changed = {fetched.project.id: fetched.changed for fetched in projects}
        others, keys, kept = [], set(), set()
        for located in annotations:
            project, annotation = located.project, located.annotation
            if project.following is None:
                others.append(located)
                continue
            before = self._origins.response(project, annotation)
            moved = before is not None and located.response_id not in (None, before.response)
            if before is not None and (moved or annotation.task in changed[project.id]):
                self._result.kept += 1
                kept.add(origin(project, annotation.number))
                keys.add((located.rater_id, (before.response or 0, project.construct_keys)))
            elif annotation.task in changed[project.id]:
                self._reject_all(located, TASK_CHANGED)
                for pair in annotation.preferences:
                    self._reject(located, rejected_preference(pair, TASK_CHANGED))
            else:
                others.append(located)
        return others, keys, kept

    def _rater(self, project: StoredProject, annotation: Annotation) -> int | None:
        if annotation.user is None:
            return self._origins.rater(project, annotation.number)
        return self._raters.rater_of(annotation.user)

    def _slots_of_deleted(
        self, projects: Sequence[FetchedProject], present: set[tuple[int | None, TaskKey]]
    ) -> list[Slot]:
        """Return the slots whose annotation was pulled before and is no longer on the server.

        An unreadable annotation is not deleted; one without a readable number may be any
        annotation of its task, so no annotation of that task is taken to be deleted.
        """
        ids = {fetched.project.id for fetched in projects}
        unreadable: set[tuple[int | None, TaskKey]] = set()
        uncertain: set[TaskKey] = set()
        for fetched in projects:
            project = fetched.project
            by_task = fetched.by_task
            for annotation in fetched.annotations:
                # A task without its name is reported, and withdraws nothing.
                if annotation.name is None and annotation.task in project.tasks.values():
                    uncertain.add((by_task[annotation.task], project.construct_keys))
            for unread in fetched.unreadable:
                key = by_task.get(unread.task or 0, 0), project.construct_keys
                if unread.number is None:
                    uncertain.add(key)
                else:
                    unreadable.add((self._origins.rater(project, unread.number), key))
                    unreadable.add((self._raters.existing(unread.user), key))
        return [
            slot
            for slot in self._claims.slots()
            if self._origins.project(slot) in ids
            and (slot.rater_id, slot.task_key) not in present | unreadable
            and slot.task_key not in uncertain
        ]

    def _find_slot(
        self, located: LocatedAnnotation, rater_id: int, counted: Mapping[Any, LocatedAnnotation]
    ) -> tuple[Slot | None, str]:
        """Return the slot that an annotation fills, or None and the reason why it fills none."""
        if located.response_id is None or counted[located.rating_key] is not located:
            if located.response_id is not None:
                return None, DUPLICATE
            return None, UNKNOWN_RESPONSE if located.project.following else UNKNOWN_TASK
        if self._raters.has_left(rater_id):
            return None, LEFT
        slot = self._claims.slot_of(rater_id, located.task_key)
        has_values = slot is not None and bool(self._revisions.active_constructs(slot))
        elsewhere = self._on_other_channels(located, rater_id, slot)
        if slot is not None:
            elsewhere -= self._marks.active_constructs(slot)
        if elsewhere == located.task_key[1]:
            return None, OTHER_CHANNEL
        claimed = self._claims.claim(rater_id, located.task_key, has_values=has_values)
        if claimed is not None:
            # The rater saw the fields of the project, which study.toml may have changed since.
            project = located.project
            stage = Stage(project.stage, project.construct_keys, project.fields)
            claimed = replace(claimed, stage=stage)
        return claimed, NO_SLOT

    def _on_other_channels(
        self, located: LocatedAnnotation, rater_id: int, slot: Slot | None
    ) -> set[str]:
        """Return the constructs whose value on another channel counts.

        A value that was pulled before keeps counting, and its edits are followed.
        """
        constructs = self._claims.on_other_channels(rater_id, located.task_key)
        return constructs - (self._revisions.active_constructs(slot) if slot is not None else set())

    def _store_annotation(
        self, located: LocatedAnnotation, slot: Slot, exposures: Exposures
    ) -> None:
        annotation = located.annotation
        assert slot.rater_id is not None  # noqa: S101
        elsewhere = self._on_other_channels(located, slot.rater_id, slot)
        for answer in annotation.answers:
            if answer.construct_key in elsewhere and not annotation.skipped:
                value = json.dumps(answer.value)
                self._reject(located, InvalidValue(answer.construct_key, value, OTHER_CHANNEL))
        for invalid in annotation.invalid:
            self._reject(located, invalid)
        invalid_keys = {invalid.construct_key for invalid in annotation.invalid}
        self._revisions.withdraw(
            slot,
            [key for key in slot.construct_keys if key in invalid_keys],
            CHANGED_TO_INVALID,
            annotation,
        )
        answers = [a for a in annotation.answers if a.construct_key not in elsewhere]
        stage_fields = located.project.stage_fields

        def exposure_of(given: ConstructAnswer | MarkedParts) -> Exposure:
            project = located.project
            allowed = stage_fields.get(given.construct_key, project.fields)
            return exposures.at(
                slot, annotation.updated, shown_fields(project, given.opened), allowed
            )

        self._marks.store(
            slot,
            annotation,
            origin(located.project, annotation.number),
            exposure_of,
            elsewhere,
            partial(self._reject, located),
        )
        for number, answer in enumerate(answers):
            exposure = exposure_of(answer)
            row = RatingBase(
                construct_key=answer.construct_key,
                construct_version=answer.construct_version,
                value=answer.value,
                status="skipped" if annotation.skipped else "rated",
                reason=SKIPPED if annotation.skipped else None,
                input_kind=CHANNEL,
                wall_seconds=annotation.lead_seconds,
                # The comment belongs to the whole task and is stored with its first value.
                comment=annotation.comment if number == 0 else None,
                revealed=list(exposure.revealed),
                after_reveal=exposure.after_reveal,
                seen_more=exposure.seen_more,
                flags=list(answer.flags),
                channel=CHANNEL,
                external_id=origin(located.project, annotation.number),
                external_at=annotation.updated,
                rules_hash=self._rules.get(answer.construct_key),
            )
            self._revisions.add(slot, row)

    def _reject(self, located: LocatedAnnotation, invalid: InvalidValue) -> None:
        self._rejected.add(
            located.project, invalid, located.annotation, located.rater_id, located.response_id
        )

    def _reject_all(self, located: LocatedAnnotation, reason: str) -> None:
        """Reject every value of an annotation for one reason."""
        annotation = located.annotation
        if annotation.skipped:
            self._reject(located, InvalidValue(None, None, reason))
        else:
            for answer in annotation.answers:
                value = json.dumps(answer.value)
                self._reject(located, InvalidValue(answer.construct_key, value, reason))
            for marks in annotation.marks:
                self._reject(located, rejected_marks(marks, reason))
        for invalid in annotation.invalid:
            self._reject(located, replace(invalid, reason=reason))

    def _reject_unreadable(self, fetched: FetchedProject) -> None:
        for unread in fetched.unreadable:
            if self._raters.is_erased(unread.user):
                self._result.erased += 1
                continue
            rater = self._raters.existing(unread.user)
            if rater is None and unread.number is not None:
                rater = self._origins.rater(fetched.project, unread.number)
            invalid = unread.invalid
            if rater is None and unread.user is None:
                invalid = InvalidValue(None, None, invalid.reason)
            self._rejected.add(fetched.project, invalid, None, rater)

    def _occupants(
        self,
        fetched: FetchedProject,
        annotations: Sequence[LocatedAnnotation],
        counted: Mapping[Any, LocatedAnnotation],
        filled: Sequence[tuple[LocatedAnnotation, Slot]],
    ) -> Iterator[tuple[int, Any, bool]]:
        """Yield response, user and whether the study has a value, as `blocked_places` needs it."""
        project = fetched.project
        filling = {x.annotation.number for x, _ in filled if x.project is project}
        for located in annotations:
            response = located.response_id
            if located.project is not project or response is None or response not in project.tasks:
                continue
            user, number = located.annotation.user, located.annotation.number
            has_value = number in filling or (
                counted[located.rating_key] is located
                and self._has_value(located.rater_id, response, project)
            )
            yield response, user or f"annotation {number}", has_value
        by_task = {number: response for response, number in project.tasks.items()}
        for unread in fetched.unreadable:
            response = by_task.get(unread.task or 0)
            if response is not None:
                rater = self._raters.existing(unread.user)
                has_value = self._has_value(rater, response, project)
                yield response, unread.user or f"annotation {unread.number}", has_value

    def _has_value(self, rater_id: int | None, response: int, project: StoredProject) -> bool:
        """Whether a rater has a value from this project that was not withdrawn."""
        slot = self._claims.slot_of(rater_id or 0, (response, project.construct_keys))
        return (
            slot is not None
            and bool(self._revisions.active_constructs(slot))
            and self._origins.project(slot) == project.id
        )
