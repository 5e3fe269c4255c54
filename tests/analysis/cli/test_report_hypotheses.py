"""Hypotheses of study.toml, and those of a file beside a bare table."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analysis.cli.report import report
from study.example import build_example
from study.settings.study_toml import read_hypotheses
from tests.analysis.scores import simulated

pytestmark = pytest.mark.usefixtures("without_drawing")

PAPER = Path(__file__).resolve().parents[3] / "data" / "hypotheses" / "ccrs-paper.toml"


def run(*arguments: object) -> Result:
    fast = ["--resamples", "200", "--no-verify"]
    return CliRunner().invoke(report, [*map(str, arguments), *fast], prog_name="report")


def in_report(folder: Path) -> list[dict[str, Any]]:
    written = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return [e for e in written["estimates"] if e["statistic"] == "hypothesis_p"]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    frame = simulated(systems=6, constructs=("CC", "QR", "ID", "AC", "IR"), queries=8)
    frame["system"] = frame["system"].map({f"s{i}": name for i, name in enumerate("ABCDEF")})
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_papers_file_is_its_three_hypotheses() -> None:
    first, second, third = read_hypotheses(PAPER)
    assert first.pairs == (("A", "C"), ("A", "E"), ("B", "D"), ("B", "F"))
    assert (second.pairs, second.constructs) == ((("D", "C"), ("F", "E")), ("QR", "IR"))
    assert (third.direction, third.aggregation) == ("different", "bonferroni_minimum")


@pytest.mark.slow
def test_a_file_of_hypotheses_beside_a_table(scores: Path, tmp_path: Path) -> None:
    result = run(scores, "--scale", "0:100", "--hypotheses", PAPER, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    hypotheses = in_report(tmp_path / "out")
    assert [e["params"]["tests"] for e in hypotheses] == [20, 4, 10]
    assert all(e["scorers"] == ["judge"] and 0 < e["value"] <= 1 for e in hypotheses)
    assert all(e["params"]["holm"] >= e["value"] for e in hypotheses)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[hypotheses]]\nname = "H"\npairs = [["A", "Z"]]', "unknown system 'Z'; the scores have"),
        ('[[hypotheses]]\nname = "H"\npairs = [["A", "B"]]\nscorer = "jude"', "mean 'judge'"),
        ('[[hypotheses]]\nname = "H"\npairs = [["A", "A"]]', "not a pair of two systems"),
        ('[[hypotheses]]\nname = "H"\npair = [["A", "B"]]', "pairs"),
        ('seed = 3\n[[hypotheses]]\nname = "H"\npairs = [["A", "B"]]', "seed belongs in study"),
        ("", r"contains no [[hypotheses]]"),
    ],
)
def test_what_the_table_lacks_is_refused_by_name(
    scores: Path, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(text, encoding="utf-8")
    result = run(scores, "--hypotheses", path)
    assert result.exit_code == 2
    assert message in result.output


def test_hypotheses_of_study_toml_are_tested_with_the_judge(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    build_example(folder).close()
    toml = folder / "study.toml"
    first, second = "harbor", "quarry"
    claims = f"""
[[hypotheses]]
name = "a claim"
pairs = [["{first}", "{second}"]]
constructs = ["QR"]
"""
    toml.write_text(toml.read_text(encoding="utf-8") + claims, encoding="utf-8")
    result = run(folder)
    assert result.exit_code == 0, result.output
    (hypotheses,) = in_report(folder / "report")
    assert hypotheses["params"]["hypothesis"] == "a claim"
    assert hypotheses["systems"] == [first, second]
    assert 0 < hypotheses["value"] < 1
    refused = run(folder, "--hypotheses", PAPER)
    assert refused.exit_code == 2
    assert "study.toml" in refused.output
    toml.write_text(toml.read_text(encoding="utf-8").replace(f'["{first}"', '["no such"'))
    refused = run(folder)
    assert refused.exit_code == 2
    assert "unknown system 'no such'; the scores have" in refused.output
