"""A rater marks sentences on the real page."""

from playwright.sync_api import Browser, expect

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from tests.annotate_ui.label_studio.pushed_study import edited, pushed
from tests.annotate_ui.label_studio.real.process import LabelStudioServer, Member
from tests.annotate_ui.label_studio.real.rater_actions import signed_in, submit
from tests.annotate_ui.label_studio.test_marks import SETTINGS


def test_marks_come_back(
    study: Study,
    server: Server,
    label_studio: LabelStudioServer,
    members: tuple[Member, Member],
    browser: Browser,
) -> None:
    asked = edited(study, SETTINGS)
    project = pushed(asked, server)
    page = signed_in(browser, label_studio, members[0])
    for response, task in sorted(project.tasks.items()):
        page.goto(f"{label_studio.url}/projects/{project.number}/data?task={task}")
        page.wait_for_load_state("networkidle")
        page.locator("[class*=label__text]", has_text="Relevance").click()
        text = page.locator("[class*=richtext__line]", has_text=f"response-0-{response - 1}")
        text.dblclick()
        expect(page.get_by_text("Labeled regions will appear here")).to_be_hidden()
        page.locator("input[name=QR]").fill("40")
        submit(page)
    done = pull(asked, server)
    assert (done.new, done.marks, done.rejected) == (2, 2, [])
    assert asked.marks_table()["marked"].tolist() == [1, 1]
    page.context.close()
    assert pull(asked, server).stored_anything is False
    assert push(asked, server).tasks == 0
