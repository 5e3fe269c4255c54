"""What a push makes of projects and tasks that are not as it left them."""

from typing import Any

import pytest
from sqlalchemy import func, select

from annotate_ui.label_studio.push import push
from annotate_ui.label_studio.server import ServerError
from study import Study
from study.assigning import assign
from study.nouns import Construct, table
from tests.annotate_ui.label_studio.stand_in import StandIn
from tests.annotate_ui.label_studio.test_storing import projects
from tests.annotate_ui.rated_campaign import fill


class Interrupted(StandIn):
    """Goes away when it has made a project."""

    def create_project(self, **given: Any) -> int:
        """Make it, and be gone."""
        super().create_project(**given)
        raise ServerError("gone")


def test_a_project_of_another_configuration_is_not_taken_for_this(study: Study) -> None:
    fill(study, queries=1, systems=1)
    assign(study, per_item=1, open_slots=True, channel="label_studio", constructs=["QR"])
    server: Any = Interrupted()
    with pytest.raises(ServerError, match="gone"):
        push(study, server)
    server.create_project = lambda **given: StandIn.create_project(server, **given)
    path = study.folder / "study.toml"
    before = path.read_text()
    path.write_text(f'{before}\n[[constructs]]\nkey = "QR"\nname = "QR"\nquestion = "Other?"\n')
    edited = Study.open(study.folder)
    assert push(edited, server).projects[0].made
    assert "Other?" in server.made[projects(edited)[0].number]["xml"]
    assert len(server.made) == 2


def test_a_project_that_an_interrupted_push_made_is_known_again(study: Study) -> None:
    fill(study, queries=1, systems=1)
    assign(study, per_item=1, open_slots=True, channel="label_studio", constructs=["QR"])
    server: Any = Interrupted()
    with pytest.raises(ServerError, match="gone"):
        push(study, server)
    assert push(study, server).tasks == 1
    assert len(server.made) == 1


def test_who_works_on_while_study_toml_is_edited_keeps_to_its_constructs(study: Study) -> None:
    fill(study, queries=1, systems=1)
    assign(study, per_item=1, open_slots=True, channel="label_studio", constructs=["QR"])
    server: Any = StandIn()
    held = study.held()
    path = study.folder / "study.toml"
    before = path.read_text()
    path.write_text(f'{before}\n[[constructs]]\nkey = "QR"\nname = "QR"\nquestion = "Other?"\n')
    Study.open(study.folder)
    push(held, server)
    (project,) = projects(study)
    assert project.controls["QR"]["construct_version"] == 1
    assert "Other?" not in server.made[project.number]["xml"]
    c = table(Construct)
    with study.read() as connection:
        versions = connection.execute(
            select(func.count()).select_from(c).where(c.c.key == "QR")
        ).scalar_one()
    assert versions == 2
