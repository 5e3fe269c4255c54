"""Corrected means beside those of cje-eval on the same simulated campaigns: coverage and width.

The package is no dependency: `pip install cje-eval` into an environment that has this one, then
`python -m tests.benchmarks.against_cje_eval --repetitions 500` (a quarter of an hour).
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from analysis.core.arrays import FloatArray
from tests.coverage.corrected import Cell, campaigns, cells, estimated, summary, truth, write

Ends = dict[str, tuple[float, float]]

#: Their defaults, and their counterpart of a tuned lambda.
WEIGHTS = ("one", "tuned")


def main() -> None:
    """Print a row a cell, statistic and way, and write them with --out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--out", type=Path)
    options, _ = parser.parse_known_args()
    try:
        cje: Any = import_module("cje")
    except ImportError:
        sys.exit("cje-eval is not installed here: pip install cje-eval")
    logging.disable(logging.CRITICAL)
    table: list[dict[str, object]] = []
    for cell in cells():
        for row in compared(cje, cell, options.repetitions):
            table.append(row)
            print(*row.values(), flush=True)
    if options.out:
        write(options.out, table)


def compared(cje: Any, cell: Cell, repetitions: int) -> Iterator[dict[str, object]]:
    """Rows of ours and theirs; `seconds` is the time of one campaign's mean and difference."""
    ways: dict[str, Callable[[FloatArray, FloatArray], Ends]] = {"ours": ours}
    for weight in WEIGHTS:
        ways[f"cje-eval {cje.__version__}, weight {weight}"] = (
            lambda human, judge, weight=weight: theirs(cje, human, judge, weight)  # type: ignore[misc]
        )
    by_name: dict[tuple[str, str], list[tuple[float, float]]] = {}
    seconds = dict.fromkeys(ways, 0.0)
    for human, judge in campaigns(cell, repetitions, seed=1):
        for way, work in ways.items():
            started = time.perf_counter()
            for what, ends in work(human, judge).items():
                by_name.setdefault((what, way), []).append(ends)
            seconds[way] += time.perf_counter() - started
    answer = dict(zip(("mean", "difference"), truth(cell.ceiling), strict=True))
    for (what, way), intervals in by_name.items():
        row = summary(cell, what, way, np.array(intervals), answer[what])
        yield {**row, "seconds": round(seconds[way] / repetitions, 5)}


def ours(human: FloatArray, judge: FloatArray) -> Ends:
    """Intervals of the first system's mean and of the difference, as reports have them."""
    result = estimated(human, judge, None)
    return {what: (entry.interval.low, entry.interval.high) for what, entry in result.items()}


def theirs(cje: Any, human: FloatArray, judge: FloatArray, weight: str) -> Ends:
    """The same by `analyze_dataset` and `compare_policies`, scales declared."""
    draws: dict[str, list[dict[str, object]]] = {}
    for system, name in enumerate(("a", "b")):
        draws[name] = []
        for query, (label, score) in enumerate(
            zip(human[:, system], judge[:, system], strict=True)
        ):
            draw: dict[str, object] = {"prompt_id": str(query), "judge_score": float(score)}
            if not np.isnan(label):
                draw["oracle_label"] = float(label)
            draws[name].append(draw)
    scale = (0.0, 100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cje.analyze_dataset(
            fresh_draws_data=draws,
            fresh_judge_scale=scale,
            fresh_oracle_scale=scale,
            estimator_config={"correction_weight": weight},
        )
        difference = result.compare_policies("a", "b")
    low, high = result.ci()[0]
    ends = [float(difference.get(f"ci_{end}", np.nan)) for end in ("lower", "upper")]
    return {"mean": (float(low), float(high)), "difference": (ends[0], ends[1])}


if __name__ == "__main__":
    main()
