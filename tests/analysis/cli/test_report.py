import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import insert, select

from analysis import verify as verifying
from analysis.cli.report import report
from analysis.cli.report_input import ReportInput
from analysis.core.scale_mapping import mapped_scores
from analysis.decisions.records import USES
from study import Study, import_file
from study.schema.tables import judge_answers, judge_runs, responses as response_table
from tests.analysis.scores import simulated

pytestmark = pytest.mark.usefixtures("without_drawing")


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    simulated(missing=0.1).to_csv(path, index=False)
    return path


def run(*arguments: object) -> Result:
    fast = ["--resamples", "200"]
    return CliRunner().invoke(report, [*map(str, arguments), *fast], prog_name="report")


def test_the_answers_come_first_then_the_report_and_its_checks(scores: Path) -> None:
    result = run(scores, "--scale", "0:100")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "scores"
    assert lines[2].startswith("judge compared with 3 raters (")
    assert lines.index("Can judge be used to ...") < 8
    written = json.loads((scores.with_name("scores-report") / "report.json").read_text("utf-8"))
    said = result.stdout.lower()
    asked = [d for d in written["decisions"] if d["answer"] != "not_applicable"]
    for use in {d["use"] for d in asked}:
        # A yes, or a no, to both targets is one line with one of the sentences.
        own = [d["deciding"]["sentence"].lower() in said for d in asked if d["use"] == use]
        assert any(own), use
    folder = scores.with_name("scores-report")
    assert f"Report: {folder / 'report.html'}" in result.stdout
    assert "9 of 9 figures equal those of krippendorff, pingouin and scipy" in result.stdout
    assert "Next: " in result.stdout
    written = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert len(written["provenance"]["verification"]) == 9
    command = "ccrs report scores.csv --scale 0:100 --resamples 200"
    assert written["provenance"]["command"] == command
    assert str(scores.parent) not in json.dumps(written)


def test_a_note_that_needs_every_figure_is_stored(tmp_path: Path) -> None:
    frame = simulated(systems=2)
    number = frame["system"].rank(method="dense").astype(int).astype(str)
    people = frame["scorer_kind"] == "human"
    frame.loc[people, "scorer"] += " of system " + number[people]
    frame.to_csv(tmp_path / "apart.csv", index=False)
    run(tmp_path / "apart.csv", "--scale", "0:100", "--no-verify")
    written = json.loads((tmp_path / "apart-report" / "report.json").read_text(encoding="utf-8"))
    assert "no rater links" in written["verdict"][0]["notes"][-1]


def test_verification_can_be_left_out(scores: Path, tmp_path: Path) -> None:
    result = run(scores, "--no-verify", "--out", tmp_path / "here")
    assert result.exit_code == 0, result.output
    assert "Checks:" not in result.stdout
    assert "--scale 0:100, which is used" in result.stdout
    written = json.loads((tmp_path / "here" / "report.json").read_text(encoding="utf-8"))
    assert written["provenance"]["verification"] is None


def test_a_check_that_differs_exits_1_and_is_named(
    scores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "_krippendorff", lambda *_: 0.123)
    result = run(scores, "--scale", "0:100")
    assert result.exit_code == 1
    assert "DIFFERS: krippendorff_alpha (nominal) on QR" in result.stdout


