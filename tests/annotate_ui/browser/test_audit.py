"""axe-core finds nothing serious on any page, in light and dark, wide and on a phone."""

import os
import re
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from study import Study
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.marked_campaign import fill
from tests.annotate_ui.browser.pages import Rater, active, enter, field, moving_on, rate_step, state

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_no_page_has_a_serious_violation(
    study: Study, serve: Serve, arrive: Arrive, size: dict[str, int], scheme: str
) -> None:
    served = serve(study, "anna", filled=partial(fill, queries=1, systems=2))
    touch = {"has_touch": True, "is_mobile": True} if size is PHONE else {}
    anna = arrive(served, "anna", viewport=size, color_scheme=scheme, **touch)
    page = anna.page
    faults_of: dict[str, str] = {}

    def audit(name: str) -> None:
        faults_of[name] = grave_violations(page)
        _photograph(page, f"{name}-{size['width']}-{scheme}")

    page.goto(served.address)
    audit("landing")
    page.goto(f"{served.address}/join")
    expect(page.get_by_role("alert")).to_contain_text("incomplete")
    audit("join-incomplete")
    page.goto(anna.link)
    page.reload()  # from one fragment to another, a browser loads nothing
    audit("join")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/rate")
    audit("desk")
    page.locator("details").evaluate_all("all => all.forEach((one) => (one.open = true))")
    audit("desk-open")
    anna.go_on()
    audit("stage-1")
    field(page, "QR").fill("101")
    field(page, "QR").press("Enter")
    expect(page.locator("#error-QR")).not_to_be_empty()
    audit("stage-1-error")
    field(page, "QR").fill("")
    rate_first_stage(page)
    audit("stage-2")
    page.get_by_role("button", name="Open all passages").click()
    show_all_of_the_panel(page)
    audit("stage-2-open")
    page.get_by_role("button", name="Skip this response").click()
    expect(page.locator("#skip-reason")).to_be_focused()
    audit("stage-2-skipping")
    page.keyboard.press("Escape")
    # Asking to skip enters nothing: the draft is still one.
    field(page, active(page)).press("Enter")
    conflict(anna, page)
    audit("stage-2-conflict")
    page.get_by_role("button", name="Leave it").click()
    with moving_on(page):
        page.locator("#next").click()
    rate_step(page, 50, 60)
    audit("stage-3")
    rate_step(page, 61, 62)
    rate_step(page, 71, 72)
    audit("end")
    page.get_by_label("No", exact=True).check()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status")).to_contain_text("stored")
    audit("end-answered")
    page.goto(f"{served.address}/rate/nothing/1")
    audit("problem")
    page.goto(f"{served.address}/rate")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/left")
    audit("left")
    assert {name: faults for name, faults in faults_of.items() if faults} == {}
    assert anna.violations == []


def rate_first_stage(page: Page) -> None:
    """Rate both responses at the first stage."""
    for value in (10, 20):
        with moving_on(page):
            field(page, "QR").focus()
            enter(page, value)


def show_all_of_the_panel(page: Page) -> None:
    """Unfold what is folded away on a phone, the slider set."""
    key = active(page)
    more = page.locator(f"#construct-{key} .more-toggle")
    if more.is_visible():
        more.click()
    page.locator(f"#construct-{key} summary").click()
    field(page, key).fill("70")


def conflict(anna: Rater, page: Page) -> None:
    """Let another tab be first to save the construct that is left."""
    page.locator("#construct-ID .open").click()
    other = anna.new_tab(page.url)
    other.locator("#construct-ID .open").click()
    for tab, value in ((page, "70"), (other, "71")):
        field(tab, "ID").fill(value)
    other.bring_to_front()
    field(other, "ID").press("Tab")
    expect(state(other, "ID")).to_have_text("saved")
    other.close()
    page.bring_to_front()
    field(page, "ID").press("Tab")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("Another tab"))


def _photograph(page: Page, name: str) -> None:
    """Keep a picture if CCRS_TEST_PICTURES names a folder."""
    folder = os.environ.get("CCRS_TEST_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")
