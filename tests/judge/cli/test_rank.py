"""`ccrs judge rank`: judges of a table in order, and every two of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from study.cli.root import cli
from tests.analysis.scores import simulated


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge, a worse one and one that answers at random, on one construct."""
    frame = simulated(queries=40, constructs=("QR",))
    judged = frame[frame["scorer"] == "judge"]
    rng = np.random.default_rng(0)
    worse = (judged["value"] + rng.normal(0, 25, len(judged))).clip(0, 100).round()
    random = rng.permutation(judged["value"].to_numpy())
    others = [judged.assign(scorer="worse", value=worse),
              judged.assign(scorer="random", value=random)]  # fmt: skip
    path = tmp_path_factory.mktemp("rank") / "scores.csv"
    pd.concat([frame, *others]).to_csv(path, index=False)
    return path


def run(scores: Path, *more: str) -> Result:
    return CliRunner().invoke(cli, ["judge", "rank", str(scores), "--scale", "0:100", *more])


def test_judges_in_order(scores: Path) -> None:
    result = run(scores)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "QR: by tau-b, within a query"
    assert lines[1] == "   1  judge   places 1 to 2, group 1"
    assert [line.split()[1] for line in lines[1:4]] == ["judge", "worse", "random"]
    assert sum(" minus " in line for line in lines) == 3
    assert lines[4].startswith("  judge minus worse, tau-b, within a query: .")
    assert "adjusted p" in lines[4]
    assert lines[-1].startswith("QR: judge better than ")


def test_chosen_judges_and_measures(scores: Path) -> None:
    result = run(scores, "--judge", "worse", "--judge", "random", "--measure", "pearson",
                 "--measure", "soft_pairwise_accuracy", "--json")  # fmt: skip
    content = json.loads(result.stdout)
    assert {e["scorers"][0] for e in content["ranks"]} == {"worse", "random"}
    assert [(e["params"]["measure"], e["scope"]) for e in content["differences"]] == [
        ("pearson", "within_query"),
        ("pearson", "pooled"),
        ("soft_pairwise_accuracy", "system_level"),
    ]
    assert {e["params"]["comparisons"] for e in content["differences"]} == {1}


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_figures_of_a_ranking_are_written(scores: Path, ending: str) -> None:
    path = scores.with_name(f"judges.{ending}")
    result = run(scores, "--out", str(path))
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith(f"Written: {path}\n")
    if ending == "csv":
        frame = pd.read_csv(path)
        assert (frame["statistic"] == "judge_rank").sum() == 3
        assert frame["params.measure"].nunique() == 6
    else:
        assert len(json.loads(path.read_text(encoding="utf-8"))["ranks"]) == 3


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--judge", "jugde", "--judge", "worse"), "there are judge, worse, random"),
        (("--judge", "worse"), "name a second judge"),
        (("--out", "judges.txt"), "must end in .csv or .json"),
    ],
)
def test_what_cannot_be_compared(scores: Path, more: tuple[str, ...], says: str) -> None:
    result = run(scores, *more)
    assert result.exit_code == 2
    assert says in result.output


def test_a_ranking_of_one_judge_or_without_people(scores: Path) -> None:
    frame = pd.read_csv(scores)
    path = scores.with_name("few.csv")
    frame[frame["scorer_kind"] == "judge"].to_csv(path, index=False)
    assert "people rated no response" in run(path).output
    frame[~frame["scorer"].isin(["worse", "random"])].to_csv(path, index=False)
    result = run(path)
    assert result.exit_code == 2
    assert "scores of two judges" in result.output
