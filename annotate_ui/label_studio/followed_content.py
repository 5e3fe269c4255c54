"""The content of followed projects: responses of tasks are imported, or found in the study."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, insert, update

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.followed_project import STORED_OPTIONS, FollowOptions, ReadProject
from annotate_ui.label_studio.located_annotations import FetchedProject
from annotate_ui.label_studio.projects import StoredProject, stored_projects
from annotate_ui.label_studio.results import Pulled
from annotate_ui.label_studio.revisions import Origins
from annotate_ui.label_studio.task_content import ResponseName, TaskContent
from study.errors import Fault, InputError
from study.importing.content_store import ContentStore
from study.importing.existing_content import ExistingContent, digest_of
from study.importing.import_report import ImportReport
from study.importing.import_store import lock_imports
from study.importing.rows import LocatedRow, ResponseRow
from study.schema import digest
from study.schema.creation import append_only_suspended
from study.schema.tables import external_projects
from study.study import Study

SYSTEM_TAKEN = (
    "systems of responses, where the study has another response of the system to the query"
)


class FollowedContent:
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
                project.rated[task] = found
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
        changes: dict[str, str] = {}
        for name, fits in (("query_id", self._fits_query), ("response_id", self._fits_response)):
            key = getattr(row, name)
            if key is not None and not fits(row, key):
                candidates = (f"{project}/{key}", f"{project}/{key}/{task}")
                changes[name] = next((c for c in candidates if fits(row, c)), candidates[-1])
        return row.model_copy(update=changes) if changes else row

    def _fits_query(self, row: ResponseRow, key: str) -> bool:
        """Whether an id is free, or that of the row's query; missing content fits any other."""
        stored = self._existing.query_ids.get(key)
        if stored is None:
            return True
        other = self._existing.queries[stored]
        references, attributes = digest_of(list(row.references)), digest_of(row.attributes)
        return (
            other.text == digest(row.query.encode())
            and (not references or other.references in (None, references))
            and (not attributes or other.attributes in (None, attributes))
        )

    def _fits_response(self, row: ResponseRow, key: str) -> bool:
        """Whether an id is free, or that of the row's response."""
        stored = self._existing.find(key)
        if stored is None:
            return True
        other = self._existing.responses[stored]
        text = self._existing.queries[other.query].text
        return (text, other.content) == (digest(row.query.encode()), _content_of(row))

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
            "following": STORED_OPTIONS.dump_python(options, mode="json"),
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
        elif {**values, "fields": project.fields} != {n: getattr(stored, n) for n in values}:
            with append_only_suspended(self._connection, [t.name]):
                self._connection.execute(update(t).where(t.c.id == stored.id).values(**values))
        else:
            return stored
        stored = self._stored(project.number)
        assert stored is not None  # noqa: S101
        return stored

    def _stored(self, number: int) -> StoredProject | None:
        projects = stored_projects(self._connection, followed=True)
        return next((project for project in projects if project.number == number), None)


def _content_of(row: ResponseRow) -> bytes:
    """Return the digest of a response's content, as it is stored."""
    passages = [passage.text for passage in row.passages if passage.text.strip()]
    return digest(row.response.encode(), *(digest(text.encode()) for text in passages))
