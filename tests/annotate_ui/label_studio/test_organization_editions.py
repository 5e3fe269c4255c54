"""Workspaces and publishing, which editions of Label Studio for organizations have."""

from contextlib import nullcontext
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from annotate_ui.cli.label_studio_output import pushed_lines
from annotate_ui.label_studio.client import ServerError
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.cli.root import cli
from study.errors import StudyError
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import projects, reserve
from tests.annotate_ui.rated_campaign import fill


class Organization(StandIn):
    """Shows raters a project once it is published, as the documentation of the editions says."""

    is_open_edition = False

    def publish(self, number: int) -> None:
        """Publish a project that has its tasks."""
        assert self.tasks[number]
        self.made[number]["is_published"] = True


def test_projects_are_made_in_the_workspace_and_published_after_their_tasks(study: Study) -> None:
    server: Any = Organization()
    fill(study, queries=1, systems=1)
    reserve(study, constructs=["QR", "CC"])
    done = push(study, server, workspace=7)
    (first,) = projects(study)
    assert (done.published, done.unpublished) == ([first.number], [])
    line = f"Projects {first.number} were published, so that raters see them."
    assert line in pushed_lines(done)
    (task,) = first.tasks.values()
    server.annotate(first.number, task, 5, "10:00", QR=70)
    pull(study, server)
    # Its owner hides the stage that is done; the next one follows it into its workspace.
    server.made[first.number]["is_published"] = False
    done = push(study, server)
    second = projects(study)[1]
    assert [made["workspace"] for made in server.made.values()] == [7, 7]
    assert (done.published, done.unpublished) == ([second.number], [first.number])
    assert f"Projects {first.number} are not published" in pushed_lines(done)[-1]
    done = push(study, server)
    assert (done.published, done.unpublished) == ([], [first.number])


def test_a_project_that_may_not_be_published_is_named(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    server: Any = Organization()
    server.publish = Mock(side_effect=ServerError("The token's user may not do this.", 403))
    monkeypatch.setattr(
        "annotate_ui.label_studio.client.Server", lambda *_, **__: nullcontext(server)
    )
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "x")
    fill(study, queries=1, systems=1)
    reserve(study, constructs=["QR"])
    place = [str(study.folder), "--url", server.url]
    for words in (["push", *place], ["sync", *place, "--rounds", "1"]):
        done = CliRunner().invoke(cli, ["label-studio", *words])
        assert done.exit_code == 0, done.output
        assert "are not published, so that raters do not see them" in done.output
    assert "is_published" not in next(iter(server.made.values()))


def test_the_open_edition_has_neither(study: Study, server: Any) -> None:
    fill(study, queries=1, systems=1)
    reserve(study, constructs=["QR"])
    with pytest.raises(StudyError, match=r"open edition .* Leave out --workspace"):
        push(study, server, workspace=7)
    assert server.made == {}
    done = push(study, server)
    assert (done.tasks, done.published, done.unpublished) == (1, [], [])
