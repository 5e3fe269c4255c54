"""Following projects that were made in Label Studio: each is imported again as it grows.

A project is read as its export would be (`export_file`) and stored as an imported file is, whose
answers replace those that the project brought before.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

from pydantic import TypeAdapter
from sqlalchemy import select

from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.export_controls import MappedControls
from annotate_ui.label_studio.export_file import read_rows
from annotate_ui.label_studio.export_inventory import Inventory, read_inventory, stated_controls
from annotate_ui.label_studio.projects import (
    NOT_FOUND,
    StoredProject,
    exchange,
    store_project,
    stored_projects,
)
from annotate_ui.label_studio.pull import ConfirmNewRaters, storing
from annotate_ui.label_studio.results import Followed
from annotate_ui.label_studio.task_content import TaskContent, TaskReader
from annotate_ui.label_studio.users import Raters
from study.errors import Fault, StudyError
from study.importing.existing_content import ExistingContent
from study.importing.file_import import study_options
from study.importing.import_store import lock_imports, store_rows
from study.importing.importers import FormatOptions
from study.importing.readers.input_file import Advance, unseen
from study.importing.readers.source import RecordSource
from study.importing.rows import ResponseRow, Rows
from study.importing.value_store import Replaced
from study.schema import digest
from study.schema.tables import imported_files, raters as rater_table
from study.study import Study

IMPORTER = "label_studio"
OTHER_TEXTS = (
    "tasks whose id or system has another text in the study; values that came from them stay"
)
ANOTHER_TASK = "a task with another text than its number had before, read as another task"
NOT_IN_STUDY = "values of responses that are not in the study"


@dataclass(frozen=True)
class FollowOptions:
    """How a project is read; see `study.importing.importers.FormatOptions`."""

    controls: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    users_left_out: tuple[int, ...] = ()

    def updated(self, newer: Self) -> Self:
        """Return these options with newer ones, which take precedence."""
        users = tuple(sorted({*self.users_left_out, *newer.users_left_out}))
        merged = {
            one.name: {**getattr(self, one.name), **getattr(newer, one.name)}
            for one in fields(self)
            if one.name != "users_left_out"
        }
        return replace(newer, **merged, users_left_out=users)


_STORED_OPTIONS = TypeAdapter(FollowOptions)


class _Project(NamedTuple):
    """A project as it is on the server."""

    number: int
    options: FollowOptions
    form: FormatOptions
    source: RecordSource
    """Its tasks, in a file like one that a person exported."""
    found: Inventory | None
    """The controls with results, with what the project states, and the users; None: no tasks."""

    @property
    def users(self) -> list[int]:
        """The users whose annotations count and who are not left out."""
        users = self.found.users if self.found is not None else ()
        return [user for user in users if user not in self.options.users_left_out]


def follow(
    study: Study,
    server: Server,
    number: int | None = None,
    options: FollowOptions | None = None,
    *,
    raters: Mapping[int, str] | None = None,
    confirm_new_raters: ConfirmNewRaters | None = None,
    progress: Advance = unseen,
) -> Followed:
    """Import the projects of a server that a study follows, and one more.

    Responses are imported from the tasks, or matched with those of the study. Each project's
    answers replace those that it brought before. Everything is stored in one transaction, and
    repeating it changes nothing.

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
        The study follows no project of this server, or pushed this one; or a construct was edited
        since.
    InputError
        What a project contains cannot be read with its options. Nothing was stored.
    ServerError
        The server could not be reached or refused; nothing was stored.
    """
    with exchange(study, server), TemporaryDirectory(prefix="ccrs-label-studio-") as folder:
        with study.read() as connection:
            pushed = {project.number for project in stored_projects(connection)}
            stored = {p.number: p for p in stored_projects(connection, followed=True)}
        if number in pushed:
            raise StudyError(
                f"Project {number} was pushed from this study: `ccrs label-studio pull` reads it."
            )
        wanted = {n: _STORED_OPTIONS.validate_python(p.following) for n, p in stored.items()}
        if number is not None:
            wanted[number] = wanted.get(number, FollowOptions()).updated(options or FollowOptions())
        if not wanted:
            raise StudyError(
                f"{study.folder} follows no project of {server.url}. Name one with --project, the "
                "number in its address."
            )
        result = Followed(server.url)
        projects: list[_Project] = []
        for step, (n, used) in enumerate(wanted.items(), 1):
            try:
                projects.append(_fetched(study, server, n, used, Path(folder)))
            except ServerError as error:
                if error.status != NOT_FOUND or n not in stored:
                    raise
                result.missing_projects.append(n)
            progress(step, len(wanted) + 1)
        users = {user for project in projects for user in project.users}
        with storing(study, server, users, raters or {}, confirm_new_raters) as people:
            lock_imports(people.connection)
            for project in projects:
                # Options that are given again are for the constructs as they are now.
                known = stored.get(project.number)
                fixed = {} if known is None or project.number == number else known.versions
                now = study.construct_versions(people.connection)
                for key in (key for key in fixed if now.get(key, fixed[key]) != fixed[key]):
                    raise StudyError(
                        f"The construct {key} was edited in study.toml since project "
                        f"{project.number} was followed, whose values answer the earlier question. "
                        f"Give --project {project.number} with an option, such as --control "
                        f"NAME={key}, to store them under the new version, or --control NAME= to "
                        "leave them out."
                    )
                _store(study, server, people, project, known, result)
            result.raters = people.new
        progress(len(wanted) + 1, len(wanted) + 1)
        return result


def _fetched(
    study: Study, server: Server, number: int, options: FollowOptions, folder: Path
) -> _Project:
    """Return a project as it is now, its tasks in a file of this folder."""
    named = {one.name: getattr(options, one.name) for one in fields(options)}
    del named["users_left_out"]
    form = study_options(study, **named)
    stated = stated_controls(server.project(number).xml)
    exported = list(server.export(number))
    path = folder / f"project-{number}.json"
    path.write_text(json.dumps(exported), encoding="utf-8")
    source = RecordSource(path)
    found = read_inventory(source, form, stated) if exported else None
    return _Project(number, options, form, source, found)


def _store(
    study: Study,
    server: Server,
    people: Raters,
    project: _Project,
    stored: StoredProject | None,
    result: Followed,
) -> None:
    """Import a project; its answers replace those of its earlier imports."""
    connection, report, found = people.connection, project.source.report, project.found
    values: dict[str, Any] = {"controls": {} if stored is None else stored.controls}
    values["following"] = _STORED_OPTIONS.dump_python(project.options, mode="json")
    rows: Rows = iter(())
    kept, gone = set[int](), set[str]()
    if found is not None:
        # Users who do not count or were erased are left out. The values of a rater who left stay.
        codes = dict.fromkeys(map(str, found.users), "")
        for user in project.users:
            own = rater_table.c.id == (rater := people.rater_of(user))
            code = connection.execute(select(rater_table.c.code).where(own)).scalar()
            if rater in people.left:
                gone.add(str(code))
            elif code is not None:
                codes[str(user)] = code
        project = project._replace(form=replace(project.form, raters=codes))
        versions = study.construct_versions(connection)
        reading = MappedControls(project.source, found.controls, project.form, versions)
        values["controls"] = reading.reader.controls
        names, kept = _other_texts(people, project)
        report.left_out.update(OTHER_TEXTS for name in names.values() if name is None)
        report.rules.update(ANOTHER_TASK for name in names.values() if name is not None)
        rows = read_rows(project.source, project.form, found, reading, names)
        stated = reading.stated_ranges().items()
        result.ranges |= {f"{project.number}/{name}": words for name, words in stated}
    key = store_project(connection, study, server, project.number, stored, values)
    t = imported_files
    earlier = connection.execute(select(t.c.id, t.c.options).where(t.c.importer == IMPORTER))
    ours = frozenset(row.id for row in earlier if row.options.get("followed_project") == key)
    if found is None and not ours:
        return
    options = {"followed_project": key, "allow_unmatched": True, "revise": False}
    options["conflicts_as_repeats"] = True
    place = {"name": project.source.path.name, "sha256": project.source.sha256}
    record = {**place, "importer": IMPORTER, "options": options}
    replaced = Replaced(ours, lambda response, scorer: response in kept or scorer in gone)
    store_rows(connection, study, rows, record, report, repeated=bool(ours), replaced=replaced)
    if report.unmatched:
        report.left_out[NOT_IN_STUDY] += report.unmatched_rows
    result.add(report, 0 if found is None else found.annotations)


def _other_texts(people: Raters, project: _Project) -> tuple[dict[int, str | None], set[int]]:
    """Return the tasks that have another content in the study, and the responses of some.

    A task whose number is its name is another task now, and gets a name with a digest of its
    content. One whose own id or system has another content is left out (None), and the answers on
    its response stay.
    """
    existing, source = ExistingContent(people.connection), RecordSource(project.source.path)
    names: dict[int, str | None] = {}
    responses: set[int] = set()
    for is_named in (False, True):
        for task in TaskReader(source, project.form, names).contents(source.records()):
            located = [] if isinstance(task, Fault) else task.rows
            rows = [one.row for one in located if not isinstance(one, Fault)]
            compared = [_compared(existing, row) for row in rows if isinstance(row, ResponseRow)]
            if isinstance(task, TaskContent) and any(differs for _, _, differs in compared):
                content = digest(*(content for _, content, _ in compared)).hex()[:8]
                names[task.number] = None if is_named else f"{task.name}-{content}"
                responses.update(*(named for named, *_ in compared if is_named))
        if not names:
            break
    return names, responses


def _compared(existing: ExistingContent, row: ResponseRow) -> tuple[set[int], bytes, bool]:
    """Return the responses of a row's id and system, its content, and whether one has another."""
    text = digest(row.query.encode())
    passages = [passage.text for passage in row.passages if passage.text.strip()]
    content = digest(row.response.encode(), *(digest(text.encode()) for text in passages))
    query = existing.query_ids.get(row.query_id or "")
    if row.query_id is None and len(same := existing.queries_by_text.get(text, [])) == 1:
        (query,) = same
    own = None if row.response_id is None else existing.find(row.response_id)
    by_system = existing.outputs.get((query or 0, row.system or ""), (None,))[0]
    named = {response for response in (own, by_system) if response is not None}
    stored = [existing.responses[response] for response in named]
    differs = query is not None and existing.queries[query].text != text
    differs = differs or any(
        (existing.queries[other.query].text, other.content) != (text, content) for other in stored
    )
    return named, text + content, differs
