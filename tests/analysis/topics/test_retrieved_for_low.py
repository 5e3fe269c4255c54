"""How many of the responses that people rate low had no relevant passage."""

import pandas as pd
import pytest

from analysis import Options, analyse
from analysis.core.tables import ScoreTable
from analysis.topics.agreement.retrieved_for_low import reading
from study.base.scales import Scale

# Four queries with two systems each: rating, and whether a relevant passage was retrieved; the
# last query has no judged document, so its metrics are missing.
RATINGS = {"a": (20, 80, 40, 10), "b": (30, 90, 70, 95)}
RETRIEVED = {"a": (0.0, 0.5, 1.0, None), "b": (0.0, 1.0, 0.0, None)}


def scores(*metrics: str) -> ScoreTable:
    rows = []
    for system, ratings in RATINGS.items():
        for query, (rating, found) in enumerate(zip(ratings, RETRIEVED[system], strict=True)):
            of = {"response_id": f"{query}{system}", "query_id": f"q{query}", "system": system}
            for scorer, kind, value in (("ann", "human", rating), ("m", "judge", rating)):
                rows.append({**of, "construct": "AC", "scorer": scorer, "scorer_kind": kind,
                             "value": value})  # fmt: skip
            for metric in metrics:
                # A cut hides what is below it.
                cut = found and (0.0 if "@1" in metric.split()[0] and found < 1 else found)
                rows.append({**of, "construct": "retrieval", "scorer": metric,
                             "scorer_kind": "metric", "value": cut})  # fmt: skip
    scales = {"AC": Scale(0, 100), "retrieval": Scale(0, 1)}
    if not metrics:
        del scales["retrieval"]
    return ScoreTable.from_frame(pd.DataFrame(rows), scales)


@pytest.mark.parametrize(
    ("metrics", "chosen", "others"),
    [
        # Rated below 50 with a value: 0a (nothing), 0b (nothing), 2a (found). Others: 1a, 1b
        # (found), 2b (nothing). Query 3 has no value.
        (("NDCG@1 qrels@12", "RR qrels@12", "similarity x"), "RR qrels@12", 1),
        # With the cut, 1a counts as well, whose relevant passage is below it.
        (("NDCG@1 qrels@12",), "NDCG@1 qrels@12", 2),
    ],
)
def test_counts_by_hand(metrics: tuple[str, ...], chosen: str, others: int) -> None:
    analysis = analyse(scores(*metrics), options=Options(resamples=100))
    [found] = analysis.estimates.select("low_without_relevant")
    assert found.value == pytest.approx(2 / 3)
    assert found.scorers == (chosen, "ann")
    assert found.params == {
        "count": 2, "of": 3, "others_count": others, "others_of": 3, "below": 50,
    }  # fmt: skip
    [sentence] = reading(analysis)
    assert f"({chosen} is 0) for 2 of 3 on AC ({others} of 3 other responses)." in sentence


def test_without_a_metric_of_rankings_nothing_is_said() -> None:
    for metrics in ((), ("context-relevance e",)):
        analysis = analyse(scores(*metrics), options=Options(resamples=100))
        assert list(reading(analysis)) == []
        assert not analysis.estimates.select("low_without_relevant")
