"""A real browser, and a campaign that is served to it."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from annotate_ui.inviting import invite
from study import Study
from tests.annotate_ui.browser.campaign import fill, give, served_at
from tests.annotate_ui.browser.pages import Rater, Served
from tests.annotate_ui.browser.server import Server, free_port
from tests.annotate_ui.browser.wire import Wire
from tests.conftest import absent

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

Serve = Callable[..., Served]


# For this package alone, and closed at its end: while Playwright's loop is alive in this thread,
# asyncio.run fails in every other test.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Return the system's Chromium, headless."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        absent("Chromium is not installed")
        return
    arguments = ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=arguments)
        yield launched
        launched.close()


@pytest.fixture
def serve(tmp_path: Path, browser: Browser) -> Iterator[Serve]:
    """Return what fills a study, assigns all of it to raters, and serves it."""
    with ExitStack() as ends:

        def started(
            study: Study,
            *raters: str,
            filled: Callable[[Study], None] = fill,
            **given: object,
        ) -> Served:
            port = free_port()
            wire = Wire(port)
            ends.callback(wire.close)
            study = served_at(study, f"http://127.0.0.1:{wire.port}")
            ends.callback(study.close)
            filled(study)
            for rater in raters:
                give(study, rater, **given)  # type: ignore[arg-type]
            links = {made.rater: made.link for made in invite(study, raters)}
            server = Server(study.folder, tmp_path / "state", port)
            ends.callback(server.stop)
            server.start()
            return Served(study, server, wire, links)

        yield started


@pytest.fixture
def arrive(browser: Browser) -> Iterator[Callable[..., Rater]]:
    """Return what lets a rater open their link in a browser of their own."""
    with ExitStack() as ends:

        def arrived(served: Served, code: str, **options: object) -> Rater:
            context = browser.new_context(**{"locale": "en-GB", **options})  # type: ignore[arg-type]
            ends.callback(context.close)
            context.set_default_timeout(15_000)
            return Rater(served, code, context)

        yield arrived
