"""Whether a server is the one that a study was pushed to: its projects bear marks of the study."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from annotate_ui.label_studio.server import Project, Server
from annotate_ui.label_studio.stored import StoredProject, stored_projects
from study.campaign import Study
from study.errors import StudyError


def project_mark(study_name: str, server: str, number: int, made_of: str) -> str:
    """Return the mark of the study's project of this number on a server, made of these settings.

    It stands in the project's description, where an interrupted push finds it again.
    """
    digest = blake2b(f"{server}\n{number}\n{made_of}".encode(), digest_size=8).hexdigest()
    return f"[ccrs-study {study_name} {number} {digest}]"


@dataclass(frozen=True)
class Standing:
    """What is at a server by now."""

    listed: Sequence[Project]
    """All of its projects, also those of others."""
    present: Sequence[StoredProject]
    """Those of the study that are there."""
    missing: Sequence[StoredProject]
    """Those of the study that had tasks and are not there any more."""


def standing(study: Study, server: Server) -> Standing:
    """Return which of the study's projects are at a server.

    Raises
    ------
    StudyError
        Under a project's number another is there by now, as in a server that was set up anew, or
        the server is one that the study knows by another address: numbers over there would be
        taken for others, or people counted twice.
    ServerError
        The server could not be reached or refused.
    """
    with study.read() as connection:
        everywhere = stored_projects(connection)
    known = [one for one in everywhere if one.server == server.url]
    listed = server.projects()
    described = {one.id: one.description for one in listed}
    for other in everywhere:
        if other.server != server.url and any(other.mark in text for text in described.values()):
            raise StudyError(
                f"{server.url} is the server that {study.folder} knows as {other.server}, under "
                f"another address. Use --url {other.server}, or say once --moved-from "
                f"{other.server} to go on with the new address."
            )
    for one in known:
        if one.tasks and one.number in described and one.mark not in described[one.number]:
            raise StudyError(
                f"Project {one.number} at {server.url} is not the one that was pushed: its "
                f"description lacks {one.mark}. If only the description was edited, write that "
                "back into it. If the server was set up anew, give the project up with "
                f"`ccrs label-studio pull {study.folder} --url {server.url} --give-up "
                f"{one.number}`: what was pulled of it stays, and the rest is pushed again."
            )
    return Standing(
        listed,
        [one for one in known if one.mark in described.get(one.number, "")],
        [one for one in known if one.tasks and one.number not in described],
    )
