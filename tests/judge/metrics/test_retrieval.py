import random

import pytest
import pytrec_eval

from judge.metrics.evaluation import evaluate
from judge.metrics.metric import Content, MetricInput, MetricValue, MissingValue
from judge.metrics.retrieval import NAMES, Retrieval, retrieval_key

# Metric here to its name in trec_eval.
OF_TREC_EVAL = {
    "RR": "recip_rank",
    "hit@5": "success_5",
    "NDCG": "ndcg",
    "NDCG@5": "ndcg_cut_5",
    "AP": "map",
    "AP@5": "map_cut_5",
    "precision@5": "P_5",
    "recall@5": "recall_5",
}


def measured(
    key: str, documents: list[str | None], relevance: dict[str, int]
) -> MetricValue | MissingValue:
    metric = Retrieval(key, {7: documents}, {1: relevance}, "test@1", "test")
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
    families = {"recip_rank", "success", "ndcg", "ndcg_cut", "map", "map_cut", "P", "recall"}
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
        ("recall", 1),
        ("recall@2", 1 / 2),
    ],
)
def test_values_by_hand(key: str, expected: float) -> None:
    assert value(key, ["d2", "d3", "d1"], {"d1": 1, "d3": 2}) == pytest.approx(expected, abs=1e-6)


def test_a_document_counts_at_its_first_place() -> None:
    assert value("precision@3", ["d1", "d1", "d2"], {"d1": 1, "d2": 1}) == 1
    assert value("NDCG", ["d1", "d1"], {"d1": 1}) == 1


def test_a_ranking_is_cut_before_repeated_documents_go() -> None:
    # Of two passages shown, both are of d1: d2 was not shown.
    assert value("recall@2", ["d1", "d1", "d2"], {"d1": 1, "d2": 1}) == 1 / 2
    assert value("hit@2", ["d1", "d1", "d2"], {"d2": 1}) == 0
    assert value("NDCG@2", ["d1", "d1", "d2"], {"d1": 1, "d2": 1}) == pytest.approx(0.613147)


def test_passages_are_a_unit_as_well() -> None:
    documents, relevance = ["u1", "u1", "u2"], {"u1": 1}
    assert value("precision", documents, relevance) == 1 / 2
    assert value("precision-passages", documents, relevance) == pytest.approx(2 / 3)
    assert value("precision-passages@2", documents, relevance) == 1
    assert value("RR", documents, {"u2": 1}) == 1 / 2
    assert value("RR-passages", documents, {"u2": 1}) == pytest.approx(1 / 3)
    assert value("hit-passages@2", documents, {"u2": 1}) == 0


def test_the_names_of_means_are_those_of_their_metrics() -> None:
    assert retrieval_key("MRR") == "RR"
    assert retrieval_key("MRR@10") == "RR@10"
    assert retrieval_key("hit rate") == "hit"
    assert retrieval_key("hit rate@5") == "hit@5"


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
    assert retrieval_key("NDCG-exp@10") == "NDCG-exp@10"
    # A passage has no place in the ideal ranking of documents.
    for key in ("NDCG@0", "NDCG@", "NDCG@ten", "hit@1.5", "NDCG-passages"):
        assert retrieval_key(key) is None
