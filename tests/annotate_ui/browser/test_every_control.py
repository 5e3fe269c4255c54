"""Responses rated with every control, then compared: wide and on a phone, in light and dark.

`CCRS_TEST_RESPONSES=60` plays a whole campaign; without it a few responses for each look.
"""

import os
import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from study import Study
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.layouts import SCALES
from tests.annotate_ui.browser.marked_campaign import fill
from tests.annotate_ui.browser.pages import Rater, active, field, moving_on, state
from tests.annotate_ui.compared_campaign import decisions, pair_up

RESPONSES = int(os.environ.get("CCRS_TEST_RESPONSES", "4"))
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
LOOKS: dict[str, dict[str, Any]] = {
    "wide-light": {"viewport": WIDE, "color_scheme": "light"},
    "phone-dark": {"viewport": PHONE, "color_scheme": "dark"},
    "phone-light": {"viewport": PHONE, "color_scheme": "light"},
    "wide-dark": {"viewport": WIDE, "color_scheme": "dark"},
}
EACH = -(-RESPONSES // len(LOOKS))
KEYS = ("use", "tone", "rank", "depth", "pass")


@dataclass
class Plays:
    """A rater at work; `given` are the values that their pages have shown as entered."""

    rater: Rater
    number: int
    given: list[tuple[str, float | None]]

    @property
    def page(self) -> Page:
        """The tab."""
        return self.rater.page

    def rate(self) -> None:
        """Rate all constructs of a response, each on its control, and go on."""
        page = self.page
        for _ in KEYS:
            key = active(page)
            self.number += 1
            before = state(page, key)
            getattr(self, f"_{key}")(self.number)
            expect(before).to_have_text(re.compile("saved|cannot judge"))
            shown = field(page, key).input_value()
            self.given.append((key, float(shown) if shown else None))
        with moving_on(page):
            page.locator("#next").click()

    def _use(self, number: int) -> None:
        if number % 7 == 0:
            self.page.locator("#construct-use .cannot").click()
            self.page.locator("#construct-tone .open").click()
        else:
            self.page.locator("#construct-use .point").nth(number % 5).click()

    def _tone(self, number: int) -> None:
        self.page.locator("#construct-tone .point").nth(number % 4).click()

    def _rank(self, number: int) -> None:
        field(self.page, "rank").fill(str(number % 11))
        self.page.keyboard.press("Enter")

    def _depth(self, number: int) -> None:
        slider = self.page.locator("#slider-depth")
        box = slider.bounding_box()
        assert box is not None
        share = 0.03 + 0.94 * (number * 37 % 100) / 100
        slider.click(position={"x": box["width"] * share, "y": box["height"] / 2})

    def _pass(self, number: int) -> None:
        self.page.locator("#construct-pass .choice-button").nth(number % 2).click()

    def compare(self) -> None:
        """Choose the better response of a pair, and go on."""
        with moving_on(self.page):
            self.page.locator("#panel .points .choice").nth(1).click()
            self.page.locator("#next").click()


def test_every_control_stores_what_its_page_shows(
    any_study: Study, serve: Serve, arrive: Arrive
) -> None:
    with (any_study.folder / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(SCALES)
    any_study = Study.open(any_study.folder)
    queries = max(1, -(-EACH // 2))

    def pairs(study: Study) -> None:
        for look in LOOKS:
            pair_up(study, look, keys=("use",))

    served = serve(
        any_study,
        *LOOKS,
        filled=partial(fill, queries=queries, systems=2),
        keys=KEYS,
        arranged=pairs,
        rating='text_format = "rendered"',
    )
    faults = {}
    expected: Counter[tuple[str, str, float | None]] = Counter()
    for place, (look, options) in enumerate(LOOKS.items()):
        plays = Plays(arrive(served, look, **options), 3 * place, [])
        page = plays.rater.begin()
        faults[f"step, {look}"] = grave_violations(page)
        picture(page, f"controls-{look}")
        for _ in range(2 * queries):
            plays.rate()
        page.wait_for_url("**/compare/*")
        faults[f"comparison, {look}"] = grave_violations(page)
        for _ in range(queries):
            plays.compare()
        expect(page).to_have_url(re.compile("/rate/end$"))
        faults[f"end, {look}"] = grave_violations(page)
        expected.update((look, key, value) for key, value in plays.given)
        assert plays.rater.errors == []
    assert {name: fault for name, fault in faults.items() if fault} == {}
    table = served.study.score_table()
    assert (
        Counter(
            (row.scorer, row.construct, None if row.value != row.value else row.value)
            for row in table.itertuples()
        )
        == expected
    )
    assert len(table) == len(LOOKS) * len(KEYS) * 2 * queries
    assert set(table["text_format"]) == {"rendered"}
    assert len(decisions(served.study)) == len(LOOKS) * queries
    assert {row.text_format for row in decisions(served.study)} == {"rendered"}
    assert served.server.complaints == ""


def picture(page: Page, name: str) -> None:
    folder = os.environ.get("CCRS_TEST_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")
