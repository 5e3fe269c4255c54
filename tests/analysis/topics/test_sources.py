"""Ratings from two places: the difference on what was rated in both, with its interval."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, analyse
from analysis.topics.reliability.tables import between_sources, raters
from tests.analysis.scores import rows, simulated, table

QUICK = Options(resamples=200)


def placed(frame: pd.DataFrame, **places: str) -> pd.DataFrame:
    """The frame with each rater's place; a judge's is own."""
    return frame.assign(source=frame["scorer"].str.replace("-", "_").map(places).fillna("own"))


def test_the_difference_is_that_of_means_on_responses_rated_in_both() -> None:
    frame = rows(
        {"response_id": "a", "query_id": "q1", "scorer": "ann", "value": 10, "source": "own"},
        {"response_id": "a", "query_id": "q1", "scorer": "bo", "value": 20, "source": "own"},
        {"response_id": "a", "query_id": "q1", "scorer": "cy", "value": 21, "source": "ls"},
        {"response_id": "b", "query_id": "q2", "scorer": "ann", "value": 50, "source": "own"},
        {"response_id": "b", "query_id": "q2", "scorer": "cy", "value": 60, "source": "ls"},
        {"response_id": "c", "query_id": "q3", "scorer": "cy", "value": 99, "source": "ls"},
        {"response_id": "c", "query_id": "q3", "scorer": "di", "value": 99, "source": "ls"},
    )
    (selected,) = analyse(table(frame), options=QUICK).estimates.select("source_difference")
    on_a, on_b = 21 - (10 + 20) / 2, 60 - 50
    assert selected.value == pytest.approx((on_a + on_b) / 2)
    # Of di nothing is compared.
    assert (selected.scorers, selected.n_raters) == (("ann", "bo", "cy"), 3)
    assert (selected.n_responses, selected.n_queries, selected.params) == (
        2,
        2,
        {"first": "own", "second": "ls"},
    )


def test_one_place_has_no_difference_and_no_column() -> None:
    analysis = analyse(table(simulated().assign(source="own")), options=QUICK)
    assert not analysis.estimates.select("source_difference")
    (shown,) = raters(analysis)
    assert "Source" not in shown.columns
    assert not analyse(table(simulated()), options=QUICK).estimates.select("source_difference")


def test_places_without_a_common_response_say_why() -> None:
    frame = rows(
        {"response_id": "a", "query_id": "q1", "scorer": "ann", "source": "own"},
        {"response_id": "b", "query_id": "q2", "scorer": "cy", "source": "ls"},
    )
    (selected,) = analyse(table(frame), options=QUICK).estimates.select("source_difference")
    assert np.isnan(selected.value)
    assert selected.reason


def test_the_report_names_each_raters_place_and_the_difference() -> None:
    frame = placed(simulated(), rater_3="label_studio")
    analysis = analyse(table(frame), options=QUICK)
    (shown,) = raters(analysis)
    assert [row[-1].text for row in shown.rows] == ["own", "own", "label_studio"]
    (sources,) = between_sources(analysis)
    assert [cell.text for cell in sources.rows[0][:3]] == ["QR", "own", "label_studio"]
    assert sources.rows[0][3].interval


@pytest.mark.slow
def test_the_interval_covers_a_planted_difference() -> None:
    rng = np.random.default_rng(11)
    inside, runs = 0, 150
    for seed in range(runs):
        frame = simulated(queries=20, seed=seed, raters=3)
        frame = placed(frame[frame["scorer_kind"] == "human"], rater_3="label_studio")
        moved = frame["source"].eq("label_studio")
        # A shift of each query on top of 5 points, which resampling queries has to see.
        shift = 5 + 4 * rng.normal(size=20)
        frame.loc[moved, "value"] += shift[frame.loc[moved, "query_id"].str[1:].astype(int)]
        (e,) = analyse_sources(frame)
        inside += bool(e.ci_low <= 5 <= e.ci_high)
    # 95% within three standard errors of 150 runs.
    assert abs(inside / runs - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / runs)


def analyse_sources(frame: pd.DataFrame) -> list[object]:
    """Return the differences alone: a whole report takes seconds."""
    from analysis.core.context import Context
    from analysis.topics.reliability.raters import sources

    return list(sources(Context(table(frame, None), None, QUICK)))
