"""Marks on sentences that were pulled: each change of a set becomes its next revision."""

import json
from collections.abc import Callable, Collection
from typing import Any

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.annotations import Annotation, InvalidValue, MarkedParts
from annotate_ui.label_studio.export_marks import parts_of
from annotate_ui.label_studio.projects import OTHER_CHANNEL
from annotate_ui.label_studio.reserved_slots import Slot
from annotate_ui.label_studio.results import Pulled
from annotate_ui.label_studio.reveals import Exposure
from annotate_ui.tasks.save import rules_hash
from study.facts.counted_marks import newest_marks
from study.importing.marks_store import joined_ranges, place_of
from study.schema import SentenceMarksBase
from study.schema.tables import assignments, responses, sentence_marks
from study.sentences import Range
from study.study import Study


class MarkRevisions:
    """The marks of a channel as they were before a pull, and the revisions that it adds."""

    def __init__(self, connection: Connection, study: Study, result: Pulled, channel: str) -> None:
        self._connection, self._study, self._result = connection, study, result
        of_channel = select(assignments.c.id).where(assignments.c.channel == channel)
        newest = newest_marks(sentence_marks.c.assignment_id.in_(of_channel))
        rows: Any = connection.execute(select(newest))
        self.newest = {(row.assignment_id, row.construct_key): row for row in rows}
        """By slot and construct."""
        self._texts: dict[int, str] = {}
        self._rules = {spec.key: rules_hash(spec) for spec in study.config.constructs}

    def active_constructs(self, slot: Slot) -> set[str]:
        """Return the constructs of a slot with marks that were not withdrawn."""
        return {
            key
            for key in slot.construct_keys
            if (row := self.newest.get((slot.id, key))) is not None and row.ranges is not None
        }

    def store(
        self,
        slot: Slot,
        annotation: Annotation,
        external_id: str,
        exposure_of: Callable[[MarkedParts], Exposure],
        elsewhere: Collection[str],
        reject: Callable[[InvalidValue], None],
    ) -> None:
        """Add the marks of a slot's annotation; withdraw those that it no longer has.

        Those for constructs that count `elsewhere`, on another channel, are rejected, unless
        earlier ones were pulled.
        """
        kept = set()
        rejected = set(elsewhere) - self.active_constructs(slot)
        for marks in annotation.marks:
            if marks.construct_key in rejected:
                reject(rejected_marks(marks, OTHER_CHANNEL))
                continue
            ranges = self._ranges(slot, marks, reject)
            if ranges is None:
                continue
            kept.add(marks.construct_key)
            exposure = exposure_of(marks)
            row = SentenceMarksBase(
                construct_key=marks.construct_key,
                construct_version=marks.construct_version,
                ranges=ranges,
                input_kind=CHANNEL,
                wall_seconds=annotation.lead_seconds,
                revealed=list(exposure.revealed),
                after_reveal=exposure.after_reveal,
                seen_more=exposure.seen_more,
                channel=CHANNEL,
                external_id=external_id,
                external_at=annotation.updated,
                rules_hash=self._rules.get(marks.construct_key),
            )
            previous = self.newest.get((slot.id, marks.construct_key))
            if previous is None or _content(previous) != _content(row):
                self._write(slot, row, 0 if previous is None else previous.revision)
        self.withdraw(slot, kept)

    def withdraw(self, slot: Slot, kept: set[str] | None = None) -> None:
        """Withdraw the marks of a slot, except those for the constructs `kept`."""
        for key in self.active_constructs(slot) - (kept or set()):
            previous = self.newest[slot.id, key]
            row = SentenceMarksBase(
                construct_key=key,
                construct_version=previous.construct_version,
                input_kind=CHANNEL,
                revealed=list(previous.revealed),
                channel=CHANNEL,
                external_id=previous.external_id,
            )
            self._write(slot, row, previous.revision)

    def _ranges(
        self, slot: Slot, marks: MarkedParts, reject: Callable[[InvalidValue], None]
    ) -> list[Range] | None:
        """Return the marked parts of the response; None: one is not in it."""
        text = self._text(slot.response_id) if marks.parts else ""
        ranges = []
        for part in parts_of(marks):
            place = part if isinstance(part, str) else place_of(text, part)
            if isinstance(place, str):
                reject(rejected_marks(marks, f"a mark of {marks.construct_key} {place}"))
                return None
            ranges.append(place)
        return joined_ranges(ranges)

    def _text(self, response: int) -> str:
        if response not in self._texts:
            of_response = select(responses.c.text).where(responses.c.id == response)
            self._texts[response] = str(self._connection.execute(of_response).scalar_one())
        return self._texts[response]

    def _write(self, slot: Slot, row: SentenceMarksBase, revision: int) -> None:
        self._result.marks += 1
        values = {**row.model_dump(), "revision": revision + 1, "assignment_id": slot.id}
        self._connection.execute(
            insert(sentence_marks).values(**values, config_hash=self._study.config_hash)
        )


def rejected_marks(marks: MarkedParts, reason: str) -> InvalidValue:
    """Return marks as a rejected value: the list of their places."""
    value = json.dumps([dict(part) for part in marks.parts])
    return InvalidValue(marks.construct_key, value, reason)


def _content(marks: Any) -> tuple[Any, ...]:
    ranges = None if marks.ranges is None else [tuple(ends) for ends in marks.ranges]
    return marks.construct_version, ranges, marks.external_id
