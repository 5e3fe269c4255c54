"""The annotations of an export that count: of each person and task one, and which can't be read."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate_ui.label_studio.annotation_reader import (
    Annotation,
    moment,
    read_task,
    unlisted,
    user_of,
    whole,
)
from annotate_ui.label_studio.export_inventory import is_reference
from annotate_ui.label_studio.task_data import NAME
from study.errors import Fault
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.scales import RatingScale

REFERENCES = (
    "annotations marked as ground truth (the project's own answers, of no rater; take the mark "
    "off over there where they are meant as ratings)"
)
CHANGED = "annotations that somebody else changed last, taken as those of whom they are by"
AGAIN = "annotations of a task by somebody who annotated it again later"
# So many places are named for each reason.
_NAMED = 5


@dataclass(slots=True)
class Annotations:
    """Reads the annotations of an export's tasks, and counts those that don't count."""

    source: RecordSource
    controls: Mapping[str, Mapping[str, Any]]
    scales: Mapping[str, RatingScale]
    """By construct: what its values were given on."""
    met: int = 0
    """How many annotations the tasks have, whatever they are."""
    _unread: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Reason to places."""

    def of(self, record: Record) -> Iterator[Annotation | Fault]:
        """Yield the latest annotation of each person who did a task."""
        task = record.cells
        problem = unlisted(task)
        if problem is not None:
            yield Fault(f"task {task['id']}: {problem}", "Export the project again.", record.number)
            return
        left_out = self.source.report.left_out
        self.met += len(task.get("annotations") or [])
        given = [one for one in task.get("annotations") or [] if not is_reference(one)]
        references = len(task.get("annotations") or []) - len(given)
        if references:
            left_out[REFERENCES] += references
        predictions = task.get("predictions")
        if isinstance(predictions, list) and predictions:
            left_out["predictions, which are no person's"] += len(predictions)
        if task.get("drafts"):
            left_out["drafts, which are no ratings"] += len(task["drafts"])
        by_user: dict[int | None, list[tuple[Annotation, bool]]] = defaultdict(list)
        for one in given:
            timed = _with_a_time(one)
            alone = {**task, "annotations": [timed], "drafts": []}
            found, unreadable, _ = read_task(alone, NAME, self.controls, self.scales)
            for annotation in found:
                by_user[annotation.user].append((annotation, timed is one))
                if annotation.by_another:
                    self.source.report.rules[CHANGED] += 1
            for unread in unreadable:
                number = "?" if unread.number is None else unread.number
                place = f"row {record.number}: task {task['id']}, annotation {number}"
                self._unread[_why(one)].append(place)
        for user, own in by_user.items():
            yield from self._latest(user, own, record)

    def told(self) -> None:
        """Count the annotations that could not be read, by reason, with where they stand."""
        for reason, places in self._unread.items():
            more = f"; and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
            self.source.report.left_out[
                f"annotations that can't be read, since {reason} ("
                f"{'; '.join(places[:_NAMED])}{more})"
            ] += len(places)

    def _latest(
        self, user: int | None, own: list[tuple[Annotation, bool]], record: Record
    ) -> Iterator[Annotation | Fault]:
        """Yield the latest of a person's annotations of a task, each with whether it says when."""
        if user is None:
            yield from (annotation for annotation, _ in own)  # Nobody knows whether it is one.
            return
        untimed = [annotation.number for annotation, timed in own if not timed]
        if len(own) > 1 and untimed:
            yield Fault(
                f"user {user} annotated task {record.cells['id']} {len(own)} times, and annotation "
                f"{untimed[0]} has no time (with a time zone), while the latest counts.",
                "Export the project again, or remove the others.",
                record.number,
            )
            return
        if len(own) > 1:
            self.source.report.left_out[AGAIN] += len(own) - 1
        yield max((one for one, _ in own), key=lambda one: (one.updated, one.number))


def _with_a_time(one: Any) -> Any:
    """Return an annotation that says when; what has no time is as good where there is no other."""
    if not isinstance(one, dict) or "id" not in one:
        return one
    try:
        moment(one["created_at"])
        moment(one.get("updated_at") or one["created_at"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return {**one, "created_at": "1970-01-01T00:00:00Z", "updated_at": None}
    return one


def _why(one: Any) -> str:
    """Say what of an annotation can't be read; the rest of it may name people."""
    if not isinstance(one, dict):
        return "they are no objects"
    if whole(one.get("id")) is None:
        return "they have no number (id)"
    if "completed_by" not in one:
        return "nothing says whose they are (completed_by)"
    if whole(user_of(one["completed_by"])) is None:
        return "their completed_by is no user's number"
    return "their result is no list of results"
