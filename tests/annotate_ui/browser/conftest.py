"""A real browser, and a campaign that is served to it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from annotate_ui.participants.invitation import invite
from study import Study
from tests.annotate_ui.browser.chromium import chromium
from tests.annotate_ui.browser.marked_campaign import fill, give, served_at
from tests.annotate_ui.browser.pages import Rater, Served
from tests.annotate_ui.browser.relay import Wire
from tests.annotate_ui.browser.server import Server, free_port
from tests.annotate_ui.rated_campaign import ALL

Serve = Callable[..., Served]
Arrive = Callable[..., Rater]
Newcomer = Callable[..., Rater]


# For this package alone, and closed at its end: tests of others use asyncio.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Return the system's Chromium, headless."""
    with chromium() as launched:
        yield launched


@contextmanager
def serving(
    study: Study,
    raters: Sequence[str],
    filled: Callable[[Study], None],
    state: Path,
    *,
    keys: Sequence[str] = ALL,
    arranged: Callable[[Study], None] | None = None,
    rating: str = "",
) -> Iterator[Served]:
    """Fill a study, assign all of it to each rater, arrange that otherwise, and serve it.

    `keys` are the constructs that are assigned, `rating` further lines of the section `[rating]`.
    """
    port = free_port()
    with ExitStack() as ends:
        wire = Wire(port)
        ends.callback(wire.close)
        study = served_at(study, f"http://127.0.0.1:{wire.port}", rating)
        ends.callback(study.close)
        filled(study)
        for rater in raters:
            give(study, rater, keys=keys)
        if arranged is not None:
            arranged(study)
        links = {made.rater: made.link for made in invite(study, raters)}
        server = Server(study.folder, state, port)
        ends.callback(server.stop)
        server.start()
        yield Served(study, server, wire, links)


@pytest.fixture
def serve(tmp_path: Path, browser: Browser) -> Iterator[Serve]:
    """Return what fills a study, assigns all of it to raters, and serves it."""
    with ExitStack() as ends:

        def started(
            study: Study, *raters: str, filled: Callable[[Study], None] = fill, **other: Any
        ) -> Served:
            return ends.enter_context(serving(study, raters, filled, tmp_path / "state", **other))

        yield started


@pytest.fixture
def arrive(browser: Browser) -> Iterator[Arrive]:
    """Return what gives a rater a browser of their own."""
    with ExitStack() as ends:

        def arrived(served: Served, code: str, **options: Any) -> Rater:
            context = browser.new_context(**{"locale": "en-GB", **options})
            ends.callback(context.close)
            context.set_default_timeout(15_000)
            return Rater(served, code, context)

        yield arrived


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Served]:
    """Return a campaign of one query with two responses, for as many raters as a module needs."""
    folder = tmp_path_factory.mktemp("shared")
    raters = [f"rater-{number}" for number in range(1, 31)]
    filled = partial(fill, queries=1, systems=2)
    study = Study.create(folder / "study")
    with serving(study, raters, filled, folder / "state") as shared:
        yield shared


@pytest.fixture(scope="module")
def codes(served: Served) -> Iterator[str]:
    """Return the raters who have not come yet."""
    return iter(served.links)


@pytest.fixture
def newcomer(served: Served, codes: Iterator[str], arrive: Arrive) -> Newcomer:
    """Return what lets in a rater of the shared campaign who has rated nothing yet."""

    def arrived(**options: Any) -> Rater:
        return arrive(served, next(codes), **options)

    return arrived
