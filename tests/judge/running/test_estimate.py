"""A sample of a run, and the forecast for the other prompts."""

from dataclasses import replace

import pytest

from judge import judge_study, preview, show_run
from judge.engines.engine import Ready
from judge.protocol.exchange import Answer
from study import Study, StudyError
from tests.judge.small_studies import Scripted, ScriptedSettings, fill, score


def counted(prompt: str) -> Answer:
    """Answer as a server that counts a token for each three bytes, and 10 more."""
    tokens = 10 + len(prompt.encode()) // 3
    return Answer(score(prompt), prompt_tokens=tokens, completion_tokens=2, milliseconds=200.0)


def test_a_sample_is_stored_and_says_what_the_rest_takes(
    any_study: Study, scripted: type[Scripted]
) -> None:
    fill(any_study, queries=10)
    scripted.answer = staticmethod(counted)
    settings = ScriptedSettings(name="j", price=(1.0, 10.0), concurrency=8)
    done = judge_study(any_study, settings.model_copy(update={"estimate": 30}))
    assert done.answered == 30
    estimate = done.estimate
    assert estimate is not None
    assert (estimate.answers, estimate.prompts) == (30, 190 - 30)
    asked = [len(scripted.asked)]
    judge_study(any_study, settings)
    rest = scripted.asked[asked[0] :]
    # No prompt is asked twice, and the sample went through constructs and lengths.
    assert len(rest) == 160
    assert len({request.prompt for request in scripted.asked}) == 190
    assert {request.construct_key for request in scripted.asked[:30]} == {
        "QR", "CC", "ID", "AC", "IR",
    }  # fmt: skip
    took = sum(counted(request.prompt).prompt_tokens or 0 for request in rest)
    prompt = estimate.tokens["prompt"]
    assert prompt.low is not None
    assert prompt.high is not None
    assert prompt.low <= took <= prompt.high
    assert prompt.estimate == pytest.approx(took, rel=0.03)
    assert estimate.tokens["completion"].estimate == pytest.approx(320, rel=0.1)
    assert estimate.cost is not None
    assert estimate.cost.estimate == pytest.approx((took + 10 * 320) / 1e6, rel=0.05)
    kinds = [(call.kind, call.planned, call.answered) for call in show_run(any_study, "j").calls]
    assert kinds == [("estimate", 30, 30), ("run", 160, 160)]


def test_the_output_and_the_next_command(campaign: Study, scripted: type[Scripted]) -> None:
    scripted.answer = staticmethod(counted)
    done = judge_study(campaign, ScriptedSettings(name="j", estimate=10))
    text = "\n".join(done.lines())
    assert "Forecast for 47 remaining prompts, from 10 answers:" in text
    assert "95% intervals" in text
    assert "run the command again without --estimate" in text
    scripted.answer = staticmethod(lambda prompt: Answer(score(prompt)))
    silent = judge_study(campaign, ScriptedSettings(name="j", estimate=10))
    assert silent.estimate is None
    assert any("counted no tokens" in line for line in silent.lines())
    every = judge_study(campaign, ScriptedSettings(name="j", estimate=500))
    assert (every.answered, every.remaining) == (37, 0)
    done = judge_study(campaign, ScriptedSettings(name="j", estimate=500))
    for outcome in (every, done):
        lines = outcome.lines()
        assert "No prompt is left to ask, so there is no forecast." in lines
        assert not any("counted no tokens" in line or "remaining" in line for line in lines)


def test_an_engine_with_a_tokenizer_counts_the_rest_instead_of_guessing(
    campaign: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lengths are the counts themselves: what the prompts take has no error."""
    start = scripted.start

    def counting(self: Scripted, sample: list[str]) -> Ready:
        ready = start(self, sample)
        return replace(ready, count=lambda parts: 10 + len("".join(parts).encode()) // 3)

    monkeypatch.setattr(scripted, "start", counting)
    scripted.answer = staticmethod(counted)
    estimate = judge_study(campaign, ScriptedSettings(name="j", estimate=5)).estimate
    assert estimate is not None
    prompt = estimate.tokens["prompt"]
    assert prompt.low == pytest.approx(prompt.estimate)
    judge_study(campaign, ScriptedSettings(name="j"))
    took = sum(counted(request.prompt).prompt_tokens or 0 for request in scripted.asked[5:])
    assert prompt.estimate == pytest.approx(took)


def test_a_dry_run_goes_by_what_the_run_has_counted(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = staticmethod(counted)
    settings = ScriptedSettings(name="j", price=(1.0, 10.0))
    judge_study(campaign, ScriptedSettings(name="j", estimate=20))
    shown = preview(campaign, settings)
    assert shown.forecast is not None
    assert shown.forecast.answers == 20
    before = len(scripted.asked)
    judge_study(campaign, ScriptedSettings(name="j"))
    took = sum(counted(request.prompt).prompt_tokens or 0 for request in scripted.asked[before:])
    assert shown.prompt_tokens == pytest.approx(took, rel=0.05)
    assert any("--estimate draws one" in line for line in shown.lines())
    fresh = preview(campaign, ScriptedSettings(model="another"))
    assert fresh.forecast is None
    assert any("at four bytes each" in line for line in fresh.lines())


def test_estimate_and_limit_exclude_each_other() -> None:
    with pytest.raises(StudyError, match="leave limit out"):
        ScriptedSettings.checked(estimate=10, limit=5)


@pytest.mark.parametrize("price", [(-1.0, 2.0), (2.0, -1.0), (-1.0, -2.0)])
def test_no_price_is_negative(price: tuple[float, float]) -> None:
    with pytest.raises(StudyError, match="price: must not be negative"):
        ScriptedSettings.checked(price=price)
