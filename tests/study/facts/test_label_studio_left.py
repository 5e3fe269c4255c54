"""Who is behind in Label Studio is named by `ccrs status` and `ccrs watch`."""

from typing import Any

from click.testing import CliRunner

from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.cli.root import cli
from study.facts.label_studio_left import left_in_label_studio
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import projects, reserve
from tests.annotate_ui.rated_campaign import fill


def test_raters_are_named_by_the_tasks_that_wait_for_them(any_study: Study) -> None:
    study, server = any_study, StandIn()
    there: Any = server
    fill(study, queries=2, systems=2)
    reserve(study, 2, constructs=["QR", "CC"])
    push(study, there)
    (project,) = projects(study)
    for number, task in enumerate(sorted(project.tasks.values())):
        server.annotate(project.number, task, 5, f"10:0{number}", QR=70)
        if number == 0:
            server.annotate(project.number, task, 6, "10:10", QR=60)
    pull(study, there, raters={5: "ada", 6: "bo"})
    # The tasks of the next stage are not there yet.
    with study.read() as connection:
        assert list(left_in_label_studio(connection).values()) == [3]
    line = "Open tasks in Label Studio that these raters have not done: bo 3."
    for command in ("status", "watch"):
        shown = CliRunner().invoke(cli, [command, str(study.folder)])
        assert line in shown.output, shown.output
