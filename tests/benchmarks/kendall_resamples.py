"""Kendall's tau-b and tie calibration at the paper's size, beside scipy and a plain loop."""

import time
from itertools import combinations

import numpy as np
from scipy import stats

from analysis.core.computation import one_blas_thread
from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.pairwise_accuracy import accuracy_by_threshold
from tests.benchmarks.measuring import median_seconds

QUERIES, PAIRS, RESAMPLES = 4719, 60, 1000

#: What the plain ways do of the work; their times are scaled to the whole.
SCIPY_CALLS, LOOP_RESPONSES = 20, 400


def main() -> None:
    """Print times; the aims are 1 s and, for the thresholds, 10 ms, on cores that are idle."""
    columns = simulated_scores()
    chosen = list(combinations(range(columns.shape[1]), 2))[:PAIRS]
    query = np.arange(QUERIES)
    weights = QueryResampling(QUERIES, RESAMPLES).bootstrap.astype(np.float64)

    def ours() -> None:
        with one_blas_thread():
            for a, b in chosen:
                x, y = columns[:, a], columns[:, b]
                association("kendall_tau_b", x, y, query)(weights)

    seconds = median_seconds(ours, runs=3)
    plain = scipy_seconds(columns, weights) * PAIRS * RESAMPLES / SCIPY_CALLS
    print(
        f"Kendall's tau-b, {PAIRS} pairs x {RESAMPLES:,} resamples of {QUERIES:,} integer scores: "
        f"{seconds:.2f} s; scipy in a loop {plain:.0f} s ({plain / seconds:.0f} times as long)"
    )
    x, y = columns[:, 0], columns[:, 1]
    seconds = median_seconds(lambda: accuracy_by_threshold(x, y, query), runs=20)
    accuracies = accuracy_by_threshold(x, y, query)
    loop = loop_seconds(x[:LOOP_RESPONSES], y[:LOOP_RESPONSES])
    loop *= accuracies.n_pairs / (LOOP_RESPONSES * (LOOP_RESPONSES - 1) / 2)
    print(
        f"tie calibration, {accuracies.n_pairs:,} pairs x {accuracies.thresholds.size} thresholds: "
        f"{1000 * seconds:.1f} ms; a loop over the pairs {loop:.0f} s "
        f"({loop / seconds:,.0f} times as long)"
    )


def simulated_scores(seed: int = 0) -> np.ndarray:
    """Integer scores from 0 to 100 of 12 scorers on one response a query, two fifths at 100."""
    rng = np.random.default_rng(seed)
    quality = 90 + 25 * rng.normal(size=(QUERIES, 1))
    return np.clip(np.round(quality + 10 * rng.normal(size=(QUERIES, 12))), 0, 100)


def scipy_seconds(columns: np.ndarray, weights: np.ndarray) -> float:
    """Time of a few correlations of written-out resamples."""
    started = time.perf_counter()
    for row in range(SCIPY_CALLS):
        drawn = np.repeat(np.arange(QUERIES), weights[row].astype(int))
        stats.kendalltau(columns[drawn, 0], columns[drawn, 1])
    return time.perf_counter() - started


def loop_seconds(x: np.ndarray, y: np.ndarray) -> float:
    """Time of all thresholds' accuracies in one pass over the pairs."""
    started = time.perf_counter()
    gained: dict[float, int] = {}
    for (xi, yi), (xj, yj) in combinations(zip(x.tolist(), y.tolist(), strict=True), 2):
        apart = abs(xi - xj)
        right = (yi == yj) - ((xi - xj) * (yi - yj) > 0)
        gained[apart] = gained.get(apart, 0) + right
    np.cumsum([gained[apart] for apart in sorted(gained)])
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
