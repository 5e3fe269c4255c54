"""A served campaign and the people who come to it, without a browser."""

import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar
from uuid import uuid4

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.security import generate_password_hash
from werkzeug.test import TestResponse

from annotate_ui.participants.invitation import invite
from annotate_ui.web.app import create_app
from annotate_ui.web.rate_limits import limiter
from study import Study
from tests.annotate_ui.rated_campaign import fill, give


class CompiledTemplates(BytecodeCache):
    """Compiled templates of all the apps of this process."""

    kept: ClassVar[dict[str, bytes]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take a template that another app compiled."""
        if bucket.key in self.kept:
            bucket.bytecode_from_string(self.kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template for other apps."""
        self.kept[bucket.key] = bucket.bytecode_to_string()


@pytest.fixture(autouse=True)
def _templates_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Flask, "jinja_options", {"bytecode_cache": CompiledTemplates()})


@pytest.fixture(autouse=True)
def _quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords by the product's method in little memory, which takes a thirtieth."""
    monkeypatch.setattr(
        "annotate_ui.web.owner.password.generate_password_hash",
        lambda password, method: generate_password_hash(password, method=f"{method}:1024:8:1"),
    )


class Browser:
    """What a browser does for a rater: keeps cookies, sends the page's tokens."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client
        self.rater = ""
        self.csrf = ""
        self.at = ""
        self.received: list[bytes] = []

    def get(self, address: str) -> TestResponse:
        """Open a page and remember its tokens."""
        answer = self.client.get(address)
        self._read(answer)
        return answer

    def submit(self, address: str, **fields: str) -> TestResponse:
        """Send a form of the page, and follow where it leads."""
        answer = self.client.post(
            address, data={"csrf_token": self.csrf, **fields}, follow_redirects=True
        )
        self._read(answer)
        return answer

    def send(self, address: str, body: Any, **headers: str) -> TestResponse:
        """Send JSON as the page's script does."""
        sent_headers = {"X-CSRFToken": self.csrf, "X-Rater": self.rater, **headers}
        return self.client.post(address, json=body, headers=sent_headers)

    def begin(self, link: str) -> TestResponse:
        """Come in with a link."""
        self.get("/join")
        return self.submit("/join", token=link.partition("#")[2])

    def go_on(self) -> TestResponse:
        """Ask for the next step."""
        return self.submit("/rate/next")

    def save(self, construct: str, value: float | None, base: int = 0, **more: Any) -> TestResponse:
        """Commit a value at the step that is open."""
        body = {
            "construct": construct,
            "value": value,
            "status": "rated",
            "reason": None,
            "comment": None,
            "flags": [],
            "input_kind": "typed",
            "active_seconds": 1.0,
            "base_revision": base,
            "key": uuid4().hex,
        } | more
        return self.send(f"{self.at}/save", body)

    def _read(self, answer: TestResponse) -> None:
        self.received.append(answer.data)
        text = answer.get_data(as_text=True)
        for pattern in (
            r'name="csrf_token" value="([^"]+)"',
            r'name="csrf-token" content="([^"]+)"',
        ):
            if match := re.search(pattern, text):
                self.csrf = match[1]
        if match := re.search(r'data-rater="([0-9a-f]+)"', text):
            self.rater = match[1]
        self.at = answer.request.path


@pytest.fixture
def campaign(any_study: Study) -> Study:
    """Return a campaign of one query with two responses, on each database."""
    fill(any_study, queries=1, systems=2)
    give(any_study, "anna")
    give(any_study, "ben")
    return any_study


@pytest.fixture
def app(campaign: Study) -> Iterator[Flask]:
    """Return the application for the campaign."""
    made = create_app(campaign, b"k" * 32)
    yield made
    limiter.reset()


@pytest.fixture
def come(app: Flask, campaign: Study) -> Callable[[str], Browser]:
    """Return a function that lets a rater in, with a separate browser."""
    links = {made.rater: made.link for made in invite(campaign)}

    def coming(code: str) -> Browser:
        browser = Browser(app.test_client())
        assert browser.begin(links[code]).status_code == 200
        return browser

    return coming
