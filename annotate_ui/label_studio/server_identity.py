"""Whether a server is the one that a study was pushed to: an address may change hands."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from annotate_ui.label_studio.client import Project, Server
from annotate_ui.label_studio.projects import StoredProject, stored_projects
from study.errors import StudyError
from study.study import Study


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
    """Those of them that had tasks and are not there any more."""


def standing(study: Study, server: Server) -> Standing:
    """Return which of the study's projects are at a server.

    Raises
    ------
    StudyError
        The study knows the server by another address, or another server by this address: numbers
        of projects and people over there would be taken for others.
    ServerError
        The server could not be reached or refused.
    """
    with study.read() as connection:
        everywhere = stored_projects(connection)
    known = [one for one in everywhere if one.instance == server.identity]
    for one in known:
        if one.server != server.url:
            raise StudyError(
                f"{server.url} is the server that {study.folder} knows as {one.server}, under "
                f"another address. Use --url {one.server}, or say once --moved-from "
                f"{one.server} to go on with the new address."
            )
    before = [one for one in everywhere if one.server == server.url and one not in known]
    if numbers := sorted({one.number for one in before if one.tasks}):
        raise StudyError(
            f"Another server than before answers at {server.url}: it was set up anew, or the "
            f"address is another's now. If the one before is gone for good, pull with "
            f"{' '.join(f'--give-up {number}' for number in numbers)}: what was pulled of its "
            "projects stays, and the rest is pushed again. Its users are taken for other people."
        )
    listed = server.projects()
    there = {one.id for one in listed}
    return Standing(
        listed,
        known,
        [one for one in known if one.number in there],
        [one for one in known if one.tasks and one.number not in there],
    )
