"""Correlations of the responses of one query, or of one system, averaged over queries or systems.

Where queries differ in difficulty, a correlation over all responses mixes what distinguishes
queries with what distinguishes the responses to one. Machine translation reports the average over
groups beside it (Deutsch, Foster and Freitag 2023, EMNLP, "Ties matter"). A group in which all
scores of one side are equal has no correlation and does not enter; how many these are is counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import BLOCK_NUMBERS, QueryStatistic, ratio, undefined


def averaged_over_queries(within: QueryStatistic) -> tuple[QueryStatistic, int]:
    """Mean of the correlations of single queries, and the number of queries without one.

    `within` is Pearson's r or tau-b within queries, whose value on one query alone is that query's
    own. Queries with two responses or more are counted.
    """
    if within.reason is not None:
        return within, within.n_queries
    queries = np.flatnonzero(within.contributing)
    rows = max(1, BLOCK_NUMBERS // within.contributing.size)
    own = np.full(within.contributing.size, np.nan)
    for start in range(0, queries.size, rows):
        chosen = queries[start : start + rows]
        alone = np.zeros((chosen.size, own.size))
        alone[np.arange(chosen.size), chosen] = 1
        own[chosen] = within(alone)
    present = np.isfinite(own)
    sums = np.column_stack([np.where(present, own, 0.0), present])

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        total, count = (weights @ sums).T
        return ratio(total, count, count > 0)

    reason = None if present.any() else "no query has a correlation of its responses"
    averaged = QueryStatistic(
        undefined if reason else weighted_statistic,
        present,
        within.n_responses,
        within.n_dropped,
        reason,
    )
    return averaged, int(queries.size - np.count_nonzero(present))


def averaged_over_systems(systems: Sequence[QueryStatistic]) -> tuple[QueryStatistic, int]:
    """Mean of the correlations of single systems, and the number of systems without one."""
    parts = [system for system in systems if system.reason is None]
    contributing = np.any([system.contributing for system in systems], axis=0)

    def mean(values: Sequence[FloatArray]) -> FloatArray:
        return np.asarray(np.mean(values, axis=0))

    averaged = QueryStatistic.combined(
        parts,
        mean,
        contributing,
        sum(part.n_responses for part in parts),
        sum(system.n_dropped for system in systems),
        None if parts else "no system has a correlation of its responses",
    )
    return averaged, len(systems) - len(parts)
