"""Simulated scorings whose truth is known, and how often intervals hold it."""

import numpy as np
from scipy.special import ndtr

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.resampling import QueryResampling
from analysis.statistics.stability.rank_reversals import (
    flips_of_queries,
    flips_of_repeats,
    flips_of_runs,
)
from analysis.statistics.stability.run_components import RUN_COMPONENTS, run_components
from analysis.statistics.stability.run_factors import half_mean_square

LEVELS = np.array([60.0, 75.0, 85.0, 90.0, 100.0])


def _covers(low: float, high: float, truth: float) -> float:
    return np.nan if np.isnan(low) else float(low <= truth <= high)


def _flips_truth(means: FloatArray, variances: FloatArray) -> FloatArray:
    """Probabilities by pair of systems, from means (S,) and variances of one scoring's (S,)."""
    i, j = np.triu_indices(means.size, 1)
    distance = (means[i] - means[j]) / np.sqrt(variances[i] + variances[j])
    return np.asarray(2 * ndtr(distance) * ndtr(-distance))


def coverage_of_repeats(
    rounds: int,
    seed: int,
    queries: int,
    repeats: int,
    systems: int = 4,
    sure: tuple[float, ...] = (1.0, 0.8, 0.5),
) -> tuple[float, float]:
    """Coverage of one pair's and of the mean's interval: five uneven levels, 40% at the top.

    `sure` holds the shares with which cells, equally many each, take their favorite level; else
    they take any.
    """
    rng = np.random.default_rng(seed)
    covered: list[list[float]] = [[], []]
    for _ in range(rounds):
        # Each cell prefers one level, the highest most often, and leaves it in a share of cases.
        favorite = rng.choice(LEVELS.size, (queries, systems), p=[0.1, 0.1, 0.2, 0.2, 0.4])
        stays = rng.choice(sure, (queries, systems))
        share = (1 - stays)[..., None] / LEVELS.size + stays[..., None] * (
            np.arange(LEVELS.size) == favorite[..., None]
        )
        mean = share @ LEVELS
        variance = share @ LEVELS**2 - mean**2
        truth = _flips_truth(mean.mean(axis=0), variance.sum(axis=0) / queries**2)
        draws = (rng.random((repeats, queries, systems, 1)) > share.cumsum(axis=2)).sum(axis=3)
        flips = flips_of_repeats(LEVELS[np.minimum(draws, LEVELS.size - 1)])
        pair = rng.integers(truth.size)
        covered[0].append(_covers(flips.low[pair], flips.high[pair], truth[pair]))
        covered[1].append(_covers(flips.mean[1], flips.mean[2], truth.mean()))
    return float(np.nanmean(covered[0])), float(np.nanmean(covered[1]))


def coverage_of_runs(
    rounds: int, seed: int, runs: int, systems: int = 4, queries: int = 40
) -> tuple[float, float]:
    """The same for runs that shift systems as a whole, and have noise in each answer."""
    rng = np.random.default_rng(seed)
    covered: list[list[float]] = [[], []]
    for _ in range(rounds):
        mean = rng.normal(0, 2, systems)
        of_query = rng.normal(0, 10, (queries, systems)) + mean
        shift = rng.normal(0, 1.0, (runs, 1, systems))
        scores = of_query + shift + rng.normal(0, 5, (runs, queries, systems))
        variances = np.full(systems, 1.0 + 25 / queries)
        truth = _flips_truth(of_query.mean(axis=0), variances)
        flips = flips_of_runs(scores)
        pair = rng.integers(truth.size)
        covered[0].append(_covers(flips.low[pair], flips.high[pair], truth[pair]))
        covered[1].append(_covers(flips.mean[1], flips.mean[2], truth.mean()))
    return float(np.nanmean(covered[0])), float(np.nanmean(covered[1]))


