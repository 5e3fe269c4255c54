"""Differences of systems where the rated responses were drawn from those that the judge scored.

The judge's differences are then those over everything it scored, and people's are corrected by
them (`ppi_difference`). That the ratings are a sample is stated by `inclusion_prob`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analysis.core.computation import t_quantile
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.degrees_of_freedom import effective_df
from analysis.statistics.agreement.choice_regret import Differences
from analysis.statistics.discrimination.system_scores import system_scores
from analysis.topics.correction.estimates import SYSTEMS_PAIRED, Correction


@dataclass(frozen=True)
class JudgedQueries:
    """People's corrected differences and the judge's, over so many queries."""

    people: Differences
    judge: Differences
    n_queries: int


def differences_on_judged(context: Context, construct: str, scorer: str) -> JudgedQueries | None:
    """The differences of all pairs of systems; None where they rest on the rated responses.

    That is where no probabilities are stated, where people rated everything, where systems answer
    different queries, or where a corrected difference has no interval.
    """
    data = context.whole[construct]
    correction = Correction(context, data, scorer, {})
    rated = np.isfinite(data.reference)
    if rated.all() or (correction.probability[rated] == 1).all() or correction.contains_severity:
        return None
    if len(data.systems) > SYSTEMS_PAIRED or not _same_queries(data):
        return None
    pairs = list(combinations(range(len(data.systems)), 2))
    sums = [correction.sums(data.produced_by(name)) for name in data.systems]
    shared = correction.shared_lambda([(sums[a], sums[b]) for a, b in pairs])
    people: Differences = {}
    for a, b in pairs:
        value, _ = correction.both(sums[a], sums[b], shared, None)
        interval = value.interval
        reach = t_quantile((1 + interval.level) / 2, value.df)
        people[a, b] = value.value, (interval.high - interval.low) / (2 * reach), value.df
    if not all(np.isfinite(of).all() for of in people.values()):
        return None
    scores = system_scores(data.scorers[scorer], data.query, data.produced, data.n_queries)
    judge: Differences = {}
    for a, b in pairs:
        apart = scores[:, a] - scores[:, b]
        apart = apart[np.isfinite(apart)]
        if apart.size < 2:
            return None
        error = float(apart.std(ddof=1) / np.sqrt(apart.size))
        judge[a, b] = float(apart.mean()), error, effective_df(apart) if error else np.inf
    return JudgedQueries(people, judge, int(np.isfinite(scores).any(axis=1).sum()))


def _same_queries(data: ConstructData) -> bool:
    """Whether every query has a response of every system, so that no query favors one of them."""
    answered = {
        system: np.unique(data.query[data.produced_by(system)]).tolist() for system in data.systems
    }
    first = answered[data.systems[0]]
    return all(queries == first for queries in answered.values())
