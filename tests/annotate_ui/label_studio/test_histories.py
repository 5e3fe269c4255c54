"""Whatever happens over there between pulls, no value is lost, bent or doubled."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from annotate_ui.label_studio.results import Pulled
from annotate_ui.label_studio.slots import slots
from study import Study
from study.schema.tables import external_raters, raters, responses
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import projects, reserve
from tests.annotate_ui.rated_campaign import fill, give

_STEPS = 30
_WHAT = {
    "annotate": 6,
    "edit": 3,
    "delete": 2,
    "pull": 4,
    "push": 3,
    "skip": 1,
    "out of range": 1,
    "twice": 1,
    "delete a task": 1,
    "delete a project": 1,
}


class History:
    """One study and one server, to which things happen by chance."""

    def __init__(self, study: Study, seed: int) -> None:
        self.study, self.chance = study, Random(seed)
        self.server: Any = StandIn()
        self.minute = 0
        fill(study, queries=1, systems=2)
        keys = self.chance.choice([["QR"], ["QR", "ID"], ["QR", "CC"]])
        per_item = self.chance.choice([1, 2, 3])
        reserve(study, per_item, constructs=keys)
        self.planned = {(response, key): per_item for response in (1, 2) for key in keys}
        self.names = {}
        if self.chance.random() < 0.5:
            self.names[5] = "anna"
            if self.chance.random() < 0.4:
                self.names[6] = "anna"
        if self.chance.random() < 0.3:
            give(study, "anna", keys=keys[:1])
        push(study, self.server)

    def happen(self) -> None:
        """Let one thing happen."""
        (what,) = self.chance.choices(list(_WHAT), list(_WHAT.values()))
        if what == "push":
            push(self.study, self.server)
            again = push(self.study, self.server)
            assert (again.tasks, again.deleted, again.replaced) == (0, 0, 0)
        elif what == "pull":
            self.pull()
        elif what in {"annotate", "skip", "out of range", "twice"}:
            self._annotate(what)
        else:
            self._change(what)

    def pull(self) -> None:
        """Pull twice: the second time changes nothing, and everything is where it belongs."""
        pull(self.study, self.server, raters=self.names)
        again = pull(self.study, self.server)
        assert not again.stored_anything
        self._everything_is_somewhere(again)
        self._as_many_are_planned_as_at_first()

    def _as_many_are_planned_as_at_first(self) -> None:
        """However often places are taken and given up, each is one place of one rater."""
        with self.study.read() as connection:
            live = slots(connection, self.study)
        planned = Counter((slot.response_id, key) for slot in live for key in slot.construct_keys)
        assert planned == self.planned
        taken = [(slot.rater_id, *slot.task_key) for slot in live if slot.rater_id is not None]
        assert len(taken) == len(set(taken))

    def _annotate(self, what: str) -> None:
        there = [
            (project, task)
            for project in projects(self.study)
            if project.number in self.server.made
            for task in project.tasks.values()
            if task in self.server.tasks[project.number]
        ]
        if not there:
            return
        project, task = self.chance.choice(there)
        user = self.chance.choice([5, 6, 7, 8])
        annotations = self.server.tasks[project.number][task]["annotations"]
        if what != "twice" and any(
            annotation["completed_by"] == user for annotation in annotations
        ):
            return
        value = 250 if what == "out of range" else self.chance.randint(0, 100)
        values = dict.fromkeys(sorted(project.construct_keys), value)
        made = self.server.annotate(project.number, task, user, self._now(), **values)
        if what == "skip":
            made["was_cancelled"], made["result"] = True, []

    def _change(self, what: str) -> None:
        tasks = [task for some in self.server.tasks.values() for task in some.values()]
        places = [
            (task["annotations"], annotation)
            for task in tasks
            for annotation in task["annotations"]
        ]
        if what == "delete a project" and self.server.made and self.chance.random() < 0.3:
            self.server.delete_project(self.chance.choice(list(self.server.made)))
        elif what == "delete a task" and tasks:
            self.server.delete_task(self.chance.choice(tasks)["id"])
        elif places and what in {"edit", "delete"}:
            annotations, annotation = self.chance.choice(places)
            if what == "delete":
                annotations.remove(annotation)
            else:
                for result in annotation["result"]:
                    result["value"]["number"] = self.chance.choice([0, 50, 100, 500])
                annotation["updated_at"] = f"2026-01-01T{self._now()}:00Z"

    def _now(self) -> str:
        self.minute += 1
        return f"{self.minute // 60:02d}:{self.minute % 60:02d}"

    def _everything_is_somewhere(self, done: Pulled) -> None:
        """Every value on the server counts under its rater, or is rejected with its reason."""
        with self.study.read() as connection:
            statement = select(external_raters.c.external_id, raters.c.code).join_from(
                external_raters, raters, external_raters.c.rater_id == raters.c.id
            )
            codes = {int(user): code for user, code in connection.execute(statement)}
            rows = connection.execute(select(responses.c.id, responses.c.key))
            keys = {row.id: row.key for row in rows}
        # Those changed after the next stage was seen are stored, and stay out of the table else.
        scores = self.study.score_table(edits="last").query(
            "source == 'label_studio' and value == value"
        )
        counted = {
            (row.response_id, row.construct, row.scorer): row.value for row in scores.itertuples()
        }
        aside = {
            (rejected.response, rejected.construct, rejected.rater, rejected.annotation)
            for rejected in done.rejected
        }
        server_values: dict[Any, set[float]] = {}
        for project in projects(self.study):
            if project.number not in self.server.made:
                continue
            for response, number in project.tasks.items():
                task = self.server.tasks[project.number].get(number, {"annotations": []})
                for annotation in task["annotations"]:
                    for result in annotation["result"]:
                        rater, value = codes[annotation["completed_by"]], result["value"]["number"]
                        key = keys[response], result["from_name"], rater
                        assert counted.get(key) == value or (*key, annotation["id"]) in aside
                        server_values.setdefault(key, set()).add(value)
        for key, value in counted.items():
            assert key not in server_values or value in server_values[key]


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_lost_bent_or_doubled(study: Study, seed: int) -> None:
    history = History(study, seed)
    for _ in range(_STEPS):
        history.happen()
    history.pull()
