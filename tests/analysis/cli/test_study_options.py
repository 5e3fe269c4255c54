"""The options of a report from a study: attributes of runs."""

from typing import Any

import pytest

from analysis.cli.study_options import attributes

pytestmark = pytest.mark.usefixtures("without_drawing")


def run(name: str, decoding: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "engine": "openai",
        "model": "m",
        "model_revision": None,
        "prompt_version": "p",
        "prompt_hash": "h",
        "seed": None,
        "decoding": {"temperature": 0.0, "max_tokens": 16, **(decoding or {})},
        **changes,
    }


def differing(*runs: dict[str, Any]) -> set[str]:
    single, two = attributes(runs).values()
    assert list(single) == list(two)
    return {name for name in single if single[name] != two[name]}


def test_each_choice_is_an_attribute() -> None:
    assert differing(run("a"), run("b")) == set()
    assert differing(run("a"), run("b", seed=0)) == {"seed"}
    assert differing(run("a", seed=1), run("b", seed=2)) == {"seed"}
    assert differing(run("a"), run("b", {"shuffle_passages": 0})) == {"passage order"}
    assert differing(run("a"), run("b", {"temperature": 0.7})) == {"temperature"}
    assert differing(run("a"), run("b", model="n", model_revision="v")) == {"model", "revision"}


def test_what_follows_from_another_choice_is_none() -> None:
    other = run("b", {"max_tokens": 400}, prompt_version="q", prompt_hash="i")
    assert differing(run("a"), other) == {"prompts"}
    template = {"chat_template_sha256": "x", "refused": ["seed"]}
    assert differing(run("a"), run("b", template, model="n")) == {"model"}


def test_prompts_with_other_words_under_one_name_are_told_apart() -> None:
    assert differing(run("a"), run("b", prompt_hash="i")) == {"words of the prompts"}
