"""The projects and tasks of a study: as they are stored, and on the server they are on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from annotate_ui.label_studio.client import Project, Server, ServerError
from study.errors import StudyError
from study.facts.label_studio_left import asked_constructs
from study.schema.creation import append_only_suspended
from study.schema.locks import LockSpace, exclusive
from study.schema.tables import (
    external_projects,
    external_raters,
    external_tasks,
    study_identities,
)
from study.study import Study
from study.types import Sees

TaskKey = tuple[int, frozenset[str]]
"""The response of a task, and the constructs that it asks for."""
NOT_FOUND = 404


def study_name(connection: Connection) -> str:
    """Return the random name of the study, which its backups share."""
    return str(connection.execute(select(study_identities.c.public_id)).scalar_one())


@dataclass(frozen=True)
class StoredProject:
    """A project with its tasks."""

    id: int
    number: int
    """Its number in Label Studio."""
    stage: int
    fields: tuple[Sees, ...]
    controls: Mapping[str, Mapping[str, Any]]
    overlap: int
    tasks: dict[int, int]
    """Response of each task to the task's number in Label Studio."""
    following: Mapping[str, Any] | None = None
    """How a project that was made there is read; None: it was pushed."""

    @property
    def construct_keys(self) -> frozenset[str]:
        """The constructs that are rated, or that sentences are marked for."""
        return asked_constructs(self.controls)

    @property
    def versions(self) -> dict[str, int]:
        """The constructs in the versions under which values are stored."""
        versions: dict[str, int] = {}
        for control in self.controls.values():
            versions |= control.get("versions", {})
            if "construct" in control:
                versions[control["construct"]] = control["construct_version"]
        return versions


def stored_projects(connection: Connection, *, followed: bool = False) -> list[StoredProject]:
    """Return the projects that were pushed, or those that are `followed`, the oldest first."""
    tasks: dict[int, dict[int, int]] = {}
    for row in connection.execute(select(external_tasks)):
        tasks.setdefault(row.project_id, {})[row.response_id] = int(row.external_id)
    rows = connection.execute(select(external_projects).order_by(external_projects.c.id))
    return [
        StoredProject(
            *(row.id, int(row.external_id), row.stage, tuple(row.fields), row.controls),
            *(row.overlap, tasks.get(row.id, {}), row.following),
        )
        for row in rows
        if (row.following is not None) == followed
    ]


def store_project(
    connection: Connection,
    study: Study,
    server: Server,
    number: int,
    stored: StoredProject | None,
    values: Mapping[str, Any],
) -> int:
    """Store what a project is, or what changed of it; return the study's key of it."""
    t = external_projects
    if stored is None:
        place = {"server": server.url, "instance": server.identity, "external_id": str(number)}
        new = {"fields": [], "stage": 1, "overlap": 1, "config_hash": study.config_hash}
        made = insert(t).values(**{**new, **place, **values}).returning(t.c.id)
        return int(connection.execute(made).scalar_one())
    if values != {name: getattr(stored, name) for name in values}:
        with append_only_suspended(connection, [t.name]):
            connection.execute(update(t).where(t.c.id == stored.id).values(**values))
    return stored.id


def forget(study: Study, project: StoredProject, tasks: Iterable[int]) -> int:
    """Delete the study's record of some of a project's tasks; return their number.

    Ratings that were pulled stay; the next push sends what is unrated again.
    """
    numbers = [project.tasks.pop(r) for r in list(tasks) if r in project.tasks]
    if numbers:
        t = external_tasks
        with study.write() as connection:
            for number in numbers:
                this = (t.c.project_id == project.id) & (t.c.external_id == str(number))
                connection.execute(delete(t).where(this))
    return len(numbers)


@dataclass(frozen=True)
class ServerProjects:
    """The projects that a study pushed, compared with what the server has."""

    study_name: str
    """The name by which projects of the study are marked."""
    listed: Sequence[Project]
    """All projects of the server, also those of others."""
    present: Sequence[StoredProject]
    """Those of the study that the server still has."""
    deleted: Sequence[StoredProject]
    """Those of the study that the server no longer has."""

    @property
    def missing(self) -> list[StoredProject]:
        """Deleted ones whose tasks the study still has."""
        return [project for project in self.deleted if project.tasks]

    def mark(self, number: int, made_of: str) -> str:
        """Return the mark of the study's project of this number, made of these settings.

        It is part of the project's description, by which a push finds a project again that an
        interrupted push made.
        """
        digest = blake2b(f"{number}\n{made_of}".encode(), digest_size=8).hexdigest()
        return f"[ccrs-study {self.study_name} {number} {digest}]"

    def unknown(self, stored: Iterable[StoredProject]) -> list[int]:
        """Return the numbers of projects that were made for this study but are not stored in it.

        Such a study was restored to an earlier backup, or a copy of it was pushed.
        """
        mark, known = f"[ccrs-study {self.study_name} ", {project.number for project in stored}
        return [p.id for p in self.listed if mark in p.description and p.id not in known]


@contextmanager
def exchange(study: Study, server: Server) -> Iterator[ServerProjects]:
    """Lock a study's exchange with Label Studio, check the server and yield its projects.

    One command at a time: two would read the server at different moments and contradict each
    other.

    Raises
    ------
    StudyError
        Another process has the lock, or the study has projects or users of another server.
    ServerError
        The server could not be reached or refused.
    """
    busy = StudyError(
        f"Another `ccrs label-studio` is running on {study.folder}. Wait until it has finished."
    )
    with exclusive(study.engine, study.folder, LockSpace.LABEL_STUDIO, busy=busy):
        with study.read() as connection:
            name, known = study_name(connection), stored_projects(connection)
            # A server whose numbers of projects, tasks and users are not those of the study.
            for table in (external_projects, external_raters):
                other = select(table.c.server).where(table.c.instance != server.identity)
                address = connection.execute(other).scalar()
                if address is not None:
                    raise StudyError(
                        f"{study.folder} has ratings or projects of the Label Studio that was at "
                        f"{address}, and {server.url} is another one or was set up anew: its users "
                        "and projects have the same numbers and are others. Start the former one "
                        "with its data folder, at any address. Without it, continue in a new "
                        "study: `ccrs export` writes the responses and ratings, which `ccrs "
                        "import` reads."
                    )
        listed = server.projects()
        there = {project.id for project in listed}
        deleted = []
        for project in known:
            if project.number not in there:
                # Only a 404 means that it is deleted.
                try:
                    server.project(project.number)
                except ServerError as error:
                    if error.status != NOT_FOUND:
                        raise
                    deleted.append(project)
        present = [project for project in known if project not in deleted]
        yield ServerProjects(name, listed, present, deleted)
