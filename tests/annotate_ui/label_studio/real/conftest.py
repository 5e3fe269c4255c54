"""A running Label Studio with two raters, and a study whose slots are kept for it."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from annotate_ui.label_studio.client import Server
from study import Study
from study.assignment.planner import assign
from tests.annotate_ui.browser.conftest import browser
from tests.annotate_ui.label_studio.real.process import OWNER, LabelStudioServer, Member, running
from tests.annotate_ui.rated_campaign import fill
from tests.conftest import absent

__all__ = ["browser"]


@pytest.fixture(scope="session")
def sdk() -> None:
    """Ask for label-studio-sdk, which is an extra."""
    if find_spec("label_studio_sdk") is None:
        absent("label-studio-sdk is not installed")


@pytest.fixture(scope="session")
def label_studio(sdk: None) -> Iterator[LabelStudioServer]:
    """Return a running server, which no test made call another machine."""
    executable = os.environ.get("CCRS_TEST_LABEL_STUDIO")
    if not executable:
        absent("CCRS_TEST_LABEL_STUDIO names no label-studio")
        return
    with running(Path(executable)) as server:
        yield server
        assert server.outside_calls() == []


@pytest.fixture(scope="session")
def members(label_studio: LabelStudioServer) -> tuple[Member, Member]:
    """Return two accounts of raters."""
    return label_studio.member("ada@example.org"), label_studio.member("bo@example.org")


@pytest.fixture
def server(label_studio: LabelStudioServer) -> Iterator[Server]:
    """Return the server as the study's owner speaks to it."""
    with Server(label_studio.url, OWNER) as opened:
        yield opened


@pytest.fixture
def campaign(study: Study) -> Study:
    """Return a study of two queries by two systems, each response with two slots over there."""
    fill(study, queries=2, systems=2)
    assign(study, per_item=2, open_slots=True, channel="label_studio")
    return study
