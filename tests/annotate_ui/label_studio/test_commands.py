"""The commands `ccrs label-studio ...` as they are typed, against a server in memory."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from study import Study
from study.assignment.planner import assign
from study.cli.root import cli
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.rated_campaign import fill
from tests.command_cases import CASES

STARS = (
    '<View><Text name="r" value="$answer"/><Header value="$question"/>'
    '<Rating name="stars" toName="r"/></View>'
)


@pytest.fixture
def in_memory(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Let the commands reach the server in memory, whatever address they are given."""
    monkeypatch.setattr(
        "annotate_ui.label_studio.client.Server", lambda *_, **__: nullcontext(server)
    )
    return server


def typed(name: str, folder: Path, *more: str, **places: Any) -> str:
    """Run the case of a command on a study; return what it prints."""
    words = CASES[name].format(label_studio=StandIn.url, **places).split()
    words[2] = str(folder)
    done = CliRunner().invoke(cli, [*words, *more], env={"LABEL_STUDIO_API_KEY": "token"})
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def test_each_command_of_the_exchange_runs(study: Study, in_memory: StandIn) -> None:
    fill(study, queries=2, systems=2)
    assign(study, per_item=2, open_slots=True, channel="label_studio")
    pushed = typed("label-studio push", study.folder, "--title", "Ours")
    assert "new project" in pushed
    assert "no effect" not in pushed
    assert in_memory.made
    again = typed("label-studio push", study.folder, "--title", "Mine")
    assert "--title had no effect: no project was created." in again
    assert "Next: ccrs report" in typed("label-studio pull", study.folder)
    assert "Next: ccrs report" in typed("label-studio sync", study.folder)


def test_a_project_is_followed(study: Study, in_memory: StandIn) -> None:
    project = in_memory.create_project(description="", xml=STARS)
    data = {"question": "What?", "answer": "That."}
    (task,) = in_memory.import_tasks(project, [{"data": data}])
    made = in_memory.annotate(project, task, 5, "10:00")
    made["result"] = [{"from_name": "stars", "type": "rating", "value": {"rating": 5}}]
    assert "1 new value" in typed("label-studio follow", study.folder, project=project)
    words = ["label-studio", "follow", str(study.folder), "--json"]
    again = CliRunner().invoke(cli, words, env={"LABEL_STUDIO_API_KEY": "token"})
    assert again.exit_code == 0, again.output
    assert json.loads(again.output)["new"] == 0
    assert study.score_table()["value"].tolist() == [100.0]
