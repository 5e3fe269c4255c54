"""An owner with a password and a browser, on each database."""

from collections.abc import Callable

import pytest
from flask import Flask

from annotate_ui.web.owner.password import set_password
from study import Study
from tests.annotate_ui.web.conftest import Browser

PASSWORD = "three plain random words"


@pytest.fixture
def protected(campaign: Study) -> Study:
    """Return the campaign, with a password for its owner's pages."""
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
