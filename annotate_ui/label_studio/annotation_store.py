"""Storing annotations that were pulled: each change becomes a revision, nothing else is written."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.annotation_reader import typed_constructs
from annotate_ui.label_studio.annotations import (
    Annotation,
    ConstructAnswer,
    InvalidValue,
    MarkedParts,
    UnreadableAnnotation,
    likely_commas,
)
from annotate_ui.label_studio.projects import StoredProject, TaskKey
from annotate_ui.label_studio.results import Pulled
from annotate_ui.label_studio.revisions import (
    MARKS,
    RATINGS,
    Origins,
    RejectedValues,
    Reveals,
    Revisions,
)
from annotate_ui.label_studio.slots import Slot, SlotClaims
from annotate_ui.label_studio.task_upload import task_names
from annotate_ui.label_studio.users import Raters
from annotate_ui.tasks.save import rules_hash
from study.importing.marked_texts import joined_ranges, place_of
from study.schema.tables import responses
from study.sentences import Range
from study.study import Study


@dataclass
class FetchedProject:
    """A project with its annotations as they are on the server."""

    project: StoredProject
    annotations: list[Annotation] = field(default_factory=list)
    unreadable: list[UnreadableAnnotation] = field(default_factory=list)

    @property
    def by_task(self) -> dict[int, int]:
        """Number of a task to its response."""
        return {number: response for response, number in self.project.tasks.items()}


class LocatedAnnotation(NamedTuple):
    """An annotation with the response of its task, and its rater."""

    project: StoredProject
    annotation: Annotation
    response_id: int | None
    """The response that is rated; None: there is none, or the task is not the study's."""
    rater_id: int | None
    """None: erased from the study, or the account was deleted in Label Studio."""

    @property
    def task_key(self) -> TaskKey:
        """The response of the task and what it asks for."""
        return self.response_id or 0, self.project.construct_keys

    @property
    def rating_key(self) -> tuple[Any, ...]:
        """Equal for annotations of which only one can count; several users may be one rater."""
        return self.rater_id, self.task_key, None if self.response_id else self.annotation.task


def locate(
    connection: Connection,
    projects: Sequence[FetchedProject],
    rater_of: Callable[[StoredProject, Annotation], int | None],
) -> list[LocatedAnnotation]:
    """Return every annotation with the response of its task and its rater, in the order of rating.

    Tasks of pushed projects are found by name: an interrupted push may have sent tasks without
    storing their numbers, and Label Studio reuses the numbers of deleted tasks.
    """
    names: dict[int, dict[str, int]] = {}
    found: list[tuple[StoredProject, Annotation, int | None]] = []
    for fetched in projects:
        project = fetched.project
        if project.stage not in names:
            by_response = task_names(connection, project.stage)
            names[project.stage] = {name: response for response, name in by_response.items()}
        for annotation in fetched.annotations:
            response = names[project.stage].get(annotation.name or "")
            found.append((project, annotation, response))
    # Raters are looked up in this order, so that new ones are added in the order of rating.
    found.sort(key=lambda row: (row[1].created, row[1].number))
    return [LocatedAnnotation(*row, rater_of(*row[:2])) for row in found]


def latest(annotations: Sequence[LocatedAnnotation]) -> dict[Any, LocatedAnnotation]:
    """Return the annotations that count: the latest of each rater and task, by `rating_key`."""
    newest: dict[Any, LocatedAnnotation] = {}
    for located in annotations:
        previous = newest.get(located.rating_key)
        if previous is None or previous.annotation.recency < located.annotation.recency:
            newest[located.rating_key] = located
    return newest


