"""Tasks: what they show, under names that are the same in every push, and sending each once.

Replies of the server may be lost: what it has already is recognized by name.
"""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio import NAME
from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.page import Configuration, configuration, instructions
from annotate_ui.label_studio.projects import (
    ServerProjects,
    StoredProject,
    description,
    project_mark,
    stored_projects,
    study_name,
)
from annotate_ui.label_studio.results import Pushed, PushedProject
from study.facts.current_responses import passages_of_responses, response_contents
from study.progress_bar import Advance
from study.schema.tables import external_projects, external_tasks, queries, responses
from study.settings.constructs import ConstructSpec
from study.study import Study
from study.types import Sees

# Tasks of one request, which Label Studio stores completely or, rarely, not at all; and texts that
# are read at once.
_BATCH = 250
_ATTEMPTS = 5


class ProjectKind(NamedTuple):
    """What the tasks of one project have in common."""

    stage: int
    fields: tuple[Sees, ...]
    construct_keys: tuple[str, ...]
    overlap: int


class ServerTask(NamedTuple):
    """A task as it is on the server."""

    number: int
    name: str | None
    """None: it was not pushed."""
    touched: bool
    """Whether it has an annotation or a draft."""


def tasks_of(server: Server, project: StoredProject) -> list[ServerTask]:
    """Return the tasks that a project has on the server."""
    tasks = []
    for task in server.export(project.number):
        name = task.get("data", {}).get(NAME)
        touched = bool(task.get("annotations") or task.get("drafts"))
        tasks.append(ServerTask(int(task["id"]), name if isinstance(name, str) else None, touched))
    return tasks


def constructs_of(study: Study, kind: ProjectKind | StoredProject) -> list[ConstructSpec]:
    """Return the constructs of a kind of project that study.toml has."""
    return [spec for spec in study.config.constructs if spec.key in kind.construct_keys]


def page_of(study: Study, kind: ProjectKind | StoredProject) -> Configuration:
    """Return the page of a kind of project, as study.toml describes it now."""
    with study.read() as connection:
        versions = study.construct_versions(connection)
    return configuration(kind.fields, constructs_of(study, kind), versions)


