"""A rater on the real page, in the system's Chromium, from the generated configuration."""

import re
from pathlib import Path
from uuid import uuid4

from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from study.schema.tables import assignments, ratings as rating_table
from tests.annotate_ui.label_studio.real.process import LabelStudioServer
from tests.annotate_ui.label_studio.real.rater_actions import projects, signed_in, submit
from tests.annotate_ui.rated_campaign import fill, ratings

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


def test_a_rater_opens_the_passages_and_what_was_meant_is_stored(
    tmp_path: Path, server: Server, label_studio: LabelStudioServer, browser: Browser
) -> None:
    study = Study.create(tmp_path / "study", '[label_studio]\nstages = "on request"\n')
    fill(study, queries=TASKS, systems=1)
    assign(study, per_item=1, open_slots=True, channel="label_studio", constructs=["QR", "CC"])
    push(study, server)
    (project,) = projects(study)
    page = signed_in(browser, label_studio, label_studio.member(f"{uuid4().hex}@example.org"))
    meant: dict[int, dict[str, float]] = {}
    for number, ((response,), task) in enumerate(project.tasks.items()):
        meant[response] = {"QR": 10.0 + number, "CC": 90.0 - number}
        page.goto(f"{label_studio.url}/projects/{project.number}/data?task={task}")
        page.wait_for_load_state("networkidle")
        expect(page.locator("input[name=CC]")).to_be_hidden()
        expect(page.get_by_role("tab", name="Passage 1")).to_be_hidden()
        # Every second rater opens the passages first.
        if number % 2:
            page.get_by_role("checkbox", name="Show the passages").click()
        page.locator("input[name=QR]").click()
        page.keyboard.type(f"{meant[response]['QR']:g}")
        page.mouse.wheel(0, 240)
        if not number % 2:
            page.get_by_role("checkbox", name="Show the passages").click()
        page.locator("input[name=CC]").click()
        page.keyboard.type(f"{meant[response]['CC']:g}")
        page.mouse.wheel(0, -120)
        page.locator("textarea").fill(f"comment {number}")
        page.get_by_text("Contextual Coherence (0 to 100)").click()
        page.keyboard.type("1234")
        submit(page)
    page.context.close()

    done = pull(study, server)
    assert (done.new, done.rejected) == (2 * TASKS, [])
    stored: dict[int, dict[str, float]] = {response: {} for response in meant}
    with study.read() as connection:
        for row in connection.execute(
            select(assignments.c.response_id, rating_table).join_from(
                rating_table, assignments, rating_table.c.assignment_id == assignments.c.id
            )
        ):
            stored[row.response_id][row.construct_key] = row.value
            opened_first = list(meant).index(row.response_id) % 2 == 1
            assert ("context" in row.revealed) == (row.construct_key == "CC" or opened_first)
            assert row.seen_more == (row.construct_key == "QR" and opened_first)
    assert stored == meant
    assert sorted(row.comment for row in ratings(study) if row.comment) == sorted(
        f"comment {number}" for number in range(TASKS)
    )
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
