"""Ranges that a project states: they are used, printed, and not contradicted."""

import pytest

from annotate_ui.cli.label_studio_output import followed_lines
from annotate_ui.label_studio.export_inventory import stated_controls
from annotate_ui.label_studio.follow import FollowOptions, follow
from study import Study
from study.errors import InputError, StudyError
from tests.annotate_ui.label_studio.export_builder import annotation, stars
from tests.annotate_ui.label_studio.fake_server import StandIn

TEXT = '<Text name="r" value="$response"/>'
NUMBERED = FollowOptions({"n": "AC"})
STARRED = FollowOptions({"stars": "AC"})


def number(words: str) -> str:
    return f'<View>{TEXT}<Number name="n" toName="r" {words}/></View>'


def rating(words: str) -> str:
    return f'<View>{TEXT}<Rating name="stars" toName="r" {words}/></View>'


def made(server: StandIn, xml: str, *annotations: object) -> int:
    """Make a project with a task for each annotation."""
    project = server.create_project(description="", xml=xml)
    data = [{"data": {"question": f"Q{n}?", "response": "A."}} for n, _ in enumerate(annotations)]
    for task, one in zip(server.import_tasks(project, data), annotations, strict=True):
        server.tasks[project][task]["annotations"].append(one)
    return project


def values(study: Study) -> list[float]:
    return sorted(study.score_table()["value"].dropna())


def test_the_range_of_a_number_is_mapped(study: Study) -> None:
    server = StandIn()
    given = [annotation(n, 5, n=value) for n, value in enumerate((2, 10, 17, 20), 1)]
    project = made(server, number('min="0" max="20"'), *given)
    done = follow(study, server, project, NUMBERED)
    assert values(study) == [10, 50, 85, 100]
    line = f"Range of {project}/n in Label Studio: 0 to 20, mapped to AC from 0 to 100."
    assert line in followed_lines(done)
    assert done.as_json()["ranges"] == {f"{project}/n": "0 to 20, mapped to AC from 0 to 100"}


def test_ten_stars_are_ten_stars_where_nobody_gave_more_than_five(study: Study) -> None:
    server = StandIn()
    project = made(server, rating('maxRating="10"'), stars(1, 5, 1), stars(2, 5, 4))
    follow(study, server, project, STARRED)
    assert values(study) == [0, pytest.approx(100 / 3)]


def test_stars_are_five_where_the_project_states_none(study: Study) -> None:
    server = StandIn()
    follow(study, server, made(server, rating(""), stars(1, 5, 4)), STARRED)
    assert values(study) == [75]


def test_values_in_the_lowest_tenth_are_believed_where_the_project_states_the_scale(
    study: Study,
) -> None:
    server = StandIn()
    given = [annotation(n, 5, n=value) for n, value in enumerate((2, 3, 5, 8), 1)]
    done = follow(study, server, made(server, number('min="0" max="100"'), *given), NUMBERED)
    assert values(study) == [2, 3, 5, 8]
    assert list(done.ranges.values()) == ["0 to 100, as AC"]


@pytest.mark.parametrize(
    ("xml", "options", "message"),
    [
        (
            number('min="0" max="20"'),
            FollowOptions({"n": "AC"}, ranges={"n": (0, 10)}),
            r"highest value of 20 for the control 'n', and --scale 10\. Correct or leave out "
            "--scale n=0:10",
        ),
        (
            rating('maxRating="10"'),
            FollowOptions({"stars": "AC"}, ranges={"stars": (1, 5)}),
            "highest value of 10 for the control 'stars', and --scale 5",
        ),
        (
            number('max="20"'),
            NUMBERED,
            r"highest value of 20 .* and no other end of its range, while AC goes from 0 to 100.*"
            "--scale n=LOW:20",
        ),
        (number('min="1"'), NUMBERED, "lowest value of 1 .*--scale n=1:HIGH"),
    ],
)
def test_a_contradiction_is_refused(
    study: Study, xml: str, options: FollowOptions, message: str
) -> None:
    server = StandIn()
    with pytest.raises(InputError, match=message):
        follow(study, server, made(server, xml, annotation(1, 5, n=5)), options)
    assert len(study.score_table()) == 0


def test_one_end_that_agrees_and_a_range_that_agrees_are_taken(study: Study) -> None:
    server = StandIn()
    follow(study, server, made(server, number('max="100"'), annotation(1, 5, n=40)), NUMBERED)
    both = FollowOptions({"n": "QR"}, ranges={"n": (0, 20)})
    follow(study, server, made(server, number('max="20"'), annotation(1, 5, n=5)), both)
    assert values(study) == [25, 40]


def test_controls_of_regions_and_items_rate_no_response() -> None:
    for where in ("perRegion", "perItem"):
        assert stated_controls(rating(f'{where}="true"')) == {}
    assert stated_controls("") == {}


def test_a_configuration_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(StudyError, match="labeling configuration of the project cannot be read"):
        stated_controls("<View>")
