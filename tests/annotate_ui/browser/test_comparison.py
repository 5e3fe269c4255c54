"""The page of a comparison in a browser: keys, a lost connection, two tabs, accessibility."""

import os
import re
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import delete

from study import Study
from study.schema.tables import assignments
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.marked_campaign import fill, reference, response
from tests.annotate_ui.browser.pages import Rater, moving_on, tab_to
from tests.annotate_ui.compared_campaign import decisions, open_one, pair_up

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def begin(
    study: Study, serve: Serve, arrive: Arrive, rating: str = "", **options: object
) -> tuple[Rater, Page]:
    """Let in a rater who has nothing to do but compare, and open their first comparison."""
    served = serve(study, "anna", filled=partial(fill, queries=2, systems=2), rating=rating)
    with served.study.write() as connection:
        connection.execute(delete(assignments))
    anna = pair_up(served.study, "anna")
    rater = arrive(served, "anna", **options)
    page = rater.join()
    page.goto(f"{served.address}/compare/{open_one(served.study, anna)}")
    return rater, page


def stored_decisions(rater: Rater) -> list[tuple[str, float | None, str]]:
    return [(row.construct_key, row.value, row.status) for row in decisions(rater.served.study)]


def test_comparisons_are_made_by_keyboard_alone(study: Study, serve: Serve, arrive: Arrive) -> None:
    rater, page = begin(study, serve, arrive)
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 1 of 4")
    expect(page.locator("#response-1")).to_contain_text(response(0, 0))
    assert reference(0).encode() not in rater.served.wire.received
    with moving_on(page):
        page.keyboard.press("5")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 2 of 4")
    expect(page.locator("#field-reference")).to_contain_text(reference(0))
    with moving_on(page):
        page.keyboard.press("3")
        page.keyboard.press("Enter")
    # The other order: what is chosen on the left speaks of b.
    expect(page.locator("#response-1")).to_contain_text(response(1, 1))
    with moving_on(page):
        page.keyboard.press("1")
        page.keyboard.press("Enter")
    with moving_on(page):
        page.get_by_label("Skip this comparison").check()
        page.get_by_role("button", name="Save and go on").click()
        expect(page.get_by_role("alert")).to_contain_text("why")
        page.keyboard.type("both are the same")
        page.keyboard.press("Enter")
    assert "/compare/" not in page.url
    assert stored_decisions(rater) == [
        ("QR", 2.0, "rated"),
        ("AC", 0.0, "rated"),
        ("QR", 2.0, "rated"),
        ("AC", None, "skipped"),
    ]
    assert [row.input_kind for row in decisions(rater.served.study)][:3] == ["typed"] * 3
    assert rater.errors == []


def test_a_choice_waits_for_the_connection_and_is_stored_once(
    study: Study, serve: Serve, arrive: Arrive
) -> None:
    rater, page = begin(study, serve, arrive)
    rater.served.wire.cut()
    page.get_by_label("2 is much better").check()
    page.get_by_role("button", name="Save and go on").click()
    expect(page.locator("#saved")).to_contain_text("waits in this browser", timeout=10_000)
    assert stored_decisions(rater) == []
    rater.served.wire.mend()
    page.wait_for_url(re.compile("/compare/"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 2 of 4", timeout=40_000)
    assert stored_decisions(rater) == [("QR", 2.0, "rated")]
    # Back, changed, and on again to what was opened before.
    with moving_on(page):
        page.get_by_role("link", name="Back").click()
    expect(page.get_by_label("2 is much better")).to_be_checked()
    with moving_on(page):
        page.get_by_label("Cannot judge").check()
        page.get_by_role("button", name="Save and go on").click()
    assert stored_decisions(rater)[-1] == ("QR", None, "cannot_judge")


def test_a_choice_in_another_tab_is_not_overwritten_silently(
    study: Study, serve: Serve, arrive: Arrive
) -> None:
    rater, page = begin(study, serve, arrive)
    other = rater.new_tab(page.url)
    with moving_on(page):
        page.get_by_label("1 is better").check()
        page.get_by_role("button", name="Save and go on").click()
    other.get_by_label("2 is better").check()
    other.get_by_role("button", name="Save and go on").click()
    expect(other.get_by_role("alert")).to_contain_text("Yours is not saved")
    assert stored_decisions(rater) == [("QR", -1.0, "rated")]
    other.get_by_role("button", name="Show the other").click()
    expect(other.get_by_label("1 is better")).to_be_checked()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_page_has_no_serious_violation(
    study: Study, serve: Serve, arrive: Arrive, size: dict[str, int], scheme: str
) -> None:
    touch = {"has_touch": True, "is_mobile": True} if size is PHONE else {}
    rater, page = begin(study, serve, arrive, viewport=size, color_scheme=scheme, **touch)
    assert grave_violations(page) == ""
    photograph(page, f"compare-{size['width']}-{scheme}")
    with moving_on(page):
        page.get_by_label("1 is better").check()
        page.get_by_role("button", name="Save and go on").click()
    page.locator("details").evaluate_all("all => all.forEach((one) => (one.open = true))")
    page.get_by_label("Skip this comparison").check()
    assert grave_violations(page) == ""
    photograph(page, f"compare-open-{size['width']}-{scheme}")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= size["width"]
    assert rater.violations == []


def test_the_tab_key_reaches_everything(study: Study, serve: Serve, arrive: Arrive) -> None:
    _, page = begin(study, serve, arrive)
    tab_to(page, "next")


def photograph(page: Page, name: str) -> None:
    folder = os.environ.get("CCRS_TEST_PICTURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=False)
