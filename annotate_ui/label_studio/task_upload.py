"""Tasks: what they show, under names that are the same in every push, and sending each once.

Replies of the server may be lost: what it has already is recognized by name.
"""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio import NAME
from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.page import Configuration, configuration, instructions
from annotate_ui.label_studio.projects import (
    ServerProjects,
    StoredProject,
    forget,
    store_project,
    stored_projects,
    study_name,
)
from annotate_ui.label_studio.results import Pushed, PushedProject
from study.facts.current_responses import passages_of_responses, response_contents
from study.progress_bar import Advance
from study.schema.tables import external_tasks, queries, responses
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
    """A task as it is on the server; of two with one name the first one stays."""

    is_new: bool
    """Whether the study does not have its number."""
    number: int
    touched: bool
    """Whether it has an annotation or a draft."""


def page_of(study: Study, kind: ProjectKind | StoredProject) -> Configuration:
    """Return the page of a kind of project, as study.toml describes it now."""
    with study.read() as connection:
        versions = study.construct_versions(connection)
    constructs = [spec for spec in study.config.constructs if spec.key in kind.construct_keys]
    return configuration(kind.fields, constructs, versions)


@dataclass
class TaskSender:
    """Sends the tasks of one push."""

    study: Study
    server: Server
    on_server: ServerProjects
    title: str
    result: Pushed
    advance: Advance

    def refresh(self, project: StoredProject) -> dict[int, ServerTask]:
        """Make the study's record of a project's tasks equal to the server's; return these.

        Tasks are known by name: an interrupted push may have sent some without storing their
        numbers, and Label Studio reuses the numbers of deleted ones. Untouched tasks that are there
        twice are deleted.
        """
        with self.study.read() as connection:
            by_response = task_names(connection, project.stage)
        named = {name: response for response, name in by_response.items()}
        found: dict[int, list[ServerTask]] = defaultdict(list)
        for task in self.server.export(project.number):
            response = named.get(str(task.get("data", {}).get(NAME)))
            if response is not None:
                number = int(task["id"])
                touched = bool(task.get("annotations") or task.get("drafts"))
                is_new = number != project.tasks.get(response)
                found[response].append(ServerTask(is_new, number, touched))
        doubles = [
            two.number for some in found.values() for two in sorted(some)[1:] if not two.touched
        ]
        there = {response: min(some) for response, some in found.items()}
        if doubles:
            self.server.delete_tasks(project.number, doubles)
        self.result.duplicates += len(doubles)
        adopted = {response: task.number for response, task in there.items() if task.is_new}
        further = len(adopted.keys() - project.tasks.keys())
        self.result.adopted += further
        self.result.tasks += further
        self.result.deleted += len(project.tasks.keys() - there.keys())
        forget(self.study, project, (project.tasks.keys() - there.keys()) | adopted.keys())
        self._store(project, adopted)
        return there

    def send(self, missing: Mapping[ProjectKind, Sequence[int]]) -> None:
        """Send the tasks that are missing, each kind to an existing project or a new one.

        Raises
        ------
        ServerError
            The server could not be reached or refused. The next push recognizes what was sent.
        """
        total = sum(len(tasks) for tasks in missing.values())
        present = list(self.on_server.present)
        for kind in sorted(missing, key=lambda kind: (kind.stage, kind.construct_keys)):
            remaining = list(missing[kind])
            while remaining:
                project, is_new = self._project(kind, frozenset(remaining), present)
                tasks = [shown for shown in remaining if shown not in project.tasks]
                # What has a task in this project needs its further task in another one.
                remaining = [shown for shown in remaining if shown in project.tasks]
                self._fill(project, kind, tasks, total)
                url = f"{self.server.url}/projects/{project.number}"
                about = kind.stage, kind.construct_keys, kind.overlap, is_new, len(project.tasks)
                self.result.projects.append(PushedProject(project.number, url, *about))

    def _project(
        self, kind: ProjectKind, wanted: frozenset[int], present: list[StoredProject]
    ) -> tuple[StoredProject, bool]:
        """Return a project that lacks some wanted tasks, and whether it is new."""
        page = page_of(self.study, kind)
        for project in present:
            if (
                (project.stage, project.fields, project.overlap)
                == (kind.stage, kind.fields, kind.overlap)
                and project.controls == page.controls
                and not wanted.issubset(project.tasks)
            ):
                return project, False
        # The mark identifies a project of an interrupted push whose number was not stored.
        known = len(present) + len(self.on_server.deleted)
        made_of = f"{page.xml}\n{kind.fields}\n{kind.overlap}"
        mark = self.on_server.mark(known, made_of)
        listed = self.on_server.listed
        number = next((one.id for one in listed if mark in one.description), None)
        is_new = number is None
        if number is None:
            constructs = [s for s in self.study.config.constructs if s.key in kind.construct_keys]
            names = ", ".join(spec.name for spec in constructs)
            place = f"Stage {kind.stage} of {self.title}: {names}."
            number = self.server.create_project(
                # Label Studio refuses longer titles.
                title=f"{self.title[:30]}: {kind.stage} ({kind.overlap})"[:50],
                description=f"{place} Made by ccrs-study; delete nothing here. {mark}",
                xml=page.xml,
                instructions=instructions(self.study, constructs, place),
                overlap=kind.overlap,
                # A stage opens when its query is rated in the stage before, which is earlier if
                # all raters get the tasks in one order.
                in_order=self.study.config.rating.disclosure == "staged",
            )
        values = {"stage": kind.stage, "fields": list(kind.fields), "overlap": kind.overlap}
        values["controls"] = page.controls
        with self.study.write() as connection:
            store_project(connection, self.study, self.server, number, None, values)
        with self.study.read() as connection:
            project = stored_projects(connection)[-1]
        present.append(project)
        if not is_new:
            self.refresh(project)
        return project, is_new

    def _fill(
        self, project: StoredProject, kind: ProjectKind, tasks: Sequence[int], total: int
    ) -> None:
        """Send the tasks of these responses that are missing."""
        with self.study.read() as connection:
            names = task_names(connection, kind.stage)
        attempts = 0
        while missing := [response for response in tasks if response not in project.tasks]:
            batch = missing[:_BATCH]
            with self.study.read() as connection:
                data = task_data(connection, batch, kind.fields)
            made = [
                {"data": {**texts, NAME: names[response]}}
                for response, texts in zip(batch, data, strict=True)
            ]
            try:
                numbers = self.server.import_tasks(project.number, made)
            except ServerError as error:
                attempts += 1
                if not error.is_temporary or attempts == _ATTEMPTS:
                    raise
                time.sleep(2 ** (attempts - 1))
                # The server may have stored tasks whose reply was lost.
                self.refresh(project)
                continue
            self._store(project, dict(zip(batch, numbers, strict=True)))
            self.advance(self.result.tasks + len(batch), total)
            self.result.tasks += len(batch)

    def _store(self, project: StoredProject, tasks: Mapping[int, int]) -> None:
        """Store tasks of a project: the response of each, and its number."""
        rows = [
            {"project_id": project.id, "response_id": response, "external_id": str(number)}
            for response, number in tasks.items()
        ]
        if rows:
            with self.study.write() as connection:
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
        shown_as: dict[Sees, tuple[str, Any]] = {
            "question": ("question", question),
            "response": ("response", text),
            "context": ("passages", titled),
            "reference": ("reference", next(iter(references), "")),
        }
        data.append(dict(shown_as[field] for field in fields))
    return data
