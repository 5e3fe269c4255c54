"""Scales that are understood from the values, and odd values among them."""

import random
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from analysis.cli.report import report
from analysis.core.likely_scales import likely_options, scored_lists


def run(path: Path, columns: dict[str, list[object]], *options: str) -> Result:
    pd.DataFrame(columns).to_csv(path, index=False)
    return CliRunner().invoke(report, [str(path), "--text", *options])


def of_lists(human: list[float], judge: list[float]) -> list[str]:
    pairs = {("score", "human"): human, ("score", "llm"): judge}
    kinds = {"human": "human", "llm": "judge"}
    return list(likely_options(scored_lists(pairs, kinds, dict.fromkeys(pairs))))


@pytest.mark.parametrize(
    ("human", "judge", "options"),
    [
        ([1, 2, 5, 3], [1, 4, 5, 2], ["1:5:1"]),
        ([1, 2.5, 5, 3], [1, 4, 5, 2], ["1:5"]),
        ([1, 2, 3, 2], [1, 3, 3, 2], ["1:3:1"]),
        # One point above people's grades is another grade, not another scale.
        ([1, 2, 5, 3], [2, 3, 6, 4], ["1:6:1"]),
        ([1, 2, 5, 3], [20, 40, 100, 60], ["1:5:1", "llm:score=0:100"]),
        # School marks up to 20, of which 5 points are not a twentieth.
        ([4, 12, 19, 16], [8, 14, 20, 11], ["0:20"]),
        ([4, 12.5, 19, 16], [20, 40, 100, 60], ["0:20", "llm:score=0:100"]),
        # Of several usual scales the narrowest, since the allowed bias is a share of it.
        ([4, 12, 25, 16], [8, 14, 20, 11], ["0:30"]),
        ([4, 12, 41, 16], [8, 14, 39, 11], ["0:50"]),
        ([4, 12, 55, 16], [8, 14, 39, 11], ["0:100"]),
        ([1, 2, 4, 3], [1, 4, 3, 2], ["1:4:1"]),
        ([2, 3, 4, 3], [3, 4, 3, 2], ["1:5:1"]),
        ([1, 2, 4, 3], [1, 4, 5, 2], ["1:5:1"]),
        ([1, 8, 4, 10], [3, 7, 9, 2], ["1:10"]),
        ([1, 8, 4, 10], [0, 7, 9, 2], ["0:10"]),
        ([1.5, 8, 4, 7], [3, 7, 9, 2], ["1:10"]),
    ],
)
def test_the_shortest_list_of_scales(
    human: list[float], judge: list[float], options: list[str]
) -> None:
    assert of_lists(human, judge) == options


GRADES = [1, 2, 3, 4, 5, 4, 3, 2, 1, 5, 4, 3, 2, 1]


@pytest.mark.parametrize(("odd", "shown"), [(-1, "-1"), (99, "99"), (55, "55")])
def test_a_few_values_outside_of_the_scale_are_named(
    tmp_path: Path, odd: float, shown: str
) -> None:
    path = tmp_path / "t.csv"
    columns: dict[str, list[object]] = {"human": [*GRADES], "llm": [*GRADES[:5], odd, *GRADES[6:]]}
    done = run(path, columns)
    assert done.exit_code == 2, done.output
    assert f"llm: {shown} in row 7 is outside 1 to 5" in done.stderr
    assert f"if they mean missing, add --values {shown}=" in done.stderr
    # Both remedies that are printed work.
    missing = run(path, columns, "--values", f"{shown}=")
    assert missing.exit_code == 0, missing.output
    assert "13 responses" in missing.stdout
    scale = done.stderr.split("add --scale ")[1].split()[0].strip("'")
    assert run(path, columns, "--scale", scale).exit_code == 0


@pytest.mark.parametrize("code", [-1, 99, 999, -99])
def test_a_code_for_missing_values_is_named_whatever_its_share(tmp_path: Path, code: int) -> None:
    path = tmp_path / "t.csv"
    rater: list[object] = [code, *GRADES[1:3], code, *GRADES[4:], *GRADES, code, code]
    judge: list[object] = [*GRADES, *GRADES[::-1], 1, 2]
    done = run(path, {"human": rater, "llm": judge})
    assert done.exit_code == 2, done.output
    assert f"human: {code} in row 2 and 3 more are outside 1 to 5" in done.stderr
    several = run(path, {"human_1": judge, "human_2": rater, "llm": judge})
    assert several.exit_code == 2, several.output
    assert f"human_2: {code} in row 2 and 3 more are outside 1 to 5" in several.stderr
    remedy = run(path, {"human_1": judge, "human_2": rater, "llm": judge}, "--values", f"{code}=")
    assert remedy.exit_code == 0, remedy.output


