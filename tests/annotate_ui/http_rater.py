"""A rater without a browser: speaks HTTP as the page's script does, and remembers every answer."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from html import unescape
from itertools import count
from math import ceil
from random import Random
from typing import Any
from uuid import uuid4

import aiohttp
from yarl import URL

_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')
_SECTION = re.compile(r'<section [^>]*class="construct[^>]*>', re.S)
_PANEL = re.compile(r'<section [^>]*id="panel"[^>]*>', re.S)
_META = re.compile(r'<meta name="csrf-token" content="([^"]+)"')
_HIDDEN = re.compile(r'name="csrf_token" value="([^"]+)"')
_AGAIN = (429, 500, 502, 503, 504)
_WAITS = (1.0, 2.0, 4.0, 8.0)
"""Seconds between attempts while the server is away, as the page's script waits."""


_COMING = 5
"""Intervals between saves in which everybody comes in, one after the other."""


class OutOfDateError(Exception):
    """A form that was sent again belongs to an earlier session."""


@dataclass(frozen=True)
class Confirmed:
    """A save that the server said is stored."""

    key: str
    place: str
    construct: str
    revision: int
    value: float
    seconds: float
    """Of the request that was answered."""
    waited: float
    """From the first attempt to the answer."""
    attempts: int


@dataclass
class Page:
    """What the rater's script knows of the step that is open."""

    rater: str
    csrf: str
    save_url: str
    revisions: dict[str, int]
    left: list[str]


@dataclass
class HttpRater:
    """A rater with kept-alive connections and a session of their own."""

    address: str
    link: str
    draw: Random
    deadline: float
    """Of `time.monotonic`; what is not answered by then is given up."""
    passed_on: dict[str, str] = field(default_factory=dict)
    """Headers that a reverse proxy with TLS would add to each request."""
    confirmed: list[Confirmed] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    """Keys of saves that were sent and never answered."""
    refused: int = 0
    """Answers that asked to slow down."""
    done: bool = False
    _was_away: bool = False
    """Since the last save the server could not be reached."""

    async def work(self, every: float, until: float) -> None:
        """Come in, and save once every so many seconds until then, or until all is rated.

        Late saves keep to the times that were set, so that a slow server meets as many as a quick
        one.
        """
        # Cookies of an address that is a number are kept only by a jar with this option.
        # A proxy's headers make this address one with TLS.
        jar = aiohttp.CookieJar(unsafe=True, treat_as_secure_origin=URL(self.address))
        limits = aiohttp.ClientTimeout(total=20)
        async with aiohttp.ClientSession(
            self.address, cookie_jar=jar, timeout=limits, headers=self.passed_on, trust_env=False
        ) as http:
            due = time.monotonic() + self.draw.uniform(0, _COMING * every)
            await _until(due)
            page = await self._join(http)
            while page is not None and due < until:
                self._was_away = False
                page = await self._save_next(http, page)
                due += every
                if self._was_away:
                    # Values that could not be entered are not made up for.
                    due += every * max(0, ceil((time.monotonic() - due) / every))
                await _until(due)
            self.done = page is None

    async def _join(self, http: aiohttp.ClientSession) -> Page | None:
        token = self.link.partition("#")[2]
        async for _ in self._attempts():
            # As a reload of the whole page: a session that came before the server went away has
            # another form than the one that was sent.
            form = {"csrf_token": _captured(_HIDDEN, await self._ask(http, "GET", "/join"))}
            try:
                text = await self._ask(http, "POST", "/join", data={**form, "token": token})
            except OutOfDateError:
                continue
            return await self._next(http, _captured(_HIDDEN, text))
        raise TimeoutError

    async def _next(self, http: aiohttp.ClientSession, csrf: str) -> Page | None:
        text = await self._ask(http, "POST", "/rate/next", data={"csrf_token": csrf})
        if not _PANEL.search(text):
            return None
        panel = _attributes(_captured(_PANEL, text))
        constructs = [_attributes(tag) for tag in _SECTION.findall(text)]
        return Page(
            panel["data-rater"],
            _captured(_META, text),
            constructs[0]["data-save-url"],
            {construct["data-key"]: int(construct["data-revision"]) for construct in constructs},
            [construct["data-key"] for construct in constructs if not construct["data-status"]],
        )

    async def _save_next(self, http: aiohttp.ClientSession, page: Page) -> Page | None:
        """Rate the next construct, or now and then change one of this step; then go on."""
        rated = [key for key, revision in page.revisions.items() if revision]
        changes = bool(rated) and self.draw.random() < 0.2
        construct = self.draw.choice(rated) if changes else page.left[0]
        await self._save(http, page, construct)
        if not changes:
            page.left.pop(0)
        return page if page.left else await self._next(http, page.csrf)

    async def _save(self, http: aiohttp.ClientSession, page: Page, construct: str) -> None:
        key, base = uuid4().hex, page.revisions[construct]
        # Never the value of before, which would be no revision.
        value = float((17 * base + self.draw.randrange(17)) % 101)
        body = {
            "construct": construct,
            "value": value,
            "status": "rated",
            "reason": None,
            "comment": None,
            "flags": [],
            "input_kind": "typed",
            "active_seconds": 2.5,
            "base_revision": base,
            "key": key,
        }
        headers = {"X-CSRFToken": page.csrf, "X-Rater": page.rater}
        began = time.perf_counter()
        async for attempts in self._attempts():
            sent = time.perf_counter()
            try:
                async with http.post(page.save_url, json=body, headers=headers) as response:
                    answer: Any = await response.json()
            except (aiohttp.ClientError, TimeoutError):
                continue
            self.refused += response.status == 429
            if response.status in _AGAIN:
                continue
            if response.status != 200:
                raise AssertionError(f"a save was refused: {response.status} {answer}")
            now = time.perf_counter()
            revision = page.revisions[construct] = answer["revision"]
            place = page.save_url.split("/")[-3]
            times = now - sent, now - began
            self.confirmed.append(
                Confirmed(key, place, construct, revision, value, *times, attempts)
            )
            return
        self.given_up.append(key)
        raise TimeoutError

    async def _ask(
        self, http: aiohttp.ClientSession, method: str, path: str, **content: Any
    ) -> str:
        """Return a page, asked for again while the server is away."""
        async for attempts in self._attempts():
            try:
                async with http.request(method, path, **content) as response:
                    text = await response.text()
            except (aiohttp.ClientError, TimeoutError):
                continue
            self.refused += response.status == 429
            if response.status in _AGAIN:
                continue
            if response.status == 400 and attempts > 1:
                raise OutOfDateError
            if response.status != 200:
                raise AssertionError(f"{method} {path}: {response.status}\n{text[:2000]}")
            return text
        raise TimeoutError

    async def _attempts(self) -> AsyncIterator[int]:
        """Yield 1, 2, ... with a pause before each but the first, until the deadline."""
        for attempts in count(1):
            if time.monotonic() > self.deadline:
                return
            yield attempts
            self._was_away = True
            await asyncio.sleep(_WAITS[min(attempts, len(_WAITS)) - 1])


async def _until(due: float) -> None:
    await asyncio.sleep(max(0.0, due - time.monotonic()))


def _captured(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    if match is None:
        raise AssertionError(f"{pattern.pattern} is not in the page:\n{text[:2000]}")
    return match[match.lastindex or 0]


def _attributes(tag: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
