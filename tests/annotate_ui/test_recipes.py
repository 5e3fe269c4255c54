"""The manual's campaigns from start to finish: every command of their pages, in their order."""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from sqlalchemy import select

from annotate_ui.participants.consent import answer, texts_of
from annotate_ui.participants.enrolment import enrol
from annotate_ui.participants.enrolment_links import list_links
from study import Study
from study.example import build_example
from study.schema.tables import raters
from tests.annotate_ui.designed_campaign import go_through
from tests.ccrs_command import in_process

pytestmark = pytest.mark.server

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = {key: [40, 60] for key in ("QR", "CC", "ID", "AC", "IR")}


def row(name: str, **other: object) -> str:
    return json.dumps(
        {"query_id": name, "query": f"{name}?", "response": f"It is {name}.",
         "passages": [f"{name} is."], "references": ["It is."], **other}
    )  # fmt: skip


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with the files that both pages name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    files = {
        "responses.jsonl": "\n".join(row(f"q{n}", system="bm25") for n in range(6)),
        "training.jsonl": "\n".join(row(f"t{n}", expected=EXPECTED) for n in range(6)),
        "consent.md": "Do you agree?",
        "guide.md": "Read the passages.",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def blocks(page: str, kind: str, section: str = "") -> list[str]:
    """Return the blocks of a page of one kind; those of a section, if one is named."""
    text = (ROOT / "data" / "manual" / page).read_text(encoding="utf-8")
    if section:
        text = text.split(f"\n## {section}\n")[1].split("\n## ")[0]
    found = re.findall(rf"^( *)```{kind}\n(.*?)^\1```$", text, re.M | re.S)
    return [dedent(block) for _, block in found]


def commands(page: str) -> Iterator[str]:
    """Yield the commands of a page after writing its campaign.toml."""
    (settings,) = blocks(page, "toml")
    Path("campaign.toml").write_text(settings)
    for block in blocks(page, "sh"):
        yield from block.splitlines()


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a command as it stands; the server on a free port, until it is open."""
    words = shlex.split(line)
    if words[0] != "ccrs":
        subprocess.run(line, shell=True, check=True)
        return ""
    if words[1] == "owner-password":
        words.append("--stdin")
        monkeypatch.setattr(sys, "stdin", io.StringIO("a long password of mine\n"))
    if words[1] == "serve":
        script = str(Path(sys.executable).with_name("ccrs"))
        with subprocess.Popen(
            [script, *words[1:], "--port", "0"], stdout=subprocess.PIPE, text=True
        ) as served:
            assert served.stdout is not None
            opened = next((out for out in served.stdout if out.startswith("Stop with")), None)
            served.terminate()
        assert opened, line
        return ""
    # Few designs and simulated studies show that a command works.
    few = ["--runs", "2", "--queries", "20", "--raters", "2"] if words[1] == "plan" else []
    done = in_process(*words[1:], *few)
    assert done.returncode == 0, (line, done.stderr)
    return done.stdout


def rate_all(code: str, value: float = 50.0) -> None:
    with Study.open("my-study") as study:
        with study.read() as connection:
            key = connection.execute(select(raters.c.id).where(raters.c.code == code)).scalar_one()
        for text in (texts_of(study).consent, texts_of(study).instructions):
            if text is not None:
                answer(study, key, text, agreed=True)
        assert go_through(study, key, value, most=200)[-1].kind == "end"


@pytest.mark.usefixtures("made", "without_drawing")
def test_the_recipe_of_prolific_ends_with_whom_to_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    for line in commands("prolific.md"):
        shown = run(line, monkeypatch)
        ran.append(line.split()[1])
        if ran[-1] == "init":
            link = re.search(r"^prolific  (\S+)$", shown, re.M)
            assert link
        if ran[-1] == "serve":
            assert link
            for code in ("0", "1", "2"):
                with Study.open("my-study") as study:
                    enrol(study, link[1].rpartition("/")[2], code * 24)
                if code != "2":
                    rate_all(f"rater-{int(code) + 1}")
        if ran[-1] == "invite":
            with Study.open("my-study") as study:
                (state,) = list_links(study)
            assert (state.joined, state.counted, state.quota) == (3, 2, 30), (
                "somebody else may join"
            )
            assert state.free_slots == 12, "those of the rejected rater are open again"
    assert ran[0] == "init"
    assert ran[-1] == "report"
    with Path("my-study/export/people.csv").open(encoding="utf-8-sig", newline="") as file:
        people = {row["rater"]: row for row in csv.DictReader(file)}
    ends = {code: (row["recruiter_id"], row["exit"]) for code, row in people.items()}
    assert ends == {
        "rater-1": ("0" * 24, ""), "rater-2": ("1" * 24, "completion"), "rater-3": ("2" * 24, ""),
    }  # fmt: skip
    assert people["rater-2"]["code"] == "C1A2B3"
    assert int(people["rater-1"]["responses_rejected"]) > 0


@pytest.mark.usefixtures("made", "without_drawing")
def test_the_recipe_of_a_panel_ends_with_adjudicated_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = []
    for line in commands("panel.md"):
        run(line, monkeypatch)
        ran.append(line.split()[1])
        if ran[-1] == "serve":
            for number, code in enumerate(("anna", "ben", "cara")):
                rate_all(code, 40.0 + 10 * number)
        if ran[-1] == "invite":
            rate_all("dora")
    assert {"adjudicate", "export", "archive"} < set(ran)
    assert Path("my-study.zip").exists()
    with Study.open("my-study") as study:
        kinds = set(study.score_table()["scorer_kind"])
    assert kinds == {"human", "adjudicated"}


@pytest.mark.usefixtures("made", "without_drawing")
def test_the_commands_before_people_rate_lead_to_their_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build_example("pilot").close()
    ran = []
    for block in blocks("campaign.md", "sh", "Before people rate"):
        for line in block.splitlines():
            run(line, monkeypatch)
            ran.append(line.split()[1])
    assert ran == ["init", "import", "plan", "plan", "assign", "assign"]
    assert in_process("invite", "my-study", "--out", "links.csv").returncode == 0
