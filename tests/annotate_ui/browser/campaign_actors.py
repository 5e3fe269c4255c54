"""Raters and an owner who play a campaign through: in a browser, and between in a hurry."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, ViewportSize, expect
from sqlalchemy import select

from annotate_ui.tasks.rating_payload import RatingPayload
from annotate_ui.tasks.save import save
from annotate_ui.tasks.workflow import open_next
from study import Study
from study.schema.tables import assignments, expected_values, responses
from tests.annotate_ui.browser.pages import (
    Rater,
    active,
    enter,
    field,
    keys,
    moving_on,
    tab_to,
    wait_all_saved,
)
from tests.annotate_ui.browser.played_campaign import PASSWORD, simulated_values
from tests.annotate_ui.browser.stored_state import rater_id
from tests.annotate_ui.rated_campaign import commit

WIDE: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
STEP = re.compile(r"/rate/(\w+)/(\d)$")
FEEDBACK = re.compile(r"/rate/\w+/feedback$")
Way = Callable[[Page, dict[str, float]], None]


@dataclass(frozen=True)
class Turn:
    """Whose turn it is, as the database has it; the page does not tell."""

    response: str
    purpose: str
    expected: dict[str, tuple[float, float]]


def turn(study: Study, public_id: str) -> Turn:
    """Return what a page's address refers to."""
    with study.read() as connection:
        row = connection.execute(
            select(assignments.c.purpose, responses.c.key, responses.c.id)
            .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
            .where(assignments.c.public_id == public_id)
        ).one()
        ranges = connection.execute(
            select(
                expected_values.c.construct_key, expected_values.c.low, expected_values.c.high
            ).where(expected_values.c.response_id == row.id)
        )
        return Turn(row.key, row.purpose, {key: (low, high) for key, low, high in ranges})


class Judging:
    """The values of a rater: a simulated rater of the example, careful or not at checks."""

    def __init__(self, study: Study, number: int, *, careless: bool = False) -> None:
        self.study = study
        self._number = number
        self._careless = careless
        self._simulated = simulated_values()

    def of(self, public_id: str, construct: str) -> float:
        """Return the value for a construct of the response whose turn it is."""
        here = turn(self.study, public_id)
        if here.purpose == "check" and self._careless:
            return 97.0
        if construct in here.expected:
            return sum(here.expected[construct]) / 2
        if here.purpose == "check":
            return 3.0
        value = self._simulated.get((here.response, construct, self._number), 60.0)
        return min(100.0, value + 2) if here.purpose == "repeat" else value

    def hurry(self, code: str, most: int = 10_000) -> str:
        """Rate so many steps without a browser, or until something else comes; return what.

        The limit on opening pages (120 a minute) would make three raters take five minutes.
        """
        who = rater_id(self.study, code)
        for _ in range(most):
            opened = open_next(self.study, who)
            step = opened.step
            if step is None:
                return opened.kind
            for key in step.construct_keys:
                value = self.of(step.item.public_id, key)
                rating = commit(key, value, active_seconds=15, wall_seconds=18)
                save(self.study, who, RatingPayload(step.item.public_id, step.stage.number, rating))
        return "more"


def by_keyboard(page: Page, values: dict[str, float]) -> None:
    """Rate a step with keys alone; the last Enter goes on."""
    # In the order in which the page activates them.
    with moving_on(page):
        for _ in values:
            key = active(page)
            tab_to(page, f"value-{key}")
            enter(page, f"{values[key]:g}")


def by_slider(page: Page, values: dict[str, float]) -> None:
    """Click each slider at the value, then the button."""
    for key, value in values.items():
        _open(page, key)
        slider = page.locator(f"#slider-{key}")
        box = slider.bounding_box()
        assert box is not None
        # Whole pixels of the bar, whose thumb is two wide: its first is 0 and its last is 100.
        x = 1 + (box["width"] - 2) * value / 100
        slider.click(position={"x": x, "y": box["height"] / 2})
    wait_all_saved(page)
    with moving_on(page):
        page.locator("#next").click()


def by_touch(page: Page, values: dict[str, float]) -> None:
    """Tap each field, type on the phone's keyboard, and tap the button."""
    for key, value in values.items():
        _open(page, key)
        field(page, key).tap()
        field(page, key).fill(f"{value:g}")
        page.keyboard.press("Tab")
    wait_all_saved(page)
    with moving_on(page):
        page.locator("#next").tap()


def _open(page: Page, key: str) -> None:
    if active(page) != key:
        page.locator(f"#construct-{key} .open").click()


