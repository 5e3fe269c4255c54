"""Krippendorff's alpha on 10,000 resamples, beside the krippendorff package in a loop."""

import time

import krippendorff
import numpy as np

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.resampling import QueryResampling
from analysis.statistics.reliability.alpha import Level, alpha_of_weights
from tests.benchmarks.measuring import median_seconds

RESPONSES, RATERS, QUERIES, RESAMPLES = 5000, 5, 1250, 10_000

#: Resamples that the package is measured on; its time is scaled up from them.
LOOPED = 3


def main() -> None:
    """Print the medians and ratios; the aims are 0.2 s (interval) and 1 s (ordinal) on 2 cores."""
    values, query = simulated_ratings()
    resampling = QueryResampling(QUERIES, RESAMPLES)
    started = time.perf_counter()
    weights = resampling.bootstrap
    print(f"drawing {RESAMPLES:,} resamples, apart: {time.perf_counter() - started:.2f} s")
    for level in ("interval", "ordinal", "nominal"):
        statistic = alpha_of_weights(values, query, level, QUERIES)
        ours = median_seconds(lambda s=statistic: resampling.evaluate(s))
        looped = median_seconds(lambda k=level: in_a_loop(values, query, weights, k), runs=3)
        whole = looped / LOOPED * RESAMPLES
        print(
            f"{level}: {ours:.3f} s; the package {whole:,.0f} s, scaled up from {LOOPED} resamples "
            f"({whole / ours:,.0f} times as long)"
        )


def simulated_ratings(seed: int = 0) -> tuple[FloatArray, IntArray]:
    """Ratings (n, raters) on 0 to 100, 40% missing, and query codes (n,), four to a query."""
    rng = np.random.default_rng(seed)
    quality = 55 + 18 * rng.normal(size=(RESPONSES, 1))
    values = np.clip(np.round(quality + 10 * rng.normal(size=(RESPONSES, RATERS))), 0, 100)
    values[rng.random(values.shape) < 0.4] = np.nan
    return values, np.arange(RESPONSES) // (RESPONSES // QUERIES)


def in_a_loop(
    values: FloatArray, query: IntArray, weights: np.ndarray, level: Level
) -> list[float]:
    """Alpha of the first resamples, each written out for the package."""
    result = []
    for row in weights[:LOOPED]:
        repeated = np.repeat(values, row[query], axis=0)
        result.append(krippendorff.alpha(repeated.T, level_of_measurement=level))
    return result


if __name__ == "__main__":
    main()
