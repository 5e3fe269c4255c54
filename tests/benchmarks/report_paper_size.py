"""A report on the paper's size: 141,570 judge scores beside 9,000 human ratings, 5 constructs."""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import Options, Scale, ScoreTable, analyse, write_report
from tests.benchmarks.measuring import run_command

CONSTRUCTS = ("CC", "QR", "ID", "AC", "IR")
QUERIES, SYSTEMS, RATED, RATERS = 4719, 6, 600, 3
RESAMPLES = 10_000
TIMES = 10


def main() -> None:
    """Print wall time and memory of a whole report, tenfold, and of the first on a machine.

    The aims are 20 s and 1 GB on 2 cores, and tenfold less than ten times the time.
    """
    command = [sys.executable, "-m", "tests.benchmarks.report_paper_size"]
    usual = run_command([*command, "1"], runs=3)
    print(f"paper's size, {RESAMPLES:,} resamples: {usual}")
    tenfold = run_command([*command, str(TIMES)], runs=1, warm_up=0)
    print(f"{TIMES} times the queries: {tenfold}, {tenfold.seconds / usual.seconds:.1f} times")
    with tempfile.TemporaryDirectory() as empty:
        # Nothing compiled is cached there yet; the second run finds it.
        os.environ["NUMBA_CACHE_DIR"] = empty
        first = run_command([*command, "1"], runs=1, warm_up=0)
        second = run_command([*command, "1"], runs=1, warm_up=0)
    compiling = first.seconds - second.seconds
    print(f"the first run on a machine: {compiling:.1f} s more, for compiling once")


def simulated_scores(seed: int = 0, times: int = 1) -> pd.DataFrame:
    """Judge scores on every response, ratings on the first 600, by three raters; or so often."""
    rng = np.random.default_rng(seed)
    queries, rated_responses = times * QUERIES, times * RATED
    n = queries * SYSTEMS
    query = np.repeat(np.arange(queries), SYSTEMS)
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(n)],
            "query_id": [f"q{i}" for i in query],
            "system": np.tile(list("ABCDEF"), queries),
        }
    )
    parts = []
    for construct in CONSTRUCTS:
        quality = 60 + 15 * rng.normal(size=queries)[query] + 12 * rng.normal(size=n)
        judged = np.clip(np.round(quality + 10 + 8 * rng.normal(size=n)), 0, 100)
        parts.append(
            base.assign(construct=construct, scorer="judge", scorer_kind="judge", value=judged)
        )
        for rater in range(RATERS):
            noise = 4 * (rater - 1) + 10 * rng.normal(size=rated_responses)
            rated = np.clip(np.round(quality[:rated_responses] + noise), 0, 100)
            parts.append(
                base.iloc[:rated_responses].assign(
                    construct=construct, scorer=f"rater-{rater}", scorer_kind="human", value=rated
                )
            )
    return pd.concat(parts, ignore_index=True)


def once(times: int = 1) -> None:
    """Make one report in a folder that is thrown away, saying where the time goes."""
    frame = simulated_scores(times=times)
    started = time.perf_counter()

    def say(what: str) -> None:
        print(f"{what}: {time.perf_counter() - started:.1f} s after the table was there")

    scores = ScoreTable.from_frame(frame, dict.fromkeys(CONSTRUCTS, Scale()))
    say(f"{len(frame):,} rows checked")
    analysis = analyse(scores, options=Options(resamples=RESAMPLES))
    say(f"{len(analysis.estimates):,} figures")
    with tempfile.TemporaryDirectory() as folder:
        write_report(analysis, Path(folder) / "report")
    say("report written")


if __name__ == "__main__":
    once(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
