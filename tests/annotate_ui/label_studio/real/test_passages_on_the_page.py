"""Relevance that a person enters for each passage on the real page, exported and measured."""

from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser

from judge.metrics.relevance_judgments import read_relevance
from tests.annotate_ui.label_studio.real.process import LabelStudioServer
from tests.annotate_ui.label_studio.real.rater_actions import signed_in, submit
from tests.annotate_ui.label_studio.real.test_foreign_projects import made

pytestmark = pytest.mark.browser

PASSAGES = """<View><Text name="q" value="$query"/>
<Repeater on="$passages" indexFlag="{{idx}}">
<Text name="p_{{idx}}" value="$passages[{{idx}}].text"/>
<Choices name="relevance_{{idx}}" toName="p_{{idx}}" choice="single">
<Choice value="Relevant"/><Choice value="Off the topic"/></Choices></Repeater></View>"""


def test_choices_of_a_repeater_are_relevance_judgments(
    label_studio: LabelStudioServer, browser: Browser, tmp_path: Path
) -> None:
    passages = [{"document": f"d{n}", "text": f"Passage number {n}."} for n in range(2)]
    data = {"query_id": "q1", "query": "Which?", "passages": passages}
    project, (task,) = made(label_studio, PASSAGES, data)
    page = signed_in(browser, label_studio, label_studio.member(f"{uuid4().hex}@example.org"))
    page.goto(f"{label_studio.url}/projects/{project}/data?task={task}")
    page.get_by_text("Off the topic").nth(0).click()
    page.get_by_text("Relevant").nth(1).click()
    submit(page)
    file = tmp_path / "export.json"
    with label_studio.client() as client:
        file.write_bytes(client.get(f"/api/projects/{project}/export?exportType=JSON").content)
    grades = read_relevance(file, {"Relevant": 1, "Off the topic": 0})
    assert grades == {"q1": {"d0": 0, "d1": 1}}
