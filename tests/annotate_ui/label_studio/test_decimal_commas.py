"""Values that a decimal comma explains, which Label Studio's number field drops."""

import pytest

from annotate_ui.cli.label_studio_output import followed_lines
from annotate_ui.label_studio.annotations import likely_commas
from annotate_ui.label_studio.follow import FollowOptions, follow
from study import Study
from tests.annotate_ui.label_studio.export_builder import annotation
from tests.annotate_ui.label_studio.fake_server import StandIn

XML = '<View><Text name="r" value="$response"/><Number name="n" toName="r" max="100"/></View>'


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([6, 8, 7, 75], {75}),
        ([6, 8, 7, 75, 65, 7.5], {75, 65}),
        ([6, 8, 7, 70], set()),  # 7,0 becomes 70, but so does a meant 70.
        ([6, 8, 7, 35], set()),  # 3.5 is not among the others.
        ([20, 40, 60, 75, 90], set()),
        ([6, 8, 75], set()),  # Too few others.
        ([0, 0, 0, 75], set()),
        ([], set()),
    ],
)
def test_a_whole_number_ten_times_the_others_is_explained(
    values: list[float], expected: set[float]
) -> None:
    assert likely_commas(values) == expected


def test_they_are_stored_and_flagged_at_every_pull(study: Study) -> None:
    server = StandIn()
    project = server.create_project(description="", xml=XML)
    data = [{"data": {"question": f"Q{n}?", "response": "A."}} for n in range(4)]
    tasks = server.import_tasks(project, data)
    for n, (task, value) in enumerate(zip(tasks, (6, 8, 7, 75), strict=True), 1):
        server.tasks[project][task]["annotations"].append(annotation(n, 5, n=value))
    for options in (FollowOptions({"n": "AC"}), None):
        done = follow(study, server, None if options is None else project, options)
        warning = (
            "'ls-5' gave 75 on AC, perhaps 7.5: the field of Label Studio drops a decimal comma. "
            "Ask the rater, and correct it there."
        )
        assert warning in done.warnings
        assert f"Warning: {warning}" in followed_lines(done)
    assert sorted(study.score_table()["value"]) == [6, 7, 8, 75]