class TaskSender:
    """Sends the tasks of one push."""

    def __init__(
        self,
        study: Study,
        server: Server,
        on_server: ServerProjects,
        title: str,
        result: Pushed,
        advance: Advance | None,
    ) -> None:
        self._study, self._server = study, server
        self._title = title
        self._result, self._advance = result, advance
        self._name, self._listed = on_server.study_name, on_server.listed
        self._present = list(on_server.present)
        self._known = len(on_server.present) + len(on_server.deleted)
        self._sent = self._total = 0

    def send(self, missing: Mapping[ProjectKind, Sequence[int]]) -> None:
        """Send the tasks that are missing, each kind to an existing project or a new one.

        Raises
        ------
        ServerError
            The server could not be reached or refused. The next push recognizes what was sent.
        """
        self._total = sum(len(tasks) for tasks in missing.values())
        for kind in sorted(missing, key=lambda kind: (kind.stage, kind.construct_keys)):
            remaining = list(missing[kind])
            while remaining:
                project, is_new = self._project(kind, frozenset(remaining))
                tasks = [shown for shown in remaining if shown not in project.tasks]
                # What has a task in this project needs its further task in another one.
                remaining = [shown for shown in remaining if shown in project.tasks]
                self._result.tasks += self._fill(project, kind, tasks)
                self._result.projects.append(
                    PushedProject(
                        project.number,
                        f"{self._server.url}/projects/{project.number}",
                        kind.stage,
                        kind.construct_keys,
                        kind.overlap,
                        is_new,
                        len(project.tasks),
                    )
                )

    def _project(self, kind: ProjectKind, wanted: frozenset[int]) -> tuple[StoredProject, bool]:
        """Return a project that lacks some wanted tasks, and whether it is new."""
        page = page_of(self._study, kind)
        for project in self._present:
            if (
                (project.stage, project.fields, project.overlap)
                == (kind.stage, kind.fields, kind.overlap)
                and project.controls == page.controls
                and not wanted.issubset(project.tasks)
            ):
                return project, False
        # The mark identifies a project of an interrupted push whose number was not stored.
        made_of = f"{page.xml}\n{kind.fields}\n{kind.overlap}"
        mark = project_mark(self._name, self._known, made_of)
        number = next((listed.id for listed in self._listed if mark in listed.description), None)
        is_new = number is None
        if number is None:
            number = self._create(kind, page, mark)
        with self._study.write() as connection:
            connection.execute(
                insert(external_projects).values(
                    server=self._server.url,
                    external_id=str(number),
                    instance=self._server.identity,
                    stage=kind.stage,
                    fields=list(kind.fields),
                    controls=page.controls,
                    overlap=kind.overlap,
                    config_hash=self._study.config_hash,
                )
            )
        with self._study.read() as connection:
            project = stored_projects(connection)[-1]
        self._present.append(project)
        self._known += 1
        return project, is_new

    def _create(self, kind: ProjectKind, page: Configuration, mark: str) -> int:
        constructs = constructs_of(self._study, kind)
        names = ", ".join(spec.name for spec in constructs)
        place = f"Stage {kind.stage} of {self._title}: {names}."
        return self._server.create_project(
            # Label Studio refuses longer titles.
            title=f"{self._title[:30]}: {kind.stage} ({kind.overlap})"[:50],
            description=description(place, self._title, mark),
            xml=page.xml,
            instructions=instructions(self._study, constructs, place),
            overlap=kind.overlap,
            # A stage opens when its query is rated in the stage before, which is earlier if all
            # raters get the tasks in one order.
            in_order=self._study.config.rating.disclosure == "staged",
        )

    def _fill(self, project: StoredProject, kind: ProjectKind, tasks: Sequence[int]) -> int:
        """Send the missing tasks; return their number."""
        with self._study.read() as connection:
            by_shown = task_names(connection, kind.stage)
        names = {by_shown[shown]: shown for shown in tasks}
        before, attempts = len(project.tasks), 0
        while True:
            # The server may have stored tasks whose reply was lost, here or in an earlier push.
            if self._server.project(project.number).tasks != len(project.tasks):
                self._adopt(project, names)
            missing = [(name, one) for name, one in names.items() if one not in project.tasks]
            if not missing:
                return len(project.tasks) - before
            try:
                self._send_missing(project, kind, missing)
            except ServerError as error:
                attempts += 1
                if not error.is_temporary or attempts == _ATTEMPTS:
                    raise
                time.sleep(2 ** (attempts - 1))

    def _send_missing(
        self, project: StoredProject, kind: ProjectKind, missing: Sequence[tuple[str, int]]
    ) -> None:
        for start in range(0, len(missing), _BATCH):
            names, batch = zip(*missing[start : start + _BATCH], strict=True)
            with self._study.read() as connection:
                data = task_data(connection, batch, kind.fields)
            tasks = [
                {"data": {**texts, NAME: name}} for name, texts in zip(names, data, strict=True)
            ]
            numbers = self._server.import_tasks(project.number, tasks)
            self._store(project, dict(zip(batch, numbers, strict=True)))
            self._sent += len(batch)
            if self._advance is not None:
                self._advance(self._sent, self._total)

    def _adopt(self, project: StoredProject, names: Mapping[str, int]) -> None:
        """Store the tasks that the server has; delete untouched ones that it has twice."""
        by_name: dict[str, list[ServerTask]] = defaultdict(list)
        for task in tasks_of(self._server, project):
            if task.name is not None:
                by_name[task.name].append(task)
        stored = set(project.tasks.values())
        doubles: list[int] = []
        adopted: dict[int, int] = {}
        for name, tasks in by_name.items():
            first, *others = sorted(tasks, key=lambda task: (task.number not in stored, task))
            doubles += [task.number for task in others if not task.touched]
            if first.number not in stored and name in names and names[name] not in project.tasks:
                adopted[names[name]] = first.number
        if doubles:
            self._server.delete_tasks(project.number, doubles)
        self._store(project, adopted)
        self._result.duplicates += len(doubles)
        self._result.adopted += len(adopted)

    def _store(self, project: StoredProject, tasks: Mapping[int, int]) -> None:
        """Store tasks of a project: the response of each, and its number."""
        rows = [
            {"project_id": project.id, "response_id": response, "external_id": str(number)}
            for response, number in tasks.items()
        ]
        if rows:
            with self._study.write() as connection:
                connection.execute(insert(external_tasks), rows)
        project.tasks.update(tasks)


def task_names(connection: Connection, stage: int) -> dict[int, str]:
    """Return the name of the task of each response in a stage, which does not identify a system.

    It depends on the texts: in a study that was restored from an earlier backup, the number of a
    response may belong to another text.
    """
    study = study_name(connection)
    columns = responses.c.id, responses.c.content_hash, queries.c.text, queries.c.references
    names: dict[int, str] = {}
    for row in connection.execute(select(*columns).join_from(responses, queries)):
        text = repr((study, stage, *row))
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
        names[row.id] = digest.hexdigest()
    return names


def task_data(
    connection: Connection, tasks: Sequence[int], fields: Sequence[Sees]
) -> list[dict[str, Any]]:
    """Return the data of the task of each response: these fields and nothing else."""
    contents = response_contents(connection, tasks)
    passages = passages_of_responses(connection, tasks) if "context" in fields else {}
    data = []
    for response in tasks:
        _, question, references, _, text = contents[response]
        titled = [
            {"title": f"Passage {n}", "text": passage}
            for n, (passage, _) in enumerate(passages.get(response, []), 1)
        ]
        of_field: dict[Sees, tuple[str, Any]] = {
            "question": ("question", question),
            "response": ("response", text),
            "context": ("passages", titled),
            "reference": ("reference", next(iter(references), "")),
        }
        data.append(dict(of_field[field] for field in fields))
    return data
