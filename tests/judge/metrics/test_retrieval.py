import random

import pytest
import pytrec_eval

from judge.metrics.evaluation import evaluate
from judge.metrics.metric import Content, MetricInput, MetricValue, MissingValue
from judge.metrics.retrieval import NAMES, Retrieval, is_retrieval

# Metric here to its name in trec_eval.
OF_TREC_EVAL = {
    "RR": "recip_rank",
    "hit@5": "success_5",
    "NDCG": "ndcg",
    "NDCG@5": "ndcg_cut_5",
    "AP": "map",
    "AP@5": "map_cut_5",
    "precision@5": "P_5",
}


def measured(
    key: str, documents: list[str | None], relevance: dict[str, int]
) -> MetricValue | MissingValue:
    metric = Retrieval(key, {7: documents}, {1: relevance}, "test")
    content = Content(7, 1, b"", "?", (), "", None, 0, 0, True)
    result = evaluate(metric, MetricInput(content, "CC", frozenset())).result
    assert result is not None
    return result


def value(key: str, documents: list[str], relevance: dict[str, int]) -> float:
    result = measured(key, [*documents], relevance)
    assert isinstance(result, MetricValue)
    return result.value


def test_values_are_those_of_trec_eval_on_1000_random_rankings() -> None:
    generator = random.Random(0)
    rankings, relevance = {}, {}
    for number in range(1000):
        pool = [f"d{document}" for document in range(20)]
        rankings[f"q{number}"] = generator.sample(pool, generator.randint(1, 15))
        judged = generator.sample(pool, generator.randint(1, 8))
        relevance[f"q{number}"] = {
            **{document: generator.randint(0, 3) for document in judged},
            judged[0]: 1,
        }
    runs = {
        query: {document: -float(rank) for rank, document in enumerate(documents)}
        for query, documents in rankings.items()
    }
    families = {"recip_rank", "success", "ndcg", "ndcg_cut", "map", "map_cut", "P"}
    expected = pytrec_eval.RelevanceEvaluator(relevance, families).evaluate(runs)
    powers = {q: {d: 2**g - 1 for d, g in judged.items()} for q, judged in relevance.items()}
    exponential = pytrec_eval.RelevanceEvaluator(powers, {"ndcg_cut"}).evaluate(runs)
    for query, documents in rankings.items():
        judged = relevance[query]
        for key, trec_name in OF_TREC_EVAL.items():
            assert value(key, documents, judged) == pytest.approx(
                expected[query][trec_name], rel=0, abs=1e-9
            ), (key, documents, judged)
        assert value("NDCG-exp@5", documents, judged) == pytest.approx(
            exponential[query]["ndcg_cut_5"], rel=0, abs=1e-9
        )


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("NDCG@3", 0.669672),
        ("NDCG-exp@3", 0.659002),
        ("AP", 0.583333),
        ("RR", 1 / 2),
        ("RR@1", 0),
        ("hit@1", 0),
        ("hit@2", 1),
        ("precision", 2 / 3),
        ("precision@2", 1 / 2),
        ("precision-ranked", (1 / 2 + 2 / 3) / 2),
    ],
)
def test_values_by_hand(key: str, expected: float) -> None:
    assert value(key, ["d2", "d3", "d1"], {"d1": 1, "d3": 2}) == pytest.approx(expected, abs=1e-6)


def test_a_document_counts_at_its_first_place() -> None:
    assert value("precision@2", ["d1", "d1", "d2"], {"d1": 1, "d2": 1}) == 1
    assert value("NDCG", ["d1", "d1"], {"d1": 1}) == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("documents", "relevance", "reason"),
    [
        ([], {"d1": 1}, "no_passages"),
        (["d1", None], {"d1": 1}, "no_documents"),
        (["d1"], {}, "no_relevant"),
        (["d1"], {"d1": 0, "d2": -1}, "no_relevant"),
    ],
)
def test_what_cannot_be_measured_has_a_reason(
    name: str, documents: list[str | None], relevance: dict[str, int], reason: str
) -> None:
    assert measured(name, documents, relevance) == MissingValue(reason)


def test_a_cut_is_a_whole_number_from_1() -> None:
    assert is_retrieval("NDCG-exp@10")
    for key in ("NDCG@0", "NDCG@", "NDCG@ten", "MRR", "hit@1.5"):
        assert not is_retrieval(key)
