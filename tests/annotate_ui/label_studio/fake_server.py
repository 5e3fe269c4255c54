"""A stand-in for the server, for what the real one can't be brought to: moments, and PostgreSQL.

It keeps projects, tasks and annotations in memory and answers as `annotate_ui.label_studio.client`
does. The real server is tested in `real/`.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import uuid4
from xml.etree.ElementTree import Element, fromstring

import pytest

from annotate_ui.label_studio.client import Project, ServerError


class StandIn:
    """A server in memory."""

    url = "http://stand-in.example.org"

    def __init__(self) -> None:
        self.identity = uuid4().hex
        self.made: dict[int, dict[str, Any]] = {}
        self.tasks: dict[int, dict[int, dict[str, Any]]] = {}
        self._number = 0
        self.unlisted: set[int] = set()
        """Projects that the list leaves out although they are there."""

    def check(self) -> None:
        """Let anybody in."""

    def projects(self) -> list[Project]:
        """Return all projects."""
        return [self.project(number) for number in self.made if number not in self.unlisted]

    def project(self, number: int) -> Project:
        """Return a project."""
        if number not in self.made:
            raise ServerError("not found", 404)
        settings = self.made[number]
        return Project(number, settings["description"], settings["xml"])

    def create_project(self, **settings: Any) -> int:
        """Make a project."""
        number = self._next()
        self.made[number] = settings
        self.tasks[number] = {}
        return number

    def configure(self, number: int, xml: str) -> None:
        """Give a project another labeling configuration."""
        self.made[number]["xml"] = xml

    def import_tasks(self, number: int, tasks: Sequence[Mapping[str, Any]]) -> list[int]:
        """Take tasks."""
        numbers = [self._next() for _ in tasks]
        for task_number, task in zip(numbers, tasks, strict=True):
            self.tasks[number][task_number] = {
                **task,
                "id": task_number,
                "annotations": [],
                "drafts": [],
            }
        return numbers

    def export(self, number: int) -> Iterator[dict[str, Any]]:
        """Yield a project's tasks."""
        if number not in self.made:
            raise ServerError("not found", 404)
        yield from self.tasks[number].values()

    def delete_project(self, number: int) -> None:
        """Delete a project, as its owner does over there."""
        del self.made[number], self.tasks[number]

    def delete_tasks(self, number: int, tasks: Sequence[int]) -> None:
        """Delete tasks of a project."""
        for task in tasks:
            del self.tasks[number][task]

    def delete_task(self, number: int) -> None:
        """Delete a task."""
        for tasks in self.tasks.values():
            tasks.pop(number, None)

    def annotate(
        self, project: int, task: int, user: int, at: str, lead: float | None = None, **values: Any
    ) -> dict[str, Any]:
        """Annotate a task at a time of day; return the annotation, to be edited."""
        moment = f"2026-01-01T{at}:00Z"
        made = {
            "id": self._next(),
            "completed_by": user,
            "created_at": moment,
            "updated_at": moment,
            "lead_time": lead,
            "was_cancelled": False,
            "result": [
                {"from_name": key, "value": {"number": value}} for key, value in values.items()
            ],
        }
        self.tasks[project][task]["annotations"].append(made)
        return made

    def _next(self) -> int:
        self._number += 1
        return self._number


class _LabelInterface:
    """What is used of label-studio-sdk's reader of labeling configurations."""

    def __init__(self, config: str) -> None:
        fromstring(config)

    def parse(self, config: str) -> tuple[dict[str | None, Any], None, None, Element]:
        """Return the controls by name, and the configuration as a tree."""
        tree = fromstring(config)
        tags = {
            element.get("name"): SimpleNamespace(tag=element.tag, attr=dict(element.attrib))
            for element in tree.iter()
            if element.get("name") and element.get("toName")
        }
        return tags, None, None, tree


def stand_in_for_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read labeling configurations where label-studio-sdk is not installed."""
    if find_spec("label_studio_sdk") is None:
        package, module = ModuleType("label_studio_sdk"), ModuleType("label_interface")
        vars(module)["LabelInterface"] = _LabelInterface
        monkeypatch.setitem(sys.modules, "label_studio_sdk", package)
        monkeypatch.setitem(sys.modules, "label_studio_sdk.label_interface", module)
