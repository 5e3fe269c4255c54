"""Sending tasks to projects: each once, also where the server's replies are lost."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from sqlalchemy import insert

from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.configuration import (
    NOTHING_TO_MARK,
    Configuration,
    configuration,
    scale_points,
)
from annotate_ui.label_studio.projects import StoredProject, store_tasks, stored_projects
from annotate_ui.label_studio.results import Pushed, PushedProject
from annotate_ui.label_studio.server_projects import (
    ServerProjects,
    description,
    project_mark,
    unknown_projects,
)
from annotate_ui.label_studio.task_data import NAME, study_name, task_data, task_names
from annotate_ui.participants.consent import markdown, texts_of
from study.progress_bar import Advance
from study.schema.tables import external_projects
from study.settings.constructs import ConstructSpec
from study.study import Study
from study.types import Sees

# Tasks of one request. Label Studio stores a request completely or, rarely, not at all.
_BATCH = 250
_ATTEMPTS = 5


PAIRS = 4
"""Number of the stage in which pairs are compared, after all stages of the ratings."""


class ProjectKind(NamedTuple):
    """What the tasks of one project have in common."""

    stage: int
    fields: tuple[Sees, ...]
    construct_keys: tuple[str, ...]
    overlap: int


class TaskSender:
    """Sends the tasks of one push."""

    def __init__(
        self,
        study: Study,
        server: Server,
        on_server: ServerProjects,
        title: str,
        result: Pushed,
        advance: Advance,
    ) -> None:
        self._study, self._server, self._title = study, server, title
        self._result, self._advance = result, advance
        self._listed, self._present = on_server.listed, list(on_server.present)
        self._known = len(on_server.present) + len(on_server.deleted)
        self._sent = 0
        self.total = 0
        staged = study.config.rating.disclosure == "staged"
        self._on_request = staged and study.config.label_studio.stages == "on request"
        # A stage opens when its query is rated in the stage before: earlier where all raters
        # begin with the same queries. Without that, the order of each rater is another one.
        self._in_order = staged and not self._on_request
        with study.read() as connection:
            self._name = study_name(connection)
            self._versions = study.construct_versions(connection)

    def unknown_projects(self) -> list[int]:
        """Return the projects on the server with the study's mark that are not stored in it."""
        stored = {project.number for project in self._present}
        return unknown_projects(self._name, self._listed, stored)

    def send(self, kind: ProjectKind, responses: Sequence[int]) -> None:
        """Send the tasks of one kind, to an existing project or a new one."""
        remaining = list(responses)
        constructs = [c for c in self._study.config.constructs if c.key in kind.construct_keys]
        interface = configuration(
            kind.fields, constructs, self._versions, on_request=self._on_request
        )
        while remaining:
            wanted = frozenset(remaining)

            def lacks_some(project: StoredProject, wanted: frozenset[int] = wanted) -> bool:
                return not wanted.issubset(project.tasks)

            project, is_new = self.project(kind, constructs, interface, lacks_some)
            missing = [response for response in remaining if response not in project.tasks]
            # A response with a task in this project needs its further task in another one.
            remaining = [response for response in remaining if response in project.tasks]
            self._result.tasks += self._fill(project, kind, missing)
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

    def project(
        self,
        kind: ProjectKind,
        constructs: Sequence[ConstructSpec],
        interface: Configuration,
        is_free: Callable[[StoredProject], bool],
    ) -> tuple[StoredProject, bool]:
        """Return a project of this kind that `is_free`, and whether it is new."""
        for project in self._present:
            if (
                (project.stage, project.fields, project.overlap)
                == (kind.stage, kind.fields, kind.overlap)
                and project.controls == interface.controls
                and is_free(project)
            ):
                return project, False
        # The mark identifies a project of an interrupted push whose number was not stored.
        mark = project_mark(
            self._name, self._known, f"{interface.xml}\n{kind.fields}\n{kind.overlap}"
        )
        number = next((listed.id for listed in self._listed if mark in listed.description), None)
        is_new = number is None
        if number is None:
            names = ", ".join(construct.name for construct in constructs)
            part = "Comparisons" if kind.stage == PAIRS else f"Stage {kind.stage}"
            place = f"{part} of {self._title}: {names}."
            number = self._server.create_project(
                # Label Studio refuses longer titles.
                title=f"{self._title[:30]}: {kind.stage} ({kind.overlap})"[:50],
                description=description(place, self._title, mark),
                xml=interface.xml,
                instructions=instructions(self._study, constructs, place),
                overlap=kind.overlap,
                in_order=self._in_order,
            )
        with self._study.write() as connection:
            connection.execute(
                insert(external_projects).values(
                    server=self._server.url,
                    external_id=str(number),
                    instance=self._server.identity,
                    stage=kind.stage,
                    fields=list(kind.fields),
                    controls=interface.controls,
                    overlap=kind.overlap,
                    config_hash=self._study.config_hash,
                )
            )
        with self._study.read() as connection:
            project = stored_projects(connection)[-1]
        self._present.append(project)
        self._known += 1
        return project, is_new

    def _fill(self, project: StoredProject, kind: ProjectKind, responses: Sequence[int]) -> int:
        """Send the missing tasks; return their number."""
        with self._study.read() as connection:
            by_response = task_names(connection, kind.stage)
        names = {by_response[r]: r for r in responses}
        if self._server.project(project.number).tasks != len(project.tasks):
            self._adopt(project, names)
        before = len(project.tasks)
        for attempt in range(_ATTEMPTS):
            try:
                self._send_missing(project, kind, names)
                break
            except ServerError as error:
                if not error.is_temporary or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(2**attempt)
                # The server may have stored tasks whose reply was lost.
                self._adopt(project, names)
        if self._server.project(project.number).tasks != len(project.tasks):
            self._adopt(project, names)
        return len(project.tasks) - before

    def _send_missing(
        self, project: StoredProject, kind: ProjectKind, names: Mapping[str, int]
    ) -> None:
        missing = [(name, r) for name, r in names.items() if r not in project.tasks]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            with self._study.read() as connection:
                data = task_data(connection, [r for _, r in batch], kind.fields)
            tasks = [{"data": {**data[r], NAME: name}} for name, r in batch]
            numbers = self._server.import_tasks(project.number, tasks)
            sent = {r: number for (_, r), number in zip(batch, numbers, strict=True)}
            self._store(project, sent)
            self._sent += len(sent)
            self._advance(self._sent, self.total)

    def _adopt(self, project: StoredProject, names: Mapping[str, int]) -> None:
        """Store the tasks that the server has; delete untouched ones that it has twice."""
        by_name: dict[str, list[tuple[int, bool]]] = defaultdict(list)
        for task in self._server.export(project.number):
            name = task.get("data", {}).get(NAME)
            touched = bool(task.get("annotations") or task.get("drafts"))
            if isinstance(name, str):
                by_name[name].append((int(task["id"]), touched))
        stored = set(project.tasks.values())
        adopted: dict[int, int] = {}
        for name, tasks in by_name.items():
            first, *others = sorted(tasks, key=lambda task: (task[0] not in stored, task[0]))
            for number, touched in others:
                if not touched and self._server.delete_unrated(number, name):
                    self._result.duplicates += 1
            if first[0] not in stored and name in names:
                adopted[names[name]] = first[0]
        new = {r: number for r, number in adopted.items() if r not in project.tasks}
        self._store(project, new)
        self._result.adopted += len(new)

    def _store(self, project: StoredProject, tasks: Mapping[int, int]) -> None:
        with self._study.write() as connection:
            store_tasks(connection, project.id, tasks)
        project.tasks.update(tasks)


