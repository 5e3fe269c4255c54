"""Responses side by side, and scales other than a number from 0 to 100."""

import os
from functools import partial
from pathlib import Path
from time import monotonic

import pytest
from playwright.sync_api import Page, expect

from study import Study
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.layouts import fill_three, side_by_side, with_scales
from tests.annotate_ui.browser.marked_campaign import fill, response
from tests.annotate_ui.browser.pages import (
    Rater,
    enter,
    focused,
    moving_on,
    saved,
    state,
    tab_to,
    wait_all_saved,
    wait_until,
)
from tests.annotate_ui.browser.test_beyond_the_audit import LONG_WORD, SEEN, too_small

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SIZES = pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
_WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_ROW = "document.querySelector('.columns')"
_ROOM = f"{_ROW}.scrollWidth - {_ROW}.clientWidth"


def photograph(page: Page, name: str) -> None:
    """Keep a picture if CCRS_TEST_PICTURES names a folder."""
    folder = os.environ.get("CCRS_TEST_PICTURES")
    if folder:
        width = page.viewport_size["width"] if page.viewport_size else 0
        page.screenshot(path=Path(folder) / f"{name}-{width}.png")


def revisions(rater: Rater, construct: str) -> list[tuple[int, float | None]]:
    return [(row.revision, row.value) for row in rater.ratings(construct)]


@SIZES
def test_side_by_side_responses_are_rated_line_by_line(
    study: Study, serve: Serve, arrive: Arrive, size: dict[str, int]
) -> None:
    served = serve(study, "anna", filled=fill_three, arranged=side_by_side)
    anna = arrive(served, "anna", viewport=size)
    page = anna.begin()
    photograph(page, "side-by-side-1")
    assert page.locator(".column").count() == 3
    for system in range(3):
        assert response(0, system) in page.locator(".columns").inner_text()
    assert page.evaluate(_WIDER) <= 0
    fits = page.evaluate(_ROOM) <= 0
    assert fits == (size is WIDE), "three have room next to the panel"
    assert grave_violations(page) == ""
    for letter, value in (("A", 10), ("B", 20)):
        expect(page.locator(".column.current h2")).to_have_text(f"Response {letter}")
        page.locator(f"#value-QR-{letter}").focus()
        enter(page, value)
        saved(page, f"QR-{letter}")
    expect(page.locator("#construct-QR-A .entered")).to_have_text("10")
    photograph(page, "side-by-side-2")
    with moving_on(page):
        page.locator("#value-QR-C").focus()
        enter(page, 30)
    assert [row.value for row in anna.ratings("QR")] == [10, 20, 30]
    assert len({row.response for row in anna.ratings("QR")}) == 3, (
        "each is a rating of its own response"
    )
    photograph(page, "side-by-side-passages")
    expect(page.locator("[data-new]").first).to_be_focused()
    page.get_by_role("button", name="Open all passages").click()
    assert grave_violations(page) == ""
    photograph(page, "side-by-side-passages-open")
    page.locator("#construct-CC-B .open").click()
    page.get_by_role("button", name="Skip response B").click()
    page.locator("#skip-reason").fill("broken off")
    page.get_by_role("button", name="Skip", exact=True).click()
    wait_all_saved(page)
    expect(state(page, "CC-B")).to_have_text("skipped")
    expect(state(page, "ID-B")).to_have_text("skipped")
    expect(state(page, "CC-A")).to_have_text("not rated")
    page.goto(f"{served.address}/rate/history")
    expect(page.locator("main")).to_contain_text("response B")
    assert grave_violations(page) == ""
    photograph(page, "history")
    assert anna.violations == []
    assert anna.errors == []


@SIZES
def test_a_row_that_is_too_wide_is_cut_and_scrolls_by_key(
    study: Study, serve: Serve, arrive: Arrive, size: dict[str, int]
) -> None:
    four = partial(fill, queries=1, systems=4)
    served = serve(study, "anna", filled=four, arranged=side_by_side)
    page = arrive(served, "anna", viewport=size).begin()
    photograph(page, "side-by-side-four")
    row = page.get_by_role("group", name="Responses side by side")
    frame = row.bounding_box()
    assert frame is not None
    edge = frame["x"] + frame["width"]
    boxes = [column.bounding_box() for column in page.locator(".column").all()]
    assert any(
        box["x"] + 40 < edge < box["x"] + box["width"] - 40 for box in boxes if box is not None
    ), "a response cut in the middle shows that there is more"
    row.focus()
    page.keyboard.press("ArrowRight")
    # The row glides; a page that allows no eval can only be asked again.
    deadline = monotonic() + 5
    while not page.evaluate(f"{_ROW}.scrollLeft"):
        assert monotonic() < deadline, "the key does not scroll the row"
    page.evaluate(f"{_ROW}.scrollLeft = 1e6")
    photograph(page, "side-by-side-four-end")


