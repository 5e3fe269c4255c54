"""Every way to give a value, to give none, to remark on one, and to change it later."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.annotate_ui.browser.conftest import Newcomer
from tests.annotate_ui.browser.pages import (
    Rater,
    active,
    enter,
    field,
    focused,
    keys,
    moving_on,
    rate_step,
    saved,
    state,
    wait_all_saved,
)

Begin = Callable[[], tuple[Rater, Page]]


@pytest.fixture
def begin(newcomer: Newcomer) -> Begin:
    """Return what lets a rater begin with a query of two responses."""

    def begun() -> tuple[Rater, Page]:
        rater = newcomer()
        return rater, rater.begin()

    return begun


def test_the_middle_of_the_slider_can_be_clicked(begin: Begin) -> None:
    anna, page = begin()
    slider = page.locator("#slider-QR")
    expect(slider).to_have_class(re.compile("unset"))
    expect(slider).to_have_attribute("aria-valuetext", "not set")
    assert anna.ratings() == [], "untouched, it is no value"
    slider.click()  # in its middle, where a native slider is already
    expect(field(page, "QR")).to_have_value("50")
    saved(page, "QR")
    expect(slider).not_to_have_class(re.compile("unset"))
    expect(slider).to_have_attribute("aria-valuetext", "50")
    assert [(row.value, row.input_kind) for row in anna.ratings()] == [(50, "slider")]


def test_the_first_press_enters_the_value_under_the_pointer(begin: Begin) -> None:
    anna, page = begin()
    slider = page.locator("#slider-QR")
    hint = page.locator(".slider-hint")
    expect(hint).to_be_visible()
    for width in (390, 700, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        for share in (0.03, 0.1, 0.46, 0.48, 0.5, 0.52, 0.54, 0.9, 0.97):
            # As it is before any press: the native slider is at 50.
            slider.evaluate("(one) => { one.classList.add('unset'); one.value = 50; }")
            box = slider.bounding_box()
            assert box is not None
            page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
            # The ends of the bar, as it is drawn, are those of the scale.
            under = 100 * share
            entered = float(field(page, "QR").input_value())
            assert abs(entered - under) <= 0.75, (width, share)
            # A second press at the same place meets the slider, and no button.
            assert slider.bounding_box() == box
            saved(page, "QR")
    expect(hint).to_be_hidden()
    assert {row.input_kind for row in anna.ratings()} == {"slider"}


def test_the_last_enter_stops_before_more_is_shown(begin: Begin) -> None:
    anna, page = begin()
    rate_step(page, 10)
    page.keyboard.type("5")
    page.keyboard.down("Enter")
    expect(page.locator("#final")).to_be_visible()
    expect(page.locator("#next")).to_be_focused()
    page.keyboard.down("Enter")  # as it repeats while it is held
    page.keyboard.up("Enter")
    saved(page, "QR")
    here = page.url
    field(page, "QR").fill("50")
    page.keyboard.press("Enter")
    expect(page.locator("#next")).to_be_focused()
    saved(page, "QR")
    assert page.url == here
    with moving_on(page):
        page.keyboard.press("Enter")
    assert [row.value for row in anna.ratings("QR")] == [10, 5, 50]
    assert not any(row.after_reveal for row in anna.ratings())


def test_a_response_takes_15_keys_or_8_clicks(begin: Begin) -> None:
    anna, page = begin()
    pressed = [0, 0]
    for response in (0, 1) * 3:
        with moving_on(page):
            for key in keys(page):
                expect(page.locator(f"#construct-{key}")).to_have_class(re.compile("active"))
                for name in ("4", "7", "Enter"):
                    page.keyboard.press(name)
                    pressed[response] += 1
            if page.locator("#panel[data-opens-next-stage]").count():
                expect(page.locator("#next")).to_be_focused()
                page.keyboard.press("Enter")
                pressed[response] += 1
    assert pressed == [15, 15 + 2], "with one more before each part that the last response opens"
    assert [row.value for row in anna.ratings()] == [47] * 10
    assert not any(row.after_reveal for row in anna.ratings())

    ben, page = begin()
    clicks = [0, 0]
    for response in (0, 1) * 3:
        for key in keys(page):
            expect(page.locator(f"#construct-{key}")).to_have_class(re.compile("active"))
            # A double click is one press: it enters nothing for the construct that opens.
            page.locator(f"#slider-{key}").click(click_count=2 if key == "CC" else 1)
            clicks[response] += 1
        wait_all_saved(page)
        with moving_on(page):
            page.locator("#next").click()
            clicks[response] += 1
    assert clicks == [8, 8]
    assert [row.value for row in ben.ratings()] == [50] * 10


def test_the_slider_counts_when_it_is_released_or_rests(begin: Begin) -> None:
    anna, page = begin()
    box = page.locator("#slider-QR").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=8)
    assert anna.ratings() == []
    page.mouse.up()
    saved(page, "QR")
    dragged = anna.ratings()[0].value
    assert dragged is not None
    assert dragged > 50
    page.locator("#slider-QR").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(field(page, "QR")).to_have_value(str(int(dragged) + 3))
    wait_for_ratings(anna, page, 2)
    assert [row.value for row in anna.ratings()] == [dragged, dragged + 3], "one of three presses"


def test_a_value_outside_the_scale_goes_nowhere(begin: Begin) -> None:
    anna, page = begin()
    for wrong, problem in (
        ("101", "from 0 to 100"),
        ("e", "not a number"),
        ("-1", "from 0 to 100"),
    ):
        field(page, "QR").fill(wrong)
        page.keyboard.press("Enter")
        expect(page.locator("#error-QR")).to_contain_text(problem)
        expect(field(page, "QR")).to_have_attribute("aria-invalid", "true")
        assert focused(page) == "value-QR"
    assert anna.ratings() == []
    field(page, "QR").fill("")
    with moving_on(page):
        enter(page, "7,5")
    assert [row.value for row in anna.ratings()] == [7.5]


def test_a_typed_digit_does_not_count_before_enter_or_blur(begin: Begin) -> None:
    anna, page = begin()
    page.keyboard.type("8")
    page.wait_for_timeout(1500)
    expect(state(page, "QR")).to_have_text("draft")
    assert anna.ratings() == []
    page.keyboard.type("5")
    page.keyboard.press("Tab")
    saved(page, "QR")
    assert [row.value for row in anna.ratings()] == [85]


def test_committed_values_are_hidden_and_shift_enter_goes_back(begin: Begin) -> None:
    _, page = begin()
    rate_step(page, 10)
    rate_step(page, 20)
    field(page, "CC").focus()
    # No clock shows such a number.
    enter(page, 37.25)
    assert active(page) == "ID"
    saved(page, "CC")
    assert "37.25" not in page.locator("#panel").inner_text()
    page.keyboard.press("Shift+Enter")
    assert active(page) == "CC"
    assert focused(page) == "value-CC"
    expect(field(page, "CC")).to_have_value("37.25")


def test_cannot_judge_is_by_construct_and_a_value_takes_it_back(begin: Begin) -> None:
    anna, page = begin()
    cannot = page.get_by_role("button", name="Cannot judge")
    cannot.click()
    expect(state(page, "QR")).to_have_text("cannot judge")
    expect(cannot).to_have_attribute("aria-pressed", "true")
    wait_all_saved(page)
    field(page, "QR").fill("40")
    page.keyboard.press("Tab")
    saved(page, "QR")
    expect(cannot).to_have_attribute("aria-pressed", "false")
    assert [(row.status, row.value) for row in anna.ratings()] == [
        ("cannot_judge", None),
        ("rated", 40),
    ]


def test_a_response_is_skipped_with_a_reason(begin: Begin) -> None:
    anna, page = begin()
    rate_step(page, 10)
    rate_step(page, 20)
    field(page, "CC").focus()
    enter(page, 30)
    page.get_by_role("button", name="Skip this response").click()
    assert focused(page) == "skip-reason"
    page.keyboard.type("It is in a language that I can't read")
    page.get_by_role("button", name="Skip", exact=True).click()
    expect(state(page, "ID")).to_have_text("skipped")
    wait_all_saved(page)
    assert [(row.status, row.value, row.reason) for row in anna.ratings()[2:]] == [
        ("rated", 30, None),
        ("skipped", None, "It is in a language that I can't read"),
    ]
    with moving_on(page):
        page.locator("#next").click()
    expect(page.locator("h1")).to_contain_text("Response 2 of 2")


def test_an_earlier_item_is_changed_and_what_counts_stays(begin: Begin) -> None:
    anna, page = begin()
    rate_step(page, 10)
    with moving_on(page):
        page.locator("#back").click()
    # Nothing more was shown of the query: the new value counts.
    expect(field(page, "QR")).to_have_value("10")
    with moving_on(page):
        field(page, "QR").fill("11")
        page.keyboard.press("Enter")
    rate_step(page, 20)
    with moving_on(page):
        page.locator("#back").click()
    expect(field(page, "QR")).to_have_value("20")
    assert page.locator("#field-passages").count() == 0, "an earlier item shows what it showed"
    with moving_on(page):
        field(page, "QR").fill("99")
        page.keyboard.press("Enter")
    rows = [(row.revision, row.value, row.after_reveal) for row in anna.ratings("QR")]
    assert rows == [(1, 10, False), (2, 11, False), (1, 20, False), (2, 99, True)]
    counted = anna.served.study.score_table().query("scorer == @anna.code")
    assert sorted(counted["value"]) == [11, 20]


def test_a_comment_of_5000_characters_and_flags_go_with_the_value(begin: Begin) -> None:
    anna, page = begin()
    rate_step(page, 10)
    rate_step(page, 20)
    text = ("Wörter, 文字 & <b>signs</b>\n" * 400)[:5000]
    page.locator("#construct-ID .open").click()
    comment = page.locator("#comment-ID")
    comment.fill(text)
    expect(page.locator("#count-ID")).to_contain_text("0 characters left")
    assert anna.ratings("ID") == [], "a remark alone is no rating"
    page.get_by_label("too long").check()
    field(page, "ID").fill("33")
    page.keyboard.press("Enter")
    saved(page, "ID")
    (row,) = anna.ratings("ID")
    assert (row.value, row.comment, row.flags) == (33, text, ("too long",))
    page.reload()
    page.locator("#construct-ID .open").click()
    expect(comment).to_have_value(text)
    expect(page.get_by_label("too long")).to_be_checked()
    comment.press("End")
    comment.press_sequentially("!")
    expect(comment).to_have_value(text)


def test_a_comment_outlives_a_reload_before_there_is_a_value(begin: Begin) -> None:
    anna, page = begin()
    page.locator("#comment-QR").fill("Half a thought")
    page.reload()
    expect(page.locator("#comment-QR")).to_have_value("Half a thought")
    assert anna.ratings() == []


def test_leaving_the_page_commits_what_was_entered(begin: Begin) -> None:
    anna, page = begin()
    page.locator("#slider-QR").focus()
    page.keyboard.press("ArrowRight")
    page.goto("about:blank")
    wait_for_ratings(anna, page, 1)
    assert [row.value for row in anna.ratings()] == [50]


def test_signing_out_clears_the_browser_after_a_warning(begin: Begin) -> None:
    anna, page = begin()
    page.keyboard.type("8")
    page.get_by_role("link", name="Overview").click()
    page.wait_for_url("**/rate")
    stored = "Object.keys(localStorage).filter((name) => name.startsWith('ccrs:'))"
    # Leaving the field by a click commits its content.
    wait_for_ratings(anna, page, 1)
    page.goto(page.url)
    page.get_by_role("button", name="Go on").click()
    page.wait_for_url(re.compile(r"/rate/\w+/1$"))
    page.keyboard.type("9")
    page.goto(re.sub(r"/rate/.*", "/rate", page.url))
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("alert")).to_contain_text("You would lose 1 draft")
    assert page.evaluate(stored)
    page.get_by_role("button", name="Sign out and lose them").click()
    page.wait_for_url("**/left")
    assert page.evaluate(stored) == []
    answer = page.goto(re.sub(r"/left", "/rate", page.url))
    assert answer is not None
    assert answer.status == 401


def wait_for_ratings(anna: Rater, page: Page, count: int) -> None:
    """Wait until the database holds so many revisions."""
    for _ in range(50):
        if len(anna.ratings()) >= count:
            break
        page.wait_for_timeout(100)
    assert len(anna.ratings()) == count
