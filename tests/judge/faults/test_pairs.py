"""Pairs over HTTP: what is stored after a killed process, a refusal and an outage."""

import json
import signal
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import insert, select

from study import Study
from study.cli.root import cli
from study.schema.tables import judge_answers, judge_calls, pair_answers
from tests.ccrs_command import program
from tests.judge.faults.faulty_run import until
from tests.judge.small_studies import fill
from tests.judge.stub.process import ROOT, Stub

PROMPTS = 3 * 6 * 2 * 5
"""Three queries with four systems, both orders, five constructs."""


@pytest.fixture
def pairs_study(study: Study) -> Study:
    fill(study)
    return study


def stored(study: Study) -> list[dict[str, Any]]:
    with study.read() as connection:
        return [dict(row) for row in connection.execute(select(pair_answers)).mappings()]


def words(study: Study, stub: Stub) -> list[str]:
    return [
        "judge", "pairs", str(study.folder), "--base-url", stub.base_url, "--concurrency", "4",
    ]  # fmt: skip


def test_the_command_stores_every_answer_with_its_usage(pairs_study: Study, stub: Stub) -> None:
    stub.behave("answers", text="Response 2 is better because it is shorter.")
    preview = CliRunner().invoke(cli, [*words(pairs_study, stub), "--dry-run", "--json"])
    assert json.loads(preview.output)["planned"]["pairs"] == 18
    assert not stored(pairs_study)
    done = CliRunner().invoke(cli, words(pairs_study, stub))
    assert done.exit_code == 0, done.output
    assert "Pairs to compare: 18 of 3 queries, each in both orders" in done.output
    assert f"{PROMPTS} prompts were answered" in done.output
    rows = stored(pairs_study)
    assert len(rows) == PROMPTS
    assert {(row["value"], row["rule"]) for row in rows} == {(1.0, "sentence")}
    assert all(row["prompt_tokens"] and row["raw_answer"] for row in rows)
    with pairs_study.read() as connection:
        assert list(connection.execute(select(judge_calls.c.kind)).scalars()) == ["pairs"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_call_is_continued_without_loss_or_doubles(
    pairs_study: Study, stub: Stub, how: signal.Signals
) -> None:
    stub.behave({"behaviour": "answers", "text": "1"}, {"behaviour": "slow", "delay": 0.05})
    main = "from study.cli.root import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", main, *words(pairs_study, stub)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        until(lambda: len(stored(pairs_study)) >= 20)
        process.send_signal(how)
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    before = len(stored(pairs_study))
    assert 20 <= before < PROMPTS
    done = CliRunner().invoke(cli, words(pairs_study, stub))
    assert done.exit_code == 0, done.output
    rows = stored(pairs_study)
    asked = Counter(
        (row["response_id"], row["second_response_id"], row["construct_key"]) for row in rows
    )
    assert (len(asked), set(asked.values())) == (PROMPTS, {1})
    assert (pairs_study.preference_table()["value"] == 0).all()


def test_the_command_exits_1_where_more_is_missing_than_was_allowed(
    pairs_study: Study, stub: Stub
) -> None:
    of_one = {"containing": "The quality to compare is Answer Correctness"}
    none = {"behaviour": "answers", "text": "seven", "when": of_one}
    stub.behave({"behaviour": "answers", "text": "1"}, none)
    short = program(*words(pairs_study, stub))
    assert short.returncode == 1
    line = "20.0% of the run is missing, more than --max-missing (5.0%) allows."
    assert line in short.stdout
    # It is the run that falls short, however little the next call does.
    assert program(*words(pairs_study, stub)).returncode == 1
    assert program(*words(pairs_study, stub), "--max-missing", "0.2").returncode == 0


def test_failed_prompts_are_asked_by_the_next_call(pairs_study: Study, stub: Stub) -> None:
    stub.behave("refuses", when={"first": 9})
    first = CliRunner().invoke(cli, words(pairs_study, stub))
    assert len(stored(pairs_study)) <= PROMPTS
    stub.behave({"behaviour": "answers", "text": "tie"})
    again = CliRunner().invoke(cli, words(pairs_study, stub))
    assert again.exit_code == 0, (first.output, again.output)
    assert len({(r["response_id"], r["second_response_id"], r["construct_key"])
                for r in stored(pairs_study)}) == PROMPTS  # fmt: skip


def test_a_prompt_that_was_not_served_is_asked_again_by_the_option_alone(
    pairs_study: Study, stub: Stub
) -> None:
    stub.behave({"behaviour": "answers", "text": "1"})
    CliRunner().invoke(cli, [*words(pairs_study, stub), "--limit", str(PROMPTS - 1)])
    other = stored(pairs_study)[-1]
    open_pair = {
        **other,
        "id": None,
        "response_id": other["second_response_id"],
        "second_response_id": other["response_id"],
        "value": None,
        "rule": None,
        "missing_reason": "not_served",
    }
    with pairs_study.write() as connection:
        connection.execute(insert(judge_answers).values(open_pair))
    CliRunner().invoke(cli, words(pairs_study, stub))
    assert len(stored(pairs_study)) == PROMPTS
    CliRunner().invoke(cli, [*words(pairs_study, stub), "--retry-unparsed"])
    *_, last = stored(pairs_study)
    assert (len(stored(pairs_study)), last["attempt"], last["value"]) == (PROMPTS + 1, 2, -1)


@pytest.mark.usefixtures("without_drawing")
def test_the_report_has_the_order_of_presentation_and_of_systems(
    pairs_study: Study, stub: Stub
) -> None:
    stub.behave({"behaviour": "answers", "text": "1"})
    CliRunner().invoke(cli, words(pairs_study, stub))
    out = pairs_study.folder / "report"
    report = ["report", str(pairs_study.folder), "--out", str(out), "--no-verify"]
    done = CliRunner().invoke(cli, report)
    assert done.exit_code == 0, done.output
    found = json.loads((out / "report.json").read_text(encoding="utf-8"))["estimates"]
    bias = [e["value"] for e in found if e["statistic"] == "position_bias"]
    assert bias == [1.0] * 5
    strengths = [e["value"] for e in found if e["statistic"] == "bradley_terry"]
    assert strengths == [0.0] * 20
