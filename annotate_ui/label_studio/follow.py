"""Following projects that were made in Label Studio: they are pulled as they grow."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert, update

from annotate_ui.label_studio import FOLLOWED
from annotate_ui.label_studio.annotation_store import AnnotationStore
from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.followed_project import FollowOptions, ReadProject, read_project
from annotate_ui.label_studio.located_annotations import FetchedProject
from annotate_ui.label_studio.projects import StoredProject, stored_projects, stored_scales
from annotate_ui.label_studio.pull import ConfirmNewRaters, confirm
from annotate_ui.label_studio.results import Pulled
from annotate_ui.label_studio.revisions import Origins
from annotate_ui.label_studio.server_projects import NOT_FOUND, exchange
from annotate_ui.label_studio.task_content import ResponseName, TaskContent
from annotate_ui.label_studio.users import Raters
from study.errors import Fault, InputError, StudyError
from study.importing.content_store import ContentStore
from study.importing.existing_content import ExistingContent, digest_of
from study.importing.import_report import ImportReport
from study.importing.import_store import lock_imports
from study.importing.rows import LocatedRow, ResponseRow
from study.progress_bar import Advance
from study.scales import RatingScale
from study.schema import digest
from study.schema.creation import append_only_suspended
from study.schema.tables import external_projects
from study.study import Study

SYSTEM_TAKEN = (
    "systems of responses, where the study has another response of the system to the query"
)


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
        The study follows no project of this server, or pushed this one.
    InputError
        What a project contains cannot be read with its options. Nothing was stored.
    ServerError
        The server could not be reached or refused; nothing was stored.
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    with exchange(study, server):
        with study.read() as connection:
            stored = {p.number: p for p in stored_projects(connection, followed=True)}
            pushed = {project.number for project in stored_projects(connection)}
            versions = study.construct_versions(connection)
            scales = stored_scales(connection)
        if number in pushed:
            raise StudyError(
                f"Project {number} was pushed from this study: `ccrs label-studio pull` reads it."
            )
        wanted = {n: FollowOptions.stored(project.following or {}) for n, project in stored.items()}
        if number is not None:
            known = wanted.get(number, FollowOptions())
            wanted[number] = known if options is None else known.updated(options)
        if not wanted:
            raise StudyError(
                f"{study.folder} follows no project of {server.url}. Name one with --project, the "
                "number in its address."
            )
        result = Pulled(server.url)
        projects: list[ReadProject] = []
        for step, (n, used) in enumerate(wanted.items(), 1):
            of = versions if n not in stored or n == number else _versions(stored[n], versions)
            read = _read(study, server, n, used, of, scales, result)
            projects += [] if read is None else [read]
            advance(step, len(wanted) + 1)
        if confirm_new_raters is not None:
            users = {a.user for project in projects for a in project.annotations}
            confirm(study, server, users, raters or {}, confirm_new_raters)
        with study.write() as connection:
            people = Raters(connection, server.url, server.identity)
            people.assign(raters or {})
            fetched = _Content(connection, study, server, result).fetched(projects, wanted)
            AnnotationStore(connection, study, people, result, FOLLOWED).store(fetched)
            result.raters = people.new
        advance(len(wanted) + 1, len(wanted) + 1)
        return result


def _versions(project: StoredProject, current: Mapping[str, int]) -> dict[str, int]:
    """Return the versions of constructs under which a project's values are stored.

    An edited construct does not change what raters answered: their values stay with the version
    of the first pull, until the owner gives options for the project again.
    """
    stored = {
        control["construct"]: int(control["construct_version"])
        for control in project.controls.values()
        if "construct" in control
    }
    for control in project.controls.values():
        stored |= control.get("versions", {})
    return {**current, **stored}


def _read(
    study: Study,
    server: Server,
    number: int,
    options: FollowOptions,
    versions: Mapping[str, int],
    scales: Mapping[tuple[str, int], RatingScale],
    result: Pulled,
) -> ReadProject | None:
    """Return a project; None: it was deleted."""
    try:
        xml = server.project(number).xml
        exported = list(server.export(number))
    except ServerError as error:
        if error.status != NOT_FOUND:
            raise
        with study.read() as connection:
            if not any(p.number == number for p in stored_projects(connection, followed=True)):
                raise
        result.missing_projects.append(number)
        return None
    of_versions = {key: scales[key, version] for key, version in versions.items()
                   if (key, version) in scales}  # fmt: skip
    project = read_project(number, xml, exported, study.config, versions, of_versions, options)
    result.annotations += len(project.annotations) + len(project.unreadable)
    result.drafts += project.drafts
    result.edited_by_other += sum(a.edited_by_other for a in project.annotations)
    result.left_out.update(project.left_out)
    return project


class _Content:
    """Imports the responses of tasks, and finds those that tasks name."""

    def __init__(
        self, connection: Connection, study: Study, server: Server, result: Pulled
    ) -> None:
        lock_imports(connection)
        self._connection, self._study, self._server = connection, study, server
        self._result = result
        self._origins = Origins(connection)
        self._existing = ExistingContent(connection)
        self._report = ImportReport()
        self._store = ContentStore(connection, self._existing, self._report)

    def fetched(
        self, projects: Sequence[ReadProject], options: Mapping[int, FollowOptions]
    ) -> list[FetchedProject]:
        """Store what projects contain besides annotations, and return them for their annotations.

        Raises
        ------
        InputError
            A response contradicts the study, or no task of a project names one.
        """
        fetched: list[FetchedProject] = []
        for project in projects:
            one = FetchedProject(
                self._project(project, options[project.number]),
                project.annotations,
                project.unreadable,
            )
            pulled = {
                annotation.task
                for annotation in project.annotations
                if self._origins.response(one.project, annotation)
            }
            for task, content in project.tasks:
                if task in pulled and not all(self._has(row) for row in content.rows):
                    one.changed.add(task)
                else:
                    self._place(one, task, content)
            if project.annotations and not (one.rated or one.compared or one.changed):
                self._report.faults.append(
                    Fault(
                        "no task names a response of the study, or has its texts.",
                        "Import the responses first, or name the fields of the tasks with "
                        "--column, such as --column prompt=query,text=response.",
                    )
                )
            if self._report.faults:
                raise InputError(f"project {project.number}", self._report.faults)
            fetched.append(one)
        self._store.finish()
        self._result.imported = {noun: count for noun, count in self._report.added.items() if count}
        return fetched

    def _place(self, project: FetchedProject, task: int, content: TaskContent) -> None:
        ids: dict[str | None, int] = {}
        for located in content.rows:
            if not isinstance(located, Fault) and isinstance(located.row, ResponseRow):
                row = self._with_free_ids(located.row, project.project.number, task)
                row = self._with_free_system(row)
                response = self._store.add(located.number, row)
                if response is not None:
                    ids[located.row.response_id] = response
        if content.rated is not None:
            found = self._find(content.rated, ids)
            if found is not None:
                project.rated[task] = (found,)
        compared: dict[str, int] = {}
        for named in content.compared.values():
            every = {name: self._find(response, ids) for name, response in named.items()}
            compared |= {name: key for name, key in every.items() if key is not None}
        if compared:
            project.compared[task] = compared

    def _has(self, located: LocatedRow | Fault) -> bool:
        """Whether the study has the response of a row, under whatever id."""
        if isinstance(located, Fault) or not isinstance(located.row, ResponseRow):
            return True
        queries = self._existing.queries_by_text.get(digest(located.row.query.encode()), [])
        content = _content_of(located.row)
        return any((query, content) in self._existing.by_content for query in queries)

    def _find(self, named: ResponseName, ids: Mapping[str | None, int]) -> int | None:
        existing = self._existing
        if named.response_id in ids:
            return ids[named.response_id]
        if named.response_id is not None:
            return existing.find(named.response_id)
        query = existing.query_ids.get(named.query_id or "")
        output = existing.outputs.get((query or 0, named.system or ""))
        return None if output is None else output[0]

    def _with_free_ids(self, row: ResponseRow, project: int, task: int) -> ResponseRow:
        """Return a response with ids that no other content has.

        Ids may repeat between projects, whose numbers are then put before them.
        """
        existing = self._existing
        query = (
            digest(row.query.encode()), digest_of(list(row.references)), digest_of(row.attributes)
        )  # fmt: skip

        def has_query(key: str) -> bool:
            stored = existing.query_ids.get(key)
            if stored is None:
                return True
            other = existing.queries[stored]
            return (other.text, other.references or query[1], other.attributes or query[2]) == (
                query[0], query[1] or other.references, query[2] or other.attributes,
            )  # fmt: skip

        content = _content_of(row)

        def has_response(key: str) -> bool:
            stored = existing.find(key)
            if stored is None:
                return True
            other = existing.responses[stored]
            return (existing.queries[other.query].text, other.content) == (query[0], content)

        changes: dict[str, Any] = {}
        for name, key, fits in (
            ("query_id", row.query_id, has_query),
            ("response_id", row.response_id, has_response),
        ):
            if key is not None and not fits(key):
                candidates = (f"{project}/{key}", f"{project}/{key}/{task}")
                changes[name] = next((c for c in candidates if fits(c)), candidates[-1])
        return row.model_copy(update=changes) if changes else row

    def _with_free_system(self, row: ResponseRow) -> ResponseRow:
        """Return a response without its system, if that gave the query another response."""
        existing = self._existing
        query = existing.query_ids.get(row.query_id or "")
        if query is None:
            queries = existing.queries_by_text.get(digest(row.query.encode()), [])
            query = queries[0] if row.query_id is None and len(queries) == 1 else None
        output = existing.outputs.get((query or 0, row.system or ""))
        if output is None or existing.responses[output[0]].content == _content_of(row):
            return row
        self._result.left_out[SYSTEM_TAKEN] += 1
        return row.model_copy(update={"system": None})

    def _project(self, project: ReadProject, options: FollowOptions) -> StoredProject:
        """Return the stored project, with how it was read now."""
        values = {
            "fields": list(project.fields),
            "controls": project.controls,
            "following": options.as_json(),
        }
        t = external_projects
        stored = self._stored(project.number)
        if stored is None:
            self._connection.execute(
                insert(t).values(
                    **values,
                    server=self._server.url,
                    instance=self._server.identity,
                    external_id=str(project.number),
                    stage=1,
                    overlap=1,
                    config_hash=self._study.config_hash,
                )
            )
        elif values != {name: getattr(stored, name) for name in values} | {
            "fields": list(stored.fields)
        }:
            with append_only_suspended(self._connection, [t.name]):
                self._connection.execute(update(t).where(t.c.id == stored.id).values(**values))
        else:
            return stored
        stored = self._stored(project.number)
        assert stored is not None  # noqa: S101
        return stored

    def _stored(self, number: int) -> StoredProject | None:
        for project in stored_projects(self._connection, followed=True):
            if project.number == number:
                return project
        return None


def _content_of(row: ResponseRow) -> bytes:
    """Return the digest of a response's content, as it is stored."""
    passages = [passage.text for passage in row.passages if passage.text.strip()]
    return digest(row.response.encode(), *(digest(text.encode()) for text in passages))
