"""Leaving a step: by skipping, without a connection, by closing the page, or out of a conflict."""

import re

from playwright.sync_api import expect

from tests.annotate_ui.browser.conftest import Newcomer
from tests.annotate_ui.browser.pages import (
    field,
    focused,
    moving_on,
    rate_step,
    saved,
    state,
    wait_all_saved,
    wait_until,
)


def test_skipping_keeps_the_reason_and_enters_no_draft(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = anna.begin()
    field(page, "QR").press_sequentially("85")
    page.get_by_role("button", name="Skip this response").click()
    page.keyboard.type("   ")
    page.get_by_role("button", name="Skip", exact=True).click()
    expect(page.locator("#skip-form")).to_be_visible()
    page.locator("#skip-reason").fill("broken off")
    page.get_by_role("button", name="Skip", exact=True).click()
    expect(state(page, "QR")).to_have_text("skipped")
    wait_all_saved(page)
    assert [(r.status, r.value, r.reason) for r in anna.ratings()] == [
        ("skipped", None, "broken off")
    ]
    field(page, "QR").fill("40")
    page.keyboard.press("Tab")
    saved(page, "QR")
    # A value that was entered stays, so there is nothing to skip.
    expect(page.locator("#skip")).to_be_hidden()


def test_a_later_part_is_skipped_for_the_same_reason_as_a_rule(newcomer: Newcomer) -> None:
    page = newcomer().begin()
    page.get_by_role("button", name="Skip this response").click()
    page.locator("#skip-reason").fill("broken off")
    page.get_by_role("button", name="Skip", exact=True).click()
    wait_all_saved(page)
    with moving_on(page):
        page.locator("#next").click()
    rate_step(page, 20)
    page.get_by_role("button", name="Skip this response").click()
    expect(page.locator("#skip-reason")).to_have_value("broken off")


def test_next_waits_for_the_connection_on_the_page(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = anna.begin()
    here = page.url
    field(page, "QR").fill("50")
    page.keyboard.press("Tab")
    saved(page, "QR")
    wait_all_saved(page)
    anna.served.wire.cut()
    page.locator("#next").click()
    expect(page.get_by_role("alert")).to_contain_text("No connection")
    assert page.url == here
    with moving_on(page):
        anna.served.wire.mend()


def test_a_page_that_is_closed_sends_every_value_that_waits(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = anna.begin()
    rate_step(page, 10)
    rate_step(page, 20)
    # The first answer is held back, so that the second value waits behind it.
    page.route(re.compile("/save$"), lambda _: None, times=1)
    for key, value in (("CC", "30"), ("ID", "40")):
        page.locator(f"#construct-{key} .open").click()
        field(page, key).fill(value)
        field(page, key).press("Enter")
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
    wait_until(page, lambda: {r.construct for r in anna.ratings()} >= {"QR", "ID"})
    page.close(run_before_unload=False)


def test_leaving_a_conflict_overwrites_nothing(newcomer: Newcomer) -> None:
    ben = newcomer()
    first = ben.begin()
    second = ben.new_tab(first.url)
    field(first, "QR").fill("30")
    first.keyboard.press("Tab")
    saved(first, "QR")
    field(second, "QR").focus()
    second.keyboard.type("31")
    second.keyboard.press("Enter")
    alert = second.get_by_role("alert")
    expect(alert).to_contain_text("saved 30")
    assert focused(second) == "value-QR"
    alert.get_by_role("button", name="Leave it").click()
    expect(field(second, "QR")).to_have_value("30")
    assert focused(second) != "BODY"
    assert [(r.revision, r.value) for r in ben.ratings("QR")] == [(1, 30)]


def test_a_link_that_was_cut_short_and_then_the_whole_one(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = anna.page
    page.goto(anna.link[:-5])
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("h1")).to_have_text("This link is not valid")
    page.goto(anna.link)
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/rate")


def test_from_what_is_newly_shown_two_keys_lead_to_the_value(newcomer: Newcomer) -> None:
    page = newcomer().begin()
    rate_step(page, 10)
    rate_step(page, 20)
    page.reload()
    expect(page.locator("#field-passages h2")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert focused(page).startswith("value-")


def test_a_note_without_a_value_is_not_called_saved(newcomer: Newcomer) -> None:
    page = newcomer().begin()
    page.locator("#comment-QR").fill("what is this")
    expect(page.locator("#hint-QR")).to_contain_text("saved with a value")
    expect(page.locator("#saved")).to_contain_text("A note waits for a value")
