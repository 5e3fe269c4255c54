"""Who is behind in Label Studio: tasks that wait there, by the rater who has not done them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from study.facts.departures import departures
from study.facts.ratings import answered_constructs
from study.facts.slots import is_live
from study.schema.tables import (
    assignments,
    external_projects,
    external_raters,
    external_tasks,
    ratings,
)

Task = tuple[int, frozenset[str]]
"""A response and the constructs to rate."""


def left_in_label_studio(connection: Connection) -> dict[int, int]:
    """Return how many tasks that wait for anybody each rater could still do there.

    Label Studio gives a task to the first rater who opens it, so no task belongs to one. Raters are
    database keys; those with nothing left, and those who left, are not among them.
    """
    slots = select(
        assignments.c.id,
        assignments.c.response_id,
        assignments.c.construct_keys,
        assignments.c.rater_id,
        is_live().label("live"),
    ).where(assignments.c.channel == "label_studio")
    pushed = _pushed(connection)
    waiting: set[Task] = set()
    done: dict[int, set[Task]] = defaultdict(set)
    of_channel = ratings.c.assignment_id.in_(
        select(assignments.c.id).where(assignments.c.channel == "label_studio")
    )
    answers = connection.execute(select(answered_constructs(of_channel).c.assignment_id))
    answered = set(answers.scalars())
    for slot, response, keys, rater, live in connection.execute(slots):
        task = response, frozenset(keys)
        if rater is not None:
            # One whose annotation was deleted is released, and done again by the same rater.
            if live or slot in answered:
                done[rater].add(task)
        elif live:
            # A task may ask for a part of what waits: one stage.
            waiting |= {(response, part) for part in pushed[response] if part.issubset(keys)}
    users = select(external_raters.c.rater_id).where(external_raters.c.rater_id.is_not(None))
    people = set(connection.execute(users).scalars()) - departures(connection).keys()
    left = {rater: len(waiting - done[rater]) for rater in people}
    return {rater: count for rater, count in left.items() if count}


def behind_line(left: Mapping[str, int]) -> str | None:
    """Return the line that names raters with tasks left, most first; None: there are none."""
    ordered = sorted(left.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{code} {count:,}" for code, count in ordered if count)
    return (
        f"Open tasks in Label Studio that these raters have not done: {named}." if named else None
    )


def asked_constructs(controls: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """Return the constructs that a project asks for: values, or marks on sentences.

    `controls` are those of the project's annotation interface, as `external_projects` stores them.
    """
    return frozenset(
        key
        for control in controls.values()
        for key in (
            [control["construct"]]
            if control["kind"] in {"number", "flags"}
            else control.get("versions", ())
        )
    )


def _pushed(connection: Connection) -> dict[int, set[frozenset[str]]]:
    """Return what the tasks of each response ask for."""
    rows = connection.execute(
        select(external_tasks.c.response_id, external_projects.c.controls).join_from(
            external_tasks, external_projects, external_tasks.c.project_id == external_projects.c.id
        )
    )
    pushed: dict[int, set[frozenset[str]]] = defaultdict(set)
    for response, controls in rows:
        pushed[response].add(asked_constructs(controls))
    return pushed
