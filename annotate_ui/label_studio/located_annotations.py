"""Annotations with what their task shows and who gave them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection

from annotate_ui.label_studio.annotations import Annotation, UnreadableAnnotation
from annotate_ui.label_studio.projects import StoredProject, TaskKey
from annotate_ui.label_studio.task_data import task_names


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

    @property
    def recency(self) -> tuple[Any, int]:
        """Greater for a later annotation."""
        return self.annotation.updated, self.annotation.number


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
        if previous is None or previous.recency < located.recency:
            newest[located.rating_key] = located
    return newest
