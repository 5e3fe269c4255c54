"""In Python, too, an option that nothing can use is an error, in Python's words."""

from typing import Any

import pandas as pd
import pytest

import ccrs_study
from analysis import Options, analyse
from analysis.core.errors import AnalysisError
from tests.analysis.scores import simulated, table

VERDICTS = pd.DataFrame(
    {"people": [n % 3 == 0 for n in range(60)], "judge": [1 + (n + n % 3) % 5 for n in range(60)]}
).astype(int)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"bias_margin": 3.0}, "bias_margin=3.0 has no effect"),
        ({"target_width": 2.0}, "target_width=2.0 has no effect"),
        ({"cut": {"human": 1.0}}, r"cut=\{'human': 1.0\} has no effect"),
        # A default that is stated is asked for as well.
        ({"alt_test_epsilon": 0.15}, "alt_test_epsilon=0.15 has no effect"),
    ],
)
def test_evaluate_refuses_an_option_without_effect(option: dict[str, Any], words: str) -> None:
    with pytest.raises(AnalysisError, match=words):
        ccrs_study.evaluate(VERDICTS, judge="judge", human="people", **option)


def test_evaluate_uses_the_cut_of_a_judge_that_grades() -> None:
    result = ccrs_study.evaluate(VERDICTS, judge="judge", human="people", cut={"judge": 4})
    (rate,) = result.analysis.estimates.select("true_positive_rate")
    assert rate.params["cut"] == 4
    assert rate.value == (VERDICTS["judge"] >= 4)[VERDICTS["people"] == 1].mean()


def test_options_that_differ_from_their_defaults_are_checked() -> None:
    scores = table(simulated(queries=8))
    options = Options(resamples=100, without_unopened=True)
    with pytest.raises(AnalysisError, match="without_unopened=True has no effect"):
        analyse(scores, options=options)
    assert len(analyse(scores, options=options, given=()).estimates) > 0
