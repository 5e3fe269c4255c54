"""2,000 tasks for 3 raters each: processor time and memory of a push and a pull.

A stand-in answers in the place of Label Studio, at once, so that what is measured is ours: reading
and writing the study, making tasks, reading an export. It needs label-studio-sdk.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from annotate_ui.label_studio.client import Project, tasks_in
from annotate_ui.label_studio.projects import stored_projects
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow

_TASKS, _RATERS = 2000, 3
_PUSH, _PULL, _MEMORY = 5.0, 15.0, 300
"""Seconds, seconds and MB that are allowed."""
_WORDS = "as many words as a passage of a collection commonly has, and some more "


def main() -> None:
    """Measure, print, and fail where it is more than is allowed."""
    import label_studio_sdk  # noqa: F401  (its memory counts, as it does in use)

    with tempfile.TemporaryDirectory() as folder:
        study = Study.create(Path(folder) / "study", '[rating]\ndisclosure = "all"\n')
        _fill(study, _TASKS)
        assign(study, per_item=_RATERS, open_slots=True, channel="label_studio")
        server: Any = _StandIn(Path(folder) / "export.json")
        pushed = _seconds(lambda: push(study, server))
        with study.read() as connection:
            (project,) = stored_projects(connection)
        server.rate(sorted(project.construct_keys), _RATERS)
        pulled = _seconds(lambda: pull(study, server))
        again = _seconds(lambda: pull(study, server))
        study.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{_TASKS:,} tasks for {_RATERS}: push {pushed}, pull {pulled}, again {again}, "
        f"{memory:.0f} MB"
    )
    if pushed.processor > _PUSH or pulled.processor > _PULL or memory > _MEMORY:
        sys.exit(f"allowed are {_PUSH:g} s, {_PULL:g} s and {_MEMORY:g} MB")


class _Seconds(NamedTuple):
    processor: float
    """Of the processor, for this process."""
    whole: float

    def __str__(self) -> str:
        return f"{self.processor:.1f} s ({self.whole:.1f} s by the clock)"


def _seconds(work: Callable[[], object]) -> _Seconds:
    of_scorer, whole = time.process_time(), time.perf_counter()
    work()
    return _Seconds(time.process_time() - of_scorer, time.perf_counter() - whole)


def _fill(study: Study, tasks: int) -> None:
    rows = [
        LocatedRow(
            number + 1,
            ResponseRow(
                query_id=f"q{number // 4}",
                query=f"Question {number // 4}?",
                system=f"s{number % 4}",
                response=f"Response {number}. {_WORDS * 8}",
                passages=tuple(
                    PassageRow(text=f"Passage {passage} of {number // 4}. {_WORDS * 10}")
                    for passage in range(5)
                ),
                references=(f"Reference {number // 4}.",),
            ),
        )
        for number in range(tasks)
    ]
    import_rows(study, rows, source="made", sha256=uuid4().hex, importer="responses")


class _StandIn:
    """Answers as a server would, from memory."""

    url = "http://stand-in"
    identity = "one"
    is_open_edition = True

    def __init__(self, file: Path) -> None:
        self._tasks: list[dict[str, Any]] = []
        self._file = file
        self._description = ""

    def check(self) -> None:
        """Let anybody in."""

    def projects(self) -> list[Project]:
        """Return the one project, if it is made."""
        return [self.project(1)] if self._description else []

    def project(self, number: int) -> Project:
        """Return the one project."""
        return Project(number, self._description)

    def create_project(self, *, description: str, **_: Any) -> int:
        """Make the one project."""
        self._description = description
        return 1

    def import_tasks(self, number: int, tasks: Sequence[Mapping[str, Any]]) -> list[int]:
        """Take tasks, as text as they would be sent."""
        assert number == 1
        first = len(self._tasks) + 1
        self._tasks += json.loads(json.dumps(tasks))
        return list(range(first, len(self._tasks) + 1))

    def rate(self, constructs: Sequence[str], raters: int) -> None:
        """Annotate every task, and keep the export on disk instead of in memory."""
        with self._file.open("w") as file:
            file.write("[")
            for place, task in enumerate(self._tasks):
                annotations = [_annotation(place, rater, constructs) for rater in range(raters)]
                whole = {**task, "id": place + 1, "annotations": annotations, "drafts": []}
                file.write(("," if place else "") + json.dumps(whole))
            file.write("]")
        self._tasks = [{} for _ in self._tasks]

    def export(self, number: int) -> Iterator[dict[str, Any]]:
        """Yield the tasks as the client does: read from a file as a whole."""
        with self._file.open("rb") as file:
            yield from tasks_in(file, number)


def _annotation(task: int, rater: int, constructs: Sequence[str]) -> dict[str, Any]:
    return {
        "id": task * 10 + rater + 1,
        "completed_by": rater + 2,
        "was_cancelled": False,
        "created_at": f"2026-01-01T10:{task % 60:02}:{rater:02}Z",
        "updated_at": f"2026-01-01T10:{task % 60:02}:{rater:02}Z",
        "lead_time": 20.5,
        "result": [
            {
                "from_name": key,
                "to_name": "response",
                "type": "number",
                "value": {"number": (task + rater) % 101},
            }
            for key in constructs
        ],
    }


if __name__ == "__main__":
    main()
