"""A study rated on the project's own pages and in Label Studio has one report that names both."""

import json
from pathlib import Path

from click.testing import CliRunner

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from study.cli.root import cli
from tests.annotate_ui.label_studio.real.process import LabelStudioServer, Member
from tests.annotate_ui.label_studio.real.rater_actions import annotate, projects
from tests.annotate_ui.rated_campaign import fill, finish_step, give


def test_half_here_and_half_there_with_some_in_both(
    study: Study,
    server: Server,
    label_studio: LabelStudioServer,
    members: tuple[Member, Member],
    tmp_path: Path,
) -> None:
    fill(study, queries=12, systems=2)
    here = give(study, "anna", keys=["QR"], queries=[f"q{n}" for n in range(8)])
    assert here is not None
    assign(study, per_item=2, open_slots=True, channel="label_studio", constructs=["QR"])
    for place in range(16):
        finish_step(study, here, 40.0 + place * place % 17)
    # 16 responses with one rater here want one more there, the other 8 want two.
    assert push(study, server).tasks == 24
    rated = {}
    for project in projects(study):
        for member in members[: project.overlap]:
            for response, task in sorted(project.tasks.items()):
                rated[response] = 50.0 + response
                annotate(label_studio, member, task, {"QR": rated[response]})
    assert pull(study, server).new == 16 + 2 * 8

    scores = study.score_table().drop_duplicates(["response_id", "scorer"])
    assert scores["source"].value_counts().to_dict() == {"label_studio": 32, "own": 16}
    both = scores.pivot_table(index="response_id", columns="source", values="value").dropna()
    words = ["report", str(study.folder), "--no-verify", "--out", str(tmp_path / "report")]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    (estimate,) = [e for e in report["estimates"] if e["statistic"] == "source_difference"]
    assert len(both) == estimate["n_responses"] == 16
    assert estimate["value"] == (both["label_studio"] - both["own"]).mean()
    assert estimate["ci_low"] < estimate["value"] < estimate["ci_high"]
    page = (tmp_path / "report" / "report.html").read_text()
    assert "Where people rated" in page
    assert ">Source<" in page
