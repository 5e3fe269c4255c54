"""The projects of a study on its server, which is known by its identity, not its address."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b

from sqlalchemy import select

from annotate_ui.label_studio.client import Project, Server, ServerError
from annotate_ui.label_studio.projects import StoredProject, stored_projects
from annotate_ui.label_studio.task_data import study_name
from study.errors import StudyError
from study.schema.locks import LockSpace, exclusive
from study.schema.tables import external_projects, external_raters
from study.study import Study

NOT_FOUND = 404
_TITLE = "Made by ccrs-study; delete nothing here. Title: "


def project_mark(name: str, number: int, made_of: str) -> str:
    """Return the mark of a study's project of this number on a server, made of these settings.

    It is part of the project's description, by which a push finds a project again that an
    interrupted push made.
    """
    digest = blake2b(f"{number}\n{made_of}".encode(), digest_size=8).hexdigest()
    return f"{_mark(name)}{number} {digest}]"


def _mark(name: str) -> str:
    return f"[ccrs-study {name} "


def description(place: str, title: str, mark: str) -> str:
    """Return a project's description with the title of its push, which `last_title` reads."""
    return f"{place} {_TITLE}{title} {mark}"


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


def last_title(on_server: ServerProjects) -> str | None:
    """Return the title with which the study's newest project was pushed; None: there is none."""
    mark = f" {_mark(on_server.study_name)}"
    for project in sorted(on_server.listed, key=lambda project: project.id, reverse=True):
        text, found, _ = project.description.rpartition(mark)
        if found and _TITLE in text:
            return text.split(_TITLE, 1)[1]
    return None


def unknown_projects(on_server: ServerProjects, stored: Iterable[StoredProject]) -> list[int]:
    """Return the numbers of projects that were made for this study but are not stored in it.

    Such a study was restored to an earlier backup, or a copy of it was pushed.
    """
    mark, known = _mark(on_server.study_name), {project.number for project in stored}
    return [p.id for p in on_server.listed if mark in p.description and p.id not in known]


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
        server.check()
        _check_identity(study, server)
        yield _server_projects(study, server)


def _check_identity(study: Study, server: Server) -> None:
    """Refuse a server whose numbers of projects, tasks and users are not those of the study."""
    with study.read() as connection:
        for table in (external_projects, external_raters):
            other = select(table.c.server).where(table.c.instance != server.identity)
            address = connection.execute(other).scalar()
            if address is not None:
                raise StudyError(
                    f"{study.folder} has ratings or projects of the Label Studio that was at "
                    f"{address}, and {server.url} is another one or was set up anew: its users and "
                    "projects have the same numbers and are others. Start the former one with its "
                    "data folder, at any address. Without it, continue in a new study: `ccrs "
                    "export` writes the responses and ratings, which `ccrs import` reads."
                )


def _server_projects(study: Study, server: Server) -> ServerProjects:
    with study.read() as connection:
        name, known = study_name(connection), stored_projects(connection)
    listed = server.projects()
    numbers = {project.id for project in listed}
    deleted = [
        project
        for project in known
        if project.number not in numbers and _is_deleted(server, project.number)
    ]
    present = [project for project in known if project not in deleted]
    return ServerProjects(name, listed, present, deleted)


def _is_deleted(server: Server, number: int) -> bool:
    """Ask for a project that the server did not list; only a 404 means that it is deleted."""
    try:
        server.project(number)
    except ServerError as error:
        if error.status == NOT_FOUND:
            return True
        raise
    return False
