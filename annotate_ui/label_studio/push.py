"""Pushing: projects and tasks for the slots of this channel; what is there already stays."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import insert

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.alone import alone
from annotate_ui.label_studio.configuration import Configuration, configuration
from annotate_ui.label_studio.identity import project_mark, standing
from annotate_ui.label_studio.instructions import instructions
from annotate_ui.label_studio.moving import forget
from annotate_ui.label_studio.origins import Origins
from annotate_ui.label_studio.predictions import predicted
from annotate_ui.label_studio.pushed import Pushed, PushedProject
from annotate_ui.label_studio.revisions import newest_ratings
from annotate_ui.label_studio.server import Server, ServerError
from annotate_ui.label_studio.slots import Slot, ready, slots, split_by_stage
from annotate_ui.label_studio.stored import (
    StoredProject,
    held_places,
    rated_slots,
    store_tasks,
    stored_projects,
)
from annotate_ui.label_studio.tasks import NAME, study_name, task_data, task_name
from study.campaign import Study
from study.errors import StudyError
from study.nouns import ElsewhereProject, table
from study.progress import Advance
from study.words import Sees

# Tasks sent at once. Each request is stored over there whole or, seldom, not at all.
_TOGETHER = 250
_ATTEMPTS = 5


class _Kind(NamedTuple):
    """What the tasks of one project have in common."""

    stage: int
    fields: tuple[Sees, ...]
    construct_keys: tuple[str, ...]
    overlap: int


def push(
    study: Study,
    server: Server,
    *,
    title: str | None = None,
    predictions: str | None = None,
    progress: Advance | None = None,
) -> Pushed:
    """Make the projects and tasks that the slots of this channel want and that are not there.

    Nothing is changed that is there. A stage of a query is pushed when its earlier stages are
    rated and pulled, by everybody who has a slot.

    Parameters
    ----------
    title
        What the projects are called, before their stage; the study's name unless given.
    predictions
        A judge whose scores are shown to raters beforehand. They anchor what raters say.

    Raises
    ------
    StudyError
        Nothing is assigned to Label Studio, or there is no such judge.
    ServerError
        The server could not be reached or refused. What was sent is known again at the next push.
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    with alone(study):
        server.check()
        there = standing(study, server)
        gone = _forget_gone(study, server, there.present)
        renewed, earlier = _replace_untouched(study, server, there.present)
        with study.read() as connection:
            # Refused before anything is made over there.
            predicted(connection, study, predictions, {})
        with study.write() as connection:
            # Projects that are not there any more hold their places until they are given up.
            projects = stored_projects(connection)
            held = held_places(projects)
            split_by_stage(connection, study, held)
        with study.read() as connection:
            reserved = slots(connection, study)
            done = rated_slots(connection)
            origins = Origins(connection, newest_ratings(connection).values())
        if not reserved:
            raise StudyError(
                "Nothing is assigned to Label Studio. Reserve slots with "
                f"`ccrs assign {study.folder} --open --channel {CHANNEL}`."
            )
        due = ready([slot for slot in reserved if slot.asked], done)
        asked = sum(bool(slot.asked) for slot in reserved)
        result = Pushed(server.url, waiting=asked - len(due), slots=len(reserved))
        tasks = {one.id: one.tasks for one in projects}
        # Rated at a place that is not over there any more: a task deleted, a project given up.
        kept = {
            slot.id
            for slot in due
            if slot.id in done
            and (project := origins.project(slot)) is not None
            and slot.response_id not in tasks[project]
        }
        wanted = _wanted(study, [slot for slot in due if slot.id not in kept], held, done)
        result.there = sum(len(one.tasks) for one in projects if one.server == server.url)
        result.gone, result.renewed, result.earlier = gone, renewed, earlier
        result.missing = [one.number for one in there.missing]
        result.lost = sum(sum(one.lost.values()) for one in projects)
        sender = _Sender(study, server, title or study.config.name, predictions, result, advance)
        sender.total = sum(len(responses) for responses in wanted.values())
        for kind in sorted(wanted, key=lambda kind: (kind.stage, kind.construct_keys)):
            sender.send(kind, wanted[kind])
        return result


