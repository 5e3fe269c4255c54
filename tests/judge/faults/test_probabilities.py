"""Probabilities of scores over HTTP: what servers tell, and what they only seem to tell."""

import json
import math

import pytest
from sqlalchemy import select

from study import Study
from study.errors import StudyError
from study.schema.tables import judge_runs
from tests.judge.faults.faulty_run import WHOLE, commanded, judged, judgments
from tests.judge.stub.process import Stub

EXPECTED = "stub-judge (expected)"


def runs(study: Study) -> list[tuple[str, dict[str, object], str]]:
    """Return the runs with what they send, and what was found of probabilities."""
    with study.read() as connection:
        rows = connection.execute(
            select(judge_runs.c.name, judge_runs.c.decoding, judge_runs.c.observed).order_by(
                judge_runs.c.id
            )
        )
        return [(row.name, row.decoding, row.observed["logprobs"]) for row in rows]


def mean(score: float, mass: float) -> float:
    """Return the mean of the distribution that the endpoint gives around a score."""
    del mass  # The mean is over what is known.
    weights = [math.exp(-0.3 * k) for k in range(20)]
    points = [(score + k) % 101 for k in range(20)]
    return sum(w * p for w, p in zip(weights, points, strict=True)) / sum(weights)


def test_the_means_of_distributions_are_a_second_scorer(small_study: Study, stub: Stub) -> None:
    stub.behave("logprobs")
    judged(small_study, stub)
    assert runs(small_study)[0][1]["logprobs"] == "top 20"
    assert runs(small_study)[0][2] == "given"
    scores = small_study.score_table()
    parsed, expected = (
        scores[scores["scorer"] == name].set_index(["response_id", "construct"])["value"]
        for name in ("stub-judge", EXPECTED)
    )
    assert len(parsed) == len(expected) == WHOLE
    for place, value in expected.items():
        assert value == pytest.approx(mean(parsed[place], 0.999))
    sent = stub.log().judged[0]["parameters"]
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 20)


def test_incomplete_probabilities_give_bounds_and_no_score(small_study: Study, stub: Stub) -> None:
    stub.behave("logprobs", mass=0.9)
    judged(small_study, stub, constructs=("QR",))
    scores = small_study.score_table()
    rows = scores[scores["scorer"] == EXPECTED]
    assert rows["value"].isna().all()
    assert set(rows["missing_reason"]) == {"distribution_incomplete"}
    # The number that was written counts all the same.
    assert scores.loc[scores["scorer"] == "stub-judge", "value"].notna().all()
    path = small_study.folder / "run.jsonl"
    from judge.inspect.export import export_run

    export_run(small_study, "stub-judge", path)
    row = json.loads(path.read_text().splitlines()[0])
    known = mean(row["value"], 0.9)
    assert row["expected"] is None
    assert row["distribution_mass"] == pytest.approx(0.9)
    assert row["distribution_mode"] == row["value"]
    assert row["expected_low"] == pytest.approx(0.9 * known)
    assert row["expected_high"] == pytest.approx(0.9 * known + 10)
    output = commanded_show(small_study, row["response_id"])
    assert "not used" in output
    assert "only 90.0% of the probability on scores" in output


def commanded_show(study: Study, response: str) -> str:
    """Return what `ccrs judge show` prints about a response."""
    from judge.inspect.response_details import show_response

    return "\n".join(show_response(study, "stub-judge", response, "QR").lines())


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ("one_hot", "one token only"),
        ("after_temperature", "after temperature"),
        ("few", "fewer than asked"),
        ("digits", "digit by digit"),
        (None, "ignored"),
        ("refused", "refused"),
    ],
    ids=["one-hot", "after-temperature", "few", "digits", "silently-ignored", "refused"],
)
def test_an_invalid_distribution_is_refused_with_its_reason(
    small_study: Study, stub: Stub, form: str | None, status: str
) -> None:
    if form == "refused":
        stub.behave({"behaviour": "rejects", "parameter": "logprobs"})
    elif form is not None:
        stub.behave("logprobs", form=form)
    outcome = judged(small_study, stub, constructs=("QR",))
    assert outcome.missing == {}
    ((_, decoding, observed),) = runs(small_study)
    assert observed == status
    assert "logprobs" not in decoding
    assert "logprobs" not in stub.log().judged[0]["parameters"]
    assert EXPECTED not in set(small_study.score_table()["scorer"])
    with pytest.raises(StudyError, match=rf"returns no probabilities of scores \({status}\)"):
        judged(small_study, stub, constructs=("CC",), logprobs="on")


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_probabilities_distorted_by_temperature_are_detected(
    small_study: Study, stub: Stub, temperature: float
) -> None:
    stub.behave("logprobs", form="after_temperature")
    judged(small_study, stub, constructs=("QR",), temperature=temperature)
    # At a temperature of 1 they are the model's own.
    expected = "given" if temperature == 1 else "after temperature"
    assert runs(small_study)[0][2] == expected


def test_a_run_begun_without_probabilities_goes_on_without_them(
    small_study: Study, stub: Stub
) -> None:
    judged(small_study, stub, limit=10)
    stub.behave("logprobs")
    outcome = judged(small_study, stub)
    assert (outcome.begun, outcome.judged) == (False, WHOLE - 10)
    assert any("started without probabilities of scores" in note for note in outcome.notes)
    assert {row["distribution"] for row in judgments(small_study)} == {None}
    assert len(runs(small_study)) == 1
    again = judged(small_study, stub, logprobs="on", limit=5)
    assert (again.begun, again.run) == (True, "stub-judge (2)")
    # Once there is a run that asks for them, it is the default.
    assert judged(small_study, stub, limit=5).run == "stub-judge (2)"
    assert judged(small_study, stub, logprobs="off").run == "stub-judge"


def test_off_requests_no_probabilities(small_study: Study, stub: Stub) -> None:
    stub.behave("logprobs")
    result = commanded(small_study, stub, "--logprobs", "off", "--limit", "3")
    assert result.code == 0
    assert runs(small_study)[0][2] == "not asked"
    assert all("logprobs" not in request["parameters"] for request in stub.log().requests)


def test_a_reason_before_the_score_leaves_no_distribution(small_study: Study, stub: Stub) -> None:
    stub.behave("logprobs")
    judged(small_study, stub, prompts="ccrs-rationale-v1", limit=3)
    assert runs(small_study)[0][2] == "not asked: answers do not begin with a whole number"


def test_a_name_that_means_another_runs_distribution_is_refused(
    small_study: Study, stub: Stub
) -> None:
    with pytest.raises(StudyError, match="means of another run's distributions"):
        judged(small_study, stub, name=EXPECTED)