def test_comparisons_from_minus_one_to_one_have_no_code(tmp_path: Path) -> None:
    values: list[object] = [-1, 0, 1, 1, 0, -1, 1, 0, 0, 1, -1, 1]
    done = run(tmp_path / "t.csv", {"human": values, "llm": [*values[1:], 0]})
    assert done.exit_code == 0, done.output
    assert "scale -1 to 1" in done.stdout


def test_a_judge_of_percentages_beside_grades_has_a_scale_of_its_own(tmp_path: Path) -> None:
    draw = random.Random(3)
    judge = [draw.randint(20 * value - 20, 20 * value) for value in GRADES]
    done = run(tmp_path / "t.csv", {"human": [*GRADES], "llm": [*judge]})
    assert done.exit_code == 0, done.output
    assert "--scale llm:score=0:100" in done.stdout


def test_options_of_a_cut_are_refused_in_the_first_lines_as_in_the_report(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    columns: dict[str, list[object]] = {"human": [*GRADES], "llm": [*GRADES]}
    for option in (["--true-rate", "0.9"], ["--margin", "QR=1"]):
        text = run(path, columns, *option)
        whole = CliRunner().invoke(
            report, [str(path), "--no-verify", "--out", str(tmp_path / "out"), *option]
        )
        assert text.exit_code == whole.exit_code, (text.output, whole.output)
        assert text.exit_code != 0
        assert text.stderr.splitlines()[-1] == whole.stderr.splitlines()[-1]


def test_names_without_an_order_have_their_rates_alone(tmp_path: Path) -> None:
    human = ["refund", "delivery", "account", "refund", "delivery", "account"] * 4
    judge = [*human[:-2], "refund", "refund"]
    done = run(tmp_path / "t.csv", {"human": human, "llm": judge})
    assert done.exit_code == 0, done.output
    assert "92%" in done.stdout
    assert "Pairs ordered alike" not in done.stdout


@pytest.mark.parametrize("odd", [-1, 99, -99, 999])
def test_odd_values_of_people_are_named_too(tmp_path: Path, odd: float) -> None:
    columns: dict[str, list[object]] = {"human": [*GRADES], "llm": [*GRADES]}
    columns["human"][3] = odd
    done = run(tmp_path / "t.csv", columns)
    assert done.exit_code == 2, done.output
    assert f"human: {odd} in row 5 is outside 1 to 5, on which its other 13 values are" in (
        done.stderr
    )
    assert run(tmp_path / "t.csv", columns, "--values", f"{odd}=").exit_code == 0


def test_values_of_pass_and_fail_say_nothing_about_other_constructs() -> None:
    grades = [float(value) for value in GRADES]
    bits = [float(value > 2) for value in GRADES]
    pairs = {
        (construct, scorer): values
        for construct, values in (("relevance", grades), ("correctness", bits))
        for scorer in ("human", "llm")
    }
    kinds = {"human": "human", "llm": "judge"}
    found = scored_lists(pairs, kinds, dict.fromkeys(pairs))
    likely = {(of.construct, of.scorer): of.looks_like for of in found}
    assert likely["relevance", "human"] == likely["relevance", "llm"] == "1:5:1"


def test_scores_without_a_construct_are_one_beside_others(tmp_path: Path) -> None:
    columns: dict[str, list[object]] = {
        f"{who}_{what}": [*GRADES] for who in ("human", "judge") for what in ("score", "relevance")
    }
    done = run(tmp_path / "t.csv", columns)
    assert done.exit_code == 0, done.output
    assert "2 constructs; scale 1 to 5" in done.stdout
    assert "--judge score=judge_score --judge relevance=judge_relevance" in done.stderr


def test_a_judge_of_one_value_orders_nothing(tmp_path: Path) -> None:
    columns: dict[str, list[object]] = {"human": [*GRADES] * 4, "llm": [3] * 56}
    done = run(tmp_path / "t.csv", columns, "--scale", "1:5:1")
    assert "Order responses: no. 50% of pairs ordered alike" in done.stdout
    columns["llm"][4] = 5
    done = run(tmp_path / "t.csv", columns, "--scale", "1:5:1")
    assert "Order responses: no. 5" in done.stdout