class Player:
    """One of the raters, with their way of entering values."""

    def __init__(self, rater: Rater, judging: Judging, way: Way) -> None:
        self.rater = rater
        self.judging = judging
        self.way = way

    @property
    def page(self) -> Page:
        """The tab that they use."""
        return self.rater.page

    def here(self) -> tuple[str, int]:
        """Return the response and the stage that the page shows."""
        match = STEP.search(self.page.url)
        assert match is not None, self.page.url
        return match[1], int(match[2])

    def rate(self, value: float | None = None) -> None:
        """Rate the step that is open, as they judge or with a value throughout, and go on."""
        public_id = self.here()[0]
        judged = {key: self.judging.of(public_id, key) for key in keys(self.page)}
        self.way(self.page, judged if value is None else dict.fromkeys(judged, value))

    def agrees_and_reads(self, name: str) -> None:
        """Agree to the consent text, confirm the instructions, and come to the overview."""
        page = self.page
        page.wait_for_url("**/consent")
        photograph(page, f"{name}-consent")
        page.get_by_role("button", name="I agree to take part").click()
        page.wait_for_url("**/instructions")
        photograph(page, f"{name}-instructions")
        page.get_by_role("button", name="I have read this").click()
        page.wait_for_url("**/rate")

    def starts(self) -> None:
        """Press the overview's button."""
        with moving_on(self.page):
            self.page.locator("#go-on").click()

    def attempts_training(self, value: float | None = None) -> list[str]:
        """Rate an attempt and read its feedback; return the text of each page."""
        texts = list[str]()
        while len(texts) < 2:
            while STEP.search(self.page.url):
                assert turn(self.judging.study, self.here()[0]).purpose == "training"
                expect(self.page.locator(".where")).to_contain_text("Training")
                self.rate(value)
            assert FEEDBACK.search(self.page.url), self.page.url
            texts.append(self.page.locator("main").inner_text())
            if len(texts) < 2:
                self.reads_on()
        return texts

    def reads_on(self) -> None:
        """Go on from a page of feedback."""
        with moving_on(self.page):
            self.page.get_by_role("button", name="Go on").click()

    def rates_all(self, purpose: str) -> int:
        """Rate while that is what comes; return how many steps it was."""
        steps = 0
        while STEP.search(self.page.url) and self.purpose() == purpose:
            self.rate()
            steps += 1
        return steps

    def purpose(self) -> str:
        """Return what the step is for, which no page of the main work shows."""
        return turn(self.judging.study, self.here()[0]).purpose


class Owner:
    """The owner, signed in."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address

    def signs_in(self) -> None:
        """Give the password, wrong once."""
        page = self.page
        page.goto(f"{self.address}/owner")
        photograph(page, "owner-sign-in")
        for password in ("not the password", PASSWORD):
            page.get_by_label("Password").fill(password)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_load_state()
        page.wait_for_url("**/owner")

    def opens(self, name: str) -> Page:
        """Follow a link of the pages' head."""
        self.page.get_by_role("navigation", name="Pages").get_by_role(
            "link", name=name, exact=True
        ).click()
        expect(self.page.get_by_role("link", name=name, exact=True)).to_have_attribute(
            "aria-current", "page"
        )
        return self.page

    def computes(self, name: str) -> Page:
        """Press a button that has figures computed, until the page shows them by itself."""
        page = self.opens("Is it enough?")
        page.get_by_role("button", name=name).click()
        expect(page.locator("[data-running]")).to_be_visible()
        expect(page.get_by_role("button", name=name)).to_be_visible(timeout=120_000)
        return page


@contextmanager
def another_size(page: Page, size: ViewportSize, scheme: Any) -> Iterator[None]:
    """Show a page in another window and other colors for a while."""
    was = page.viewport_size
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    yield
    page.emulate_media(color_scheme="dark" if dark else "light")
    if was is not None:
        page.set_viewport_size(was)


def photograph(page: Page, name: str) -> None:
    """Keep pictures, wide, on a phone and dark, if CCRS_TEST_PICTURES names a folder."""
    folder = os.environ.get("CCRS_TEST_PICTURES")
    if not folder:
        return
    for kind, size, scheme in (
        ("wide", WIDE, "light"),
        ("phone", PHONE, "light"),
        ("dark", WIDE, "dark"),
    ):
        with another_size(page, size, scheme):
            # A step has its own places that scroll.
            page.wait_for_timeout(300)  # until the images of these colors are there
            whole = page.locator("body.step").count() == 0
            page.screenshot(path=Path(folder) / f"played-{name}-{kind}.png", full_page=whole)
