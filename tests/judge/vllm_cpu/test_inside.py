"""What one loaded engine does: text as text, windows, structured answers, distributions."""

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.judge.tiny_model.process import ROOT
from tests.judge.vllm_cpu.process import environment, tiny, vllm_python

pytestmark = pytest.mark.model

Told = Callable[[str], Any]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Return what `tests.judge.vllm_cpu.inside` found out, by question."""
    folder = tmp_path_factory.mktemp("inside")
    python = vllm_python()
    whole = tiny(tmp_path_factory.mktemp("model") / "whole")
    digits = tmp_path_factory.mktemp("model") / "digits"
    for words in (
        ("digit_model", str(digits)),
        ("inside", str(whole), str(digits), str(folder)),
    ):
        done = subprocess.run(
            [python, "-m", f"tests.judge.vllm_cpu.{words[0]}", *words[1:]],
            check=False,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment(),
        )
        assert done.returncode == 0, done.stderr[-4000:]
    return lambda what: json.loads((folder / f"{what}.json").read_text(encoding="utf-8"))


def test_an_argument_that_the_engine_does_not_take_is_named(told: Told) -> None:
    said = told("unknown")
    assert "judge.vllm in study.toml" in said
    assert "'max_num_seq'" in said


def test_names_of_control_tokens_reach_the_model_as_text(told: Told) -> None:
    said = told("hostile")
    before, after, special = said["before"], said["after"], {*said["special"]}
    assert len(said["asked"]) == 15
    for tokens in said["asked"]:
        assert tokens[: len(before)] == before
        assert tokens[len(tokens) - len(after) :] == after
        assert not special & {*tokens[len(before) : len(tokens) - len(after)]}
        assert tokens.count(said["begin"]) == 1
        assert tokens[0] == said["begin"]


def test_prompts_beyond_the_window_are_named_before_anything_is_asked(told: Told) -> None:
    said = told("long")
    assert "beyond the window of 4096 tokens; nothing was asked" in said["refused"]
    assert "of q:" not in said["refused"]
    assert said["asked"] == said["rows"] == []


def test_the_others_are_judged_where_that_is_wanted(told: Told) -> None:
    said = told("long-skipped")
    assert said["missing"] == {"too_long": 5}
    assert len(said["rows"]) == 5 * 5
    assert max(map(len, said["asked"])) <= 4096 - 16


def test_structured_answers_are_numbers_where_free_ones_are_not(told: Told) -> None:
    free, structured = told("digits-judged"), told("structured")
    assert len(structured["rows"]) == len(free["rows"]) == 60
    assert free["missing"]
    assert structured["missing"] == {}
    assert all(row[2] == f"{row[1]:g}" for row in structured["rows"] if row[2] is not None)
    # What the model would have said freely is told all the same.
    masses = [sum(row[3].values()) for row in structured["rows"] if row[3]]
    assert masses
    assert min(masses) < 1


def test_no_more_prompts_than_twice_what_it_works_on_are_under_way(told: Told) -> None:
    said = told("full")
    assert len(said["asked"]) > 100
    assert 16 < said["most"] <= 32
    assert "the least possible for these prompts in blocks of 32 is" in said["notes"][0]


@pytest.mark.parametrize("what", ["whole", "digits"])
def test_distributions_are_what_an_exhaustive_computation_gives(told: Told, what: str) -> None:
    found = told(what)
    assert len(found) == 3
    for one in found:
        assert one["engine"], one["said"]
        for score, share in one["exhaustive"].items():
            assert one["engine"].get(score, 0.0) == pytest.approx(share, abs=1e-3), score
    if what == "digits":
        # Numbers of one digit, of two and of three all have their share.
        shares = found[0]["engine"]
        assert len([score for score in shares if len(score) == 2]) > 10
        assert 0.01 < sum(shares.values()) <= 1 + 1e-6


def test_each_prompt_of_a_model_that_writes_digits_is_asked_eleven_times(told: Told) -> None:
    said = told("digits-judged")
    assert len(said["asked"]) % 11 == 0
    assert {len(tokens) - len(said["asked"][0]) for tokens in said["asked"][:11]} == {0, 1, 2}
    assert any(row[3] for row in said["rows"])
