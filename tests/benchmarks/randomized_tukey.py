"""The randomized Tukey HSD test: ours, scipy's permutations of samples, and a loop over rows."""

import subprocess
import sys
import time

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.statistics.discrimination.tukey import randomized_tukey_hsds
from tests.benchmarks.measuring import median_seconds

QUERIES, SYSTEMS, METRICS, RESAMPLES = 4719, 6, 5, 10_000

#: Permutations of the two slow ways; their times are scaled up to RESAMPLES.
SCIPYS, LOOPS = 200, 10

_COMPILE = """
import sys, tempfile, time
sys.dont_write_bytecode = True
import numba
numba.config.CACHE_DIR = tempfile.mkdtemp()
import numpy as np
from analysis.statistics.discrimination.tukey import randomized_tukey_hsd
cells = np.arange(30.0).reshape(10, 3) % 7
for _ in range(2):
    started = time.perf_counter()
    randomized_tukey_hsd(cells, 100)
    print(time.perf_counter() - started)
"""


def tables() -> list[npt.NDArray[np.float64]]:
    """Integer scores on the paper's size, a table a metric."""
    rng = np.random.default_rng(0)
    size = (METRICS, QUERIES, SYSTEMS)
    return list(np.clip(np.round(70 + 20 * rng.normal(size=size)), 0, 100))


def by_scipy(scores: npt.NDArray[np.float64]) -> None:
    """The same permutations by scipy, of one metric."""
    stats.permutation_test(
        list(scores.T),
        lambda *systems, axis: np.ptp(np.stack([s.mean(axis=axis) for s in systems]), axis=0),
        permutation_type="samples", n_resamples=SCIPYS, alternative="greater", vectorized=True,
        batch=20, rng=np.random.default_rng(0),
    )  # fmt: skip


def by_rows(scores: npt.NDArray[np.float64]) -> None:
    """The same permutations in a loop over queries, of one metric."""
    rng = np.random.default_rng(0)
    for _ in range(LOOPS):
        np.ptp(np.mean([rng.permutation(row) for row in scores], axis=0))


def main() -> None:
    """Print the times of all five metrics; the aims are 0.5 s, and 25 times scipy's speed."""
    scores = tables()
    ours = median_seconds(lambda: randomized_tukey_hsds(scores, RESAMPLES))
    print(f"five metrics, {QUERIES} x {SYSTEMS}, {RESAMPLES:,} permutations: {ours:.2f} s")
    slow = (("scipy permutation_test", by_scipy, SCIPYS), ("loop over rows", by_rows, LOOPS))
    for name, work, done in slow:
        started = time.perf_counter()
        work(scores[0])
        whole = (time.perf_counter() - started) * METRICS * RESAMPLES / done
        print(f"{name}: {whole:.0f} s, scaled up from {done}; ours is {whole / ours:.0f} x faster")
    run = subprocess.run(
        [sys.executable, "-c", _COMPILE], capture_output=True, text=True, check=True
    )
    first, again = map(float, run.stdout.split())
    print(f"first use, with import of numba and compiling: {first:.1f} s; then {again:.3f} s")


if __name__ == "__main__":
    main()
