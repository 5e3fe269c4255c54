"""Sentences are marked by mouse, touch and keyboard, in every layout, and saved at once."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from study import Study
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.layouts import side_by_side
from tests.annotate_ui.browser.pages import enter, field, moving_on, wait_all_saved, wait_until
from tests.annotate_ui.browser.test_beyond_the_audit import too_small
from tests.annotate_ui.browser.test_layouts import PHONE, photograph
from tests.annotate_ui.campaign_with_marks import (
    KEYS,
    SENTENCES,
    fill,
    ranges,
    stored,
    with_marks,
)


def sentence(page: Page, text: str) -> Any:
    return page.get_by_role("checkbox", name=text, exact=True)


def last(study: Study) -> Any:
    row = stored(study)[-1]
    return row.construct_key, row.ranges and [tuple(one) for one in row.ranges], row.input_kind


def wait_for(page: Page, study: Study, *expected: Any) -> None:
    """Wait until this is the last revision that is stored."""
    wait_until(page, lambda: bool(stored(study)) and last(study) == expected)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_by_keyboard_alone(study: Study, serve: Serve, arrive: Arrive, scheme: Any) -> None:
    served = serve(with_marks(study), "anna", filled=fill, keys=KEYS)
    anna = arrive(served, "anna", viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page = anna.begin()
    enter(page, 80)
    # The value is saved, and the marks are asked for before the page goes on.
    expect(sentence(page, SENTENCES[0])).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    expect(page.locator(".marked-count")).to_have_text("2 sentences marked")
    wait_for(page, served.study, "QR", ranges(SENTENCES[1], SENTENCES[4]), "key")
    photograph(page, f"marks-{scheme}")
    assert grave_violations(page) == ""
    assert too_small(page) == []
    page.keyboard.press("Escape")
    expect(field(page, "QR")).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".marked-count")).to_have_text("1 sentence marked")
    wait_for(page, served.study, "QR", ranges(SENTENCES[1]), "button")
    page.reload()
    expect(sentence(page, SENTENCES[1])).to_be_checked()
    expect(sentence(page, SENTENCES[4])).not_to_be_checked()
    sentence(page, SENTENCES[1]).focus()
    page.keyboard.press("Enter")
    with moving_on(page):
        page.keyboard.press("Enter")
    # Two constructs of the next part: only the first asks for marks.
    enter(page, 40)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="No sentence")).to_be_focused()
    page.keyboard.press("Enter")
    expect(field(page, "ID")).to_be_focused()
    expect(page.get_by_role("checkbox", name=SENTENCES[0])).to_have_count(0)
    wait_for(page, served.study, "CC", [], "button")
    page.goto("/".join([served.address, "rate", "history"]))
    expect(page.locator("dd").filter(has_text="1 sentence marked")).to_be_visible()
    expect(page.locator("dd").filter(has_text="no sentence marked")).to_be_visible()
    assert anna.errors == []


def test_by_touch_without_a_connection_and_side_by_side(
    study: Study, serve: Serve, arrive: Arrive
) -> None:
    def two(study: Study) -> None:
        fill(study, systems=2)

    served = serve(with_marks(study), "anna", filled=two, keys=KEYS, arranged=side_by_side)
    page = arrive(served, "anna", viewport=PHONE, has_touch=True).begin()
    served.wire.cut()
    other = page.locator(".column[data-letter=B] .sentence").nth(1)
    other.scroll_into_view_if_needed()
    other.tap()
    # A tap on another response turns to it.
    expect(other).to_be_checked()
    page.locator(".column.current .sentence").nth(2).tap()
    expect(page.locator(".construct.active .marked-count")).to_have_text("2 sentences marked")
    page.locator(".column.current .sentence").nth(1).tap()
    photograph(page, "marks-phone")
    assert grave_violations(page) == ""
    assert stored(served.study) == []
    served.wire.mend()
    wait_all_saved(page)
    assert [(row.revision, len(row.ranges)) for row in stored(served.study)] == [
        (1, 1),
        (2, 2),
        (3, 1),
    ]


def test_by_mouse_in_two_tabs(study: Study, serve: Serve, arrive: Arrive) -> None:
    served = serve(with_marks(study), "anna", filled=fill, keys=KEYS)
    anna = arrive(served, "anna", viewport={"width": 1440, "height": 900})
    page = anna.begin()
    second = anna.new_tab(page.url)
    sentence(second, SENTENCES[0]).click()
    wait_all_saved(second)
    sentence(page, SENTENCES[2]).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Another tab or device changed the marks")
    assert len(stored(served.study)) == 1
    alert.get_by_role("button", name="Save mine").click()
    wait_for(page, served.study, "QR", ranges(SENTENCES[2]), "pointer")
    # A selection of text is no click, and the second press of a double click neither.
    sentence(page, SENTENCES[1]).dblclick()
    expect(sentence(page, SENTENCES[1])).to_be_checked()
