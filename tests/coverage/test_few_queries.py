"""What the report states of few queries is what the committed table shows."""

import pandas as pd
import pytest

from analysis import Options, analyse
from analysis.topics.agreement import few_queries
from analysis.topics.agreement.non_inferiority import non_inferiority_table
from analysis.topics.agreement.tables import ceiling
from tests.analysis.scores import simulated, table
from tests.coverage.few_queries import TABLE

ROWS = pd.read_csv(TABLE)


@pytest.mark.parametrize(
    ("column", "stated"),
    [("better", few_queries.BETTER), ("non_inferior", few_queries.NON_INFERIOR)],
)
def test_rates_are_those_of_the_table(column: str, stated: dict[int, float]) -> None:
    simulated_rates = ROWS.groupby("queries")[column].mean()
    for queries, rate in stated.items():
        assert rate == pytest.approx(simulated_rates[queries], abs=0.0006)


def test_intervals_for_raters_like_these_keep_their_level() -> None:
    assert (ROWS["further_better"] <= 0.025 + 2 * 0.005).all()
    assert (ROWS["further_non_inferior"] <= 0.05 + 2 * 0.007).all()


@pytest.mark.parametrize(
    ("queries", "of_better", "of_margin"), [(12, 10, 10), (15, 15, 15), (30, 30, None)]
)
def test_the_explanation_states_the_rate(
    queries: int, of_better: int, of_margin: int | None
) -> None:
    options = Options(resamples=100, non_inferiority_margin=0.1)
    analysis = analyse(table(simulated(queries=queries)), options=options)
    (beside,), (margin,) = ceiling(analysis), non_inferiority_table(analysis)
    for shown, named in ((beside, of_better), (margin, of_margin)):
        assert ("of simulated studies" in shown.caption) == (named is not None)
        assert named is None or f"With {named} queries" in shown.caption
