"""`ccrs check`: its exit status is what automation reads."""

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from study.cli.root import cli
from tests.analysis.scores import simulated

pytestmark = pytest.mark.usefixtures("without_drawing")

HOLDS = """
[[check]]
statistic = "pearson"
construct_key = "QR"
scorer = "judge"
scope = "within_query"
minimum = -1
"""


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    simulated().to_csv(path, index=False)
    return path


def run(scores: Path, thresholds: str, *more: str) -> Result:
    path = scores.with_name("gate.toml")
    path.write_text(thresholds, encoding="utf-8")
    words = ["check", str(scores), "--scale", "0:100", "--thresholds", str(path), *more]
    return CliRunner().invoke(cli, words)


def test_exit_0_where_all_hold(scores: Path) -> None:
    result = run(scores, HOLDS)
    assert result.exit_code == 0, result.output
    assert "1 of 1 hold" in result.output


def test_exit_1_where_one_falls_short(scores: Path) -> None:
    result = run(scores, HOLDS + HOLDS.replace("minimum = -1", "minimum = 0.9999"), "--json")
    assert result.exit_code == 1, result.output
    content = json.loads(result.stdout)
    assert content["holds"] is False
    assert [figure["holds"] for figure in content["figures"]] == [True, False]


def required(scores: Path, *requirements: str) -> Result:
    words = ["check", str(scores), "--scale", "0:100", "--resamples", "200"]
    return CliRunner().invoke(cli, [*words, *(w for r in requirements for w in ("--require", r))])


def test_required_answers_need_no_thresholds(scores: Path) -> None:
    # Twelve points too kind: its order is people's, its level is not.
    simulated(queries=60, raters=5, kindness=12).to_csv(scores, index=False)
    result = required(scores, "choose_between_responses=likely", "QR:report_level=yes")
    assert result.exit_code == 1, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("holds  choose_between_responses=likely (judge): ")
    assert lines[1].startswith("SHORT  QR:report_level=yes (judge): no; bias ")
    assert lines[-1] == "1 of 2 hold"


def test_a_construct_that_the_judge_did_not_score_is_named(scores: Path) -> None:
    frame = simulated()
    people = frame[frame["scorer_kind"] == "human"].assign(construct="CC")
    pd.concat([frame, people]).to_csv(scores, index=False)
    result = required(scores, "rank_systems=yes", "QR:rank_systems=yes")
    assert "       judge has no scores on CC, which people rated" in result.stdout
    assert result.stdout.count("no scores on") == 1


def test_a_reason_is_given_once(scores: Path) -> None:
    frame = simulated()
    frame[frame["query_id"] == frame["query_id"].iloc[0]].to_csv(scores, index=False)
    result = required(scores, "choose_between_responses=likely")
    assert result.stdout.count("an interval needs at least 2 queries, there is 1") == 1


def test_an_interval_of_one_of_two_judges_has_its_level(
    scores: Path,
) -> None:
    frame = simulated()
    second = frame[frame["scorer_kind"] == "judge"].assign(scorer="second")
    pd.concat([frame, second]).to_csv(scores, index=False)
    result = required(scores, "rank_systems=yes")
    assert "] (95%) of people's mean" in result.stdout


@pytest.mark.parametrize(
    ("requirement", "says"),
    [
        ("rank=yes", "rank_systems, rank_all_systems, choose"),
        ("rank_systems=no", "the answer yes or likely"),
        ("XX:rank_systems=yes", "there are QR"),
        ("rank_systems@raters_like_these=yes", "there are answers for these raters"),
    ],
)
def test_a_requirement_without_an_answer_exits_2(scores: Path, requirement: str, says: str) -> None:
    result = required(scores, requirement)
    assert result.exit_code == 2, result.output
    assert says in result.stderr


@pytest.mark.parametrize(
    ("thresholds", "says"),
    [
        (HOLDS.replace("pearson", "pearsn"), "Did you mean"),
        (HOLDS.replace("minimum", "minimun"), "unknown setting"),
        (HOLDS.replace("minimum = -1", ""), "has no bound"),
        (HOLDS.replace("minimum = -1", "allowed_drop = 1"), "--baseline"),
        ("", "contains no [[check]]"),
        ("[[check]", "not valid TOML"),
        ("seed = 1" + HOLDS, "belongs in study.toml"),
    ],
)
def test_exit_2_where_it_cannot_be_said(scores: Path, thresholds: str, says: str) -> None:
    result = run(scores, thresholds)
    assert result.exit_code == 2, result.output
    assert says in result.stderr


@pytest.mark.slow
def test_a_study_has_its_demands_in_study_toml(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    made = CliRunner().invoke(cli, ["demo", "--keep", str(folder), "--no-verify"])
    assert made.exit_code == 0, made.output
    nothing = CliRunner().invoke(cli, ["check", str(folder)])
    assert nothing.exit_code == 2
    assert "there are no checks" in nothing.stderr
    settings = folder / "study.toml"
    renamed = HOLDS.replace('scorer = "judge"', 'scorer = "simulated-judge"')
    settings.write_text(
        settings.read_text() + renamed.replace("minimum = -1", "allowed_drop = 0.01")
    )
    report = str(folder / "report" / "report.json")
    result = CliRunner().invoke(cli, ["check", str(folder), "--baseline", report])
    assert result.exit_code == 0, result.output
    both = CliRunner().invoke(cli, ["check", str(folder), "--scale", "0:100"])
    assert both.exit_code == 2
