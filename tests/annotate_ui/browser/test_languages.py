"""The pages in other languages: German, and Arabic, which is written from right to left."""

import re

import pytest
from playwright.sync_api import Page, expect

from study import Study
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.layouts import fill_three, side_by_side
from tests.annotate_ui.browser.pages import Rater, enter, moving_on
from tests.annotate_ui.browser.test_layouts import SIZES, photograph

_WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def come_in(rater: Rater) -> Page:
    """Come in without reading the words of the buttons."""
    page = rater.page
    page.goto(rater.link)
    page.locator("button.main").click()
    page.wait_for_url("**/rate")
    return page


def test_german_from_the_link_to_a_conflict(study: Study, serve: Serve, arrive: Arrive) -> None:
    served = serve(study, "anna", rating='interface_language = "de"')
    anna = arrive(served, "anna", locale="de-DE")
    page = come_in(anna)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_role("button", name="Bewertung beginnen").click()
    page.wait_for_url(re.compile(r"/rate/\w+/1$"))
    expect(page.locator("h1")).to_contain_text("Frage 1 von 3")
    page.keyboard.type("101")
    page.keyboard.press("Enter")
    expect(page.locator(".error:not(:empty)")).to_contain_text("von 0 bis 100")
    page.locator(".value").fill("40")
    page.keyboard.press("Tab")
    expect(page.locator("#saved")).to_contain_text("Alles gespeichert")
    photograph(page, "german")
    assert anna.errors == []


@SIZES
@pytest.mark.parametrize("layout", ["single", "side by side"])
def test_pages_from_right_to_left(
    study: Study, serve: Serve, arrive: Arrive, size: dict[str, int], layout: str
) -> None:
    together = layout == "side by side"
    served = serve(
        study,
        "anna",
        rating='interface_language = "ar"',
        filled=fill_three,
        arranged=side_by_side if together else None,
    )
    anna = arrive(served, "anna", viewport=size)
    page = come_in(anna)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    assert page.evaluate(_WIDER) <= 0
    assert grave_violations(page) == ""
    photograph(page, f"rtl-desk-{layout}")
    page.locator("#go-on").click()
    page.wait_for_url(re.compile(r"/rate/\w+/1$"))
    assert page.evaluate(_WIDER) <= 0
    assert grave_violations(page) == ""
    if size["width"] > 1000:
        material, panel = (
            page.locator(selector).bounding_box() for selector in ("#material", "#panel")
        )
        assert material is not None
        assert panel is not None
        assert panel["x"] + panel["width"] <= material["x"] + 1, "the panel stands on the left"
    # The study's own texts keep their direction, whatever the pages' is.
    question = page.locator("#field-question .text")
    assert question.evaluate("(one) => getComputedStyle(one).direction") == "ltr"
    for value in (10, 20, 30)[: 3 if together else 1]:
        last = value == 30 or not together
        page.locator(".construct.active .value").focus()
        if not last:
            enter(page, value)
            continue
        photograph(page, f"rtl-{layout}")
        with moving_on(page):
            enter(page, value)
    page.goto(f"{served.address}/rate/history")
    assert page.evaluate(_WIDER) <= 0
    photograph(page, f"rtl-history-{layout}")
    assert anna.errors == []
