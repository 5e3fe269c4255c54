"""What one loaded engine does: text as text, windows, structured answers, distributions."""

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.judge.tiny_model.process import ROOT
from tests.judge.vllm_cpu.process import environment, tiny, vllm_python

pytestmark = pytest.mark.model

ResultOf = Callable[[str], Any]


@pytest.fixture(scope="module")
def result_of(tmp_path_factory: pytest.TempPathFactory) -> ResultOf:
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


def test_an_argument_that_the_engine_does_not_take_is_named(result_of: ResultOf) -> None:
    result = result_of("unknown")
    assert "judge.vllm in study.toml" in result
    assert "'max_num_seq'" in result


def test_lines_encoded_one_by_one_are_the_tokens_of_the_whole(result_of: ResultOf) -> None:
    result = result_of("encoded")
    assert result["by_line"]
    assert all(result["equal"])


def test_names_of_control_tokens_reach_the_model_as_text(result_of: ResultOf) -> None:
    result = result_of("hostile")
    before, after, special = result["before"], result["after"], {*result["special"]}
    assert len(result["asked"]) == 15
    for tokens in result["asked"]:
        assert tokens[: len(before)] == before
        assert tokens[len(tokens) - len(after) :] == after
        assert not special & {*tokens[len(before) : len(tokens) - len(after)]}
        assert tokens.count(result["begin"]) == 1
        assert tokens[0] == result["begin"]


def test_prompts_beyond_the_window_are_named_before_anything_is_asked(result_of: ResultOf) -> None:
    result = result_of("long")
    assert "beyond the window of 4096 tokens; nothing was asked" in result["refused"]
    assert "of q:" not in result["refused"]
    assert result["asked"] == result["rows"] == []


def test_the_others_are_judged_where_that_is_wanted(result_of: ResultOf) -> None:
    result = result_of("long-skipped")
    assert result["missing"] == {"too_long": 5}
    assert len(result["rows"]) == 5 * 5
    assert max(map(len, result["asked"])) <= 4096 - 16


def test_structured_answers_are_numbers_where_free_ones_are_not(result_of: ResultOf) -> None:
    free, structured = result_of("digits-judged"), result_of("structured")
    assert len(structured["rows"]) == len(free["rows"]) == 60
    assert free["missing"]
    assert structured["missing"] == {}
    assert all(row[2] == f"{row[1]:g}" for row in structured["rows"] if row[2] is not None)
    # The free answer of the model is returned all the same.
    masses = [sum(row[3].values()) for row in structured["rows"] if row[3]]
    assert masses
    assert min(masses) < 1


def test_structured_answers_of_prompts_with_labels_are_labels(result_of: ResultOf) -> None:
    values = {"yes": 100, "partly right": 50, "no": 0}
    rows = result_of("labels")["rows"]
    assert len(rows) == 12
    assert all(row[2] in {None, *values} for row in rows)
    assert {row[1] for row in rows if row[2]} == {values[row[2]] for row in rows if row[2]}


def test_no_more_prompts_than_twice_what_it_works_on_are_under_way(result_of: ResultOf) -> None:
    result = result_of("full")
    assert len(result["asked"]) > 100
    assert 16 < result["most"] <= 32
    assert "the least possible for these prompts in blocks of 32 is" in result["notes"][0]


@pytest.mark.parametrize("what", ["whole", "digits"])
def test_distributions_are_what_an_exhaustive_computation_gives(
    result_of: ResultOf, what: str
) -> None:
    distributions = result_of(what)
    assert len(distributions) == 3
    for prompt in distributions:
        assert prompt["engine"], prompt["answer"]
        for score, share in prompt["exhaustive"].items():
            assert prompt["engine"].get(score, 0.0) == pytest.approx(share, abs=1e-3), score
    if what == "digits":
        # Numbers of one digit, of two and of three all have their share.
        shares = distributions[0]["engine"]
        assert len([score for score in shares if len(score) == 2]) > 10
        assert 0.01 < sum(shares.values()) <= 1 + 1e-6


def test_each_prompt_of_a_model_that_writes_digits_is_asked_eleven_times(
    result_of: ResultOf,
) -> None:
    result = result_of("digits-judged")
    assert len(result["asked"]) % 11 == 0
    assert {len(tokens) - len(result["asked"][0]) for tokens in result["asked"][:11]} == {0, 1, 2}
    assert any(row[3] for row in result["rows"])
