"""The forecast of a run: the ratio estimate, its interval, and the sample it needs."""

from math import sqrt

import numpy as np
import pytest

from judge.engines.engine_settings import VLLMSettings
from judge.protocol.exchange import Answer
from judge.running.forecast import CountedAnswer, IntervalEstimate, forecast, ratio_total
from judge.running.metric_requests import PromptName
from judge.running.plan import draw_prompts
from tests.judge.small_studies import ScriptedSettings


def test_the_ratio_estimate_by_hand() -> None:
    """Ratio 120 / 60 = 2; residuals 1, -1, 0, so s^2 = 1; half of six units are left.

    The error is 6 sqrt((1/2) / 3), and t with 2 degrees of freedom 4.30265.
    """
    total = ratio_total([(10, 21), (20, 39), (30, 60)], 3, 60)
    assert total.estimate == pytest.approx(120)
    reach = 4.302653 * 6 * sqrt(1 / 6)
    assert (total.low, total.high) == (
        pytest.approx(120 - reach, abs=1e-4),
        pytest.approx(120 + reach, abs=1e-4),
    )


def test_what_is_proportional_to_size_has_no_error_and_one_answer_no_interval() -> None:
    assert ratio_total([(10, 5), (30, 15)], 8, 100) == IntervalEstimate(50, 50, 50)
    assert ratio_total([(10, 5)], 8, 100) == IntervalEstimate(50)
    assert ratio_total([(10, 5), (20, 9)], 0, 0) == IntervalEstimate(0)


def test_the_interval_covers_what_it_says() -> None:
    """2,000 prompts of skewed lengths, a part of each that does not grow, and noise that does.

    900 random samples of 40. Of 4,000 samples from such populations its 95% interval covers 93.5%,
    83 to 93% with samples of 10, and 93 to 95% with samples of 100 (see the manual, A judge's run).
    """
    rng = np.random.default_rng(7)
    size = np.round(rng.lognormal(8, 0.6, 2000))
    tokens = np.round(60 + size * rng.normal(0.25, 0.03, 2000))
    covered = 0
    for _ in range(900):
        sample = rng.choice(2000, 40, replace=False)
        left = np.setdiff1d(np.arange(2000), sample)
        pairs = list(zip(size[sample].tolist(), tokens[sample].tolist(), strict=True))
        total = ratio_total(pairs, len(left), float(size[left].sum()))
        assert total.low is not None
        assert total.high is not None
        covered += total.low <= tokens[left].sum() <= total.high
    assert covered / 900 > 0.915


def test_a_sample_has_each_construct_by_its_share_and_short_and_long_prompts() -> None:
    prompts = {
        PromptName(key, 0, response): 100 * response
        for key, count in (("AC", 300), ("CC", 300), ("QR", 100))
        for response in range(count)
    }
    chosen = draw_prompts(prompts, 70, seed=3)
    assert chosen == draw_prompts(prompts, 70, seed=3)
    assert len({draw_prompts(prompts, 70, seed) for seed in range(6)}) > 1
    by_key = {key: sum(name.construct_key == key for name in chosen) for key in ("AC", "CC", "QR")}
    assert by_key == {"AC": 30, "CC": 30, "QR": 10}
    lengths = sorted(prompts[name] for name in chosen if name.construct_key == "CC")
    assert lengths[0] < 1000
    assert lengths[-1] > 29_000 - 1000
    assert draw_prompts(prompts, 10_000, seed=0) == frozenset(prompts)


def test_cached_tokens_have_a_price_of_their_own() -> None:
    settings = ScriptedSettings(price=(3.0, 15.0))
    assert settings.cost(1e6, 1e5, 4e5) == pytest.approx(3 + 1.5)
    apart = ScriptedSettings(price=(3.0, 15.0), price_cached=0.3)
    assert apart.cost(1e6, 1e5, 4e5) == pytest.approx(0.6 * 3 + 0.4 * 0.3 + 1.5)
    free = ScriptedSettings(price=(3.0, 15.0), price_cached=0.0)
    assert free.cost(1e6, 0, 1e6) == 0
    # A server that counts cached tokens apart from those of prompts.
    assert apart.cost(1e6, 0, 2e6) == pytest.approx(3 + 2 * 0.3)
    assert ScriptedSettings().cost(1e6, 1e5) is None


def test_tokens_time_and_cost_of_the_rest() -> None:
    settings = ScriptedSettings(price=(1.0, 10.0), price_cached=0.1, concurrency=4)
    answer = Answer(
        "85", prompt_tokens=100, completion_tokens=2, cached_tokens=50, milliseconds=800.0
    )
    rest = forecast([CountedAnswer(400, answer), CountedAnswer(400, answer)], 10, 4000, settings)
    assert rest is not None
    assert {name: total.estimate for name, total in rest.tokens.items()} == {
        "prompt": 1000,
        "completion": 20,
        "cached": 500,
    }
    assert rest.cached_share == 0.5
    assert rest.seconds == IntervalEstimate(2)
    assert rest.cost is not None
    assert rest.cost.estimate == pytest.approx((500 + 50 + 200) / 1e6)
    text = "\n".join(rest.lines())
    assert "prompt tokens: about 1,000 (1,000 to 1,000)" in text
    assert "time: about 2.0 s (if 4 are always under way at once)" in text
    # One answer of 400 bytes took 3 s from end to end: ten times as much takes 30 s.
    slow = forecast([CountedAnswer(400, answer)], 10, 4000, settings, wall=3.0)
    assert slow is not None
    assert slow.seconds == IntervalEstimate(30, 2, 30)
    assert any("time: 2.0 to 30.0 s" in line for line in slow.lines())
    unlimited = VLLMSettings(model="llama")
    local = forecast([CountedAnswer(400, answer)], 10, 4000, unlimited, wall=3.0)
    assert local is not None
    assert local.seconds == IntervalEstimate(30)


def test_uncounted_tokens_are_reported_and_not_taken_for_0() -> None:
    settings = ScriptedSettings()
    counted = Answer("85", prompt_tokens=100)
    rest = forecast(
        [CountedAnswer(400, counted), CountedAnswer(400, Answer("85"))], 1, 400, settings
    )
    assert rest is not None
    assert rest.tokens == {"prompt": IntervalEstimate(100)}
    assert rest.seconds is None
    assert rest.cost is None
    assert any("Without a count of tokens: 1 of 2 answers." in line for line in rest.lines())
    assert forecast([CountedAnswer(400, Answer("85"))], 1, 400, settings) is None
