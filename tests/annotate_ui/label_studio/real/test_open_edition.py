"""What the open edition does with workspaces and publishing, which it does not have."""

import pytest

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.push import push
from study import Study
from study.errors import StudyError
from tests.annotate_ui.label_studio.real.process import LabelStudioServer, Member
from tests.annotate_ui.label_studio.real.rater_actions import projects, rate_all


def test_workspaces_are_refused_and_nothing_is_published(
    campaign: Study,
    label_studio: LabelStudioServer,
    members: tuple[Member, Member],
    server: Server,
) -> None:
    with label_studio.client() as client:
        made = client.post("/api/projects/", json={"title": "of a team", "workspace": 1})
        assert made.status_code == 201
        # It ignores the number, so a push with one has to be refused before it creates anything.
        assert "workspace" not in made.json()
        before = {project.id for project in server.projects()}
        with pytest.raises(StudyError, match="the open edition"):
            push(campaign, server, workspace=1)
        assert {project.id for project in server.projects()} == before
        done = push(campaign, server)
        assert (done.tasks, done.published, done.unpublished) == (4, [], [])
        (project,) = projects(campaign)
        assert client.get(f"/api/projects/{project.number}/").json()["is_published"] is False
    # Raters see it all the same.
    assert len(rate_all(label_studio, members[0], project, 70)) == 4
