"""`ccrs label-studio push --items FILE`: the disputed responses as projects, and back."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from study import Study
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import edited as with_settings
from tests.annotate_ui.rated_campaign import fill
from tests.ccrs_command import Done, in_process

HEAD = "construct,scorer,response_id,query_id,score,people,difference,reason\n"
POINTS = """[[constructs]]
key = "fit"
name = "Fit"
question = "Does it fit?"
scale = {min = 0, max = 4, step = 1}
sees = ["question", "response"]
"""
ROWS = (
    "QR,llama,q0/system-0,q0,90,20,70,It fits.\n"
    "QR,llama,q0/system-1,q0,10,50,-40,\n"
    "IR,llama,q0/system-0,q0,90,30,60,Well put.\n"
)


@pytest.fixture
def typed(study: Study, server: StandIn, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command of the bridge on a filled study."""
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "token")
    monkeypatch.setattr(
        "annotate_ui.label_studio.client.Server", lambda *_, **__: nullcontext(server)
    )
    fill(study, queries=1, systems=2)

    def run(command: str, *words: object) -> Done:
        return in_process("label-studio", command, study.folder, *words)

    return run


def write(folder: Path, text: str) -> Path:
    file = folder / "disputed.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_disputed_responses_are_sent_discussed_and_settled(
    typed: Any, study: Study, server: StandIn, tmp_path: Path
) -> None:
    file = write(tmp_path, HEAD + ROWS)
    done = typed("push", "--url", server.url, "--items", file)
    assert done.returncode == 0, done.stderr
    first, second = server.tasks
    data = [task["data"] for task in server.tasks[first].values()]
    assert [one["difference"] for one in data] == [70, -40]
    assert data[0]["reason"] == "It fits."
    assert data[0]["response"] == "response-0-0"
    assert 'value="$reference"' not in server.made[first]["xml"]
    assert len(server.tasks[second]) == 1
    again = json.loads(typed("push", "--url", server.url, "--items", file, "--json").stdout)
    assert [(p["tasks"], p["is_new"]) for p in again["projects"]] == [(0, False), (0, False)]

    settled(server, first, {"number": 35})
    settled(server, second, {"number": 40})
    printed = [line for line in done.stdout.splitlines() if line.startswith("Next: ")]
    assert [follow(typed, study, line)["new"] for line in printed] == [1, 1]
    assert rows(study) == [("QR", 35.0), ("IR", 40.0)]
    assert {*study.score_table()["scorer"]} == {"ls-5 (adjudicated)"}


def settled(server: StandIn, project: int, value: dict[str, Any]) -> None:
    """Annotate the first task of a project with what was settled on."""
    task = next(iter(server.tasks[project]))
    made = server.annotate(project, task, 5, "10:00")
    name = server.made[project]["xml"].split("toName")[0].rsplit('name="', 1)[1].split('"')[0]
    made["result"] = [{"from_name": name, "type": next(iter(value)), "value": value}]
    made["ground_truth"] = True


def follow(typed: Any, study: Study, printed: str) -> Any:
    """Run the command that was printed; return its result."""
    words = printed.removeprefix(f"Next: ccrs label-studio follow {study.folder} ").split()
    done = typed("follow", *words, "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def rows(study: Study) -> list[tuple[str, float]]:
    table = study.score_table()
    return sorted(zip(table["construct"], table["value"], strict=True), key=lambda row: row[1])


def test_points_of_a_scale_come_back_as_numbers(
    typed: Any, study: Study, server: StandIn, tmp_path: Path
) -> None:
    with_settings(study, POINTS)
    file = write(tmp_path, "construct,response_id\nfit,q0/system-1\n")
    done = typed("push", "--url", server.url, "--items", file)
    assert done.returncode == 0, done.stderr
    settled(server, next(iter(server.made)), {"choices": ["2"]})
    (printed,) = (line for line in done.stdout.splitlines() if line.startswith("Next: "))
    assert follow(typed, study, printed)["new"] == 1
    assert rows(Study.open(study.folder)) == [("fit", 2.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "QQ,l,q0/system-0,q0,1,2,1,\n", "row 2, column construct: the study has no con"),
        (HEAD + "QR,l,q9,q0,1,2,1,\n", "row 2, column response_id: The study has no response 'q9'"),
        (HEAD + ROWS + ROWS, "'q0/system-0' is there twice for QR. Keep one of the rows."),
        (HEAD, "the file has a header and no rows"),
        ("response_id\nq0/system-0\n", "the columns are response_id. Name them construct and"),
        ("construct,response_id,question\nQR,a,b\n", "the column question would hide a text"),
    ],
)
def test_a_file_with_a_fault_sends_nothing(
    typed: Any, server: StandIn, tmp_path: Path, text: str, message: str
) -> None:
    done = typed("push", "--url", server.url, "--items", write(tmp_path, text))
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())
    assert not server.made
