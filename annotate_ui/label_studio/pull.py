"""Pulling: annotations become revisions of ratings, and nothing else is written."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.annotation_reader import AnnotationReader, typed_constructs
from annotate_ui.label_studio.annotations import (
    Annotation,
    Given,
    InvalidValue,
    as_integer,
    dicts,
    likely_commas,
    user_number,
)
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.projects import StoredProject, exchange
from annotate_ui.label_studio.results import Pulled
from annotate_ui.label_studio.revisions import LocatedAnnotation, Reveals, Revisions
from annotate_ui.label_studio.slots import Slot, SlotClaims
from annotate_ui.label_studio.task_upload import task_names
from annotate_ui.label_studio.users import Raters
from annotate_ui.tasks.save import rules_hash
from study.base.scales import Scale
from study.errors import StudyError
from study.importing.readers.input_file import Advance, unseen
from study.importing.value_store import joined_ranges, place_of
from study.schema.tables import constructs, responses
from study.sentences import Range
from study.study import Study

ConfirmNewRaters = Callable[[list[int], list[str]], None]
Fetched = Sequence[tuple[StoredProject, Sequence[Annotation]]]
"""Projects with their annotations as they are on the server."""


def pull(
    study: Study,
    server: Server,
    *,
    raters: Mapping[int, str] | None = None,
    confirm_new_raters: ConfirmNewRaters | None = None,
    progress: Advance = unseen,
) -> Pulled:
    """Read the annotations of all projects of a server and store each change as a revision.

    Values that are stored already are not stored again. Everything is stored in one transaction.

    Parameters
    ----------
    raters
        User's number to the code of the rater they are; other users get `ls-NUMBER`.
    confirm_new_raters
        Called with the new users and the codes of raters without a user, if there are both: one
        person could otherwise become two raters for good. Raising an error ends the pull before
        anything is stored.

    Raises
    ------
    StudyError
        Nothing was pushed to this server, a user is another rater already, or an annotation has no
        user or no results.
    ServerError
        The server could not be reached or refused; nothing was stored.
    """
    with exchange(study, server) as on_server:
        if not on_server.present and not on_server.deleted:
            raise StudyError(
                f"Nothing of {study.folder} was pushed to {server.url}. Run "
                f"`ccrs label-studio push {study.folder} --url {server.url}` first."
            )
        with study.read() as connection:
            versions = connection.execute(select(constructs)).all()
        result = Pulled(server.url, missing_projects=[p.number for p in on_server.missing])
        steps = len(on_server.present) + 1
        fetched = []
        for number, project in enumerate(on_server.present, 1):
            # Values are checked against the scales that were pushed.
            scales = {
                row.key: Scale(row.scale_min, row.scale_max, row.scale_step, row.scale_level)
                for row in versions
                if project.versions.get(row.key) == row.version
            }
            reader = AnnotationReader(project.controls, scales)
            fetched.append((project, _fetched(server, project, reader, result)))
            progress(number, steps)
        users = {annotation.user for _, made in fetched for annotation in made}
        with storing(study, server, users, raters or {}, confirm_new_raters) as people:
            AnnotationStore(study, people, result).store(fetched)
        progress(steps, steps)
        return result


@contextmanager
def storing(
    study: Study,
    server: Server,
    users: Collection[int | None],
    codes: Mapping[int, str],
    confirm_new_raters: ConfirmNewRaters | None,
) -> Iterator[Raters]:
    """Open a transaction in which these users are raters; `codes` are those the caller gives."""
    if confirm_new_raters is not None:
        # Before the writing transaction, so that other raters can save while the owner decides.
        with study.read() as connection:
            people = Raters(connection, server.url, server.identity)
            others = sorted(people.without_account() - {*codes.values()})
        known = people.by_user.keys() | codes.keys()
        new = sorted(user for user in users if user is not None and user not in known)
        if new and others:
            confirm_new_raters(new, others)
    with study.write() as connection:
        people = Raters(connection, server.url, server.identity)
        people.assign(codes)
        yield people


def _fetched(
    server: Server, project: StoredProject, reader: AnnotationReader, result: Pulled
) -> list[Annotation]:
    """Return the annotations of a project that people made."""
    annotations: list[Annotation] = []
    for task in server.export(project.number):
        result.drafts += len(task.get("drafts") or [])
        for place, raw in enumerate(task.get("annotations") or [], 1):
            read = reader.read(raw, task, {})
            if isinstance(read, str) or read.unread_time is not None:
                user = [as_integer(user_number(one.get("completed_by"))) for one in dicts([raw])]
                by = f", by user {user[0]}," if any(user) else ""
                why = read if isinstance(read, str) else f"its time is {read.unread_time}"
                raise StudyError(
                    f"Annotation {place} in the list of task {task.get('id')} of project "
                    f"{project.number}{by} cannot be read: {why}. Submit it again or delete it "
                    "in Label Studio."
                )
            if read.prefilled:
                result.left_out[reasons.NOT_INDEPENDENT] += 1
            else:
                annotations.append(read)
    result.annotations += len(annotations)
    result.edited_by_other += sum(annotation.edited_by_other for annotation in annotations)
    return annotations


class AnnotationStore:
    """Stores the annotations of one server, within the transaction of its raters."""

    def __init__(self, study: Study, raters: Raters, result: Pulled) -> None:
        self._connection = connection = raters.connection
        self._raters, self._result = raters, result
        self._claims = SlotClaims(connection, study)
        self._revisions = Revisions(connection, study, result)
        self._rules = {spec.key: rules_hash(spec) for spec in study.config.constructs}
        self._texts: dict[int, str] = {}

    def store(self, projects: Fetched) -> None:
        """Store every annotation that is new, edited or deleted."""
        annotations = self._located(projects)
        newest: dict[Any, LocatedAnnotation] = {}
        for located in sorted(annotations, key=lambda located: located.annotation.recency):
            newest[located.rating_key] = located
        deleted = self._slots_of_deleted(projects, list(newest.values()))
        gone = {slot.id for slot in deleted}
        for given_up in deleted:
            self._claims.reopen(
                given_up, lambda slot: slot.id not in gone and bool(self._revisions.active(slot))
            )
        filled: list[tuple[LocatedAnnotation, Slot]] = []
        for located in annotations:
            annotation, rater = located.annotation, located.rater_id
            if rater is None and annotation.user is not None:
                self._result.erased += 1
            elif rater is None:
                # The person may have been erased from the study: none of their values is stored.
                self._revisions.reject(located, InvalidValue(None, None, reasons.NO_ACCOUNT))
            elif isinstance(slot := self._find_slot(located, rater, newest), str):
                # Every value of the annotation is rejected for this reason.
                given = [answer.rejected(slot) for answer in annotation.answers]
                given = [InvalidValue(None, None, slot)] if annotation.skipped else given
                given += [replace(value, reason=slot) for value in annotation.invalid]
                self._revisions.reject(located, *given)
            else:
                filled.append((located, slot))
        self._result.further = sum(slot.further for _, slot in filled)
        seen = Reveals(self._connection)
        seen.add([(slot, located.project, located.annotation) for located, slot in filled])
        for located, slot in filled:
            self._store_annotation(located, slot, seen)
        for slot in deleted:
            for kind in ("value", "marks"):
                self._revisions.withdraw(slot, kind, slot.construct_keys, reasons.DELETED)
        self._flag_commas(filled)
        self._revisions.flush()
        self._result.raters = self._raters.new

    def _located(self, projects: Fetched) -> list[LocatedAnnotation]:
        """Return every annotation with its response and its rater, in the order of rating.

        Tasks are found by name: an interrupted push may have sent tasks without storing their
        numbers, and Label Studio reuses the numbers of deleted tasks.
        """
        found: list[tuple[StoredProject, Annotation, int | None]] = []
        for project, annotations in projects:
            by_response = task_names(self._connection, project.stage)
            named = {name: response for response, name in by_response.items()}
            found += [(project, one, named.get(one.name or "")) for one in annotations]
        located = []
        # Raters are looked up in this order, so that new ones are added in the order of rating.
        for row in sorted(found, key=lambda row: (row[1].created, row[1].number)):
            user, earlier = row[1].user, self._revisions.rater(row[0], row[1].number)
            rater = earlier if user is None else self._raters.rater_of(user)
            located.append(LocatedAnnotation(*row, rater))
        return located

    def _slots_of_deleted(
        self, projects: Fetched, counted: Sequence[LocatedAnnotation]
    ) -> list[Slot]:
        """Return the slots whose annotation was pulled before and is no longer on the server.

        An annotation of a task that has lost its name is not deleted.
        """
        present = {(located.rater_id, located.task_key) for located in counted}
        unnamed = {
            (response, project.construct_keys)
            for project, annotations in projects
            for response, number in project.tasks.items()
            if any(one.name is None and one.task == number for one in annotations)
        }
        ids = {project.id for project, _ in projects}
        return [
            slot
            for slot in self._claims.own.values()
            if self._revisions.project(slot) in ids
            and (slot.rater_id, slot.task_key) not in present
            and slot.task_key not in unnamed
        ]

    def _find_slot(
        self, located: LocatedAnnotation, rater_id: int, newest: Mapping[Any, LocatedAnnotation]
    ) -> Slot | str:
        """Return the slot that an annotation fills, or the reason why it fills none."""
        key = located.task_key
        if located.response_id is None:
            return reasons.UNKNOWN_TASK
        if newest[located.rating_key] is not located:
            return reasons.DUPLICATE
        if rater_id in self._raters.left:
            return reasons.LEFT
        slot = self._claims.own.get((rater_id, key))
        rated = self._revisions.active(slot)
        elsewhere = self._claims.on_other_channels(rater_id, key)
        if elsewhere - rated - self._revisions.active(slot, "marks") == key[1]:
            return reasons.OTHER_CHANNEL
        return self._claims.claim(rater_id, key, has_values=bool(rated)) or reasons.NO_SLOT

    def _store_annotation(self, located: LocatedAnnotation, slot: Slot, seen: Reveals) -> None:
        project, annotation = located.project, located.annotation
        self._revisions.reject(located, *annotation.invalid)
        invalid = {invalid.construct_key for invalid in annotation.invalid}
        changed = reasons.CHANGED_TO_INVALID, annotation.updated
        self._revisions.withdraw(slot, "value", invalid, *changed)
        exposure = seen.at(slot, annotation.updated, project)
        # A value that was pulled before keeps counting, and its edits are followed.
        channels = self._claims.on_other_channels(slot.rater_id, located.task_key)
        elsewhere = {"value": channels - self._revisions.active(slot)}
        elsewhere["marks"] = elsewhere["value"] - self._revisions.active(slot, "marks")
        # The comment belongs to the whole task and is stored with its first value.
        comment = annotation.comment
        marked = set()
        for answer in annotation.answers:
            key, kind = answer.construct_key, "value" if answer.parts is None else "marks"
            content: dict[str, Any] | str = reasons.OTHER_CHANNEL
            if key not in elsewhere[kind]:
                content = self._content(annotation, answer, slot)
            if isinstance(content, str):
                if not annotation.skipped:
                    self._revisions.reject(located, answer.rejected(content))
                continue
            if kind == "marks":
                marked.add(key)
            else:
                content["comment"], comment = comment, None
            common = {"construct_version": answer.construct_version, "construct_key": key}
            common |= {"rules_hash": self._rules.get(key), "kind": kind, **exposure}
            self._revisions.add(slot, located, {**common, **content})
        self._revisions.withdraw(slot, "marks", {*slot.construct_keys} - marked, reasons.DELETED)

    def _content(self, annotation: Annotation, answer: Given, slot: Slot) -> dict[str, Any] | str:
        """Return what an answer says, by column, or why marks are not in the response."""
        if answer.parts is None:
            skip = {"status": "skipped", "reason": reasons.SKIPPED} if annotation.skipped else {}
            return {"value": answer.value, "flags": list(answer.flags), **skip}
        response = slot.response_id
        if answer.parts and response not in self._texts:
            query = select(responses.c.text).where(responses.c.id == response)
            self._texts[response] = self._connection.execute(query).scalar_one()
        ranges: list[Range] = []
        for part in answer.places():
            place = part if isinstance(part, str) else place_of(self._texts[response], part)
            if isinstance(place, str):
                return f"a mark of {answer.construct_key} {place}"
            ranges.append(place)
        return {"ranges": joined_ranges(ranges)}

    def _flag_commas(self, filled: Sequence[tuple[LocatedAnnotation, Slot]]) -> None:
        """Report the values of number fields that a decimal comma explains."""
        given: dict[Any, list[tuple[LocatedAnnotation, float]]] = defaultdict(list)
        for located, _ in filled:
            fields = typed_constructs(located.project.controls)
            for answer in located.annotation.answers:
                if answer.construct_key in fields and answer.value is not None:
                    given[located.rater_id, answer.construct_key].append((located, answer.value))
        for (_, construct), values in given.items():
            slips = likely_commas([value for _, value in values])
            for located, value in values:
                if value in slips:
                    self._revisions.doubt(located, construct, value)