def instructions(study: Study, constructs: Sequence[ConstructSpec], place: str) -> str:
    """Return the instructions of a project as HTML without active content.

    `place` is the line that names the project.
    """
    parts = [f"<p>{escape(place)}</p>"]
    text = texts_of(study).instructions
    if text is not None:
        parts.append(str(markdown(text.markdown)))
    parts += [
        "<p>Give a number for every question. If you cannot judge a response at all, skip the "
        "task. Submit before you leave a task: unsubmitted values may be lost.</p>"
    ]
    if any(not scale_points(construct.scale) for construct in constructs):
        parts += [
            "<p>Look at every number before you submit. A number field loses a minus sign that is "
            "typed first, and a zero right after the decimal point: type the other digits, then "
            "insert the sign or zero. Write 100, not 1e2. In a field, the arrow keys up and down "
            "change the number.</p>"
        ]
    if any(construct.mark_question for construct in constructs):
        parts += [
            "<p>To mark sentences of the response, click the label, then select the text; repeat "
            "this for each part. Delete a mark by selecting it and pressing Backspace. If there is "
            f"nothing to mark, tick {NOTHING_TO_MARK}.</p>"
        ]
    for construct in constructs:
        parts.append(f"<h3>{escape(construct.name)}</h3><p>{escape(construct.question)}</p>")
        if construct.rules:
            rules = "".join(f"<li>{escape(rule)}</li>" for rule in construct.rules)
            parts.append(f"<ul>{rules}</ul>")
    return "\n".join(parts)
