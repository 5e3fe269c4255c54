"""Pulling: annotations become revisions of ratings; values that cannot are stored as rejected."""

from collections.abc import Callable, Collection, Mapping

from annotate_ui.label_studio.annotation_reader import AnnotationReader
from annotate_ui.label_studio.annotation_store import AnnotationStore
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.located_annotations import FetchedProject
from annotate_ui.label_studio.projects import StoredProject, stored_scales
from annotate_ui.label_studio.results import Pulled
from annotate_ui.label_studio.server_projects import exchange
from annotate_ui.label_studio.task_data import SIDES
from annotate_ui.label_studio.users import Raters
from study.errors import StudyError
from study.progress_bar import Advance
from study.scales import RatingScale
from study.study import Study

ConfirmNewRaters = Callable[[list[int], list[str]], None]


def pull(
    study: Study,
    server: Server,
    *,
    raters: Mapping[int, str] | None = None,
    confirm_new_raters: ConfirmNewRaters | None = None,
    progress: Advance | None = None,
) -> Pulled:
    """Read the annotations of all projects of a server and store each change as a revision.

    Values that are stored already are not stored again. Everything is stored in one transaction.

    Parameters
    ----------
    raters
        User's number to the code of the rater they are; other users get `ls-NUMBER`.
    confirm_new_raters
        Called with the new users and the codes of raters without a user, if there are both: one
        person could otherwise become two raters for good. Raising an error ends the pull before
        anything is stored.

    Raises
    ------
    StudyError
        Nothing was pushed to this server, or a user is another rater already.
    ServerError
        The server could not be reached or refused; nothing was stored.
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    with exchange(study, server) as on_server:
        if not on_server.present and not on_server.deleted:
            raise StudyError(
                f"Nothing of {study.folder} was pushed to {server.url}. Run "
                f"`ccrs label-studio push {study.folder} --url {server.url}` first."
            )
        with study.read() as connection:
            scales = stored_scales(connection)
        result = Pulled(
            server.url, missing_projects=[project.number for project in on_server.missing]
        )
        steps = len(on_server.present) + 1
        fetched = []
        for number, project in enumerate(on_server.present, 1):
            of_project = _pushed_scales(scales, project)
            reader = AnnotationReader(project.controls, of_project, study.config.preferences.scale)
            fetched.append(_fetch(server, project, reader, result))
            advance(number, steps)
        if confirm_new_raters is not None:
            users = {annotation.user for one in fetched for annotation in one.annotations}
            confirm(study, server, users, raters or {}, confirm_new_raters)
        with study.write() as connection:
            people = Raters(connection, server.url, server.identity)
            people.assign(raters or {})
            AnnotationStore(connection, study, people, result).store(fetched)
            result.raters = people.new
        advance(steps, steps)
        return result


def confirm(
    study: Study,
    server: Server,
    users: Collection[int | None],
    raters: Mapping[int, str],
    ask: ConfirmNewRaters,
) -> None:
    """Ask before users become new raters, if the study has raters without a user."""
    # Before the writing transaction, so that other raters can save while the owner decides.
    with study.read() as connection:
        people = Raters(connection, server.url, server.identity)
        without_account = [code for code in people.without_account() if code not in raters.values()]
    known = people.by_user.keys() | raters.keys()
    new = sorted(user for user in users if user is not None and user not in known)
    if new and without_account:
        ask(new, without_account)


def _pushed_scales(
    scales: Mapping[tuple[str, int], RatingScale], project: StoredProject
) -> dict[str, RatingScale]:
    """Return the scales of a project's constructs in the versions that were pushed."""
    versions = [
        (control["construct"], control["construct_version"])
        for control in project.controls.values()
        if control["kind"] == "number"
    ]
    return {key: scales[key, version] for key, version in versions if (key, version) in scales}


def _fetch(
    server: Server, project: StoredProject, reader: AnnotationReader, result: Pulled
) -> FetchedProject:
    fetched = FetchedProject(project)
    for task in server.export(project.number):
        annotations, unreadable, drafts = reader.read(task, {"preference": SIDES})
        fetched.annotations += annotations
        fetched.unreadable += unreadable
        result.drafts += drafts
        result.annotations += len(annotations) + len(unreadable)
        result.edited_by_other += sum(annotation.edited_by_other for annotation in annotations)
    return fetched
