"""Rankings equal those that are computed by hand, in plain loops."""

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judge.metrics.unicode_words import unicode_words
from judge.responding.bm25 import K1, B, bm25_rankings
from judge.responding.dense import UnitVectors, dense_rankings
from judge.responding.ranked import Ranked, best, fused
from study.errors import StudyError
from tests.judge.responding.example_corpus import example
from tests.judge.scripted_encoder import ScriptedEncoder


def by_hand(chunks: list[str], query: str) -> list[tuple[int, float]]:
    """Return the chunks that share a word with a query, by Lucene's BM25."""
    words = [unicode_words(text) for text in chunks]
    average = sum(map(len, words)) / len(words)
    scores = []
    for place, own in enumerate(words):
        counts, score = Counter(own), 0.0
        for word in unicode_words(query):
            having = sum(word in other for other in words)
            idf = log(1 + (len(words) - having + 0.5) / (having + 0.5))
            norm = K1 * (1 - B + B * len(own) / average)
            score += idf * counts[word] / (counts[word] + norm)
        if score > 0:
            scores.append((place, score))
    return sorted(scores, key=lambda item: -item[1])


def test_bm25_is_that_of_lucene_on_the_example() -> None:
    documents, questions, _ = example()
    chunks = [document.text for document in documents]
    rankings = bm25_rankings(chunks, [question.text for question in questions], 20)
    for question, ranking in zip(questions, rankings, strict=True):
        expected = by_hand(chunks, question.text)[:20]
        assert [place.chunk for place in ranking] == [place for place, _ in expected]
        assert [place.score for place in ranking] == pytest.approx(
            [score for _, score in expected], abs=1e-6
        )


def test_chunks_without_a_word_of_the_query_are_not_retrieved() -> None:
    rankings = bm25_rankings(["a b", "c", "A."], ["a", "zz", "?!", "a a"], 5)
    chunks = [[place.chunk for place in ranking] for ranking in rankings]
    assert chunks == [[2, 0], [], [], [2, 0]]


@given(st.lists(st.integers(-2, 2), min_size=1, max_size=12), st.integers(1, 14))
def test_equal_scores_stay_in_the_order_of_the_chunks(scores: list[int], k: int) -> None:
    expected = sorted(enumerate(scores), key=lambda item: (-item[1], item[0]))[:k]
    assert best(np.array(scores, dtype=float), k) == [Ranked(*item) for item in expected]


def test_dense_ranks_are_those_of_all_cosines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.responding.dense._CHUNKS", 7)
    monkeypatch.setattr("judge.responding.dense._QUERIES", 4)
    random = np.random.default_rng(1)
    chunks, queries = (random.normal(size=(n, 16)).astype(np.float32) for n in (40, 9))
    for query, ranking in zip(queries, dense_rankings(chunks, queries, 40), strict=True):
        cosines = [float(np.dot(chunk.astype(float), query.astype(float))) for chunk in chunks]
        assert [place.chunk for place in ranking] == sorted(range(40), key=lambda n: -cosines[n])
        assert [place.score for place in ranking] == pytest.approx(sorted(cosines, reverse=True))


def test_vectors_have_length_1_and_the_prefix_is_before_each_text() -> None:
    encoder = ScriptedEncoder()
    vectors = UnitVectors(encoder, "query: ")
    made = vectors.of(["b c", "a long text", ""])
    assert np.linalg.norm(made, axis=1) == pytest.approx(np.ones(3))
    assert sorted(encoder.asked) == ["query: ", "query: a long text", "query: b c"]
    assert vectors.truncated == 1
    with pytest.raises(StudyError, match=r"no vector for 'strange'.*not_finite"):
        vectors.of(["strange"])


def test_fusion_adds_reciprocal_ranks() -> None:
    one = [Ranked(4, 9.0), Ranked(1, 8.0), Ranked(2, 7.0)]
    other = [Ranked(2, 0.9), Ranked(3, 0.8)]
    expected = {2: 1 / 63 + 1 / 61, 4: 1 / 61, 1: 1 / 62, 3: 1 / 62}
    ranking = fused([one, other], 60, 4)
    # Equal scores are in the order of the chunks.
    assert [place.chunk for place in ranking] == [2, 4, 1, 3]
    assert {place.chunk: place.score for place in ranking} == pytest.approx(expected)
