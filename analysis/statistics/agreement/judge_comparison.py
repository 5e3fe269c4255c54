"""Which of two judges agrees better with people: differences of measures, and their p by query.

The difference rests on the responses that both judges scored and people rated. Its p comes from
permutations (PERM-INPUT): under the hypothesis that the judges are exchangeable, the scores of both
on a query may change places, after each judge's scores are standardized, so that another center or
spread makes no difference. For the root mean squared error, which is about points, and for kappas,
which are about categories, they are not.

Source: Deutsch, Dror and Roth (2021), TACL 9:1132-1146, "A Statistical Analysis of Summarization
Evaluation Metrics Using Resampling Methods", section 4.2; queries in place of documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.pairs import read_pairs
from analysis.core.query_statistic import NOISE, QueryStatistic, ratio
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.calibrated_accuracy import NO_PAIR, calibrated_accuracy
from analysis.statistics.agreement.cohen_kappa import Weights, kappa_with_raters
from analysis.statistics.agreement.dependent_correlations import Williams, williams
from analysis.statistics.agreement.pair_outcomes import pairs_inside
from analysis.statistics.agreement.paired_statistics import mean_of

Measure = Literal[
    "kendall_tau_b",
    "pairwise_accuracy",
    "calibrated_pairwise_accuracy",
    "pearson",
    "rmse",
    "cohen_kappa",
]
MeasureScope = Literal["within_query", "pooled"]

#: Measures of the values themselves, whose scores are permuted as they are.
OF_VALUES = frozenset({"rmse", "cohen_kappa"})

#: Permutations of two judges' scores.
PERMUTATIONS = 999


@dataclass(frozen=True, eq=False)
class Categories:
    """What kappas are computed from: people's ratings (n, raters) and the categories."""

    ratings: FloatArray
    levels: tuple[float, ...]
    weights: Weights


@dataclass(frozen=True, eq=False)
class Compared:
    """Two judges and people on the responses (n,) that have all three values.

    `categories` are needed for kappas alone.
    """

    first: FloatArray
    second: FloatArray
    people: FloatArray
    query: IntArray
    n_queries: int
    names: tuple[str, str]
    categories: Categories | None = None

    @classmethod
    def of(
        cls,
        first: FloatArray,
        second: FloatArray,
        people: FloatArray,
        query: IntArray,
        n_queries: int,
        names: tuple[str, str],
        categories: Categories | None = None,
    ) -> Compared:
        """Leave out responses (n,) without one of the three values."""
        all_three = np.isfinite(first) & np.isfinite(second) & np.isfinite(people)
        a, b, y = (part[all_three] for part in (first, second, people))
        if categories is not None:
            ratings = categories.ratings[all_three]
            categories = Categories(ratings, categories.levels, categories.weights)
        return cls(a, b, y, query[all_three], n_queries, names, categories)

    def difference(self, measure: Measure, scope: MeasureScope) -> QueryStatistic:
        """The first judge's measure minus the second's, on the same weights."""
        whole, n_queries = np.arange(self.people.size), self.n_queries
        first, second = (
            self._measured(measure, judge, whole, self.query, scope, n_queries, name)
            for judge, name in zip((self.first, self.second), self.names, strict=True)
        )
        return first - second

    def p(self, measure: Measure, scope: MeasureScope, seed: int = 0) -> float:
        """Two-sided p of the difference; NaN where it is undefined."""
        swapped = swaps(self.n_queries, seed)
        return permutation_p(self.on_swaps(measure, scope, swapped))

    def on_swaps(self, measure: Measure, scope: MeasureScope, swapped: FloatArray) -> FloatArray:
        """Differences (R,) where the judges' scores on the queries marked 1 (R, Q) change places.

        NaN throughout where the difference is undefined on the sample.
        """
        judges = (self.first, self.second)
        if measure not in OF_VALUES:
            judges = (_standardized(self.first), _standardized(self.second))
        twice = np.tile(np.arange(self.people.size), 2)
        stacked = self._measured(
            measure,
            np.concatenate(judges),
            twice,
            np.concatenate([self.query, self.query + self.n_queries]),
            scope,
            2 * self.n_queries,
            "the judges",
        )
        differences = stacked(np.hstack([1 - swapped, swapped]))
        differences -= stacked(np.hstack([swapped, 1 - swapped]))
        return differences

    def williams(self) -> Williams | None:
        """Williams' test of the pooled Pearson correlations; None where responses share queries.

        It takes responses as independent, which those to one query are not.
        """
        if np.bincount(self.query).max(initial=0) > 1:
            return None
        columns = (self.first, self.second, self.people)
        if self.people.size < 4 or any(np.ptp(column) == 0 for column in columns):
            return None
        of = np.clip(np.corrcoef(np.vstack(columns)), -1, 1)
        return williams(float(of[0, 2]), float(of[1, 2]), float(of[0, 1]), self.people.size)

    def _measured(
        self,
        measure: Measure,
        judge: FloatArray,
        responses: IntArray,
        query: IntArray,
        scope: MeasureScope,
        n_queries: int,
        name: str,
    ) -> QueryStatistic:
        """Agreement of `judge` (m,) with people on the `responses` (m,), each of a query (m,)."""
        people = self.people[responses]
        if measure == "kendall_tau_b" or measure == "pearson":  # noqa: PLR1714  (narrows the type)
            names = (name, "human reference")
            return association(
                measure, judge, people, query, scope, n_queries=n_queries, names=names
            )
        if measure == "cohen_kappa":
            of = self.categories
            if of is None:
                raise ValueError("a kappa needs people's ratings and the categories")
            ratings = of.ratings[responses]
            return kappa_with_raters(judge, ratings, query, of.weights, of.levels, n_queries)
        pairs, _ = read_pairs(judge, people, query, None, n_queries)
        if measure == "calibrated_pairwise_accuracy":
            return calibrated_accuracy(pairs)
        if measure == "rmse":
            mean = mean_of((pairs.x - pairs.y) ** 2, pairs.query, n_queries)
            reason = None if pairs.x.size else "no response has both values"
            return QueryStatistic(
                lambda weights: np.sqrt(mean(weights)),
                pairs.contributing, pairs.n_responses, pairs.n_dropped, reason,
            )  # fmt: skip
        listed = pairs_inside(pairs)
        counts = np.bincount(listed.query, minlength=n_queries).astype(np.float64)
        alike = np.bincount(listed.query, listed.alike(0.0), n_queries)

        def weighted_statistic(weights: FloatArray) -> FloatArray:
            total = weights @ counts
            return ratio(weights @ alike, total, total > 0)

        reason = None if listed.query.size else NO_PAIR
        return QueryStatistic(
            weighted_statistic, counts > 0, pairs.n_responses, pairs.n_dropped, reason
        )


def _standardized(values: FloatArray) -> FloatArray:
    spread = float(values.std()) if values.size else 0.0
    return np.asarray((values - values.mean()) / (spread or 1.0)) if values.size else values


def swaps(n_queries: int, seed: int) -> FloatArray:
    """Whether each query's scores change places (R, Q), 0 or 1; the first row leaves them."""
    rng = np.random.default_rng(seed)
    swapped = rng.integers(0, 2, (PERMUTATIONS + 1, n_queries)).astype(np.float64)
    swapped[0] = 0
    return swapped


def permutation_p(differences: FloatArray) -> float:
    """Share of differences at least as large as the first; an undefined one counts as larger."""
    observed = abs(float(differences[0]))
    if np.isnan(observed):
        return observed
    return float(np.mean(~(np.abs(differences) < observed - NOISE)))