def _forget_gone(study: Study, server: Server, present: Iterable[StoredProject]) -> int:
    """Forget tasks that were deleted over there, so that they are sent again; return how many.

    Those that somebody had rated were for slots that are filled, or that their withdrawal opens.
    """
    gone = 0
    for project in present:
        if server.project(project.number).tasks != len(project.tasks):
            numbers = {int(task["id"]) for task in server.export(project.number)}
            lost = [r for r, number in project.tasks.items() if number not in numbers]
            gone += forget(study, project, lost)
    return gone


def _replace_untouched(
    study: Study, server: Server, present: Iterable[StoredProject]
) -> tuple[int, int]:
    """Take away tasks that ask an earlier version of a construct, for they are sent anew.

    Return how many there were, and how many stay since somebody has rated them or begun to.
    """
    with study.read() as connection:
        versions = study.construct_versions(connection)
    replaced = stay = 0
    for project in present:
        asked = [control for control in project.controls.values() if control["kind"] == "number"]
        if all(
            versions.get(control["construct"], control["construct_version"])
            == control["construct_version"]
            for control in asked
        ):
            continue
        by_task = {number: response for response, number in project.tasks.items()}
        untouched = [
            by_task[int(task["id"])]
            for task in server.export(project.number)
            if int(task["id"]) in by_task and not (task.get("annotations") or task.get("drafts"))
        ]
        removed = [r for r in untouched if server.delete_untouched(project.tasks[r])]
        replaced += forget(study, project, removed)
        stay += len(project.tasks)
    return replaced, stay


def _wanted(
    study: Study,
    due: Sequence[Slot],
    held: Mapping[tuple[int, frozenset[str]], int],
    done: set[int],
) -> dict[_Kind, list[int]]:
    """Return which responses want a task of which kind; those that have theirs are left out."""
    order = [construct.key for construct in study.config.constructs]
    together: dict[tuple[int, frozenset[str]], list[Slot]] = defaultdict(list)
    for slot in due:
        together[slot.wanted].append(slot)
    wanted: dict[_Kind, list[int]] = defaultdict(list)
    for (response, constructs), slots_ in together.items():
        # Of an abandoned place more annotations may be there than it had places.
        taken = sum(slot.id in done for slot in slots_)
        missing = len(slots_) - max(held.get((response, constructs), 0), taken)
        if missing > 0:
            stage = slots_[0].stage
            keys = tuple(key for key in order if key in slots_[0].asked)
            wanted[_Kind(stage.number, stage.fields, keys, missing)].append(response)
    return wanted


