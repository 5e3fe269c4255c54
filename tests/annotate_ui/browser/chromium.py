"""The system's Chromium, headless, for tests."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.conftest import absent

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start it; a test is skipped where it is not installed.

    While it runs, no second one can be started in this thread, and asyncio.run fails.
    """
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        absent("Chromium is not installed")
        raise AssertionError("absent skips or fails")
    arguments = ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=arguments)
        yield launched
        launched.close()
