"""Pulling: what raters said over there becomes revisions here; what can't is kept aside."""

from collections.abc import Mapping

from annotate_ui.label_studio.alone import alone
from annotate_ui.label_studio.pulled import Fetched, Pulled
from annotate_ui.label_studio.raters import Raters
from annotate_ui.label_studio.reading import read_task
from annotate_ui.label_studio.server import Server
from annotate_ui.label_studio.stored import StoredProject, stored_projects, stored_scales
from annotate_ui.label_studio.storing import Storing
from annotate_ui.label_studio.tasks import NAME
from study.campaign import Study
from study.errors import StudyError
from study.progress import Advance
from study.scales import Scale


def pull(
    study: Study,
    server: Server,
    *,
    raters: Mapping[int, str] | None = None,
    progress: Advance | None = None,
) -> Pulled:
    """Bring the ratings of all projects of a server into the study, each change as a revision.

    What is stored already is not stored again. All of it is stored in one transaction.

    Parameters
    ----------
    raters
        Number of a user over there to the code of the rater that they are; others get `ls-NUMBER`.

    Raises
    ------
    StudyError
        Nothing was pushed to this server, or a user is another rater already.
    ServerError
        The server could not be reached, or a project is gone; nothing was stored.
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    with alone(study):
        server.check()
        with study.read() as connection:
            projects = stored_projects(connection, server.url)
            scales = stored_scales(connection)
        if not projects:
            raise StudyError(
                f"Nothing of {study.folder} was pushed to {server.url}. Run "
                f"`ccrs label-studio push {study.folder} --url {server.url}` first."
            )
        result = Pulled(server.url)
        fetched = []
        for number, project in enumerate(projects):
            fetched.append(_fetch(server, project, _scales(scales, project), result))
            advance(number + 1, len(projects) + 1)
        with study.write() as connection:
            people = Raters(connection, server.url)
            people.name(raters or {})
            Storing(connection, study, people, result).store(fetched)
            result.raters = people.new
        advance(len(projects) + 1, len(projects) + 1)
        return result


def _scales(scales: Mapping[tuple[str, int], Scale], project: StoredProject) -> dict[str, Scale]:
    """Return the scales that a project asks on: those that stood when it was pushed."""
    asked = [
        (control["construct"], control["construct_version"])
        for control in project.controls.values()
        if control["kind"] == "number"
    ]
    return {key: scales[key, version] for key, version in asked if (key, version) in scales}


def _fetch(
    server: Server, project: StoredProject, scales: Mapping[str, Scale], result: Pulled
) -> Fetched:
    found = Fetched(project)
    for task in server.export(project.number):
        annotations, unreadable, drafts = read_task(task, NAME, project.controls, scales)
        found.annotations += annotations
        found.unreadable += unreadable
        result.drafts += drafts
        result.annotations += len(annotations) + len(unreadable)
    return found
