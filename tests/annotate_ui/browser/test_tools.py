"""What helps a rater along: find in passages, undo, the list of keys, a least width, times."""

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from study.schema.tables import opened_passages, ratings
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Newcomer
from tests.annotate_ui.browser.marked_campaign import passage
from tests.annotate_ui.browser.pages import (
    Rater,
    enter,
    field,
    focused,
    moving_on,
    saved,
    wait_all_saved,
)
from tests.annotate_ui.browser.test_layouts import SIZES, photograph


def second_stage(anna: Rater) -> Page:
    """Come to the second stage, whose passages were just revealed."""
    page = anna.begin()
    for value in (10, 20):
        with moving_on(page):
            field(page, "QR").focus()
            enter(page, value)
    return page


@SIZES
def test_words_are_found_in_passages(newcomer: Newcomer, size: dict[str, int]) -> None:
    anna = newcomer(viewport=size)
    page = second_stage(anna)
    opened = page.locator(".passage[open]")
    expect(opened).to_have_count(0)
    words, count = page.locator("#find-words"), page.locator("#find-count")
    words.fill("p")
    page.wait_for_timeout(500)
    expect(opened).to_have_count(0)
    words.fill(passage(0, 0, 1).upper())
    expect(count).to_have_text("1 match")
    expect(opened).to_have_count(1)
    expect(page.locator("mark")).to_have_text(passage(0, 0, 1))
    expect(page.locator(".passage .opened").nth(1)).to_have_text("opened")
    words.fill("opening hours")
    expect(count).to_have_text("15 matches")
    words.press("Enter")
    expect(count).to_have_text("1 of 15")
    words.press("Shift+Enter")
    expect(count).to_have_text("15 of 15")
    expect(page.locator("mark[data-here]")).to_be_in_viewport()
    photograph(page, "find")
    assert grave_violations(page) == ""
    words.fill("(no [such* word")
    expect(count).to_have_text("No match")
    words.press("Escape")
    expect(words).to_have_value("")
    expect(page.locator("mark")).to_have_count(0)
    expect(opened).to_have_count(0)
    for _ in range(30):
        with anna.served.study.read() as connection:
            places = connection.execute(
                select(opened_passages.c.assignment_id, opened_passages.c.position)
            ).all()
        if len({row.position for row in places}) == 3:
            break
        page.wait_for_timeout(100)
    assert {row.position for row in places} == {0, 1, 2}
    assert anna.errors == []


def test_undo_brings_the_earlier_value_back_as_a_further_revision(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = second_stage(anna)
    undo = page.locator("#undo")
    field(page, "CC").focus()
    enter(page, 30)
    saved(page, "CC")
    expect(undo).to_be_hidden()
    page.locator("#construct-CC .open").click()
    page.locator("#comment-CC").fill("too kind")
    field(page, "CC").fill("31")
    field(page, "CC").press("Enter")
    saved(page, "CC")
    undo.click()
    expect(field(page, "CC")).to_have_value("30")
    expect(page.locator("#comment-CC")).to_have_value("too kind")
    expect(undo).to_be_hidden()
    wait_all_saved(page)
    assert [(row.value, row.comment) for row in anna.ratings("CC")] == [
        (30, None),
        (30, "too kind"),
        (31, "too kind"),
        (30, "too kind"),
    ]


def test_the_list_of_keys(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = anna.begin()
    dialog = page.get_by_role("dialog", name="Keys")
    assert focused(page) == "value-QR"
    page.keyboard.type("?")
    expect(dialog).to_be_hidden()
    expect(field(page, "QR")).to_have_value("?")
    field(page, "QR").fill("")
    page.get_by_role("link", name="Overview").focus()
    page.keyboard.type("?")
    expect(dialog).to_be_visible()
    photograph(page, "keys")
    assert grave_violations(page) == ""
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert "Overview" in page.evaluate("document.activeElement.textContent")
    page.locator("#keys-open").click()
    dialog.get_by_role("checkbox").uncheck()
    dialog.get_by_role("button", name="Close").click()
    page.reload()
    page.get_by_role("link", name="Overview").focus()
    page.keyboard.type("?")
    expect(dialog).to_be_hidden()
    page.locator("#keys-open").press("Enter")
    expect(dialog.get_by_role("checkbox")).not_to_be_checked()
    assert anna.errors == []


def test_active_and_wall_time_are_sent(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = anna.begin()
    page.wait_for_timeout(1200)
    with moving_on(page):
        enter(page, 40)
    with anna.served.study.read() as connection:
        newest = select(ratings.c.active_seconds, ratings.c.wall_seconds).order_by(
            ratings.c.id.desc()
        )
        row = connection.execute(newest).first()
    assert row is not None
    assert row.wall_seconds >= 1.2
    assert row.active_seconds == pytest.approx(row.wall_seconds, abs=0.2)