class _Sender:
    """Sends the tasks of one push."""

    def __init__(
        self,
        study: Study,
        server: Server,
        title: str,
        predictions: str | None,
        result: Pushed,
        advance: Advance,
    ) -> None:
        self._study, self._server, self._title = study, server, title
        self._predictions, self._result, self._advance = predictions, result, advance
        self._sent = 0
        self.total = 0
        with study.read() as connection:
            self._name = study_name(connection)
            self._versions = study.construct_versions(connection)

    def send(self, kind: _Kind, responses: Sequence[int]) -> None:
        """Send the tasks of one kind, to a project that is there or a new one."""
        left = list(responses)
        constructs = [c for c in self._study.config.constructs if c.key in kind.construct_keys]
        made = configuration(kind.fields, constructs, self._versions)
        while left:
            project, is_new = self._project(kind, made, left)
            here = [response for response in left if response not in project.tasks]
            left = [response for response in left if response in project.tasks]
            added = self._fill(project, kind, here)
            number = project.number
            self._result.tasks += added
            self._result.projects.append(
                PushedProject(
                    number,
                    f"{self._server.url}/projects/{number}",
                    kind.stage,
                    kind.construct_keys,
                    kind.overlap,
                    is_new,
                    len(project.tasks),
                )
            )

    def _project(
        self, kind: _Kind, made: Configuration, responses: Sequence[int]
    ) -> tuple[StoredProject, bool]:
        there = standing(self._study, self._server)
        alike = [
            one
            for one in there.present
            if (one.stage, one.fields, one.overlap) == (kind.stage, kind.fields, kind.overlap)
            and one.controls == made.controls
            and one.predictions == self._predictions
        ]
        for one in alike:
            if any(response not in one.tasks for response in responses):
                return one, False
        with self._study.read() as connection:
            known = stored_projects(connection, self._server.url)
        # The mark tells a project that an interrupted push made, before its number was stored.
        made_of = f"{made.xml}\n{kind.fields}\n{self._predictions}\n{kind.overlap}"
        mark = project_mark(self._name, self._server.url, len(known), made_of)
        number = next((one.id for one in there.listed if mark in one.description), None)
        is_new = number is None
        if number is None:
            number = self._make(kind, made, mark)
        with self._study.write() as connection:
            connection.execute(
                insert(table(ElsewhereProject)).values(
                    server=self._server.url,
                    external_id=str(number),
                    mark=mark,
                    stage=kind.stage,
                    fields=list(kind.fields),
                    controls=made.controls,
                    overlap=kind.overlap,
                    predictions=self._predictions,
                    config_hash=self._study.config_hash,
                )
            )
        with self._study.read() as connection:
            found = stored_projects(connection, self._server.url)[-1]
        return found, is_new

    def _make(self, kind: _Kind, made: Configuration, mark: str) -> int:
        constructs = [c for c in self._study.config.constructs if c.key in kind.construct_keys]
        place = f"Stage {kind.stage} of {self._title}: {', '.join(c.name for c in constructs)}."
        return self._server.create_project(
            # Longer, it is refused.
            title=f"{self._title[:30]}: {kind.stage} ({kind.overlap})"[:50],
            description=f"{place} Made by ccrs-study; delete nothing here. {mark}",
            xml=made.xml,
            instructions=instructions(self._study, constructs, place),
            overlap=kind.overlap,
            predictions=self._predictions is not None,
        )

    def _fill(self, project: StoredProject, kind: _Kind, responses: Sequence[int]) -> int:
        """Send what is missing; return how many tasks were new."""
        names = {task_name(self._name, r, kind.stage): r for r in responses}
        if self._server.project(project.number).tasks != len(project.tasks):
            self._adopt(project, names)
        before = len(project.tasks)
        for attempt in range(_ATTEMPTS):
            try:
                self._send_missing(project, kind, names)
                break
            except ServerError as error:
                if not error.passes or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(2**attempt)
                # The server may have stored what it gave no answer to.
                self._adopt(project, names)
        if self._server.project(project.number).tasks != len(project.tasks):
            self._adopt(project, names)
        return len(project.tasks) - before

    def _send_missing(self, project: StoredProject, kind: _Kind, names: Mapping[str, int]) -> None:
        missing = [(name, r) for name, r in names.items() if r not in project.tasks]
        for start in range(0, len(missing), _TOGETHER):
            some = missing[start : start + _TOGETHER]
            with self._study.read() as connection:
                data = task_data(connection, [r for _, r in some], kind.fields)
                guesses = predicted(connection, self._study, self._predictions, project.controls)
            tasks: list[dict[str, Any]] = [
                {"data": {**data[r], NAME: name}, "predictions": guesses.get(r, [])}
                for name, r in some
            ]
            numbers = self._server.import_tasks(project.number, tasks)
            sent = {r: number for (_, r), number in zip(some, numbers, strict=True)}
            self._store(project, sent)
            self._sent += len(sent)
            self._advance(self._sent, self.total)

    def _adopt(self, project: StoredProject, names: Mapping[str, int]) -> None:
        """Learn which tasks are there; remove those that are there twice and nobody rated."""
        there: dict[str, list[tuple[int, bool]]] = defaultdict(list)
        for task in self._server.export(project.number):
            name = task.get("data", {}).get(NAME)
            touched = bool(task.get("annotations") or task.get("drafts"))
            if isinstance(name, str):
                there[name].append((int(task["id"]), touched))
        known = set(project.tasks.values())
        found: dict[int, int] = {}
        for name, tasks in there.items():
            first, *others = sorted(tasks, key=lambda task: (task[0] not in known, task[0]))
            for number, touched in others:
                if not touched and self._server.delete_untouched(number):
                    self._result.doubled += 1
            if first[0] not in known and name in names:
                found[names[name]] = first[0]
        new = {r: number for r, number in found.items() if r not in project.tasks}
        self._store(project, new)
        self._result.adopted += len(new)

    def _store(self, project: StoredProject, tasks: Mapping[int, int]) -> None:
        with self._study.write() as connection:
            store_tasks(connection, project.id, tasks)
        project.tasks.update(tasks)
