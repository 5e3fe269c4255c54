"""An endpoint that does something else than it was asked, and does not say so."""

import pytest

from judge.running.runner import RunStoppedError
from study import Study
from tests.judge.faults.faulty_run import (
    CONSTRUCTS,
    WHOLE,
    assert_stored_once,
    commanded,
    judged,
    judgments,
    prompts,
    reasons,
)
from tests.judge.stub.process import Stub

ONE_QUERY = {"construct": "any", "containing": "subject 2"}
SHORT = WHOLE // CONSTRUCTS
"""Judgments on QR, whose prompts show no passages and fit any window."""


def scores(study: Study) -> dict[tuple[str, str], float]:
    """Return the study's scores by response and construct, as its table has them."""
    table = study.score_table()
    rows = table[table["scorer"] == "stub-judge"].dropna(subset="value")
    places = zip(rows["response_id"].astype(str), rows["construct"].astype(str), strict=True)
    return dict(zip(places, rows["value"].astype(float), strict=True))


def test_prompts_that_the_server_cut_are_missing_and_asked_anew(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("truncating", most=600, when=ONE_QUERY)
    outcome = judged(small_study, stub)
    cut = (WHOLE - SHORT) // 4
    assert outcome.judged == WHOLE
    assert outcome.missing == reasons(small_study) == {"truncated_by_server": cut}
    assert outcome.falls_short
    assert f"Missing: {cut} truncated_by_server (the server used only a part of" in "\n".join(
        outcome.lines()
    )
    # The answer to a cut prompt is stored as received, and is not a score.
    of_cut = [r for r in judgments(small_study) if r["missing_reason"] == "truncated_by_server"]
    assert all(row["value"] is None and row["raw_answer"].isdigit() for row in of_cut)
    assert len(scores(small_study)) == WHOLE - cut

    stub.behave()
    stub.forget()
    again = judged(small_study, stub)
    assert (again.judged, again.missing, again.remaining) == (cut, {}, 0)
    assert len(stub.log().judged) == cut
    whole = [row for row in judgments(small_study) if row["missing_reason"] is None]
    assert sorted(row["attempt"] for row in whole) == [1] * (WHOLE - cut) + [2] * cut
    assert scores(small_study) == {place: Stub.score(p) for place, p in prompts().items()}
    assert judged(small_study, stub).judged == 0


def test_a_server_that_cuts_slightly_is_detected(small_study: Study, stub: Stub) -> None:
    # The shortest prompts with passages have 963 tokens, the longest 1038: nearly all is there.
    stub.behave("truncating", most=930, when={"containing": "Output: Only print"})
    with pytest.raises(RunStoppedError, match=r"cut the last 20 prompts.*to 930 tokens"):
        judged(small_study, stub, concurrency=1)
    # Counts that are alike give it away; the first of them was taken at its word.
    reasons = [row["missing_reason"] for row in judgments(small_study)]
    assert reasons == [None] + ["truncated_by_server"] * 20


def test_a_server_that_cuts_everything_is_not_asked_for_ever(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("truncating", most=500, when={"construct": "any"})
    with pytest.raises(RunStoppedError, match=r"cut the last 20 prompts.*to 500 tokens.*num_ctx"):
        judged(small_study, stub, concurrency=2)
    assert 20 <= len(stub.log().judged) <= 22
    assert commanded(small_study, stub).code == 2


@pytest.mark.parametrize("window", [1000, 500])
def test_a_server_with_a_small_window_is_detected_before_the_first_prompt(
    small_study: Study, stub: Stub, window: int
) -> None:
    stub.behave("truncating", most=window)
    result = commanded(small_study, stub)
    assert result.code == 2
    assert f"beyond the window of {window} tokens; nothing was asked" in result.errors
    assert stub.log().judged == []
    outcome = judged(small_study, stub, skip_too_long=True, limit=200)
    assert f"The server cuts prompts to {window} tokens without reporting it" in outcome.notes[0]
    assert set(outcome.missing) == {"too_long"}
    assert "truncated_by_server" not in outcome.missing


def test_honest_counts_of_another_tokenizer_are_not_taken_for_a_cut(
    small_study: Study, stub: Stub
) -> None:
    stub.behave({"behaviour": "constant_usage", "prompt_tokens": 5})
    outcome = judged(small_study, stub)
    assert outcome.missing == {}
    assert any("do not grow with the prompt" in note for note in outcome.notes)
    assert assert_stored_once(small_study) == WHOLE


def test_answers_without_a_count_are_not_taken_for_cut_ones(small_study: Study, stub: Stub) -> None:
    when = {"construct": "any", "every": 2}
    stub.behave({"behaviour": "constant_usage", "prompt_tokens": 0, "when": when})
    outcome = judged(small_study, stub)
    assert (outcome.judged, outcome.missing, outcome.uncounted) == (WHOLE, {}, WHOLE // 2)


def test_an_endpoint_that_counts_nothing_is_named_as_such(small_study: Study, stub: Stub) -> None:
    stub.behave("no_usage")
    outcome = judged(small_study, stub)
    assert assert_stored_once(small_study) == outcome.judged == WHOLE
    assert any("counts no tokens" in note for note in outcome.notes)
    assert not any("cost" in note for note in outcome.notes)
    assert {row["prompt_tokens"] for row in judgments(small_study)} == {None}


def test_a_price_without_counts_is_no_cost(small_study: Study, stub: Stub) -> None:
    stub.behave("no_usage")
    words = ("--price", "1", "2", "--limit", "5")
    assert "and the cost is not known." in commanded(small_study, stub, *words).output


def test_an_endpoint_that_counts_some_answers_is_not_said_to_count_none(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("no_usage", when={"every": 2})
    done = commanded(small_study, stub, "--limit", "5")
    assert "The endpoint does not count the tokens of each answer" in done.output


def test_a_served_model_other_than_the_requested_one_is_reported_and_stored(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("other_model", name="stub-judge-mini")
    result = commanded(small_study, stub)
    assert result.code == 0
    assert "was asked for stub-judge and reports that it serves stub-judge-mini." in result.output
    assert {row["served_model"] for row in judgments(small_study)} == {"stub-judge-mini"}


def test_a_model_that_changes_during_the_run_is_a_warning(small_study: Study, stub: Stub) -> None:
    stub.behave("changing", when={"construct": "any", "after": 25})
    outcome = judged(small_study, stub)
    assert outcome.served == {"stub-judge, fp_stub_1": 25, "stub-judge-2, fp_stub_2": 35}
    output = "\n".join(outcome.lines())
    assert "Warning: the server named several models" in output
    assert "stub-judge-2, fp_stub_2: 35 answers" in output
    stored = [(row["served_model"], row["fingerprint"]) for row in judgments(small_study)]
    assert stored.count(("stub-judge-2", "fp_stub_2")) == 35
    assert assert_stored_once(small_study) == WHOLE


def test_a_model_that_changes_between_two_calls_is_a_warning_too(
    small_study: Study, stub: Stub
) -> None:
    judged(small_study, stub, limit=10)
    stub.behave("changing")
    outcome = judged(small_study, stub)
    assert not outcome.begun
    assert outcome.served == {"stub-judge, fp_stub_1": 10, "stub-judge-2, fp_stub_2": 50}


def test_errors_that_last_are_no_answers_of_a_second_model_and_lack_no_count(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("model_not_found", when={"construct": "QR"})
    outcome = judged(small_study, stub, tries=2)
    assert outcome.missing == {"not_served": WHOLE // 5}
    assert (len(outcome.served), outcome.uncounted) == (1, 0)
    assert "Warning" not in "\n".join(outcome.lines())


def test_an_ignored_seed_is_reported(small_study: Study, stub: Stub) -> None:
    stub.behave("wavering")
    outcome = judged(small_study, stub, seed=7, temperature=0.7, limit=5)
    assert any("ignores the seed" in note for note in outcome.notes)
    assert {r["parameters"]["seed"] for r in stub.log().judged} == {7}


def test_prompts_beyond_the_window_are_listed_before_anything_is_asked(
    small_study: Study, stub: Stub
) -> None:
    result = commanded(small_study, stub, "--window", "900")
    assert result.code == 2
    assert (
        f"{WHOLE - SHORT} judgments need prompts beyond the window of 900 tokens" in result.errors
    )
    assert "nothing was asked" in result.errors
    assert "AC of q1-A: about" in result.errors
    assert stub.log().judged == []
    result = commanded(small_study, stub, "--window", "900", "--skip-too-long")
    assert result.code == 1
    assert f"Missing: {WHOLE - SHORT} too_long" in result.output
    assert len(stub.log().judged) == SHORT
    assert reasons(small_study) == {"too_long": WHOLE - SHORT}