def coverage_of_queries(rounds: int, seed: int, queries: int) -> tuple[float, float]:
    """The same for samples of queries and four systems; half of the scores at the maximum."""
    rng = np.random.default_rng(seed)
    covered: list[list[float]] = [[], []]
    share = np.array(
        [
            [0.1, 0.1, 0.1, 0.1, 0.6],
            [0.05, 0.15, 0.2, 0.2, 0.4],
            [0.2, 0.1, 0.1, 0.2, 0.4],
            [0.1, 0.1, 0.1, 0.15, 0.55],
        ]
    )
    mean = share @ LEVELS
    truth = _flips_truth(mean, (share @ LEVELS**2 - mean**2) / queries)
    for _ in range(rounds):
        draws = (rng.random((queries, 4, 1)) > share.cumsum(axis=1)).sum(axis=2)
        flips = flips_of_queries(LEVELS[np.minimum(draws, LEVELS.size - 1)])
        pair = rng.integers(truth.size)
        covered[0].append(_covers(flips.low[pair], flips.high[pair], truth[pair]))
        covered[1].append(_covers(flips.mean[1], flips.mean[2], truth.mean()))
    return float(np.nanmean(covered[0])), float(np.nanmean(covered[1]))


#: Standard deviations of the components that `coverage_of_shares` simulates, without runs.
QUERY, RESPONSE, QUERY_RUN, RESPONSE_RUN, REPEAT = 8.0, 6.0, 3.0, 5.0, 4.0
RUN_EFFECTS = np.array([-3.0, 0.0, 4.0])


def simulated_runs(
    rng: np.random.Generator, queries: int, repeats: int = 2
) -> tuple[FloatArray, IntArray]:
    """Scores (n, 3, K) of three runs with these components, and the query codes."""
    each = rng.integers(2, 7, queries)
    query = np.repeat(np.arange(queries, dtype=np.int64), each)
    n = query.size
    scores = (
        rng.normal(0, QUERY, queries)[query][:, None]
        + rng.normal(0, RESPONSE, n)[:, None]
        + RUN_EFFECTS
        + rng.normal(0, QUERY_RUN, (queries, 3))[query]
        + rng.normal(0, RESPONSE_RUN, (n, 3))
    )
    return scores[:, :, None] + rng.normal(0, REPEAT, (n, 3, repeats)), query


def true_shares() -> FloatArray:
    """Shares in the order of `RUN_COMPONENTS`; the runs as they are."""
    runs = float(RUN_EFFECTS.var(ddof=1))
    parts = [QUERY**2, RESPONSE**2, runs, QUERY_RUN**2, RESPONSE_RUN**2, REPEAT**2]
    return np.array(parts) / sum(parts)


def coverage_of_shares(rounds: int, seed: int, queries: int) -> dict[str, float]:
    """Coverage of each component's share, and of the difference between runs (`distance`)."""
    rng = np.random.default_rng(seed)
    resampling = QueryResampling(queries, 200, 0)
    by_name: dict[str, list[float]] = {name: [] for name in (*RUN_COMPONENTS, "distance")}
    truth = true_shares()
    apart = QUERY_RUN**2 + RESPONSE_RUN**2 + REPEAT**2
    distance = apart + float(np.mean([(a - b) ** 2 for a in RUN_EFFECTS for b in RUN_EFFECTS])) / 2
    # The mean over ordered pairs holds a run with itself, which differs by nothing.
    distance = apart + (distance - apart) * 9 / 6
    for _ in range(rounds):
        scores, query = simulated_runs(rng, queries)
        first = scores[:, :, 0]
        family = run_components(first, scores, query, queries)
        for place, computed in enumerate(family.replicates(resampling)[: len(RUN_COMPONENTS)]):
            interval = resampling.interval_of(computed)
            by_name[RUN_COMPONENTS[place]].append(
                _covers(interval.low, interval.high, truth[place])
            )
        pairs = [(first[:, i], first[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
        apart_found = half_mean_square(pairs, query, queries).replicates(resampling)[0]
        interval = resampling.interval_of(apart_found)
        by_name["distance"].append(_covers(interval.low, interval.high, distance))
    return {name: float(np.nanmean(values)) for name, values in by_name.items()}
