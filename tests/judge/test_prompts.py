"""The prompts are the paper's, word for word, and a changed word is another version."""

import json

import pytest

from judge.prompts import PAPER, Template, prompt_version
from study import StudyError
from study.constructs import CCRS
from tests.conftest import ROOT, absent

# Renewed only with a new prompt version: runs and published figures name it.
HASH = "38e5b203406a13994941b157d7c46930564f678be7ab9467eeb3d8e64bc5cd68"


def test_the_words_are_the_papers() -> None:
    path = ROOT.parent / "shared" / "method" / "ccrs.json"
    if not path.is_file():
        absent("the method's own file of prompts is not beside the project")
    method = json.loads(path.read_text(encoding="utf-8"))
    version = prompt_version(PAPER)
    assert version.name == method["prompt_version"]
    published = {c["key"]: "\n".join(c["prompt_lines"]) for c in method["constructs"]}
    assert {key: t.text for key, t in version.templates.items()} == published
    layout = method["layout"]
    assert (version.max_tokens, version.temperature) == (
        layout["max_tokens"],
        layout["temperature"],
    )
    assert [version.scale.min, version.scale.max] == method["scale"]
    shown = {"question": "question", "response": "response", "context": "context"}
    for construct in method["constructs"]:
        sees = {shown.get(name, "reference") for name in construct["judge_sees"]}
        assert version.templates[construct["key"]].sees == sees


def test_a_changed_prompt_can_not_pass_for_the_old_one() -> None:
    assert prompt_version(PAPER).hash == HASH


def test_raters_and_judge_may_see_the_same() -> None:
    version = prompt_version(PAPER)
    assert {c.key: frozenset(c.sees) for c in CCRS} == {
        key: template.sees for key, template in version.templates.items()
    }


def test_placeholders_are_filled_in_one_pass() -> None:
    template = Template("C: {context}\nr: {response}\n{unknown} {ground_truth}")
    filled = template.fill(
        {
            "context": "it says {ground_truth} and {response}",
            "response": "{context}",
            "ground_truth": "g",
            "question": "?",
        }
    )
    assert filled == "C: it says {ground_truth} and {response}\nr: {context}\n{unknown} g"
    assert template.own_bytes == len("C: \nr: \n{unknown} ")


def test_an_unknown_version_is_refused_with_the_nearest() -> None:
    with pytest.raises(StudyError, match="Did you mean 'ccrs-paper-v1'"):
        prompt_version("ccrs-paper-v2")
