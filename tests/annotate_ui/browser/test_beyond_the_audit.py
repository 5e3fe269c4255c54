"""What axe-core can't see: focus after a reveal, announcements, zoom, a phone's keyboard, sizes."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Newcomer
from tests.annotate_ui.browser.pages import (
    Rater,
    active,
    enter,
    field,
    focused,
    moving_on,
    rate_step,
    saved,
    state,
    tab_to,
)

# 1280 by 1024 at 400%, as WCAG 1.4.10 has it for text that scrolls down.
ZOOMED = {"width": 320, "height": 256}
PHONE, WITH_KEYBOARD = {"width": 390, "height": 844}, {"width": 390, "height": 400}
TOUCH = {"has_touch": True, "is_mobile": True}

# What of the focused element can be seen: inside the window, and nothing else on top of it.
SEEN = """() => {
  const box = document.activeElement.getBoundingClientRect();
  const points = [[.1, .5], [.5, .5], [.9, .5]].map(([x, y]) => [
    box.left + x * box.width, box.top + Math.max(2, y * Math.min(box.height, 40)),
  ]);
  const hit = points.map(([x, y]) => document.elementFromPoint(x, y));
  const covered = hit.filter((over) => over && !document.activeElement.contains(over)
    && !over.contains(document.activeElement));
  return { inside: hit.every(Boolean), covered: covered.map((one) => one.outerHTML.slice(0, 80)),
           what: document.activeElement.outerHTML.slice(0, 80) };
}"""
# How far a long word in an anchor reaches out of the panel.
LONG_WORD = """(anchor) => {
  for (const one of document.querySelectorAll(anchor)) one.textContent = "W".repeat(90);
  const panel = document.getElementById("constructs");
  return panel.scrollWidth - panel.clientWidth;
}"""
_WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def second_stage(anna: Rater) -> Page:
    """Come to the second stage, whose passages were just revealed."""
    page = anna.begin()
    for value in (10, 20):
        with moving_on(page):
            field(page, "QR").focus()
            enter(page, value)
    return page


def test_the_audit_sees_a_planted_fault(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = anna.page
    page.goto(anna.served.address)
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert "button-name" in grave_violations(page)


def test_a_reveal_takes_the_focus_to_its_heading(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = anna.begin()
    assert focused(page) == "value-QR", "where nothing is new, rating goes on"
    rate_step(page, 10)
    assert focused(page) == "value-QR"
    rate_step(page, 20)
    for heading, values in (("Passages", (30, 40)), ("Reference answer", (60, 70))):
        for number in (0, 1):
            on = page.evaluate("document.activeElement.textContent")
            assert on.startswith(heading), number
            assert page.evaluate("document.activeElement.tagName") == "H2"
            assert page.evaluate(SEEN)["covered"] == []
            expect(page.get_by_role("heading", name=heading)).to_be_in_viewport()
            rate_step(page, *values)


def test_saving_is_announced_politely_and_a_conflict_assertively(newcomer: Newcomer) -> None:
    anna = newcomer()
    page = second_stage(anna)
    status = page.get_by_role("status")
    expect(status).to_have_attribute("aria-live", "polite")
    announced = (
        "() => (window.announced = [], new MutationObserver(() => window.announced.push("
        + (
            "document.getElementById('saved').textContent)).observe(document.getElementById('saved'),"
            " { childList: true, subtree: true, characterData: true }))"
        )
    )
    page.evaluate(announced)
    field(page, "CC").fill("30")
    page.keyboard.press("Enter")
    saved(page, "CC")
    announced = page.evaluate("window.announced")
    assert announced, "the region was there before its words changed"
    assert "All saved" in announced[-1]
    assert "Contextual Coherence" in announced[-1]
    assert len(announced) <= 2, "once, not at every step of the way"

    other = anna.new_tab(page.url)
    other.locator("#construct-CC .open").click()
    page.locator("#construct-CC .open").click()
    for tab, value in ((page, 31), (other, 32)):
        field(tab, "CC").fill(str(value))
        field(tab, "CC").press("Enter")
        if tab is page:
            saved(page, "CC")
    expect(other.get_by_role("alert")).to_contain_text("Another tab or device saved 31")


def test_what_is_read_out(newcomer: Newcomer) -> None:
    page = newcomer().begin()
    assert "Question Relevance" in accessible(page, "slider")["name"]
    # Chromium's protocol leaves out aria-valuetext, which replaces the number (WAI-ARIA 1.2).
    slider = page.locator("#slider-QR")
    expect(slider).to_have_attribute("aria-valuetext", "not set")
    (value,) = [
        node for node in tree(page) if node["role"] == "textbox" and "Value" in node["name"]
    ]
    assert value["name"] == "Question Relevance Value, 0 to 100"
    assert page.evaluate(LONG_WORD, "#construct-QR .points-row bdi") <= 0
    assert accessible(page, "progressbar")["name"]
    field(page, "QR").fill("101")
    page.keyboard.press("Enter")
    described = field(page, "QR").evaluate(
        "(one) => one.getAttribute('aria-describedby').split(' ')"
        ".map((id) => document.getElementById(id).textContent).join(' ')"
    )
    assert "from 0 to 100" in described
    field(page, "QR").fill("40")
    assert accessible(page, "slider")["value"] == 40
    expect(slider).to_have_attribute("aria-valuetext", "40")


def test_the_order_of_the_tab_key(newcomer: Newcomer) -> None:
    page = second_stage(newcomer())
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    stops = []
    for _ in range(16):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate(
                "(document.activeElement.id || document.activeElement.textContent).trim()"
            )
        )
        if stops[-1] == "next":
            break
    wanted = ["open-all", "value-CC", "Cannot judge", "slider-CC", "comment-CC", "skip", "back"]
    assert [stop for stop in stops if stop in wanted] == wanted
    assert stops[-1] == "next"
    page.keyboard.press("Shift+Tab")
    assert focused(page) == "back", "nothing holds the focus"


def test_no_key_acts_outside_the_value_field(newcomer: Newcomer) -> None:
    page = newcomer().begin()
    page.locator("#comment-QR").focus()
    page.keyboard.type("7 n s ? /")
    page.keyboard.press("Enter")
    expect(page.locator("#comment-QR")).to_have_value("7 n s ? /\n")
    page.get_by_role("link", name="Overview").focus()
    page.keyboard.type("75ns?")
    expect(field(page, "QR")).to_have_value("")
    assert page.locator("h1").inner_text().startswith("Question 1")


@pytest.mark.parametrize(
    ("size", "touch"),
    [(ZOOMED, {}), (PHONE, TOUCH), (WITH_KEYBOARD, TOUCH), ({"width": 1280, "height": 700}, {})],
    ids=["400 percent", "phone", "phone with its keyboard", "wide"],
)
def test_nothing_covers_what_has_the_focus(
    newcomer: Newcomer, size: dict[str, int], touch: dict[str, Any]
) -> None:
    anna = newcomer(viewport=size, **touch)
    page = second_stage(anna)
    page.get_by_role("button", name="Open all passages").click()
    assert page.evaluate(_WIDER) <= 0, "nothing scrolls sideways"
    for direction, stops in (("Tab", 14), ("Shift+Tab", 14)):
        for _ in range(stops):
            page.keyboard.press(direction)
            if page.evaluate("document.activeElement === document.body"):
                continue
            seen = page.evaluate(SEEN)
            assert seen["covered"] == [], seen
            assert seen["inside"], seen
    for last in ("#field-passages .passage:last-of-type .text", "#field-question .text"):
        page.locator(last).evaluate("(one) => one.scrollIntoView({ block: 'end' })")
        free = page.locator(last).evaluate(
            "(one) => { const box = one.getBoundingClientRect();"
            " const y = Math.min(box.bottom, innerHeight) - 6;"
            " return one.contains(document.elementFromPoint(box.left + 30, y)); }"
        )
        assert free, f"the last line of {last} can be read"


def test_the_response_stays_in_view_and_a_phones_panel_folds(newcomer: Newcomer) -> None:
    page = second_stage(newcomer(viewport={"width": 1440, "height": 900}))
    page.get_by_role("button", name="Open all passages").click()
    response, passages = page.locator("#field-response"), page.locator("#field-passages")
    for size in ({"width": 1440, "height": 900}, {"width": 1280, "height": 800}, PHONE):
        page.set_viewport_size({**size})
        passages.locator(".text").last.scroll_into_view_if_needed()
        expect(response.locator(".text")).to_be_in_viewport()
        expect(passages.locator(".text").last).to_be_in_viewport()
        beside, here = response.bounding_box(), passages.bounding_box()
        assert beside is not None
        assert here is not None
        assert (beside["x"] + beside["width"] <= here["x"]) == (size["width"] == 1440)
        assert page.evaluate(_WIDER) <= 0
    assert grave_violations(page) == ""
    page.get_by_role("button", name="Fold", exact=True).click()
    expect(page.locator("#constructs")).to_be_hidden()
    folded = page.locator("#panel").bounding_box()
    assert folded is not None
    assert folded["height"] < 50, "one line"
    assert grave_violations(page) == ""
    # A value that is typed at the response unfolds it.
    response.get_by_role("group", name="Response").press("7")
    expect(field(page, "CC")).to_have_value("7")
    expect(field(page, "CC")).to_be_in_viewport()
    response.locator("summary").click()
    expect(response.locator(".text")).to_be_hidden()


def test_a_phones_keyboard_leaves_the_field_and_some_text_in_view(newcomer: Newcomer) -> None:
    anna = newcomer(viewport=PHONE, **TOUCH)
    page = anna.begin()
    assert focused(page) != "value-QR", "a keyboard that nobody asked for stays away"
    field(page, "QR").tap()
    page.set_viewport_size({"width": 390, "height": 400})
    assert field(page, "QR").get_attribute("inputmode") == "decimal"
    expect(field(page, "QR")).to_be_in_viewport(ratio=1)
    assert page.evaluate(SEEN)["covered"] == []
    page.keyboard.type("55")
    expect(field(page, "QR")).to_be_in_viewport(ratio=1)
    expect(state(page, "QR")).to_be_in_viewport()


@pytest.mark.parametrize("size", [PHONE, {"width": 1280, "height": 900}], ids=["phone", "wide"])
def test_targets_are_24_pixels_at_least(newcomer: Newcomer, size: dict[str, int]) -> None:
    anna = newcomer(viewport=size)
    page = anna.join()
    small = too_small(page)
    anna.go_on()
    small += too_small(page)
    rate_first_stage(page)
    page.get_by_role("button", name="Open all passages").click()
    if page.locator(f"#construct-{active(page)} .more-toggle").is_visible():
        page.locator(f"#construct-{active(page)} .more-toggle").click()
    small += too_small(page)
    rate_step(page, 1, 2)
    rate_step(page, 1, 2)
    small += too_small(page)
    assert small == []


def rate_first_stage(page: Page) -> None:
    for value in (10, 20):
        with moving_on(page):
            tab_to(page, "value-QR")
            enter(page, value)


def too_small(page: Page) -> list[str]:
    """Return what can be pressed and is less than 24 pixels wide or high.

    Links within a sentence and what a label makes larger are exempt (WCAG 2.5.8), and links that
    are shown only while they have the focus.
    """
    labels: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("a, button, summary, input, textarea")]
          .filter((one) => one.checkVisibility({ visibilityProperty: true }))
          .filter((one) => !(one.matches("p a") && one.parentElement.childNodes.length > 1))
          .map((one) => [one, (one.closest("label") ?? one).getBoundingClientRect()])
          .filter(([, box]) => box.right > 0 && box.width > 1)
          .filter(([, box]) => box.width < 24 || box.height < 24)
          .map(([one, box]) => `${one.outerHTML.slice(0, 90)} ${box.width} x ${box.height}`)"""
    )
    return labels


def tree(page: Page) -> list[dict[str, Any]]:
    """Return the page as a screen reader gets it: role, name and value of each node."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        {
            "role": node.get("role", {}).get("value"),
            "name": node.get("name", {}).get("value", ""),
            "value": node.get("value", {}).get("value"),
        }
        for node in nodes
        if not node.get("ignored")
    ]


def accessible(page: Page, role: str) -> dict[str, Any]:
    """Return the one node of a role."""
    (node,) = [node for node in tree(page) if node["role"] == role]
    return node
