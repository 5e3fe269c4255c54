"""Which checks a rater missed, from their own values."""

import pandas as pd
import pytest

from annotate_ui.monitoring.attention_checks import AttentionCheck, missed_checks
from study.settings.constructs import CCRS

# Two copies of query 9, on one construct and on two; an imported check of query 8.
CHECKS = [
    AttentionCheck(9, 90, {"QR": None, "AC": None}),
    AttentionCheck(9, 91, {"QR": None}),
    AttentionCheck(8, 80, {"QR": (0, 20)}),
]
MAIN = [(1, "QR", 40), (2, "QR", 80), (1, "AC", 0), (2, "AC", 0)]


@pytest.mark.parametrize(
    ("answers", "missed"),
    [
        pytest.param([(90, "QR", 59), (91, "QR", 0)], [False], id="below the mean of 60"),
        pytest.param([(90, "QR", 60), (91, "QR", 0)], [True], id="half are not below"),
        pytest.param([(90, "QR", 5), (90, "AC", 0), (91, "QR", 5)], [False], id="nothing below 0"),
        pytest.param([(90, "AC", 50)], [], id="only where nothing can be below"),
        pytest.param([(80, "QR", 20)], [False], id="in its range"),
        pytest.param([(80, "QR", 21), (91, "QR", 1)], [False, True], id="out of its range"),
    ],
)
def test_copies_are_compared_with_the_mean_and_imported_checks_with_their_range(
    answers: list[tuple[int, str, float]], missed: list[bool]
) -> None:
    rows = [("anna", "main", *row) for row in MAIN]
    rows += [("anna", "check", *row) for row in answers]
    # Another rater's values and repeats change nothing.
    rows += [("ben", "main", 1, "QR", 0), ("anna", "repeat", 1, "QR", 0)]
    ratings = pd.DataFrame(rows, columns=["rater", "purpose", "response", "construct", "value"])
    assert missed_checks(CHECKS, ratings, CCRS).get("anna", []) == missed
