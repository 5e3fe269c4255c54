"""What each rater had been shown of a query by when: a task that is annotated shows a stage."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio.annotation_reader import Annotation
from annotate_ui.label_studio.reserved_slots import Slot
from annotate_ui.tasks.stages import in_order
from study.schema import Assignment, Response, Reveal, table
from study.types import Sees

# Submitted and never edited: the server writes both times a moment apart.
_AT_ONCE = timedelta(seconds=2)


class Shown(NamedTuple):
    """A stage of a response that was shown to a rater."""

    at: datetime
    stage: int
    fields: tuple[Sees, ...]
    repeat: int


class ShownFields(NamedTuple):
    """What a rating was given with."""

    revealed: list[Sees]
    after_reveal: bool
    seen_more: bool


def store_reveals(connection: Connection, filled: Sequence[tuple[Slot, Annotation]]) -> None:
    """Store that the slots' stages were shown to those who annotated them; each is stored once."""
    v = table(Reveal)
    known = {
        (row.assignment_id, row.stage)
        for row in connection.execute(select(v.c.assignment_id, v.c.stage))
    }
    new: dict[tuple[int, int], dict[str, Any]] = {}
    for slot, annotation in filled:
        key = slot.id, slot.stage.number
        if key not in known:
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
        connection.execute(insert(v), list(new.values()))


def _shown_at(annotation: Annotation) -> datetime:
    """Return when a task was opened, as far as is known; the time grows when it is edited later."""
    edited = annotation.updated - annotation.created > _AT_ONCE
    if annotation.lead_seconds is None or edited or annotation.lead_seconds > 86_400:
        return annotation.created
    return annotation.created - timedelta(seconds=annotation.lead_seconds)


class Exposures:
    """Everything that was shown to raters, on whichever channel, by rater and query."""

    def __init__(self, connection: Connection) -> None:
        v, a, r = table(Reveal), table(Assignment), table(Response)
        rows = connection.execute(
            select(a.c.rater_id, r.c.query_id, v.c.created_at, v.c.stage, v.c.fields, a.c.repeat)
            .join_from(v, a, v.c.assignment_id == a.c.id)
            .join(r, a.c.response_id == r.c.id)
        )
        self._shown: dict[tuple[int, int], list[Shown]] = defaultdict(list)
        for rater, query, at, stage, fields, repeat in rows:
            self._shown[rater, query].append(Shown(at, stage, tuple(fields), repeat))

    def seen(self, slot: Slot, at: datetime) -> ShownFields:
        """Return what the slot's rater had seen of its query when they rated at this moment."""
        assert slot.rater_id is not None  # noqa: S101
        before = [one for one in self._shown[slot.rater_id, slot.query_id] if one.at <= at]
        fields = {field for one in before for field in one.fields}.union(slot.stage.fields)
        return ShownFields(
            list(in_order(fields)),
            any(one.stage > slot.stage.number and one.repeat == slot.repeat for one in before),
            not fields.issubset(slot.stage.fields),
        )