@pytest.mark.parametrize(
    "size", [WIDE, PHONE, {"width": 320, "height": 256}], ids=["wide", "phone", "400 percent"]
)
def test_side_by_side_by_keyboard_alone(
    study: Study, serve: Serve, arrive: Arrive, size: dict[str, int]
) -> None:
    served = serve(study, "anna", filled=fill_three, arranged=side_by_side)
    anna = arrive(served, "anna", viewport=size, color_scheme="dark")
    page = anna.begin()
    with moving_on(page):
        for letter, value in (("A", 10), ("B", 20), ("C", 30)):
            tab_to(page, f"value-QR-{letter}", most=60)
            enter(page, value)
    page.locator("#find-words").fill("opening hours")
    expect(page.locator(".passage[open]")).to_have_count(6)
    photograph(page, "side-by-side-dark")
    assert grave_violations(page) == ""
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            continue
        seen = page.evaluate(SEEN)
        assert seen["covered"] == [], seen
        assert seen["inside"], seen
    assert too_small(page) == []
    assert page.evaluate(_WIDER) <= 0


@SIZES
def test_points_are_chosen_by_click_by_key_and_by_number(
    study: Study, serve: Serve, arrive: Arrive, size: dict[str, int]
) -> None:
    keys = ("use", "tone", "rank", "depth", "pass")
    campaign = partial(fill, queries=1, systems=2)
    served = serve(with_scales(study), "anna", filled=campaign, keys=keys)
    anna = arrive(served, "anna", viewport=size)
    page = anna.begin()
    photograph(page, "likert-row")
    assert page.locator("#construct-use :checked").count() == 0, "nothing is chosen beforehand"
    assert grave_violations(page) == ""
    page.get_by_text("mostly").click()
    saved(page, "use")
    expect(page.locator("#value-use")).to_have_value("4")
    assert [(r.value, r.input_kind) for r in anna.ratings("use")] == [(4, "button")]
    # By keys: values passed on the way are not revisions.
    expect(page.locator("#value-tone")).to_be_visible()
    page.locator("#construct-use .open").click()
    page.locator("#construct-use :checked").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#value-use")).to_have_value("2")
    wait_until(page, lambda: len(revisions(anna, "use")) > 1)
    assert revisions(anna, "use") == [(1, 4), (2, 2)]
    page.keyboard.press("Enter")
    assert focused(page) == "value-tone"
    assert page.evaluate(LONG_WORD, "#construct-tone .point span") <= 0
    photograph(page, "likert-list")
    assert grave_violations(page) == ""
    enter(page, 3)
    saved(page, "tone")
    photograph(page, "likert-eleven")
    assert page.locator("#construct-rank input[type=radio]").count() == 11
    page.locator("#construct-rank .point").nth(7).click()
    saved(page, "rank")
    assert revisions(anna, "rank") == [(1, 7)]
    expect(page.locator("#value-depth")).to_be_visible()
    photograph(page, "stepped")
    assert grave_violations(page) == ""
    page.locator("#value-depth").fill("42")
    page.keyboard.press("Enter")
    expect(page.locator("#error-depth")).to_contain_text("in steps of 5")
    page.locator("#value-depth").fill("45")
    assert page.locator("#construct-depth [data-at]").count() == 4
    assert page.evaluate(LONG_WORD, "#construct-depth [data-at] bdi") <= 0
    page.keyboard.press("Enter")
    no = page.get_by_role("radio", name="No")
    expect(no).to_be_focused()
    expect(page.locator("#value-pass")).to_be_hidden()
    photograph(page, "switch")
    assert grave_violations(page) == ""
    page.keyboard.press("y")
    expect(page.get_by_role("radio", name="Yes")).to_be_checked()
    no.check()
    expect(page.locator("#undo")).to_be_visible()
    comment = page.get_by_label("What would you change?")
    comment.press("y")  # no choice, but a word
    with moving_on(page):
        no.press("Enter")
    last = anna.ratings("pass")[-1]
    assert (last.value, last.input_kind, last.comment) == (0, "button", "y")
    assert anna.errors == []
