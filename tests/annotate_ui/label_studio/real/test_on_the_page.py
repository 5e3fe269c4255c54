"""A rater on the real page, in the system's Chromium, from the generated configuration."""

import re
from pathlib import Path
from uuid import uuid4

from playwright.sync_api import Browser, Page, expect

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from tests.annotate_ui.label_studio.real.process import LabelStudioServer
from tests.annotate_ui.label_studio.real.rater_actions import projects, signed_in, submit
from tests.annotate_ui.rated_campaign import ratings

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script> {{7*7}} $question'
SETTINGS = """
[rating]
disclosure = "all"

[[constructs]]
key = "quality"
name = "Quality"
question = "How good is it?"
flags = ["too long", "too thin"]

[[constructs]]
key = "change"
name = "Change"
question = "How much has it changed?"
scale = { min = -10, max = 10 }

[[constructs]]
key = "tone"
name = "Tone"
question = "Is it friendly?"
scale = { min = -1, max = 1, step = 1 }
"""
TASKS = 6


def test_a_rater_sees_texts_as_they_are_and_what_they_give_is_pulled(
    tmp_path: Path, server: Server, label_studio: LabelStudioServer, browser: Browser
) -> None:
    study = Study.create(tmp_path / "study", SETTINGS)
    row = ResponseRow(
        query_id="q",
        query=f"Which? {HOSTILE}",
        system="secret-system",
        response=f"The response {HOSTILE}",
        passages=(PassageRow(text=f"One {HOSTILE}"), PassageRow(text="Two")),
        references=(f"The reference {HOSTILE}",),
    )
    import_rows(study, [LocatedRow(1, row)], source="t", sha256=uuid4().hex, importer="responses")
    assign(study, per_item=1, open_slots=True, channel="label_studio")
    push(study, server)
    (project,) = projects(study)
    (task,) = project.tasks.values()
    _configure_as_before(server, project.number)
    push(study, server)
    rater = label_studio.member(f"{uuid4().hex}@example.org")

    page = signed_in(browser, label_studio, rater)
    page.goto(f"{label_studio.url}/projects/{project.number}/data?task={task}")
    expect(page.get_by_role("tab", name="Passage 2")).to_be_visible()
    page.get_by_role("tab", name="Passage 1").click()
    for text in ("Which?", "The response", "One", "The reference"):
        expect(page.get_by_text(f"{text} {HOSTILE}").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert "secret-system" not in page.content()

    # The page begins an annotation once it is drawn; no person types before.
    page.wait_for_load_state("networkidle")
    quality = page.locator("input[type=number][name=quality]")
    assert (quality.get_attribute("min"), quality.get_attribute("max")) == ("0", "100")
    assert quality.input_value() == ""
    quality.click()
    page.keyboard.type("80")
    _turn_the_wheel(page)
    page.locator("input[type=number][name=change]").click()
    # As the instructions say: the field loses a minus sign that is typed first.
    page.keyboard.type("0.5")
    page.keyboard.press("Home")
    page.keyboard.type("-")
    page.get_by_text("How good is it?").click()
    page.keyboard.type("1234567890")
    page.get_by_role("button", name="Submit current annotation").click()
    asked = page.get_by_text("Give a number from -1 to 1 for Tone")
    expect(asked.first).to_be_visible()
    assert pull(study, server).annotations == 0

    page.keyboard.press("Escape")
    page.get_by_role("checkbox", name="-1").click()
    # People scroll with the arrow keys as well.
    page.keyboard.press("ArrowDown")
    submit(page)
    page.context.close()

    done = pull(study, server)
    assert (done.new, done.rejected) == (3, [])
    assert not any(rating.flags for rating in ratings(study))
    scores = study.score_table().set_index("construct")["value"].to_dict()
    assert scores == {"quality": 80.0, "change": -0.5, "tone": -1.0}
    study.close()


def _configure_as_before(server: Server, project: int) -> None:
    """Take hotkeys and style from a project, as it was pushed by earlier versions."""
    xml = server.project(project).xml
    without = re.sub(r' hotkey="."|<Style>.*?</Style>', "", xml)
    assert without != xml
    server.configure(project, without)


def _turn_the_wheel(page: Page) -> None:
    """Turn the wheel by a notch where the pointer is, and wait until the page has noticed."""
    page.evaluate("addEventListener('wheel', () => { window.wheeled = true; })")
    page.mouse.wheel(0, 120)
    page.wait_for_function("window.wheeled")
