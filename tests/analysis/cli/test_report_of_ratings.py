"""`ccrs report` on a study whose raters used the project's own pages."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sqlalchemy import insert

from analysis.cli.report import report
from judge.prompts.prompt_versions import prompt_version
from study import Study
from study.schema import JudgeRun
from study.schema.tables import judge_answers
from study.settings.constructs import CCRS
from tests.study.rating_fixtures import (
    Rated,
    add,
    add_assignment,
    add_rater,
    add_ratings,
    add_responses,
)

pytestmark = pytest.mark.usefixtures("without_drawing")

RATERS = ("anna", "ben", "cleo")
RULES = {spec.key: spec.rules for spec in CCRS}


def fill(study: Study, edited: int = 0) -> list[float]:
    """36 responses rated by three people on QR and judged; ben changes some later, by 8 points."""
    responses = add_responses(study, queries=12, systems=("A", "B", "C"))
    rng = np.random.default_rng(0)
    quality = rng.uniform(20, 70, len(responses))
    passed = []
    for code in RATERS:
        rater = add_rater(study, code)
        for n, response in enumerate(responses):
            rated = add_assignment(study, rater, response, ["QR"], position=n)
            value = float(np.round(quality[n] + rng.uniform(-9, 9)))
            revisions = [Rated(value)]
            if code == "ben" and n < edited:
                revisions.append(Rated(value + 8, after_reveal=True))
            add_ratings(study, rated, "QR", revisions)
            passed.append(value)
    version = prompt_version()
    run = {
        "name": "judge-1",
        "engine": "recorded",
        "model": "m",
        "prompt_version": version.name,
        "prompt_hash": version.hash,
        "decoding": {},
        "software": {},
        "observed": {},
        "repeats": 1,
        "config_hash": "x",
    }
    (run_id,) = add(study, JudgeRun, run)
    judged = [
        {
            "run_id": run_id,
            "response_id": response,
            "construct_key": "QR",
            "construct_version": 1,
            "repeat": 0,
            "attempt": 1,
            "value": float(np.round(quality[n] + 10)),
            "rule": "bare",
            "flags": [],
        }
        for n, response in enumerate(responses)
    ]
    with study.write() as connection:
        connection.execute(insert(judge_answers), judged)
    return passed


def reported(study: Study, *options: str) -> tuple[dict[str, Any], str]:
    """report.json and report.html of a study."""
    words = [str(study.folder), "--resamples", "200", "--no-verify", *options]
    result = CliRunner().invoke(report, words, prog_name="report")
    assert result.exit_code == 0, result.output
    folder = study.folder / "report"
    page = (folder / "report.html").read_text(encoding="utf-8")
    return json.loads((folder / "report.json").read_text(encoding="utf-8")), page


def of(written: dict[str, Any], statistic: str, **where: Any) -> list[dict[str, Any]]:
    return [
        e
        for e in written["estimates"]
        if e["statistic"] == statistic and all(e[key] == value for key, value in where.items())
    ]


def test_ratings_are_in_the_report_without_another_step(any_study: Study) -> None:
    passed = fill(any_study)
    written, page = reported(any_study)
    kinds = {entry["scorer"]: entry["kind"] for entry in written["scorers"]}
    assert kinds == {"judge-1": "judge"} | dict.fromkeys(RATERS, "human")
    (alpha,) = (e for e in of(written, "krippendorff_alpha") if e["params"]["level"] == "interval")
    assert alpha["scorers"] == list(RATERS)
    assert 0.7 < alpha["value"] < 1
    alone = [e for e in of(written, "mean", scope="pooled") if "of" not in e["params"]]
    means = {e["scorers"][0]: e["value"] for e in alone}
    ratings = np.reshape(passed, (3, -1))
    assert {code: means[code] for code in RATERS} == pytest.approx(
        dict(zip(RATERS, ratings.mean(axis=1), strict=True))
    )
    assert of(written, "pearson", scope="within_query")[0]["scorers"] == ["judge-1", *RATERS]
    assert all(code in page for code in RATERS)
    assert written["verdict"][0]["sentence"].startswith("QR: within a query the judge")


def test_rules_that_the_prompt_lacks_are_named(study: Study) -> None:
    fill(study)
    written, page = reported(study)
    (limitation,) = (entry for entry in written["not_established"] if "raters' rules" in entry)
    assert limitation.startswith(
        "How judge-1 would score QR under the raters' rules, which its prompt"
    )
    for rule in RULES["QR"]:
        assert rule in limitation
    assert "only whether it answers" in page


def test_changes_after_a_reveal_change_no_figure_and_are_in_the_table(
    study: Study, tmp_path: Path
) -> None:
    unchanged = Study.create(tmp_path / "unchanged")
    fill(unchanged)
    fill(study, edited=10)
    (written, _), (without, _) = reported(study), reported(unchanged)
    unchanged.close()
    assert written["estimates"] == without["estimates"]
    assert written["provenance"]["input_hash"] == without["provenance"]["input_hash"]
    first, last = study.score_table(), study.score_table(edits="last")
    assert first.attrs["edited"] == 10
    assert sorted((last["value"] - first["value"]).unique()) == [0, 8]
