"""Quality of a ranking of documents against relevance judgments.

A ranking is given as the grades of its documents in rank order, 0 for one that is not relevant.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import NamedTuple

from judge.metrics.metric import Metric, MetricInput, MetricValue, MissingValue, Steps
from study.base.scales import Scale
from study.settings.constructs import RETRIEVAL
from study.types import Sees

Grades = Sequence[int]


def reciprocal_rank(grades: Grades) -> float:
    """Return 1 / rank of the first relevant document, 0 without one (Voorhees 1999).

    Examples
    --------
    >>> reciprocal_rank([0, 2, 1])
    0.5
    """
    return next((1 / rank for rank, grade in enumerate(grades, 1) if grade > 0), 0.0)


def dcg(grades: Grades, *, exponential: bool = False) -> float:
    """Return the discounted cumulative gain: the sum of gain / log2(rank + 1).

    The gain is the grade (Järvelin and Kekäläinen 2002), or 2 ** grade - 1 (Burges et al. 2005).
    """
    gains = ((2**grade - 1 if exponential else grade) for grade in grades)
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg(grades: Grades, relevant: Grades, k: int | None, *, exponential: bool = False) -> float:
    """Return the DCG by that of the best ranking of all relevant documents, both cut at k.

    Examples
    --------
    >>> round(ndcg([2, 0, 1], [1, 2], 3), 6), round(ndcg([0, 2, 1], [1, 2], 3), 6)
    (0.950234, 0.669672)
    """
    ideal = sorted(relevant, reverse=True)[:k]
    return dcg(grades[:k], exponential=exponential) / dcg(ideal, exponential=exponential)


def precisions_at_relevant(grades: Grades) -> list[float]:
    """Return the precision at the rank of each relevant document of the ranking."""
    ranks = [rank for rank, grade in enumerate(grades, 1) if grade > 0]
    return [number / rank for number, rank in enumerate(ranks, 1)]


class _Ranking(NamedTuple):
    """A ranking with what is relevant; neither is empty."""

    grades: Grades
    relevant: Grades
    """Grades of all relevant documents of the query."""
    k: int | None

    @property
    def precisions(self) -> list[float]:
        return precisions_at_relevant(self.grades[: self.k])


_VALUES: dict[str, Callable[[_Ranking], float]] = {
    "RR": lambda ranking: reciprocal_rank(ranking.grades[: ranking.k]),
    "hit": lambda ranking: float(bool(ranking.precisions)),
    "NDCG": lambda ranking: ndcg(*ranking),
    "NDCG-exp": lambda ranking: ndcg(*ranking, exponential=True),
    "AP": lambda ranking: sum(ranking.precisions) / len(ranking.relevant),
    "precision": lambda ranking: len(ranking.precisions) / (ranking.k or len(ranking.grades)),
    "precision-ranked": lambda ranking: (
        sum(ranking.precisions) / len(ranking.precisions) if ranking.precisions else 0.0
    ),
}
NAMES = tuple(_VALUES)
_KEY = re.compile(rf"({'|'.join(sorted(NAMES, key=len, reverse=True))})(?:@([1-9]\d*))?")


def is_retrieval(key: str) -> bool:
    """Return whether a key names a metric of this module, such as NDCG@10."""
    return _KEY.fullmatch(key) is not None


class Retrieval(Metric):
    """A metric of the ranking that a response was given, by name and cut: NDCG@10.

    Parameters
    ----------
    key
        One of `NAMES`, with @k where the ranking is cut after k documents.
    documents
        By response (database key): the identifier of each passage in rank order, None where it has
        none. A document that occurs again counts at its first place.
    relevance
        By query (database key): the grade of each judged document.
    source
        Where the judgments are from; stored with each value.
    """

    constructs = (RETRIEVAL.key,)
    fields: tuple[Sees, ...] = ()
    scale = Scale(min=0, max=1)
    steps = 0

    def __init__(
        self,
        key: str,
        documents: Mapping[int, Sequence[str | None]],
        relevance: Mapping[int, Mapping[str, int]],
        source: str,
    ) -> None:
        name, _, cut = key.partition("@")
        self.key = key
        self.version = f"retrieval-v1 {source}"
        self._value = _VALUES[name]
        self._k = int(cut) if cut else None
        self._documents = documents
        self._relevance = relevance

    def score(self, response: MetricInput) -> Steps:
        """Grade the documents of the response's passages."""
        yield from ()
        documents = self._documents.get(response.content.id, ())
        if not documents:
            return MissingValue("no_passages")
        if None in documents:
            return MissingValue("no_documents")
        graded = self._relevance.get(response.content.query, {})
        relevant = [grade for grade in graded.values() if grade > 0]
        if not relevant:
            return MissingValue("no_relevant")
        grades = [max(graded.get(name or "", 0), 0) for name in dict.fromkeys(documents)]
        # Rounding may leave a value just above 1.
        return MetricValue(min(self._value(_Ranking(grades, relevant, self._k)), 1.0))
