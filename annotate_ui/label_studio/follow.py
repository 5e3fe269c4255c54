"""Following projects that were made in Label Studio: they are pulled as they grow."""

from collections.abc import Mapping

from annotate_ui.label_studio import FOLLOWED
from annotate_ui.label_studio.annotation_kinds import JUDGE, REFERENCE
from annotate_ui.label_studio.annotation_store import AnnotationStore
from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.followed_content import FollowedContent
from annotate_ui.label_studio.followed_project import (
    STORED_OPTIONS,
    FollowOptions,
    ReadProject,
    read_project,
)
from annotate_ui.label_studio.projects import StoredProject, stored_projects, stored_scales
from annotate_ui.label_studio.pull import ConfirmNewRaters, storing
from annotate_ui.label_studio.results import Pulled
from annotate_ui.label_studio.server_projects import NOT_FOUND, exchange
from study.errors import StudyError
from study.progress_bar import Advance
from study.study import Study


def follow(
    study: Study,
    server: Server,
    number: int | None = None,
    options: FollowOptions | None = None,
    *,
    raters: Mapping[int, str] | None = None,
    confirm_new_raters: ConfirmNewRaters | None = None,
    progress: Advance | None = None,
) -> Pulled:
    """Pull the projects of a server that a study follows, and one more.

    Responses are imported from the tasks, or matched with those of the study. New annotations
    become ratings and preferences, edited ones their next revision; the values of deleted ones are
    withdrawn. Everything is stored in one transaction, and repeating it changes nothing.

    Parameters
    ----------
    number
        A project that is followed from now on, or whose options change.
    options
        How it is read. They are added to those that are stored, and stored.
    raters, confirm_new_raters
        As in `pull`.

    Raises
    ------
    StudyError
        The study follows no project of this server, or pushed this one; or annotations are to be
        taken as the reference, which only an import does.
    InputError
        What a project contains cannot be read with its options. Nothing was stored.
    ServerError
        The server could not be reached or refused; nothing was stored.
    """
    for kind, taken in () if options is None else options.annotations.items():
        if taken in {REFERENCE, JUDGE}:
            raise StudyError(
                f"--annotations {kind}={taken} is for `ccrs import`: a project is followed for the "
                "ratings of its people. Export it as JSON and import the file."
            )
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    with exchange(study, server):
        with study.read() as connection:
            pushed = {project.number for project in stored_projects(connection)}
            stored = {p.number: p for p in stored_projects(connection, followed=True)}
            versions = study.construct_versions(connection)
        if number in pushed:
            raise StudyError(
                f"Project {number} was pushed from this study: `ccrs label-studio pull` reads it."
            )
        wanted = _wanted(stored, number, options)
        if not wanted:
            raise StudyError(
                f"{study.folder} follows no project of {server.url}. Name one with --project, the "
                "number in its address."
            )
        result = Pulled(server.url)
        projects: list[ReadProject] = []
        for step, (n, used) in enumerate(wanted.items(), 1):
            # An edited construct does not change what raters answered: their values stay with the
            # version of the first pull, until the owner gives options for the project again.
            kept = {} if n not in stored or n == number else stored[n].versions
            try:
                projects.append(_read(study, server, n, used, {**versions, **kept}, result))
            except ServerError as error:
                if error.status != NOT_FOUND or n not in stored:
                    raise
                result.missing_projects.append(n)
            advance(step, len(wanted) + 1)
        users = {a.user for project in projects for a in project.annotations}
        with storing(study, server, users, raters or {}, confirm_new_raters) as people:
            content = FollowedContent(people.connection, study, server, result)
            fetched = content.fetched(projects, wanted)
            AnnotationStore(study, people, result, FOLLOWED).store(fetched)
        advance(len(wanted) + 1, len(wanted) + 1)
        return result


def _wanted(
    stored: Mapping[int, StoredProject], number: int | None, options: FollowOptions | None
) -> dict[int, FollowOptions]:
    """Return how each project is read: those that are followed, and the one that is named."""
    wanted = {n: STORED_OPTIONS.validate_python(p.following) for n, p in stored.items()}
    if number is not None:
        known = wanted.get(number, FollowOptions())
        wanted[number] = known if options is None else known.updated(options)
    return wanted


def _read(
    study: Study,
    server: Server,
    number: int,
    options: FollowOptions,
    versions: Mapping[str, int],
    result: Pulled,
) -> ReadProject:
    xml = server.project(number).xml
    exported = list(server.export(number))
    with study.read() as connection:
        scales = stored_scales(connection, versions)
    project = read_project(number, xml, exported, study.config, versions, scales, options)
    result.annotations += len(project.annotations) + len(project.unreadable)
    result.drafts += project.drafts
    result.ranges |= {f"{number}/{name}": words for name, words in project.ranges.items()}
    result.edited_by_other += sum(a.edited_by_other for a in project.annotations)
    result.left_out.update(project.left_out)
    return project
