"""Tasks that ask an earlier version of a construct, and that nobody has touched: they make way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.projects import StoredProject, forget
from annotate_ui.label_studio.task_data import NAME, task_names
from study.study import Study

# Tasks deleted at once: what is rated between looking and deleting would be lost.
_TOGETHER = 250


@dataclass(frozen=True)
class Earlier:
    """The projects of a server that ask an earlier version of a construct."""

    projects: Sequence[StoredProject]
    untouched: Mapping[int, frozenset[int]]
    """By project, the responses whose tasks nobody has rated or begun to."""

    @property
    def rated(self) -> int:
        """How many of their tasks stay, since somebody has rated them or begun to."""
        return sum(len(one.tasks) for one in self.projects) - sum(
            len(responses) for responses in self.untouched.values()
        )

    def without(self, projects: Sequence[StoredProject]) -> list[StoredProject]:
        """Return projects without the tasks that make way."""
        return [
            replace(
                one,
                tasks={
                    response: number
                    for response, number in one.tasks.items()
                    if response not in self.untouched.get(one.id, ())
                },
            )
            for one in projects
        ]


def earlier(study: Study, server: Server, present: Sequence[StoredProject]) -> Earlier:
    """Return what of a server's projects asks an earlier version of a construct than study.toml.

    One that asks a later version was pushed by another process that knows a later study.toml.
    """
    with study.read() as connection:
        versions = study.construct_versions(connection)
    projects = [
        project
        for project in present
        if project.tasks
        and any(
            control["construct_version"] < versions.get(control["construct"], 0)
            for control in project.controls.values()
            if control["kind"] == "number"
        )
    ]
    return Earlier(
        projects, {one.id: frozenset(_untouched(study, server, one)) for one in projects}
    )


def remove(study: Study, server: Server, found: Earlier) -> int:
    """Delete the tasks that make way; return how many.

    Called when those in their place are sent: Label Studio may give a number again that was the
    last, and whoever has a task open would rate another one.
    """
    removed = 0
    for project in found.projects:
        left = set(found.untouched[project.id])
        while left:
            # Looked at once more right before: whoever rated one meanwhile keeps what they gave.
            some = sorted(left & _untouched(study, server, project))[:_TOGETHER]
            if not some:
                break
            server.delete_tasks(project.number, [project.tasks[response] for response in some])
            removed += forget(study, project, some)
            left -= set(some)
    return removed


def _untouched(study: Study, server: Server, project: StoredProject) -> set[int]:
    with study.read() as connection:
        names = task_names(connection, project.stage)
    by_task = {number: response for response, number in project.tasks.items()}
    found = set()
    for task in server.export(project.number):
        response = by_task.get(int(task["id"]))
        touched = task.get("annotations") or task.get("drafts")
        # The number may be another task's by now.
        named = response is not None and task.get("data", {}).get(NAME) == names[response]
        if response is not None and named and not touched:
            found.add(response)
    return found
