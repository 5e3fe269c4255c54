"""A report on the paper's size: 141,570 judge scores beside 9,000 human ratings, 5 constructs."""

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


def main() -> None:
    """Print wall time and memory of a whole report; the aims are 30 s and 1 GB on 2 cores."""
    print(run_command([sys.executable, "-m", "tests.benchmarks.report_paper_size"], runs=3))


def simulated_scores(seed: int = 0) -> pd.DataFrame:
    """Judge scores on every response, ratings on the first 600, by three raters."""
    rng = np.random.default_rng(seed)
    n = QUERIES * SYSTEMS
    query = np.repeat(np.arange(QUERIES), SYSTEMS)
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(n)],
            "query_id": [f"q{i}" for i in query],
            "system": np.tile(list("ABCDEF"), QUERIES),
        }
    )
    parts = []
    for construct in CONSTRUCTS:
        quality = 60 + 15 * rng.normal(size=QUERIES)[query] + 12 * rng.normal(size=n)
        judged = np.clip(np.round(quality + 10 + 8 * rng.normal(size=n)), 0, 100)
        parts.append(
            base.assign(construct=construct, scorer="judge", scorer_kind="judge", value=judged)
        )
        for rater in range(RATERS):
            noise = 4 * (rater - 1) + 10 * rng.normal(size=RATED)
            rated = np.clip(np.round(quality[:RATED] + noise), 0, 100)
            parts.append(
                base.iloc[:RATED].assign(
                    construct=construct, scorer=f"rater-{rater}", scorer_kind="human", value=rated
                )
            )
    return pd.concat(parts, ignore_index=True)


def once() -> None:
    """Make one report in a folder that is thrown away, saying where the time goes."""
    frame = simulated_scores()
    started = time.perf_counter()

    def say(what: str) -> None:
        print(f"{what}: {time.perf_counter() - started:.1f} s after the table was there")

    scores = ScoreTable.from_frame(frame, dict.fromkeys(CONSTRUCTS, Scale()))
    say(f"{len(frame):,} rows checked")
    analysis = analyse(scores, options=Options(resamples=2000))
    say(f"{len(analysis.estimates):,} figures")
    with tempfile.TemporaryDirectory() as folder:
        write_report(analysis, Path(folder) / "report")
    say("report written")


if __name__ == "__main__":
    once()
