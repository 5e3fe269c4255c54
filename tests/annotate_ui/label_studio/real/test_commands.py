"""The commands that an owner types, and a judge's scores shown beforehand."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from study import Study
from study.cli.root import cli
from study.errors import StudyError
from tests.annotate_ui.label_studio.real.process import OWNER, LabelStudioServer, Member
from tests.annotate_ui.label_studio.real.rater_actions import annotate, projects, rate_all
from tests.annotate_ui.label_studio.real.test_foreign_projects import STARS, made
from tests.command_cases import CASES


def ccrs(*words: str) -> Result:
    """Run a command that succeeds."""
    done = CliRunner().invoke(cli, list(words), env={"LABEL_STUDIO_API_KEY": OWNER})
    assert done.exit_code == 0, done.output
    return done


def test_push_pull_and_sync_report_what_they_did(
    campaign: Study, label_studio: LabelStudioServer, members: tuple[Member, Member]
) -> None:
    folder, to = str(campaign.folder), ("--url", label_studio.url)
    output = ccrs("label-studio", "push", folder, *to).output
    assert "Stage 1 (QR): 4 tasks with 2 places each, new project." in output
    assert "wait until the earlier stages of their query are rated and pulled: 16." in output
    assert "kept for Label Studio" in ccrs("status", folder).output
    project = projects(campaign)[0]
    rate_all(label_studio, members[0], project, 70)
    annotate(label_studio, members[1], next(iter(project.tasks.values())), {"QR": 700})
    named = ("--rater", f"{members[0].id}=ada")
    output = ccrs("label-studio", "pull", folder, *to, *named).output
    assert "4 new values, 0 edited, 0 withdrawn, 0 unchanged; from 5 annotations." in output
    assert "700 is outside the scale 0 to 100" in output
    data = json.loads(ccrs("label-studio", "pull", folder, *to, "--json").output)
    assert (data["new"], data["unchanged"], data["rejected_new"]) == (0, 4, 0)
    assert data["rejected"][0]["rater"] == f"ls-{members[1].id}"
    output = ccrs("label-studio", "sync", folder, *to, "--rounds", "1").output
    assert "Next: ccrs report" in output
    assert "ada" in ccrs("watch", folder).output


def test_mistakes_of_an_owner_are_explained(
    study: Study, campaign: Study, label_studio: LabelStudioServer, tmp_path: Path
) -> None:
    def refused(*words: str, **env: Any) -> str:
        done = CliRunner().invoke(cli, ["label-studio", *words], env=env)
        assert done.exit_code, done.output
        # The root command prints these on standard error and exits with 2.
        assert isinstance(done.exception, SystemExit | StudyError)
        return f"{done.output} {done.exception}"

    folder = str(campaign.folder)
    token = {"LABEL_STUDIO_API_KEY": OWNER}
    assert "Name the server with --url" in refused("push", folder, **token)
    assert "token is missing" in refused(
        "push", folder, "--url", label_studio.url, LABEL_STUDIO_API_KEY=""
    )
    inside = campaign.folder / "token"
    inside.write_text(OWNER)
    file = ("--token-file", str(inside))
    assert "inside the study's folder" in refused("push", folder, "--url", label_studio.url, *file)
    assert "was pushed to" in refused("pull", folder, "--url", label_studio.url, **token)
    empty = Study.create(tmp_path / "empty")
    output = refused("push", str(empty.folder), "--url", label_studio.url, **token)
    assert "--open --channel label_studio" in output
    empty.close()


def test_each_command_runs_as_a_program(campaign: Study, label_studio: LabelStudioServer) -> None:
    task = {"prompt": "Why?", "output": "So.", "model": "m"}
    project, _ = made(label_studio, STARS.replace(' maxRating="10"', ""), task)
    columns = ("--column", "prompt=query,output=response,model=system")
    for name, words in CASES.items():
        if not name.startswith("label-studio "):
            continue
        typed = words.format(label_studio=label_studio.url, project=project).split()
        more = columns if name.endswith("follow") else ()
        done = subprocess.run(
            [Path(sys.executable).with_name("ccrs"), *typed, *more],
            cwd=campaign.folder.parent,
            env={**os.environ, "LABEL_STUDIO_API_KEY": OWNER},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