def test_json_is_all_of_the_output(scores: Path) -> None:
    result = run(scores, "--scale", "0:100", "--json", "--no-verify", "--seed", 5, "--level", 0.9)
    record = json.loads(result.stdout)
    assert record["verdict"][0]["construct"] == "QR"
    told = [(d["use"], d["target"], d["construct"]) for d in record["decisions"]]
    uses = [told[place][:2] for place in range(len(told) // 2)]
    assert told == [(*of, None) for of in uses] + [(*of, "QR") for of in uses]
    assert ("report_level", "raters_like_these") in uses
    assert {use for use, _ in uses} == set(USES)
    assert record["verification"] is None
    written = json.loads(Path(record["json"]).read_text(encoding="utf-8"))
    assert written["provenance"]["seed"] == 5
    assert written["provenance"]["options"]["ci_level"] == 0.9


def test_preferences_come_from_a_file_of_their_own(scores: Path, tmp_path: Path) -> None:
    path = tmp_path / "preferences.csv"
    pd.DataFrame(
        {
            "query_id": [f"q{i}" for i in range(10)],
            "response_a": [f"r{3 * i}" for i in range(10)],
            "response_b": [f"r{3 * i + 1}" for i in range(10)],
            "construct": "QR",
            "scorer": "ann",
            "scorer_kind": "human",
            "value": [1, -1, 2, 0, 1, -2, 1, 1, 0, -1],
        }
    ).to_csv(path, index=False)
    result = run(scores, "--preferences", path, "--preference-scale", "-2:2", "--no-verify")
    assert result.exit_code == 0, result.output
    assert "QR: differences in judge's scores correlate" in result.stdout


def test_comparisons_alone_are_analyzed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    better = rng.integers(-2, 3, 40)
    rows = [
        {
            "query_id": f"q{i}", "response_a": f"a{i}", "response_b": f"b{i}", "construct": "QR",
            "scorer": scorer, "scorer_kind": "judge" if scorer == "judge" else "human",
            "value": int(np.clip(better[i] + rng.integers(-1, 2), -2, 2)),
        }
        for scorer in ("ann", "bob", "judge")
        for i in range(40)
    ]  # fmt: skip
    path = tmp_path / "comparisons.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    result = run(path, "--preference-scale", "-2:2", "--no-verify")
    assert result.exit_code == 0, result.output
    assert "Against the majority: " in result.stdout
    assert "Choose between two responses: " in result.stdout
    page = (tmp_path / "comparisons-report" / "report.html").read_text("utf-8")
    assert "'s own preferences are people's in " in page.replace("&#39;", "'")
    written = json.loads((tmp_path / "comparisons-report" / "report.json").read_text("utf-8"))
    assert {e["statistic"] for e in written["estimates"]} >= {"pearson"}
    result = run(path, "--scale", "0:100")
    assert result.exit_code == 2
    assert "compares responses and has no scores" in result.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--scale", "QX=0:100"], "the table has no construct 'QX'; it has QR. Did you mean 'QR'?"),
        (["--scale", "hundred"], "write MIN:MAX"),
        (["--kind", "ann"], "write SCORER=KIND"),
        (["--kind", "zoe=human"], "no scorer 'zoe'; it has judge, rater-1"),
        (["--kind", "judge=judgee"], "'judgee' is not one of human"),
        (["--scale", "judgee:QR=0:1"], "no scorer on QR 'judgee'; it has judge"),
        (["--preferences", "nowhere.csv"], "nowhere.csv does not exist"),
        (["--preference-scale", "-2:2"], "the table of --preferences, which is missing"),
    ],
)
def test_bad_usage_exits_2_with_the_remedy(scores: Path, arguments: list[str], says: str) -> None:
    result = run(scores, *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert not scores.with_name("scores-report").exists()


def test_a_value_off_the_scale_is_named_by_its_row_in_the_file(scores: Path) -> None:
    lines = scores.read_text(encoding="utf-8").splitlines()
    # A blank line and a repeated row, which the table does not have.
    lines[3:3] = ["", lines[2]]
    lines[10] = lines[10].rpartition(",")[0] + ",250"
    scores.write_text("\n".join(lines), encoding="utf-8")
    result = run(scores, "--scale", "0:100")
    assert result.exit_code == 2
    assert "scores.csv" in result.stderr
    assert "row 11" in result.stderr
    assert "250 for QR by 'judge' is outside 0 to 100" in result.stderr


def test_a_missing_source_exits_2(tmp_path: Path) -> None:
    result = run(tmp_path / "nothing")
    assert result.exit_code == 2
    assert "does not exist" in result.stderr


def test_a_folder_that_is_no_report_is_refused_before_any_work(
    scores: Path, tmp_path: Path
) -> None:
    result = run(scores, "--out", tmp_path)
    assert result.exit_code == 2
    assert "contains other files and no report" in result.stderr
    assert result.stdout == ""


def test_a_study_without_scores_says_how_to_bring_them_in(tmp_path: Path) -> None:
    Study.create(tmp_path / "mine").close()
    result = run(tmp_path / "mine")
    assert result.exit_code == 2
    assert "ccrs import" in result.stderr
    result = run(tmp_path / "mine", "--scale", "0:100")
    assert result.exit_code == 2
    assert "study.toml" in result.stderr


def test_a_study_hands_over_notes_rules_and_what_its_judge_was_run_with(tmp_path: Path) -> None:
    note = "a random model: its numbers mean nothing"
    study = Study.create(tmp_path / "mine", f'name = "Mine"\n[scorers.judge]\nnote = "{note}"\n')
    frame = simulated()
    responses = frame.drop_duplicates("response_id")[["response_id", "query_id", "system"]]
    texts = {"query": "?" + responses["query_id"], "response": responses["response_id"]}
    for name, rows in (
        ("responses", responses.assign(**texts)),
        ("ratings", frame[frame["scorer_kind"] == "human"]),
    ):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        import_file(study, tmp_path / f"{name}.csv")
    run_ = {
        "engine": "openai",
        "endpoint": "http://host.internal/v1",
        "model": "m",
        "prompt_version": "ccrs-paper-v1",
        "prompt_hash": "h",
        "decoding": {"max_tokens": 16},
        "software": {},
        "observed": {},
        "repeats": 1,
        "config_hash": "x",
    }
    with study.write() as connection:
        ids = {
            row.key: row.id
            for row in connection.execute(select(response_table.c.key, response_table.c.id))
        }
        runs = [{**run_, "id": 1, "name": "judge"}, {**run_, "id": 2, "name": "without answers"}]
        connection.execute(insert(judge_runs), runs)
        judged = frame[frame["scorer_kind"] == "judge"]
        rows = [
            {
                "run_id": 1,
                "response_id": ids[name],
                "construct_key": "QR",
                "construct_version": 1,
                "repeat": 0,
                "attempt": 1,
                "value": value,
                "rule": "labelled" if name == "r0" else "bare",
                "flags": [],
            }
            for name, value in zip(judged["response_id"], judged["value"], strict=True)
        ]
        connection.execute(insert(judge_answers), rows)
    study.close()
    result = run(tmp_path / "mine", "--no-verify")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[:2] == ["Mine", f"judge (judge): {note}"]
    written = json.loads((tmp_path / "mine" / "report" / "report.json").read_text("utf-8"))
    assert [entry["note"] for entry in written["scorers"] if entry["scorer"] == "judge"] == [note]
    (judge_run,) = written["provenance"]["judge_runs"]
    assert (judge_run["name"], judge_run["model"], judge_run["decoding"]) == (
        "judge",
        "m",
        {"max_tokens": 16},
    )
    assert judge_run["layout"].startswith("the paper gives the words")
    assert "host.internal" not in json.dumps(written)


def test_margins_declared_on_the_command_line_are_tested(scores: Path, tmp_path: Path) -> None:
    margins = "--non-inferiority-margin 0.1 --bias-margin 5 --alt-test-epsilon 0.2"
    passed = [*margins.split(), "--no-verify"]
    result = run(scores, "--scale", "0:100", "--out", tmp_path / "here", *passed)
    assert result.exit_code == 0, result.output
    written = json.loads((tmp_path / "here" / "report.json").read_text(encoding="utf-8"))
    by_name = {e["statistic"]: e["params"] for e in written["estimates"]}
    assert by_name["non_inferiority"]["margin"] == 0.1
    assert by_name["equivalence_p"]["margin"] == 5
    assert by_name["alt_test_winning_rate"]["epsilon"] == 0.2
    options = written["provenance"]["options"]
    assert (options["non_inferiority_margin"], options["bias_margin"]) == (0.1, 5)
    assert run(scores, "--non-inferiority-margin", "1.5").exit_code == 2


def test_a_study_declares_how_a_judge_is_mapped_and_an_option_overrides_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = (
        "[scorers.judge]\nscale = { min = 0, max = 1 }\n"
        "[scorers.later]\nscale = { min = 0, max = 1 }\n"
        '[analysis]\nmap = { judge = "linear", later = "linear" }\n'
    )
    study = Study.create(tmp_path / "mine", settings)
    frame = simulated()
    frame.loc[frame["scorer"] == "judge", "value"] /= 100
    responses = frame.drop_duplicates("response_id")[["response_id", "query_id", "system"]]
    texts = {"query": "?" + responses["query_id"], "response": responses["response_id"]}
    for name, rows in (("responses", responses.assign(**texts)), ("scores", frame)):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        import_file(study, tmp_path / f"{name}.csv")
    study.close()
    analyzed: list[ReportInput] = []
    monkeypatch.setattr(
        "analysis.cli.report.write", lambda inputs, *_, **__: analyzed.append(inputs)
    )
    run(tmp_path / "mine")
    run(tmp_path / "mine", "--map", "judge=thresholds")
    first, second = (dict(inputs.options.map) for inputs in analyzed)
    # The other one has no scores yet.
    assert first == {"judge": "linear"}
    assert second == {"judge": "thresholds"}
    mapped = mapped_scores(analyzed[0].scores, analyzed[0].options.map)
    assert mapped.notes == {"judge": "mapped linearly on QR from 0 to 1 to 0 to 100"}
    wrong = run(tmp_path / "mine", "--map", "judge=log")
    assert wrong.exit_code == 2
    assert "write NAME=linear or NAME=thresholds" in wrong.output
