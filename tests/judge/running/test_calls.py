"""What is stored of every call on a run."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from sqlalchemy import delete, select, update
from sqlalchemy.exc import DBAPIError

from judge import RunStoppedError, judge_study, show_run
from judge.cli.judge_command import judge
from judge.inspect.show import public_host, run_record, without_addresses
from judge.protocol.exchange import Answer
from judge.running.calls import Call, account, begin_call
from judge.running.runs import run_of
from study import Study
from study.schema import JudgeCall, JudgeCallEnd, table
from tests.judge.small_studies import Scripted, ScriptedSettings, always, fill

SPENT = Answer("85", prompt_tokens=100, completion_tokens=2, cached_tokens=60, milliseconds=40.0)
"""Reasoning tokens are not reported: they are unknown, not 0."""


def test_a_call_is_kept_with_what_it_did_and_took(
    any_study: Study, scripted: type[Scripted]
) -> None:
    fill(any_study)
    scripted.answer = always(replace(SPENT, text="I'm sorry, I can't."))
    priced = ScriptedSettings(name="j", price=(1.0, 10.0), price_cached=0.1)
    judge_study(any_study, priced.model_copy(update={"limit": 10, "max_missing": 1.0}))
    scripted.answer = always(SPENT)
    judge_study(any_study, ScriptedSettings(name="j"))
    run = show_run(any_study, "j")
    first, second = run.calls
    assert (first.ended, first.planned, first.answered, first.judged) == ("done", 10, 10, 10)
    assert first.missing == {"refusal": 10}
    assert first.tokens == {"prompt": 1000, "completion": 20, "cached": 600}
    assert first.prices == {"prompt": 1.0, "completion": 10.0, "cached": 0.1}
    assert first.cost == pytest.approx((400 + 60 + 200) / 1e6)
    assert first.software["python"]
    assert (second.planned, second.answered, second.judged) == (47, 47, 50)
    assert (second.prices, second.cost) == (None, None)
    total = run.account
    assert (total.calls, total.unended, total.unpriced, total.answered) == (2, 0, 1, 57)
    assert total.cost == first.cost
    text = "\n".join(run.lines())
    assert "Calls: 2." in text
    assert "Cost: 0.00 (1 call without prices)." in text


def test_a_killed_call_has_a_start_and_a_stopped_one_its_reason(
    any_study: Study, scripted: type[Scripted]
) -> None:
    fill(any_study)
    scripted.answer = always(SPENT)
    scripted.stop_after = 5
    with pytest.raises(RunStoppedError):
        judge_study(any_study, ScriptedSettings(name="j"))
    with any_study.read() as connection:
        key = run_of(connection, "j")["id"]
    begin_call(any_study, key, ScriptedSettings(), 52)
    run = show_run(any_study, "j")
    assert [call.ended for call in run.calls] == ["interrupted", None]
    assert (run.calls[0].answered, run.calls[1].answered) == (5, None)
    assert (run.account.unended, run.account.answered) == (1, 5)
    assert any("1 without an end" in line for line in run.lines())


def test_calls_can_only_be_added(any_study: Study, scripted: type[Scripted]) -> None:
    fill(any_study)
    scripted.answer = always(SPENT)
    judge_study(any_study, ScriptedSettings(name="j", limit=2))
    for noun in (JudgeCall, JudgeCallEnd):
        t = table(noun)
        for statement in (delete(t), update(t).values(id=9)):
            with (
                pytest.raises(DBAPIError, match="append-only"),
                any_study.write() as connection,
            ):
                connection.execute(statement)
        with any_study.read() as connection:
            assert len(connection.execute(select(t)).all()) == 1


def test_sums_over_calls_leave_out_what_is_not_known() -> None:
    shared = {"kind": "run", "began": "", "planned": 1, "concurrency": None, "prices": None}
    ended = Call(
        **shared, software={}, ended="done", answered=3, judged=3, tokens={"prompt": 300},
        seconds=2.0, retries={"http_503": 2}, figures={"recomputed": 0.5},
    )  # fmt: skip
    other = replace(
        ended, tokens={"prompt": 100}, figures={"recomputed": 0.9}, retries={"timeout": 1}, cost=1.5
    )
    killed = Call(**shared, software={}, ended=None)
    sums = account([ended, other, killed])
    assert (sums.calls, sums.unended, sums.answered) == (3, 1, 6)
    assert sums.retries == {"http_503": 2, "timeout": 1}
    # (300 x 0.5 + 100 x 0.9) / 400
    assert sums.figures == {"recomputed": pytest.approx(0.6)}
    assert sums.tokens_a_second == pytest.approx(100)
    assert (sums.cost, sums.unpriced) == (1.5, 1)
    assert account([killed]).cost is None


def test_a_report_names_public_hosts_only(any_study: Study, scripted: type[Scripted]) -> None:
    assert public_host("https://api.openai.com/v1") == "api.openai.com"
    for private in ("http://localhost:8000/v1", "http://10.0.0.7/v1", "http://[::1]:80/v1",
                "http://gpu.internal/v1", "http://gpu7:8000/v1", None):  # fmt: skip
        assert public_host(private) is None
    fill(any_study)
    scripted.answer = always(SPENT)
    judge_study(any_study, ScriptedSettings(name="j", price=(1.0, 1.0)))
    record = run_record(any_study, "j")
    assert record["tokens"] == {"prompt": 5700, "completion": 114, "cached": 3420}
    assert record["account"]["answered"] == 57
    assert "prices" not in record["calls"][0]
    assert "notes" not in record["calls"][0]
    served = {"endpoints": ["http://gpu7:8000/v1", "https://api.openai.com/v1"], "window": 8192}
    assert without_addresses(served) == {
        "endpoints": ["a private server", "api.openai.com"],
        "window": 8192,
    }


def test_a_price_and_a_seed_of_0_are_taken_from_the_command_line(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = always(SPENT)
    words = ["run", str(campaign.folder), "--engine", "scripted", "--name", "j"]
    words += ["--price", "1", "1", "--price-cached", "0", "--max-missing", "0"]
    done = CliRunner().invoke(judge, words)
    assert done.exit_code == 0, done.output
    (call,) = show_run(campaign, "j").calls
    assert call.prices == {"prompt": 1.0, "completion": 1.0, "cached": 0.0}


def test_what_the_server_did_not_count_costs_an_unknown_sum(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = always(Answer("85"))
    priced = ScriptedSettings(name="j", price=(1.0, 1.0), limit=10)
    done = judge_study(campaign, priced)
    assert (done.tokens, done.cost, done.uncounted) == ({}, None, 10)
    (call,) = show_run(campaign, "j").calls
    assert (call.tokens, call.cost, call.uncounted) == ({}, None, 10)
    counts = iter([SPENT, Answer("85"), *[SPENT] * 45])
    scripted.answer = staticmethod(lambda _prompt: next(counts))
    done = judge_study(campaign, ScriptedSettings(name="j", price=(1.0, 1.0)))
    assert done.uncounted == 1
    assert "Not included: 1 answer without a count of tokens." in done.lines()
