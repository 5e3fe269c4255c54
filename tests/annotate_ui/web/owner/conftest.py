"""An owner with a password and a browser, on each database."""

from collections.abc import Callable
from unittest.mock import patch

import pytest
from flask import Flask
from werkzeug.security import generate_password_hash

from annotate_ui.web.owner import password as stored_password
from annotate_ui.web.owner.password import set_password
from study import Study
from tests.annotate_ui.web.conftest import Browser

PASSWORD = "three plain random words"


@pytest.fixture
def protected(campaign: Study) -> Study:
    """Return the campaign, with a password for its owner's pages.

    Its hash takes a thirtieth of the usual work, which would take longer than most tests.
    """

    def hashed(password: str, method: str) -> str:
        return generate_password_hash(password, f"{method}:1024:8:1")

    with patch.object(stored_password, "generate_password_hash", hashed):
        set_password(campaign, PASSWORD)
    return campaign


@pytest.fixture
def visitor(app: Flask) -> Browser:
    """Return a browser without a session."""
    return Browser(app.test_client())


@pytest.fixture
def sign_in(app: Flask, protected: Study) -> Callable[[], Browser]:
    """Return what signs the owner in, each time with another browser."""
    del protected

    def signed_in() -> Browser:
        browser = Browser(app.test_client())
        browser.get("/owner/sign-in")
        browser.submit("/owner/sign-in", password=PASSWORD)
        assert browser.at == "/owner"
        return browser

    return signed_in


@pytest.fixture
def owner(sign_in: Callable[[], Browser]) -> Browser:
    """Return the owner's browser, signed in."""
    return sign_in()
