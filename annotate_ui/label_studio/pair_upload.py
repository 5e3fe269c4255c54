"""Sending pairs to projects in which they are compared."""

import time
from collections import Counter, defaultdict
from collections.abc import Sequence

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.pair_configuration import pair_configuration
from annotate_ui.label_studio.pair_tasks import (
    PairToCompare,
    Sides,
    compared_constructs,
    pair_data,
    pair_names,
    shown_fields_of,
)
from annotate_ui.label_studio.projects import StoredProject
from annotate_ui.label_studio.results import Pushed, PushedProject
from annotate_ui.label_studio.server_projects import ServerProjects
from annotate_ui.label_studio.task_data import NAME
from annotate_ui.label_studio.task_upload import PAIRS, ProjectKind, TaskSender
from study.facts.comparison_decisions import people_by_pair
from study.study import Study

# Tasks of one request.
_BATCH = 250
_ATTEMPTS = 5


class PairSender:
    """Sends the pairs of one push that the server does not have.

    The study stores no numbers of these tasks: they are found by their names, so that an
    interrupted push is continued and a deleted task is sent again.
    """

    def __init__(
        self,
        study: Study,
        server: Server,
        on_server: ServerProjects,
        sender: TaskSender,
        result: Pushed,
    ) -> None:
        self._study, self._server = study, server
        self._sender, self._result = sender, result
        self._compared = [project for project in on_server.present if project.compares]

    def send(self, pairs: Sequence[PairToCompare]) -> None:
        """Send the pairs for which there are not enough places.

        Raises
        ------
        ServerError
            The server could not be reached or refused. The next push recognizes what was sent.
        """
        if not pairs:
            return
        with self._study.read() as connection:
            sides_of = pair_names(connection)
            decided = people_by_pair(connection, CHANNEL)
            versions = self._study.construct_versions(connection)
        names = {sides: name for name, sides in sides_of.items()}
        there = {project.id: self._names_in(project) for project in self._compared}
        places: Counter[frozenset[int]] = Counter()
        for project in self._compared:
            for name in there[project.id]:
                if name in sides_of:
                    places[frozenset(sides_of[name])] += project.overlap
        missing: dict[ProjectKind, list[Sides]] = defaultdict(list)
        for pair in pairs:
            both = frozenset(pair.sides)
            count = pair.wanted - max(places[both], decided[both])
            self._result.existing += bool(places[both])
            if count > 0:
                fields = shown_fields_of(self._study, pair.construct_keys)
                kind = ProjectKind(PAIRS, fields, pair.construct_keys, count)
                missing[kind].append(pair.sides)
        scale = self._study.config.preferences.scale
        for kind, wanted in missing.items():
            constructs = [
                spec for spec in compared_constructs(self._study) if spec.key in kind.construct_keys
            ]
            interface = pair_configuration(kind.fields, constructs, versions, scale)
            new = {names[sides]: sides for sides in wanted}

            def is_free(project: StoredProject, new: frozenset[str] = frozenset(new)) -> bool:
                # A further place of a pair is another task, in another project.
                return not new & there.get(project.id, set())

            project, is_new = self._sender.project(kind, constructs, interface, is_free)
            sent = self._fill(project, new, kind)
            there.setdefault(project.id, set()).update(new)
            self._result.tasks += sent
            self._result.projects.append(
                PushedProject(
                    project.number,
                    f"{self._server.url}/projects/{project.number}",
                    kind.stage,
                    kind.construct_keys,
                    kind.overlap,
                    is_new,
                    len(there[project.id]),
                )
            )

    def _names_in(self, project: StoredProject) -> set[str]:
        return {name for name in self._server.task_names(project.number).values() if name}

    def _fill(self, project: StoredProject, pairs: dict[str, Sides], kind: ProjectKind) -> int:
        """Send the tasks that the project does not have; return their number."""
        sent = 0
        for attempt in range(_ATTEMPTS):
            # Also after an error: the server may have stored tasks whose reply was lost.
            there = self._names_in(project)
            missing = [(name, sides) for name, sides in pairs.items() if name not in there]
            try:
                for start in range(0, len(missing), _BATCH):
                    batch = missing[start : start + _BATCH]
                    with self._study.read() as connection:
                        data = pair_data(connection, [sides for _, sides in batch], kind.fields)
                    tasks = [
                        {"data": {**texts, NAME: name}}
                        for (name, _), texts in zip(batch, data, strict=True)
                    ]
                    sent += len(self._server.import_tasks(project.number, tasks))
                break
            except ServerError as error:
                if not error.is_temporary or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(2**attempt)
        return sent
