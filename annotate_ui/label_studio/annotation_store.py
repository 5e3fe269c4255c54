"""Storing what was pulled: each difference from what is stored is a revision, and nothing else."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.annotation_reader import SKIPPED, Annotation, Unfit
from annotate_ui.label_studio.matching import Claims, Placed, Wanted, latest, lost_places
from annotate_ui.label_studio.projects import (
    LEFT,
    OTHER_CHANNEL,
    OTHER_SERVER,
    StoredProject,
    store_lost,
)
from annotate_ui.label_studio.reserved_slots import Slot
from annotate_ui.label_studio.results import Asides, Fetched, Pulled
from annotate_ui.label_studio.reveals import Exposures, store_reveals
from annotate_ui.label_studio.revisions import Origins, Revisions, origin
from annotate_ui.label_studio.task_data import task_names
from annotate_ui.label_studio.users import Raters
from annotate_ui.tasks.save import rules_hash
from annotate_ui.tasks.stages import Stage
from study.schema import RatingBase, Response, table
from study.study import Study

DELETED = "deleted in Label Studio"
UNFIT = "changed in Label Studio to what can't be taken"
DUPLICATE = "a further annotation of the same task by the same user; the latest counts"
NO_SLOT = "more people rated this than slots are reserved"

UNKNOWN_TASK = "of a task that was not pushed"
NO_ACCOUNT = "its account is deleted over there, and it was not pulled before"


class Storing:
    """Stores the projects of one server, within a transaction that the caller has opened."""

    def __init__(
        self, connection: Connection, study: Study, raters: Raters, result: Pulled
    ) -> None:
        self._connection, self._study = connection, study
        self._raters, self._result = raters, result
        self._claims = Claims(connection, study)
        self._revisions = Revisions(connection, study, result)
        self._origins = Origins(connection, self._revisions.newest.values())
        self._responses = _response_keys(connection)
        self._aside = Asides(connection, self._responses)
        self._rules = {spec.key: rules_hash(spec) for spec in study.config.constructs}

    def store(self, fetched: Sequence[Fetched]) -> None:
        """Store everything that is new, edited or gone."""
        placed = self._placed(fetched)
        counted = latest(placed)
        gone = self._gone(fetched, {(one.rater_id, one.wanted) for one in counted.values()})
        self._claims.abandon(gone)
        filled: list[tuple[Placed, Slot]] = []
        for one in placed:
            if one.rater_id is None and one.annotation.user is None:
                # Whoever it was may be erased from the study: no value of theirs is kept.
                nothing = Unfit(None, None, NO_ACCOUNT)
                self._aside.add(one.project, nothing, one.annotation, None, one.response_id)
                continue
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
            self._revisions.withdraw(slot, slot.construct_keys, DELETED)
        for project in fetched:
            self._set_unread_aside(project)
            held = self._held(project, placed, counted, filled)
            store_lost(self._connection, project.project, lost_places(project.project, held))
        self._revisions.flush()
        self._aside.store(self._result)

    def _held(
        self,
        fetched: Fetched,
        placed: Sequence[Placed],
        counted: Mapping[Any, Placed],
        filled: Sequence[tuple[Placed, Slot]],
    ) -> Iterator[tuple[int, Any, bool]]:
        """Yield who holds places of a project's tasks, and whether a value stands for it."""
        project = fetched.project
        fills = {one.annotation.number for one, _ in filled if one.project is project}
        for one in placed:
            response = one.response_id
            if one.project is not project or response is None or response not in project.tasks:
                continue
            user, number = one.annotation.user, one.annotation.number
            stands = number in fills or (
                counted[one.same] is one and self._stands(one.rater_id, response, project)
            )
            yield response, user or f"annotation {number}", stands
        by_task = {number: response for response, number in project.tasks.items()}
        for unread in fetched.unreadable:
            response = by_task.get(unread.task or 0)
            if response is not None:
                rater = self._raters.known(unread.user)
                stands = self._stands(rater, response, project)
                yield response, unread.user or f"annotation {unread.number}", stands

    def _stands(self, rater_id: int | None, response: int, project: StoredProject) -> bool:
        """Say whether a rater has a value from this project that was not taken back."""
        mine = self._claims.mine(rater_id or 0, (response, project.construct_keys))
        return (
            mine is not None
            and bool(self._revisions.standing(mine))
            and self._origins.project(mine) == project.id
        )

    def _placed(self, fetched: Sequence[Fetched]) -> list[Placed]:
        """Return every annotation with its response and rater, in the order of rating."""
        names: dict[int, dict[str, int]] = {}
        found = []
        for one in fetched:
            if one.project.stage not in names:
                every = task_names(self._connection, one.project.stage)
                names[one.project.stage] = {name: response for response, name in every.items()}
            for annotation in one.annotations:
                # By its name: an interrupted push may have sent tasks that it did not note, and
                # numbers of tasks that were deleted are given again over there.
                response = names[one.project.stage].get(annotation.name or "")
                found.append((one.project, annotation, response))
        found.sort(key=lambda one: (one[1].created, one[1].number))
        return [
            Placed(project, annotation, response, self._rater(project, annotation))
            for project, annotation, response in found
        ]

    def _rater(self, project: StoredProject, annotation: Annotation) -> int | None:
        if annotation.user is None:
            return self._origins.rater(project, annotation.number)
        return self._raters.rater(annotation.user)

    def _slot(self, one: Placed, counted: dict[Any, Placed]) -> tuple[Slot | None, str]:
        """Return the slot that an annotation fills, or why it fills none."""
        if one.response_id is None or one.rater_id is None:
            return None, UNKNOWN_TASK
        if counted[one.same] is not one:
            return None, DUPLICATE
        return self._slot_of(one, one.rater_id)

    def _slot_of(self, one: Placed, rater_id: int) -> tuple[Slot | None, str]:
        if self._raters.left(rater_id):
            return None, LEFT
        mine = self._claims.mine(rater_id, one.wanted)
        if (
            mine
            and self._revisions.standing(mine)
            and self._origins.of_another_server(mine, one.project)
        ):
            return None, OTHER_SERVER
        if self._on_another_channel(one, mine) == one.wanted[1]:
            return None, OTHER_CHANNEL
        stands = mine is not None and bool(self._revisions.standing(mine))
        found = self._claims.claim(rater_id, one.wanted, stands=stands)
        if found is None:
            return None, NO_SLOT
        # What was shown is what the project shows, whatever study.toml says by now.
        shown = Stage(one.project.stage, one.project.construct_keys, one.project.fields)
        return replace(found, stage=shown), NO_SLOT

    def _on_another_channel(self, one: Placed, mine: Slot | None) -> set[str]:
        """Return the constructs whose value counts on another channel.

        What was taken from here before is followed on: it is the value that counts.
        """
        assert one.rater_id is not None  # noqa: S101
        there = self._claims.assigned_elsewhere(one.rater_id, one.wanted)
        return there - (self._revisions.standing(mine) if mine is not None else set())

    def _gone(
        self, fetched: Sequence[Fetched], present: set[tuple[int | None, Wanted]]
    ) -> list[Slot]:
        """Return the slots whose annotation was pulled before and is no longer over there.

        One that is there and can't be read is not gone; where not even its number can be read,
        nothing of its task is.
        """
        projects = {one.project.id for one in fetched}
        kept: set[tuple[int | None, Wanted]] = set()
        unsure: set[Wanted] = set()
        for one in fetched:
            by_task = {number: response for response, number in one.project.tasks.items()}
            for annotation in one.annotations:
                # Its name is lost: it is told, and takes nothing back.
                if annotation.name is None and annotation.task in by_task:
                    unsure.add((by_task[annotation.task], one.project.construct_keys))
            for unread in one.unreadable:
                wanted = by_task.get(unread.task or 0, 0), one.project.construct_keys
                if unread.number is None:
                    unsure.add(wanted)
                else:
                    kept.add((self._origins.rater(one.project, unread.number), wanted))
                    kept.add((self._raters.known(unread.user), wanted))
        return [
            slot
            for slot in self._claims.slots()
            if self._origins.project(slot) in projects
            and (slot.rater_id, slot.wanted) not in present | kept
            and slot.wanted not in unsure
        ]

    def _set_unread_aside(self, fetched: Fetched) -> None:
        for unread in fetched.unreadable:
            if self._raters.is_erased(unread.user):
                self._result.erased += 1
                continue
            rater = self._raters.known(unread.user)
            if rater is None and unread.number is not None:
                rater = self._origins.rater(fetched.project, unread.number)
            told = unread.unfit
            if rater is None and unread.user is None:
                told = Unfit(None, None, told.reason)
            self._aside.add(fetched.project, told, None, rater)

    def _store_annotation(self, one: Placed, slot: Slot, exposures: Exposures) -> None:
        annotation = one.annotation
        refused = self._on_another_channel(one, slot)
        for answer in annotation.answers:
            if answer.construct_key in refused and not annotation.skipped:
                told = Unfit(answer.construct_key, json.dumps(answer.value), OTHER_CHANNEL)
                self._aside.add(one.project, told, annotation, one.rater_id, one.response_id)
        for unfit in annotation.unfit:
            self._aside.add(one.project, unfit, annotation, one.rater_id, one.response_id)
        said = {unfit.construct_key for unfit in annotation.unfit}
        self._revisions.withdraw(
            slot, [key for key in slot.construct_keys if key in said], UNFIT, annotation
        )
        seen = exposures.seen(slot, annotation.updated)
        answers = [answer for answer in annotation.answers if answer.construct_key not in refused]
        for number, answer in enumerate(answers):
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
                external_id=origin(one.project, annotation.number),
                external_at=annotation.updated,
                rules_hash=self._rules.get(answer.construct_key),
            )
            self._revisions.add(slot, row)

    def _refuse(self, one: Placed, reason: str) -> None:
        """Set a whole annotation aside."""
        annotation = one.annotation
        values = [
            Unfit(answer.construct_key, json.dumps(answer.value), reason)
            for answer in annotation.answers
            if not annotation.skipped
        ]
        if annotation.skipped:
            values = [Unfit(None, None, reason)]
        for unfit in [*values, *annotation.unfit]:
            told = Unfit(unfit.construct_key, unfit.value, reason)
            self._aside.add(one.project, told, annotation, one.rater_id, one.response_id)


def _response_keys(connection: Connection) -> dict[int, str]:
    r = table(Response)
    return {row.id: row.key for row in connection.execute(select(r.c.id, r.c.key))}
