"""Tables with columns of several constructs, whose scorers' names have more than one part."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from ccrs_study import evaluate
from study.cli.root import cli

pytestmark = pytest.mark.usefixtures("without_drawing")

HUMAN = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 2, 4]


def table(names: Sequence[str]) -> pd.DataFrame:
    """A column of scores for each name, all different and alike."""
    columns = {
        name: [1 + (value + (row * (place + 2)) % 3) % 5 for row, value in enumerate(HUMAN)]
        for place, name in enumerate(names)
    }
    return pd.DataFrame({"item": [f"i{n}" for n in range(12)], **columns})


def report(folder: Path, frame: pd.DataFrame, *options: str) -> Result:
    path = folder / "t.csv"
    frame.to_csv(path, index=False)
    return CliRunner().invoke(cli, ["report", str(path), "--text", *options])


def names(scorers: str, constructs: str, form: str = "{0}_{1}") -> list[str]:
    return [form.format(s, c) for c in constructs.split() for s in scorers.split()]


@pytest.mark.parametrize(
    ("columns", "compared"),
    [
        (names("gpt human_a human_b", "rel flu"), "gpt compared with 2 raters (human_a and hum"),
        (names("gpt human_a human_b", "relevance fluency"), "gpt compared with 2 raters (human_a"),
        (names("gpt human_a", "rel flu"), "gpt compared with human_a: 12 responses, 2 constructs"),
        (names("gpt human_a human_b", "rel flu", "{1}_{0}"), "gpt compared with 2 raters (human"),
        (names("gpt human_a human_b", "rel flu", "{0} {1} score"), "12 responses, 2 constructs"),
        (names("gpt_4o human_a human_b", "rel flu"), "gpt_4o compared with 2 raters (human_a an"),
        (names("llm expert_anna expert_ben", "answer_relevance fluency"), "llm compared with 2 ra"),
        (names("llmJudge humanA humanB", "Rel Flu", "{0}{1}"), "12 responses, 2 constructs"),
        (sorted(names("gpt human_b human_a", "rel flu")), "gpt compared with 2 raters (human_a a"),
        (
            ["gpt_rel", "human_rel_a", "human_rel_b", "gpt_flu", "human_flu_a", "human_flu_b"],
            "gpt compared with 2 raters",
        ),
        # In another order on the second construct.
        (
            ["gpt_rel", "human_a_rel", "human_b_rel", "gpt_flu", "human_b_flu", "human_a_flu"],
            "gpt compared with 2 raters (human_a and human_b): 12 responses, 2 constructs",
        ),
        # One rater has no scores on one construct.
        (
            ["gpt_rel", "human_b_rel", "gpt_flu", "human_a_flu", "human_b_flu"],
            "12 responses, 2 constructs",
        ),
    ],
)
def test_constructs_are_read_from_parts_of_names(
    tmp_path: Path, columns: list[str], compared: str
) -> None:
    frame = table(columns)
    result = report(tmp_path, frame)
    assert result.exit_code == 0, result.output
    assert compared in result.stdout
    assert compared in evaluate(frame).verdict


def test_two_judges_three_constructs_and_three_raters(tmp_path: Path) -> None:
    frame = table(names("gpt4 claude human_a human_b human_c", "rel flu coh"))
    result = report(tmp_path, frame)
    assert result.exit_code == 0, result.output
    for judge in ("gpt4", "claude"):
        compared = f"{judge} compared with 3 raters (human_a, human_b and human_c)"
        assert f"{compared}: 12 responses, 3 constructs" in result.stdout


def test_figures_are_those_of_declared_constructs(tmp_path: Path) -> None:
    frame = table(names("gpt human_a human_b", "rel flu"))
    declared = evaluate(
        frame,
        judge={"rel": "gpt_rel", "flu": "gpt_flu"},
        human={"rel": ["human_a_rel", "human_b_rel"], "flu": ["human_a_flu", "human_b_flu"]},
        id="item",
    )
    pd.testing.assert_frame_equal(evaluate(frame).to_frame(), declared.to_frame())


def test_scores_that_name_no_construct_are_one(tmp_path: Path) -> None:
    frame = table(["gpt", "human_a", "human_b", *names("gpt human_a human_b", "rel")])
    result = report(tmp_path, frame)
    assert result.exit_code == 0, result.output
    assert "--human score=human_a --human score=human_b --human rel=human_a_rel" in result.output


def test_constructs_of_one_side_are_left_out_in_words(tmp_path: Path) -> None:
    result = report(tmp_path, table(["gpt_rel", "human_a_rel", "human_b_rel", "gpt_flu"]))
    assert result.exit_code == 0, result.output
    assert "Nothing says whose scores these are: gpt_flu." in result.output
    assert "gpt_rel compared with 2 raters (human_a_rel and human_b_rel)" in result.stdout


def test_raters_without_a_common_construct_are_refused_with_the_command(tmp_path: Path) -> None:
    frame = table(["gpt_rel", "human_a_rel", "gpt_flu", "human_b_flu"])
    result = report(tmp_path, frame)
    assert result.exit_code == 2
    assert "it is not clear which columns of judges and raters belong together" in result.output
    command = result.output.rpartition("ccrs ")[2].strip().removesuffix(".")
    assert "--human rel=human_a_rel --human flu=human_b_flu" in command
    ready = CliRunner().invoke(cli, shlex.split(command))
    assert ready.exit_code == 0, ready.output
    # They stay two people.
    for rater in ("human_a", "human_b"):
        assert rater in ready.stdout
    with pytest.raises(ValueError, match="belong together"):
        evaluate(frame)


@pytest.mark.parametrize(
    "columns",
    [
        ["gpt_4o", "claude_sonnet", "human_a", "human_b"],
        ["gpt_rel", "human_a_rel", "human_b_rel"],
        ["rel_gpt_4o", "rel_human_a", "rel_human_b"],
        ["gpt_overall", "claude", "human_anna_overall", "human_ben_overall"],
    ],
)
def test_one_construct_stays_one(tmp_path: Path, columns: list[str]) -> None:
    result = report(tmp_path, table(columns))
    assert result.exit_code == 0, result.output
    assert "12 responses;" in result.stdout
    assert "2 raters" in result.stdout
