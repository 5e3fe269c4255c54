"""Sending tasks to projects: each once, whatever answers are lost on the way."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from sqlalchemy import insert

from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.configuration import Configuration, configuration
from annotate_ui.label_studio.projects import StoredProject, store_tasks, stored_projects
from annotate_ui.label_studio.results import Pushed, PushedProject
from annotate_ui.label_studio.server_projects import ServerProjects, project_mark, unknown_projects
from annotate_ui.label_studio.task_data import NAME, study_name, task_data, task_names
from annotate_ui.participants.consent import texts_of
from annotate_ui.participants.markdown import markdown
from study.progress import Advance
from study.schema import ElsewhereProject, table
from study.settings.constructs import ConstructSpec
from study.study import Study
from study.types import Sees

# Tasks sent at once. Each request is stored over there whole or, seldom, not at all.
_TOGETHER = 250
_ATTEMPTS = 5


class Kind(NamedTuple):
    """What the tasks of one project have in common."""

    stage: int
    fields: tuple[Sees, ...]
    construct_keys: tuple[str, ...]
    overlap: int


class Sender:
    """Sends the tasks of one push."""

    def __init__(
        self,
        study: Study,
        server: Server,
        there: ServerProjects,
        title: str,
        result: Pushed,
        advance: Advance,
    ) -> None:
        self._study, self._server, self._title = study, server, title
        self._result, self._advance = result, advance
        self._listed, self._present = there.listed, list(there.present)
        self._known = len(there.known)
        self._sent = 0
        self.total = 0
        with study.read() as connection:
            self._name = study_name(connection)
            self._versions = study.construct_versions(connection)

    def unknown(self) -> list[int]:
        """Return the projects that bear the study's mark and that it knows nothing of."""
        return unknown_projects(self._name, self._listed, {one.number for one in self._present})

    def send(self, kind: Kind, responses: Sequence[int]) -> None:
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
        self, kind: Kind, made: Configuration, responses: Sequence[int]
    ) -> tuple[StoredProject, bool]:
        alike = [
            one
            for one in self._present
            if (one.stage, one.fields, one.overlap) == (kind.stage, kind.fields, kind.overlap)
            and one.controls == made.controls
        ]
        for one in alike:
            if any(response not in one.tasks for response in responses):
                return one, False
        # The mark tells a project that an interrupted push made, before its number was stored.
        made_of = f"{made.xml}\n{kind.fields}\n{kind.overlap}"
        mark = project_mark(self._name, self._known, made_of)
        number = next((one.id for one in self._listed if mark in one.description), None)
        is_new = number is None
        if number is None:
            number = self._make(kind, made, mark)
        with self._study.write() as connection:
            connection.execute(
                insert(table(ElsewhereProject)).values(
                    server=self._server.url,
                    external_id=str(number),
                    instance=self._server.identity,
                    stage=kind.stage,
                    fields=list(kind.fields),
                    controls=made.controls,
                    overlap=kind.overlap,
                    config_hash=self._study.config_hash,
                )
            )
        with self._study.read() as connection:
            found = stored_projects(connection)[-1]
        self._present.append(found)
        self._known += 1
        return found, is_new

    def _make(self, kind: Kind, made: Configuration, mark: str) -> int:
        constructs = [c for c in self._study.config.constructs if c.key in kind.construct_keys]
        place = f"Stage {kind.stage} of {self._title}: {', '.join(c.name for c in constructs)}."
        return self._server.create_project(
            # Longer, it is refused.
            title=f"{self._title[:30]}: {kind.stage} ({kind.overlap})"[:50],
            description=f"{place} Made by ccrs-study; delete nothing here. {mark}",
            xml=made.xml,
            instructions=instructions(self._study, constructs, place),
            overlap=kind.overlap,
        )

    def _fill(self, project: StoredProject, kind: Kind, responses: Sequence[int]) -> int:
        """Send what is missing; return how many tasks were new."""
        with self._study.read() as connection:
            every = task_names(connection, kind.stage)
        names = {every[r]: r for r in responses}
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

    def _send_missing(self, project: StoredProject, kind: Kind, names: Mapping[str, int]) -> None:
        missing = [(name, r) for name, r in names.items() if r not in project.tasks]
        for start in range(0, len(missing), _TOGETHER):
            some = missing[start : start + _TOGETHER]
            with self._study.read() as connection:
                data = task_data(connection, [r for _, r in some], kind.fields)
            tasks = [{"data": {**data[r], NAME: name}} for name, r in some]
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
                if not touched and self._server.delete_unrated(number, name):
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


def instructions(study: Study, constructs: Sequence[ConstructSpec], place: str) -> str:
    """Return the instructions of a project as HTML that can do nothing but be read.

    `place` says which of the projects it is.
    """
    parts = [f"<p>{escape(place)}</p>"]
    own = texts_of(study).instructions
    if own is not None:
        parts.append(str(markdown(own.markdown)))
    parts += [
        "<p>Give a number for everything that is asked. Where you cannot judge a response at all, "
        "skip it. Leave a task only after submitting: what was typed seconds before is lost.</p>"
    ]
    for construct in constructs:
        parts.append(f"<h3>{escape(construct.name)}</h3><p>{escape(construct.question)}</p>")
        if construct.rules:
            rules = "".join(f"<li>{escape(rule)}</li>" for rule in construct.rules)
            parts.append(f"<ul>{rules}</ul>")
    return "\n".join(parts)
