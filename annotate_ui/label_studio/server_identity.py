"""Which projects of a study are at a server, which is known by its identity, not its address."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from sqlalchemy import select, update

from annotate_ui.label_studio.client import Project, Server
from annotate_ui.label_studio.projects import StoredProject, stored_projects
from annotate_ui.label_studio.server_error import ServerError
from study.lifecycle.append_only import append_only_suspended
from study.schema import ElsewhereProject, ElsewhereRater, table
from study.study import Study

_NOT_FOUND = 404


def project_mark(study_name: str, number: int, made_of: str) -> str:
    """Return the mark of the study's project of this number on a server, made of these settings.

    It stands in the project's description, by which an interrupted push finds it again.
    """
    digest = blake2b(f"{number}\n{made_of}".encode(), digest_size=8).hexdigest()
    return f"{_mark(study_name)}{number} {digest}]"


def _mark(study_name: str) -> str:
    return f"[ccrs-study {study_name} "


def unknown_projects(
    study_name: str, listed: Iterable[Project], known: Collection[int]
) -> list[int]:
    """Return the numbers of projects that were made for this study and that it knows nothing of.

    It was restored to an earlier backup, or a copy of it was pushed.
    """
    mark = _mark(study_name)
    return [one.id for one in listed if mark in one.description and one.id not in known]


@dataclass(frozen=True)
class Standing:
    """What is at a server by now."""

    listed: Sequence[Project]
    """All of its projects, also those of others."""
    known: Sequence[StoredProject]
    """All that the study ever had there."""
    present: Sequence[StoredProject]
    """Those of them that are there."""
    missing: Sequence[StoredProject]
    """Those with tasks that are gone: deleted, or of a server that had this address before."""


def standing(study: Study, server: Server) -> Standing:
    """Return which of the study's projects are at a server.

    A server is the same one at another address, which the study then knows it by.

    Raises
    ------
    ServerError
        The server could not be reached or refused.
    """
    _follow(study, server)
    with study.read() as connection:
        everywhere = stored_projects(connection)
    known = [one for one in everywhere if one.instance == server.identity]
    # Numbers of projects and users of a server that was set up anew mean others.
    replaced = [one for one in everywhere if one.server == server.url and one not in known]
    listed = server.projects()
    numbers = {one.id for one in listed}
    absent = [one for one in known if one.number not in numbers and _is_gone(server, one.number)]
    return Standing(
        listed,
        known,
        [one for one in known if one not in absent],
        [one for one in (*absent, *replaced) if one.tasks],
    )


def _follow(study: Study, server: Server) -> None:
    """Store the address of a server that has another one than before."""
    tables = [table(ElsewhereProject), table(ElsewhereRater)]
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


def _is_gone(server: Server, number: int) -> bool:
    """Ask for a project that the server did not list: only its own word says that it is gone."""
    try:
        server.project(number)
    except ServerError as error:
        if error.status == _NOT_FOUND:
            return True
        raise
    return False
