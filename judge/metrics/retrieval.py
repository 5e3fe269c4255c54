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
    """A ranking, cut, with what is relevant; neither is empty."""

    grades: Grades
    relevant: Grades
    """Grades of all relevant documents of the query."""
    k: int | None
    """Place after which the ranking is cut; None: it is not."""
    places: int
    """Places of the ranking, up to the cut; those of repeated documents do not count."""

    @property
    def precisions(self) -> list[float]:
        return precisions_at_relevant(self.grades)


_Value = Callable[[_Ranking], float]

_OF_PLACES: dict[str, _Value] = {
    "RR": lambda ranking: reciprocal_rank(ranking.grades),
    "hit": lambda ranking: float(bool(ranking.precisions)),
    "precision": lambda ranking: len(ranking.precisions) / ranking.places,
    "precision-ranked": lambda ranking: (
        sum(ranking.precisions) / len(ranking.precisions) if ranking.precisions else 0.0
    ),
}
"""Metrics that are defined where several places have the same document, too."""

_VALUES: dict[str, _Value] = {
    **_OF_PLACES,
    "recall": lambda ranking: len(ranking.precisions) / len(ranking.relevant),
    "NDCG": lambda ranking: ndcg(ranking.grades, ranking.relevant, ranking.k),
    "NDCG-exp": lambda ranking: ndcg(ranking.grades, ranking.relevant, ranking.k, exponential=True),
    "AP": lambda ranking: sum(ranking.precisions) / len(ranking.relevant),
}
NAMES = tuple(_VALUES)
PASSAGES = "-passages"
"""End of the name of a metric whose unit are passages, not documents."""
_UNITS = dict.fromkeys(NAMES, False) | {f"{name}{PASSAGES}": True for name in _OF_PLACES}
ALIASES = {"MRR": "RR", "hit rate": "hit", "hit-rate": "hit"}
"""Names of the mean of a metric over queries, and the metric."""
_KEY = re.compile(rf"({'|'.join(sorted((*_UNITS, *ALIASES), key=len, reverse=True))})(@[1-9]\d*)?")


def retrieval_key(name: str) -> str | None:
    """Return the key of a metric of this module by its name, such as NDCG@10, or RR@5 for MRR@5.

    None: it is another metric.
    """
    match = _KEY.fullmatch(name)
    return match and ALIASES.get(match[1], match[1]) + (match[2] or "")


class Retrieval(Metric):
    """A metric of the ranking that a response was given, by name and cut: NDCG@10.

    Parameters
    ----------
    key
        One of `NAMES`, some of them with `PASSAGES`, and @k where the ranking is cut after k
        passages.
    documents
        By response (database key): the identifier of each passage in rank order, None where it has
        none. After the cut, a document that occurs again counts at its first place only, unless
        passages are the unit.
    relevance
        By query (database key): the grade of each judged document.
    source
        Name of the judgments with the beginning of their hash: part of the key.
    identity
        What decides the values: the hash of the judgments. Stored with each value.
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
        identity: str,
    ) -> None:
        name, _, cut = key.partition("@")
        self.key = f"{key} {source}"
        self.version = f"retrieval-v2 {identity}"
        self._by_passage = _UNITS[name]
        self._value = _VALUES[name.removesuffix(PASSAGES)]
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
        cut = documents[: self._k]
        counted = cut if self._by_passage else list(dict.fromkeys(cut))
        grades = [max(graded.get(name or "", 0), 0) for name in counted]
        places = (self._k or len(cut)) - (len(cut) - len(counted))
        ranking = _Ranking(grades, relevant, self._k, places)
        # Rounding may leave a value just above 1.
        return MetricValue(min(self._value(ranking), 1.0))
