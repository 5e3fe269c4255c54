"""Two tabs, lost answers, double clicks: one rating and its revisions, never two ratings."""

import re

from playwright.sync_api import Page, expect

from tests.annotate_ui.browser.conftest import Newcomer
from tests.annotate_ui.browser.pages import (
    Rater,
    enter,
    field,
    moving_on,
    rate_step,
    saved,
    state,
    wait_all_saved,
)


def revisions(rater: Rater, construct: str = "QR") -> list[tuple[int, float | None]]:
    return [(row.revision, row.value) for row in rater.ratings(construct)]


def commit(page: Page, key: str, value: int) -> None:
    """Commit a value that is not the step's last, so that the page stays."""
    field(page, key).fill(str(value))
    field(page, key).press("Enter")


def alert_of(page: Page) -> str:
    """Return the text of a tab's alert."""
    return page.get_by_role("alert").inner_text()


def test_a_stale_tab_is_warned_and_the_rater_chooses(newcomer: Newcomer) -> None:
    ben = newcomer()
    first = ben.begin()
    rate_step(first, 10)
    rate_step(first, 20)
    second = ben.new_tab(first.url)

    commit(first, "CC", 30)
    saved(first, "CC")
    commit(second, "CC", 31)
    alert = second.get_by_role("alert")
    expect(alert).to_contain_text("Another tab or device saved 30")
    expect(alert).to_contain_text("you entered 31 here")
    assert revisions(ben, "CC") == [(1, 30)], "nothing is merged behind the rater's back"
    expect(field(second, "CC")).to_have_value("31")
    expect(state(second, "CC")).to_have_text("draft")

    alert.get_by_role("button", name="Save mine").click()
    saved(second, "CC")
    assert revisions(ben, "CC") == [(1, 30), (2, 31)]
    expect(alert).to_be_empty()

    first.locator("#construct-CC .open").click()
    commit(first, "CC", 32)
    expect(first.get_by_role("alert")).to_contain_text("Another tab or device saved 31")
    first.get_by_role("button", name="Leave it").click()
    first.locator("#construct-CC .open").click()
    expect(field(first, "CC")).to_have_value("31")
    saved(first, "CC")
    assert revisions(ben, "CC") == [(1, 30), (2, 31)]


def test_two_tabs_that_commit_at_one_moment_make_two_revisions(newcomer: Newcomer) -> None:
    anna = newcomer()
    first = anna.begin()
    rate_step(first, 10)
    rate_step(first, 20)
    second = anna.new_tab(first.url)
    for page, value in ((first, 30), (second, 31)):
        field(page, "CC").fill(str(value))
    anna.served.wire.cut()
    for page in (first, second):
        field(page, "CC").press("Enter")
        expect(state(page, "CC")).to_have_text("not sent yet")
    anna.served.wire.mend()
    for _ in range(300):
        conflicts = [page for page in (first, second) if "Another tab" in alert_of(page)]
        if conflicts:
            break
        first.wait_for_timeout(200)
    assert len(conflicts) == 1, "one was first, the other is warned"
    assert len(revisions(anna, "CC")) == 1


def test_an_equal_value_in_two_tabs_is_one_revision(newcomer: Newcomer) -> None:
    anna = newcomer()
    first = anna.begin()
    rate_step(first, 10)
    rate_step(first, 20)
    second = anna.new_tab(first.url)
    for page in (first, second):
        commit(page, "CC", 30)
        saved(page, "CC")
    assert revisions(anna, "CC") == [(1, 30)]
    expect(second.get_by_role("alert")).to_be_empty()


def test_an_answer_that_is_lost_on_its_way_makes_no_second_rating(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = anna.begin()
    rate_step(page, 10)
    rate_step(page, 20)
    before = len(anna.served.wire.keys)
    with anna.served.wire.deaf():
        commit(page, "CC", 30)
        expect(state(page, "CC")).to_have_text("not sent yet")
    wait_all_saved(page)
    sent = anna.served.wire.keys[before:]
    assert len(sent) >= 2, "it was sent again"
    assert len(set(sent)) == 1, "under the same key"
    assert revisions(anna, "CC") == [(1, 30)]


def test_a_double_click_is_one_click(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = anna.begin()
    page.get_by_role("button", name="Cannot judge").dblclick()
    expect(state(page, "QR")).to_have_text("cannot judge")
    wait_all_saved(page)
    assert revisions(anna) == [(1, None)]
    with moving_on(page):
        page.locator("#next").dblclick()
    expect(page.locator("h1")).to_contain_text("Response 2 of 2")
    assert len(anna.ratings()) == 1


def test_a_double_click_on_begin_and_on_start_is_one_click(newcomer: Newcomer) -> None:
    anna = newcomer()
    anna.page.goto(anna.link)
    anna.page.get_by_role("button", name="Begin").dblclick()
    anna.page.wait_for_url("**/rate")
    anna.page.get_by_role("button", name="Start rating").dblclick()
    anna.page.wait_for_url(re.compile(r"/rate/\w+/1$"))
    expect(anna.page.locator("h1")).to_contain_text("Response 1 of 2")
    enter(anna.page, 10)
    expect(anna.page.locator("h1")).to_contain_text("Response 2 of 2")


def test_a_second_rater_in_the_same_browser_gets_nothing_of_the_first(newcomer: Newcomer) -> None:
    anna, other = newcomer(), newcomer()
    page = anna.begin()
    # Her tab alone is without a connection until Ben has come in.
    page.route("**/save", lambda route: route.abort())
    field(page, "QR").fill("11")
    field(page, "QR").press("Enter")
    expect(state(page, "QR")).to_have_text("not sent yet")
    ben = anna.new_tab(other.link)
    ben.get_by_role("button", name="Begin").click()
    ben.wait_for_url("**/rate")
    page.unroute("**/save")
    page.bring_to_front()
    refusal = re.compile("out of date|signed in on this browser")
    expect(page.get_by_role("alert")).to_contain_text(refusal, timeout=60_000)
    assert anna.ratings() == []
    ben.bring_to_front()
    ben.get_by_role("button", name="Start rating").click()
    expect(field(ben, "QR")).to_have_value("")
    # Her link again: what she entered was waiting for her.
    again = anna.new_tab(anna.link)
    again.get_by_role("button", name="Begin").click()
    again.wait_for_url("**/rate")
    page.close()
    again.get_by_role("button", name="Go on").click()
    again.wait_for_url(re.compile(r"/rate/\w+/1$"))
    wait_all_saved(again)
    assert [row.value for row in anna.ratings()] == [11]
    assert other.ratings() == []
