"""Annotations with the response that they are of and the rater who gave them."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from annotate_ui.label_studio.annotation_reader import Annotation
from annotate_ui.label_studio.matching import Wanted
from annotate_ui.label_studio.projects import StoredProject


class Placed(NamedTuple):
    """An annotation, with the response that it is of and the rater who gave it."""

    project: StoredProject
    annotation: Annotation
    response_id: int | None
    """None: of a task that is none of the study's."""
    rater_id: int | None
    """None: erased from the study, or an account that is deleted over there."""

    @property
    def wanted(self) -> Wanted:
        """What the task asks for."""
        return self.response_id or 0, self.project.construct_keys

    @property
    def same(self) -> tuple[Any, ...]:
        """Equal for annotations of which only one can count."""
        task = self.annotation.task if self.response_id is None else None
        # Several accounts may be one rater.
        return self.rater_id, self.wanted, task

    @property
    def age(self) -> tuple[Any, int]:
        """Later is greater."""
        return self.annotation.updated, self.annotation.number


def latest(placed: Sequence[Placed]) -> dict[Any, Placed]:
    """Return the annotations that count: of a rater and what is asked of them, the latest."""
    newest: dict[Any, Placed] = {}
    for one in placed:
        before = newest.get(one.same)
        if before is None or before.age < one.age:
            newest[one.same] = one
    return newest


def lost_places(
    project: StoredProject, held: Iterable[tuple[int, Hashable, bool]]
) -> dict[int, int]:
    """Return how many places of a project's tasks are held and fill nothing, by response.

    Over there a user holds one place of a task, however many annotations are theirs.

    Parameters
    ----------
    held
        Of each annotation its response, its user, and whether a value stands for it.
    """
    holders: dict[int, set[Hashable]] = defaultdict(set)
    fillers: dict[int, set[Hashable]] = defaultdict(set)
    for response, user, fills in held:
        holders[response].add(user)
        if fills:
            fillers[response].add(user)
    found = {
        response: min(len(users), project.overlap) - min(len(fillers[response]), project.overlap)
        for response, users in holders.items()
    }
    return {response: places for response, places in found.items() if places}
