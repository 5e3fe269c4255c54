"""What raters were shown of a query, and when: an annotated task shows one stage."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio.annotation_reader import Annotation
from annotate_ui.label_studio.reserved_slots import Slot
from annotate_ui.tasks.stages import in_order
from study.schema.tables import assignments, responses, reveals
from study.types import Sees

# The server sets both times of an annotation that was never edited this close to each other.
_SAME_MOMENT = timedelta(seconds=2)


class ShownStage(NamedTuple):
    """A stage of a response that was shown to a rater."""

    at: datetime
    stage: int
    fields: tuple[Sees, ...]
    repeat: int


class Exposure(NamedTuple):
    """The fields that a rater had seen when a rating was given."""

    revealed: list[Sees]
    after_reveal: bool
    seen_more: bool


def store_reveals(connection: Connection, filled: Sequence[tuple[Slot, Annotation]]) -> None:
    """Store that the slots' stages were shown to their raters; each is stored once."""
    stored = {
        (row.assignment_id, row.stage)
        for row in connection.execute(select(reveals.c.assignment_id, reveals.c.stage))
    }
    new: dict[tuple[int, int], dict[str, Any]] = {}
    for slot, annotation in filled:
        key = slot.id, slot.stage.number
        if key not in stored:
            new.setdefault(
                key,
                {
                    "assignment_id": slot.id,
                    "stage": slot.stage.number,
                    "fields": list(slot.stage.fields),
                    "created_at": _shown_at(annotation),
                },
            )
    if new:
        connection.execute(insert(reveals), list(new.values()))


def _shown_at(annotation: Annotation) -> datetime:
    """Return when a task was opened, or submitted if that is unknown: an edit adds to its time."""
    edited = annotation.updated - annotation.created > _SAME_MOMENT
    if annotation.lead_seconds is None or edited or annotation.lead_seconds > 86_400:
        return annotation.created
    return annotation.created - timedelta(seconds=annotation.lead_seconds)


class Exposures:
    """Everything that was shown to raters on any channel, by rater and query."""

    def __init__(self, connection: Connection) -> None:
        rows = connection.execute(
            select(
                assignments.c.rater_id,
                responses.c.query_id,
                reveals.c.created_at,
                reveals.c.stage,
                reveals.c.fields,
                assignments.c.repeat,
            )
            .join_from(reveals, assignments, reveals.c.assignment_id == assignments.c.id)
            .join(responses, assignments.c.response_id == responses.c.id)
        )
        self._shown: dict[tuple[int, int], list[ShownStage]] = defaultdict(list)
        for rater, query, at, stage, fields, repeat in rows:
            self._shown[rater, query].append(ShownStage(at, stage, tuple(fields), repeat))

    def at(self, slot: Slot, time: datetime) -> Exposure:
        """Return what the slot's rater had seen of its query at this time."""
        assert slot.rater_id is not None  # noqa: S101
        before = [shown for shown in self._shown[slot.rater_id, slot.query_id] if shown.at <= time]
        fields = {field for shown in before for field in shown.fields}.union(slot.stage.fields)
        return Exposure(
            list(in_order(fields)),
            any(
                shown.stage > slot.stage.number and shown.repeat == slot.repeat for shown in before
            ),
            not fields.issubset(slot.stage.fields),
        )
