"""Killed at any moment, sync goes on where it was: nothing is lost, nothing is there twice."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from sqlalchemy import func, select

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from study.schema.tables import assignments, ratings
from tests.annotate_ui.label_studio.real.process import OWNER, LabelStudioServer, Member
from tests.annotate_ui.label_studio.real.rater_actions import projects, rate_all
from tests.annotate_ui.rated_campaign import fill

_KILLS = 10
_QUERIES, _SYSTEMS = 40, 5


def killed_sync(study: Study, url: str, seconds: float | None) -> float | None:
    """Begin a sync and kill it so long after it first spoke to the server.

    Return how long it took, where it ended before or was let run; None where it was killed.
    """
    code = (
        "import sys\n"
        "from study.study import Study\n"
        "from annotate_ui.label_studio.client import Server\n"
        "from annotate_ui.label_studio.projects import stored_projects\n"
        "from annotate_ui.label_studio.pull import pull\n"
        "from annotate_ui.label_studio.push import push\n"
        f"study = Study.open({str(study.folder)!r})\n"
        f"with Server({url!r}, {OWNER!r}) as server:\n"
        "    print('speaks', flush=True)\n"
        "    with study.read() as connection:\n"
        "        there = stored_projects(connection)\n"
        "    if there:\n"
        "        pull(study, server)\n"
        "    push(study, server)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == b"speaks\n"
        begun = time.monotonic()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            return None
        assert process.returncode == 0
        return time.monotonic() - begun


def test_ten_deaths_of_sync_leave_study_and_project_as_one(
    study: Study,
    server: Server,
    label_studio: LabelStudioServer,
    members: tuple[Member, Member],
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(8)
    twin = Study.create(tmp_path / "twin")
    for campaign in (twin, study):
        fill(campaign, queries=_QUERIES, systems=_SYSTEMS)
        assign(
            campaign, per_item=2, open_slots=True, channel="label_studio", constructs=["QR", "CC"]
        )
    whole = killed_sync(twin, label_studio.url, None)
    twin.close()
    assert whole is not None
    deaths = 0
    for stage in range(3):
        # Something is to be done in each third: tasks of stage 1, their ratings, stage 2.
        while deaths < _KILLS * (stage + 1) // 3:
            moment = float(rng.uniform(0, whole))
            if killed_sync(study, label_studio.url, moment) is not None:
                break
            deaths += 1
        if stage < 2:
            push(study, server)
            rate_all(label_studio, members[stage], projects(study)[0], 30 + stage)
    while deaths < _KILLS:
        # What is left to do may be little: then a death early in a round that finds nothing new.
        deaths += killed_sync(study, label_studio.url, float(rng.uniform(0, whole / 3))) is None

    for _ in range(2):
        pull(study, server)
        push(study, server)
    assert pull(study, server).stored_anything is False
    assert push(study, server).tasks == 0
    for project in projects(study):
        tasks = list(server.export(project.number))
        names = Counter(task["data"]["ccrs_id"] for task in tasks)
        assert set(names.values()) == {1}
        assert {task["id"] for task in tasks} == set(project.tasks.values())
    assert [len(project.tasks) for project in projects(study)] == [200, 200]
    with study.read() as connection:
        assert connection.execute(select(func.count()).select_from(ratings)).scalar_one() == 400
        assert connection.execute(select(func.max(ratings.c.revision))).scalar_one() == 1
        slots = connection.execute(
            select(func.count())
            .select_from(assignments)
            .where(assignments.c.channel == "label_studio")
        ).scalar_one()
    assert slots == 2 * 2 * 200
