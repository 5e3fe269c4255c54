"""The projects of a study on a server, which is known by its identity, not its address."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b

from sqlalchemy import select, update

from annotate_ui.label_studio.client import Project, Server, ServerError
from annotate_ui.label_studio.projects import StoredProject, stored_projects
from study.errors import StudyError
from study.schema.creation import append_only_suspended
from study.schema.locks import LockSpace, exclusive
from study.schema.tables import external_projects, external_raters
from study.study import Study

NOT_FOUND = 404
_TITLE = "Made by ccrs-study; delete nothing here. Title: "


def project_mark(study_name: str, number: int, made_of: str) -> str:
    """Return the mark of the study's project of this number on a server, made of these settings.

    It is part of the project's description, by which a push finds a project again that an
    interrupted push made.
    """
    digest = blake2b(f"{number}\n{made_of}".encode(), digest_size=8).hexdigest()
    return f"{_mark(study_name)}{number} {digest}]"


def _mark(study_name: str) -> str:
    return f"[ccrs-study {study_name} "


def description(place: str, title: str, mark: str) -> str:
    """Return a project's description with the title of its push, which `last_title` reads."""
    return f"{place} {_TITLE}{title} {mark}"


def last_title(listed: Iterable[Project], study_name: str) -> str | None:
    """Return the title with which the study's newest project was pushed; None: there is none."""
    mark = f" {_mark(study_name)}"
    for project in sorted(listed, key=lambda project: project.id, reverse=True):
        text, found, _ = project.description.rpartition(mark)
        if found and _TITLE in text:
            return text.split(_TITLE, 1)[1]
    return None


def unknown_projects(
    study_name: str, listed: Iterable[Project], known: Collection[int]
) -> list[int]:
    """Return the numbers of projects that were made for this study but are not stored in it.

    Such a study was restored to an earlier backup, or a copy of it was pushed.
    """
    mark = _mark(study_name)
    return [p.id for p in listed if mark in p.description and p.id not in known]


@dataclass(frozen=True)
class ServerProjects:
    """The projects of a study on one server, compared with what the server has."""

    listed: Sequence[Project]
    """All projects of the server, also those of others."""
    known: Sequence[StoredProject]
    """All that the study ever had there."""
    present: Sequence[StoredProject]
    """Those of them that the server still has."""
    missing: Sequence[StoredProject]
    """Those with tasks that are gone: deleted, or of a server that had this address before."""


@contextmanager
def exchange(study: Study, server: Server) -> Iterator[ServerProjects]:
    """Lock a study's exchange with Label Studio, check the server and yield its projects.

    One command at a time: two would read the server at different moments and contradict each
    other. A server at another address is the same one; the study then stores its new address.

    Raises
    ------
    StudyError
        Another process has the lock.
    ServerError
        The server could not be reached or refused.
    """
    busy = StudyError(
        f"Another `ccrs label-studio` is running on {study.folder}. Wait until it has finished."
    )
    with exclusive(study.engine, study.folder, LockSpace.LABEL_STUDIO, busy=busy):
        server.check()
        yield _server_projects(study, server)


def _server_projects(study: Study, server: Server) -> ServerProjects:
    _follow(study, server)
    with study.read() as connection:
        everywhere = stored_projects(connection)
    known = [project for project in everywhere if project.instance == server.identity]
    # On a server that was set up anew, the same numbers mean other projects and users.
    replaced = [
        project for project in everywhere if project.server == server.url and project not in known
    ]
    listed = server.projects()
    numbers = {project.id for project in listed}
    absent = [
        project
        for project in known
        if project.number not in numbers and _is_deleted(server, project.number)
    ]
    return ServerProjects(
        listed,
        known,
        [project for project in known if project not in absent],
        [project for project in (*absent, *replaced) if project.tasks],
    )


def _follow(study: Study, server: Server) -> None:
    """Store the new address of a server that moved."""
    tables = [external_projects, external_raters]
    with study.read() as connection:
        moved = any(
            connection.execute(
                select(t.c.id).where(t.c.instance == server.identity, t.c.server != server.url)
            ).first()
            for t in tables
        )
    if not moved:
        return
    names = [t.name for t in tables]
    with study.write() as connection, append_only_suspended(connection, names):
        for t in tables:
            mine = update(t).where(t.c.instance == server.identity)
            connection.execute(mine.values(server=server.url))


def _is_deleted(server: Server, number: int) -> bool:
    """Ask for a project that the server did not list; only a 404 means that it is deleted."""
    try:
        server.project(number)
    except ServerError as error:
        if error.status == NOT_FOUND:
            return True
        raise
    return False
