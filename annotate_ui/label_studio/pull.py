"""Pulling: annotations become revisions of ratings."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

from annotate_ui.label_studio.annotation_reader import AnnotationReader
from annotate_ui.label_studio.annotation_store import AnnotationStore
from annotate_ui.label_studio.annotations import Annotation
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.projects import StoredProject, exchange, stored_scales
from annotate_ui.label_studio.reasons import NOT_INDEPENDENT
from annotate_ui.label_studio.results import Pulled
from annotate_ui.label_studio.users import Raters
from study.errors import StudyError
from study.progress_bar import Advance
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
        Nothing was pushed to this server, a user is another rater already, or an annotation has no
        user or no results.
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
            scales = {p.id: stored_scales(connection, p.versions) for p in on_server.present}
        result = Pulled(
            server.url, missing_projects=[project.number for project in on_server.missing]
        )
        steps = len(on_server.present) + 1
        fetched = []
        for number, project in enumerate(on_server.present, 1):
            reader = AnnotationReader(project.controls, scales[project.id])
            fetched.append((project, _fetched(server, project, reader, result)))
            advance(number, steps)
        users = {annotation.user for _, made in fetched for annotation in made}
        with storing(study, server, users, raters or {}, confirm_new_raters) as people:
            AnnotationStore(study, people, result).store(fetched)
        advance(steps, steps)
        return result


@contextmanager
def storing(
    study: Study,
    server: Server,
    users: Collection[int | None],
    codes: Mapping[int, str],
    confirm_new_raters: ConfirmNewRaters | None,
) -> Iterator[Raters]:
    """Open a transaction in which these users are raters; `codes` are those the caller gives."""
    if confirm_new_raters is not None:
        # Before the writing transaction, so that other raters can save while the owner decides.
        with study.read() as connection:
            people = Raters(connection, server.url, server.identity)
            others = sorted({*people.without_account()} - {*codes.values()})
        known = people.by_user.keys() | codes.keys()
        new = sorted(user for user in users if user is not None and user not in known)
        if new and others:
            confirm_new_raters(new, others)
    with study.write() as connection:
        people = Raters(connection, server.url, server.identity)
        people.assign(codes)
        yield people


def _fetched(
    server: Server, project: StoredProject, reader: AnnotationReader, result: Pulled
) -> list[Annotation]:
    """Return the annotations of a project that people made."""
    annotations: list[Annotation] = []
    for task in server.export(project.number):
        result.drafts += len(task.get("drafts") or [])
        for raw in task.get("annotations") or []:
            read = reader.read(raw, task, {})
            if isinstance(read, str):
                raise StudyError(
                    f"An annotation of task {task.get('id')} of project {project.number} cannot be "
                    f"read: {read}. Delete it in Label Studio."
                )
            if read.prefilled:
                result.left_out[NOT_INDEPENDENT] += 1
            else:
                annotations.append(read)
    result.annotations += len(annotations)
    result.edited_by_other += sum(annotation.edited_by_other for annotation in annotations)
    return annotations
