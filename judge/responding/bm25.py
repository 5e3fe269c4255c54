"""Retrieval by words: BM25 as Lucene computes it, with the package bm25s."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from judge.metrics.unicode_words import unicode_words
from judge.responding.ranked import Ranking, best
from study.errors import StudyError

K1, B = 1.2, 0.75
"""The parameters that Lucene, and OpenSearch with it, has by default."""


def identity() -> str:
    """Return what decides the scores: method, parameters, words, version of the package."""
    from importlib.metadata import version

    _package()
    return f"bm25s:{version('bm25s')} lucene k1:{K1:g} b:{B:g} unicode-words"


def bm25_rankings(chunks: Sequence[str], queries: Sequence[str], k: int) -> Iterator[Ranking]:
    """Yield the ranking of each query: at most k chunks that share a word with it.

    Words are in lower case, without stemming; no word is left out. A word that a query has twice
    counts twice.

    Raises
    ------
    StudyError
        bm25s is not installed.
    """
    index = _package().BM25(method="lucene", k1=K1, b=B, dtype="float64")
    words = [list(unicode_words(text)) for text in chunks]
    index.index(words, show_progress=False)
    del words
    for query in queries:
        asked = list(unicode_words(query))
        if not asked:
            yield []
            continue
        scores = np.asarray(index.get_scores(asked), dtype=np.float64)
        yield best(np.where(scores > 0, scores, -np.inf), k)


def _package() -> Any:
    try:
        import bm25s
    except ImportError:
        raise StudyError(
            "Retrieval by BM25 needs the package bm25s, which is not installed; run: "
            "pip install 'ccrs-study[respond]'"
        ) from None
    return bm25s
