"""Pulling: what raters said over there becomes revisions here; what can't is kept aside."""

from collections.abc import Callable, Mapping, Sequence

from annotate_ui.label_studio.annotation_reader import read_task
from annotate_ui.label_studio.annotation_store import Storing
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.projects import StoredProject, stored_scales
from annotate_ui.label_studio.results import Fetched, Pulled
from annotate_ui.label_studio.server_projects import exchange
from annotate_ui.label_studio.task_data import NAME
from annotate_ui.label_studio.users import Raters
from study.errors import StudyError
from study.progress import Advance
from study.scales import RatingScale
from study.study import Study


def pull(
    study: Study,
    server: Server,
    *,
    raters: Mapping[int, str] | None = None,
    meets: Callable[[list[int], list[str]], None] | None = None,
    progress: Advance | None = None,
) -> Pulled:
    """Bring the ratings of all projects of a server into the study, each change as a revision.

    What is stored already is not stored again. All of it is stored in one transaction.

    Parameters
    ----------
    raters
        Number of a user over there to the code of the rater that they are; others get `ls-NUMBER`.
    meets
        Called before anybody new becomes a rater, where there are raters whom nobody over there is
        so far, with the new users and these raters. Whoever is both would be two raters for good;
        raising ends the pull, and nothing is stored.

    Raises
    ------
    StudyError
        Nothing was pushed to this server, or a user is another rater already.
    ServerError
        The server could not be reached or refused; nothing was stored.
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    with exchange(study, server) as found:
        if not found.known and not found.missing:
            raise StudyError(
                f"Nothing of {study.folder} was pushed to {server.url}. Run "
                f"`ccrs label-studio push {study.folder} --url {server.url}` first."
            )
        with study.read() as connection:
            scales = stored_scales(connection)
        result = Pulled(server.url, missing=[one.number for one in found.missing])
        fetched = []
        for number, project in enumerate(found.present):
            fetched.append(_fetch(server, project, _scales(scales, project), result))
            advance(number + 1, len(found.present) + 1)
        if meets is not None:
            _ask(study, server, fetched, raters or {}, meets)
        with study.write() as connection:
            people = Raters(connection, server.url, server.identity)
            people.name(raters or {})
            Storing(connection, study, people, result).store(fetched)
            result.raters = people.new
        advance(len(found.present) + 1, len(found.present) + 1)
        return result


def _ask(
    study: Study,
    server: Server,
    fetched: Sequence[Fetched],
    raters: Mapping[int, str],
    meets: Callable[[list[int], list[str]], None],
) -> None:
    # While somebody thinks, raters on the project's own pages go on saving.
    with study.read() as connection:
        people = Raters(connection, server.url, server.identity)
        here = [code for code in people.without_account() if code not in raters.values()]
    users = {one.user for project in fetched for one in project.annotations}
    known = people.by_user.keys() | raters.keys()
    new = sorted(user for user in users if user is not None and user not in known)
    if new and here:
        meets(new, here)


def _scales(
    scales: Mapping[tuple[str, int], RatingScale], project: StoredProject
) -> dict[str, RatingScale]:
    """Return the scales that a project asks on: those that stood when it was pushed."""
    asked = [
        (control["construct"], control["construct_version"])
        for control in project.controls.values()
        if control["kind"] == "number"
    ]
    return {key: scales[key, version] for key, version in asked if (key, version) in scales}


def _fetch(
    server: Server, project: StoredProject, scales: Mapping[str, RatingScale], result: Pulled
) -> Fetched:
    found = Fetched(project)
    for task in server.export(project.number):
        annotations, unreadable, drafts = read_task(task, NAME, project.controls, scales)
        found.annotations += annotations
        found.unreadable += unreadable
        result.drafts += drafts
        result.annotations += len(annotations) + len(unreadable)
        result.by_another += sum(one.by_another for one in annotations)
    return found
