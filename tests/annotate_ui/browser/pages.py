"""What a rater does on the pages, as a person would: keys, and what is seen on the page."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, expect

from study import Study
from tests.annotate_ui.browser.relay import Wire
from tests.annotate_ui.browser.server import Server
from tests.annotate_ui.browser.stored_state import Rated, ratings

FIRST_STAGE, SECOND_STAGE, THIRD_STAGE = ("QR",), ("CC", "ID"), ("AC", "IR")
_FOCUSED = "() => document.activeElement?.id || document.activeElement?.tagName"


@dataclass(frozen=True)
class Served:
    """A study that is served: its server, the line to it, and the raters' links."""

    study: Study
    server: Server
    wire: Wire
    links: dict[str, str]

    @property
    def address(self) -> str:
        """Where the browser finds the pages."""
        return f"http://127.0.0.1:{self.wire.port}"


class Rater:
    """A rater with a browser of their own and one tab or more."""

    def __init__(self, served: Served, code: str, context: BrowserContext) -> None:
        self.served = served
        self.code = code
        self.context = context
        self.link = served.links[code]
        self.errors: list[str] = []
        # Of every tab, from its first line on.
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("console", lambda message: self._heard(message.type, message.text))
        self.page = context.new_page()

    def _heard(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.errors.append(text)

    @property
    def violations(self) -> list[str]:
        """What the browser refused because of the page's Content-Security-Policy."""
        return [text for text in self.errors if "Content Security Policy" in text]

    def ratings(self, construct: str | None = None) -> list[Rated]:
        """Return every revision of theirs in the order of storing."""
        return [row for row in ratings(self.served.study, construct) if row.rater == self.code]

    def new_tab(self, address: str = "") -> Page:
        """Open another tab, at an address if one is given."""
        page = self.context.new_page()
        if address:
            page.goto(address)
        return page

    def join(self) -> Page:
        """Open the link and press Begin."""
        self.page.goto(self.link)
        self.page.get_by_role("button", name="Begin").click()
        self.page.wait_for_url("**/rate")
        return self.page

    def begin(self) -> Page:
        """Come in and open the step whose turn it is."""
        self.join()
        self.go_on()
        return self.page

    def go_on(self) -> None:
        """Press the desk's button."""
        self.page.get_by_role("button", name=re.compile("Start rating|Go on")).click()
        self.page.wait_for_url(re.compile(r"/rate/\w+/\d+$|/rate/end$"))


def field(page: Page, key: str) -> Locator:
    """Return a construct's value field."""
    return page.locator(f"#value-{key}")


def state(page: Page, key: str) -> Locator:
    """Return the text of a construct's state."""
    return page.locator(f"#construct-{key} .state")


def active(page: Page) -> str:
    """Return the key of the construct that is being rated."""
    key = page.locator(".construct.active").get_attribute("data-key")
    assert key is not None
    return key


def keys(page: Page) -> tuple[str, ...]:
    """Return the constructs of the step, in the order of the page."""
    constructs = page.locator(".construct").evaluate_all("all => all.map((one) => one.dataset.key)")
    return tuple(constructs)


def focused(page: Page) -> str:
    """Return the id of what has the focus, or the name of its element."""
    return str(page.evaluate(_FOCUSED))


def tab_to(page: Page, wanted: str, most: int = 40) -> int:
    """Press Tab until `wanted` (an id) has the focus; return how often."""
    for presses in range(most + 1):
        if focused(page) == wanted:
            return presses
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} is not among the first {most} stops of the Tab key")


def enter(page: Page, value: Any) -> None:
    """Type a value where the focus is, and press Enter, twice where it stops at the next part."""
    page.keyboard.type(str(value))
    press_on(page)


def press_on(page: Page) -> None:
    """Press Enter, and once more where going on opens the next stage and is therefore asked for."""
    may_stop = page.locator("#panel[data-opens-next-stage]").count() > 0
    page.keyboard.press("Enter")
    if may_stop and focused(page) == "next":
        page.keyboard.press("Enter")


@contextmanager
def moving_on(page: Page, within: float = 15) -> Iterator[None]:
    """Do something that opens another page, and wait for it, `within` so many seconds."""
    here = page.url
    yield
    page.wait_for_url(lambda address: address != here, timeout=1000 * within)


def rate_step(page: Page, *values: Any) -> None:
    """Rate what is left of a step by keyboard alone, and be carried on by the last Enter."""
    with moving_on(page):
        for value in values:
            tab_to(page, f"value-{active(page)}")
            enter(page, value)


def kill_tabs(page: Page) -> None:
    """End the processes that show pages, as a crash or the system does: nothing is run any more.

    The tab is closed through the browser's process, whose answer has a time limit; that of
    `Page.close` has none.
    """
    browser = page.context.browser
    assert browser is not None
    session = browser.new_browser_cdp_session()
    target = page.context.new_cdp_session(page).send("Target.getTargetInfo")["targetInfo"]
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    with page.expect_event("crash"):
        for process in processes:
            if process["type"] == "renderer":
                os.kill(process["id"], signal.SIGKILL)
    with page.expect_event("close"):
        session.send("Target.closeTarget", {"targetId": target["targetId"]})


def saved(page: Page, key: str) -> None:
    """Wait until a construct is shown as saved."""
    expect(state(page, key)).to_have_text("saved", timeout=5_000)


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait until a condition that the page does not show holds, for example in the database."""
    for _ in range(50):
        if holds():
            return
        page.wait_for_timeout(100)
    raise AssertionError("the condition did not hold within 5 seconds")


def wait_all_saved(page: Page) -> None:
    """Wait until the page shows that nothing is under way, for each construct and in all."""
    # The line above all constructs changes only where saving takes a moment.
    expect(page.locator('[data-state="saving"]')).to_have_count(0, timeout=60_000)
    expect(page.locator("#saved")).to_contain_text("All saved", timeout=60_000)