class AnnotationStore:
    """Stores the annotations of one server, within the transaction of its raters."""

    def __init__(self, study: Study, raters: Raters, result: Pulled) -> None:
        self._connection = connection = raters.connection
        self._raters, self._result = raters, result
        self._claims = SlotClaims(connection, study)
        self._ratings = Revisions(connection, study, result, RATINGS)
        self._marks = Revisions(connection, study, result, MARKS)
        self._origins = Origins(connection)
        self._rejected = RejectedValues(connection)
        self._rules = {spec.key: rules_hash(spec) for spec in study.config.constructs}
        self._texts: dict[int, str] = {}

    def store(self, projects: Sequence[FetchedProject]) -> None:
        """Store every annotation that is new, edited or deleted."""
        annotations = locate(self._connection, projects, self._rater)
        counted = latest(annotations)
        keys = {(located.rater_id, located.task_key) for located in counted.values()}
        deleted = self._slots_of_deleted(projects, keys)
        gone = {slot.id for slot in deleted}
        for given_up in deleted:
            self._claims.reopen(
                given_up, lambda slot: slot.id not in gone and bool(self._ratings.active(slot))
            )
        filled: list[tuple[LocatedAnnotation, Slot]] = []
        for located in annotations:
            annotation, rater = located.annotation, located.rater_id
            if rater is None and annotation.user is not None:
                self._result.erased += 1
                self._result.held += 1
            elif rater is None:
                self._result.held += 1
                # The person may have been erased from the study: none of their values is stored.
                self._reject(located, InvalidValue(None, None, reasons.NO_ACCOUNT))
            elif isinstance(slot := self._find_slot(located, rater, counted), str):
                pulled = self._origins.rater(located.project, annotation.number)
                self._result.held += slot in reasons.HOLDING and pulled is None
                self._reject_all(located, slot)
            else:
                filled.append((located, slot))
        self._result.further = sum(slot.further for _, slot in filled)
        seen = Reveals(self._connection)
        seen.add([(slot, located.project, located.annotation) for located, slot in filled])
        for located, slot in filled:
            self._store_annotation(located, slot, seen)
        for slot in deleted:
            for values in (self._ratings, self._marks):
                values.withdraw(slot, slot.construct_keys, reasons.DELETED)
        for project in projects:
            self._reject_unreadable(project)
        self._flag_commas(filled)
        self._ratings.flush()
        self._marks.flush()
        self._rejected.store(self._result)
        self._result.raters = self._raters.new

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
            project, by_task = fetched.project, fetched.by_task
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
    ) -> Slot | str:
        """Return the slot that an annotation fills, or the reason why it fills none."""
        key = located.task_key
        if located.response_id is None:
            return reasons.UNKNOWN_TASK
        if counted[located.rating_key] is not located:
            return reasons.DUPLICATE
        if self._raters.has_left(rater_id):
            return reasons.LEFT
        slot = self._claims.slot_of(rater_id, key)
        rated = self._ratings.active(slot)
        elsewhere = self._claims.on_other_channels(rater_id, key)
        if elsewhere - rated - self._marks.active(slot) == key[1]:
            return reasons.OTHER_CHANNEL
        return self._claims.claim(rater_id, key, has_values=bool(rated)) or reasons.NO_SLOT

    def _store_annotation(self, located: LocatedAnnotation, slot: Slot, seen: Reveals) -> None:
        project, annotation = located.project, located.annotation
        self._reject(located, *annotation.invalid)
        invalid = {invalid.construct_key for invalid in annotation.invalid}
        self._ratings.withdraw(slot, invalid, reasons.CHANGED_TO_INVALID, annotation.updated)
        exposure = seen.at(slot, annotation.updated, project)

        def context(given: ConstructAnswer | MarkedParts) -> dict[str, Any]:
            """Return what is stored with a value besides itself."""
            return {
                "construct_version": given.construct_version,
                "rules_hash": self._rules.get(given.construct_key),
                **exposure,
            }

        # A value that was pulled before keeps counting, and its edits are followed.
        elsewhere = self._claims.on_other_channels(slot.rater_id or 0, located.task_key)
        elsewhere -= self._ratings.active(slot)
        # The comment belongs to the whole task and is stored with its first value.
        comment = annotation.comment
        for answer in annotation.answers:
            key = answer.construct_key
            if key not in elsewhere:
                of_value = {"value": answer.value, "flags": list(answer.flags), "comment": comment}
                self._ratings.add(slot, key, project, annotation, **of_value, **context(answer))
                comment = None
            elif not annotation.skipped:
                self._reject(located, answer.rejected(reasons.OTHER_CHANNEL))
        elsewhere -= self._marks.active(slot)
        marked = set()
        for marks in annotation.marks:
            key = marks.construct_key
            ranges = reasons.OTHER_CHANNEL if key in elsewhere else self._ranges(slot, marks)
            if isinstance(ranges, str):
                self._reject(located, marks.rejected(ranges))
                continue
            marked.add(key)
            self._marks.add(slot, key, project, annotation, ranges=ranges, **context(marks))
        self._marks.withdraw(slot, {*slot.construct_keys} - marked, reasons.DELETED)

    def _ranges(self, slot: Slot, marks: MarkedParts) -> list[Range] | str:
        """Return the marked parts of the response, or why one is not in it."""
        response = slot.response_id
        if marks.parts and response not in self._texts:
            of_response = select(responses.c.text).where(responses.c.id == response)
            self._texts[response] = self._connection.execute(of_response).scalar_one()
        ranges = []
        for part in marks.places():
            place = part if isinstance(part, str) else place_of(self._texts[response], part)
            if isinstance(place, str):
                return f"a mark of {marks.construct_key} {place}"
            ranges.append(place)
        return joined_ranges(ranges)

    def _reject(self, located: LocatedAnnotation, *values: InvalidValue) -> None:
        for value in values:
            self._rejected.add(
                located.project, value, located.annotation, located.rater_id, located.response_id
            )

    def _reject_all(self, located: LocatedAnnotation, reason: str) -> None:
        """Reject every value of an annotation for one reason."""
        annotation = located.annotation
        if annotation.skipped:
            self._reject(located, InvalidValue(None, None, reason))
        else:
            self._reject(located, *(answer.rejected(reason) for answer in annotation.answers))
            self._reject(located, *(marks.rejected(reason) for marks in annotation.marks))
        self._reject(located, *(replace(value, reason=reason) for value in annotation.invalid))

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
                invalid = replace(invalid, value=None)
            self._rejected.add(fetched.project, invalid, None, rater)

    def _flag_commas(self, filled: Sequence[tuple[LocatedAnnotation, Slot]]) -> None:
        """Report the values of number fields that a decimal comma explains."""
        given: dict[Any, list[tuple[Annotation, int, float]]] = defaultdict(list)
        for located, slot in filled:
            fields = typed_constructs(located.project.controls)
            for answer in located.annotation.answers:
                if answer.construct_key in fields and answer.value is not None:
                    place = located.annotation, slot.response_id
                    given[slot.rater_id, answer.construct_key].append((*place, answer.value))
        for (rater, construct), values in given.items():
            slips = likely_commas([value for *_, value in values])
            for annotation, response, value in values:
                if value in slips:
                    self._rejected.doubt(annotation, rater, response, construct, value)
