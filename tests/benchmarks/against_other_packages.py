"""Corrected means beside those of cje-eval and truescore on simulated campaigns: coverage, width.

The packages are no dependencies: `pip install cje-eval truescore` into an environment that has this
one, then `python -m tests.benchmarks.against_other_packages --repetitions 60 --out
tests/benchmarks/against_other_packages.csv` (a quarter of an hour), and the same with
`--repetitions 1000 --ways ours truescore`, which are 20 times as fast as cje-eval. The first
campaigns of a cell are the same at any number of repetitions. `--scores` and `--labels` compute a
part; rows of the file that are not computed anew stay. 500 queries, four systems that differ by 2
points, three constructs that share half of their queries' variance, each with a judge of its own,
two raters a labeled response, 3 points kind and strict, with noise. The truth is the mean over
queries like these, rated by these raters.
"""

from __future__ import annotations

import argparse
import logging
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.context import ENOUGH
from analysis.statistics.correction.prediction_powered import corrected, learned_lambda
from analysis.statistics.correction.query_sums import query_sums
from tests.coverage.corrected import (
    ERROR,
    FAILING,
    GOOD,
    LABELS,
    QUERY,
    RESPONSE,
    SHRUNK,
    Cell,
)
from tests.coverage.regimes import CEILINGS, FAILURES, SCORES as REGIMES
from tests.coverage.tables import read_rows, write_rows

POOL, SYSTEMS, WORSE, TRUTH_QUERIES = 500, 4, 2.0, 300_000
SEVERITIES = np.array([-3.0, 3.0])
#: Error and bias in points, and the share of failures that it sees, of each construct's judge.
JUDGES = ((4.0, 0.0, 1.0), (12.0, 0.0, 0.5), (12.0, 8.0, 0.5))
PAIRS = tuple(combinations(range(SYSTEMS), 2))

#: Failures of the first system only, whose errors do not cancel in its differences to the others.
FAILURES_OF_ONE = "failures of one"
SCORES = (*REGIMES, FAILURES_OF_ONE)

#: Ends (systems, 2) of the means and (pairs, 2) of the differences.
Ends = tuple[FloatArray, FloatArray]
Way = Callable[[FloatArray, FloatArray], Ends]


@dataclass(frozen=True)
class Campaign:
    """Human values and judge scores (constructs, queries, systems)."""

    human: FloatArray
    judge: FloatArray


def drawn(scores: str, queries: int, rng: np.random.Generator) -> Campaign:
    """Every response rated."""
    size = (len(JUDGES), queries, SYSTEMS)
    fails = scores in (FAILURES, FAILURES_OF_ONE)
    failing = FAILING * np.ones(SYSTEMS)
    if scores == FAILURES_OF_ONE:
        failing[1:] = 0.0
    level = GOOD if fails else Cell(0, CEILINGS[scores]).level(ERROR)
    shared = rng.normal(0, 1, (1, queries, 1)) + rng.normal(0, 1, (len(JUDGES), queries, 1))
    quality = QUERY * np.sqrt(0.5) * shared + rng.normal(0, RESPONSE, size)
    quality = quality - WORSE * np.arange(SYSTEMS)
    failed = rng.random(size) < (failing if fails else 0.0)

    def scored(raw: FloatArray) -> FloatArray:
        points = level + (SHRUNK if fails else 1.0) * raw
        return np.asarray(np.clip(5 * np.round(points / 5), 0, 100))

    ratings = scored(quality[..., None] + SEVERITIES + rng.normal(0, ERROR, (*size, 2)))
    human = np.where(failed, 0.0, ratings.mean(axis=-1))
    judge = np.empty(size)
    for of, (error, bias, sees) in enumerate(JUDGES):
        judge[of] = scored(quality[of] + bias + rng.normal(0, error, size[1:]))
        seen = failed[of] & (rng.random(size[1:]) < sees)
        low = 5 * np.round(np.clip(rng.normal(15, 10, int(seen.sum())), 0, 100) / 5)
        judge[of][seen] = low
    return Campaign(human, judge)


@cache
def truth(scores: str) -> tuple[FloatArray, FloatArray]:
    """Means (constructs, systems) and differences (constructs, pairs)."""
    human = drawn(scores, TRUTH_QUERIES, np.random.default_rng(12345)).human
    means = human.mean(axis=1)
    return means, np.stack([means[:, a] - means[:, b] for a, b in PAIRS], axis=1)


def ours(human: FloatArray, judge: FloatArray) -> Ends:
    """Intervals as reports have them; NaN where they are withheld."""
    query = np.arange(len(human))
    sums = [
        query_sums(human[:, s], judge[:, s], query, human_width=100.0, judge_width=100.0)
        for s in range(SYSTEMS)
    ]
    of_means = learned_lambda([(of,) for of in sums])
    of_pairs = learned_lambda([(sums[a], sums[b]) for a, b in PAIRS])
    means = [corrected(of, lam=of_means).interval for of in sums]
    pairs = [corrected(sums[a], sums[b], of_pairs).interval for a, b in PAIRS]
    return np.array([(i.low, i.high) for i in means]), np.array([(i.low, i.high) for i in pairs])


def of_cje_eval(cje: Any, weight: str, human: FloatArray, judge: FloatArray) -> Ends:
    """`analyze_dataset` and `compare_policies`, scales declared; `weight` is of the correction."""
    draws: dict[str, list[dict[str, object]]] = {}
    for system in range(SYSTEMS):
        draws[str(system)] = []
        for query, (label, score) in enumerate(
            zip(human[:, system], judge[:, system], strict=True)
        ):
            draw: dict[str, object] = {"prompt_id": str(query), "judge_score": float(score)}
            if not np.isnan(label):
                draw["oracle_label"] = float(label)
            draws[str(system)].append(draw)
    scale = (0.0, 100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cje.analyze_dataset(
            fresh_draws_data=draws,
            fresh_judge_scale=scale,
            fresh_oracle_scale=scale,
            estimator_config={"correction_weight": weight},
        )
        pairs = [result.compare_policies(str(a), str(b)) for a, b in PAIRS]
    ends = [[float(pair.get(f"ci_{end}", np.nan)) for end in ("lower", "upper")] for pair in pairs]
    return np.array(result.ci(), dtype=float), np.array(ends)


def of_truescore(truescore: Any, human: FloatArray, judge: FloatArray) -> Ends:
    """`ppi_estimate` and `ppi_compare`."""
    labeled = np.flatnonzero(np.isfinite(human[:, 0]))
    means = [
        truescore.ppi_estimate(judge[:, s], human[labeled, s], labeled) for s in range(SYSTEMS)
    ]
    pairs = [
        truescore.ppi_compare(
            judge[:, a], judge[:, b], human[labeled, a], human[labeled, b], labeled
        )
        for a, b in PAIRS
    ]
    return np.array([(e.low, e.high) for e in means]), np.array([(e.low, e.high) for e in pairs])


def ways() -> dict[str, Way]:
    """This project and the packages that are installed; `tuned` is like a tuned lambda."""
    chosen: dict[str, Way] = {"ours": ours}
    try:
        cje: Any = import_module("cje")
        for weight in ("one", "tuned"):
            name = f"cje-eval {cje.__version__}, weight {weight}"
            chosen[name] = partial(of_cje_eval, cje, weight)
    except ImportError:
        print("cje-eval is not installed: pip install cje-eval")
    try:
        truescore: Any = import_module("truescore")
        chosen[f"truescore {truescore.__version__}"] = partial(of_truescore, truescore)
    except ImportError:
        print("truescore is not installed: pip install truescore")
    return chosen


def compared(
    scores: str, labels: int, repetitions: int, chosen: Mapping[str, Way]
) -> Iterator[dict[str, object]]:
    """Rows of the chosen ways; `seconds` is the time of one construct of a campaign."""
    ends: dict[str, list[Ends]] = {name: [] for name in chosen}
    seconds = dict.fromkeys(ends, 0.0)
    seed = np.random.SeedSequence(1, spawn_key=(SCORES.index(scores), labels))
    rng = np.random.default_rng(seed)
    for _ in range(repetitions):
        campaign = drawn(scores, POOL, rng)
        campaign.human[:, labels:] = np.nan
        for name, way in chosen.items():
            started = time.perf_counter()
            intervals = [way(*of) for of in zip(campaign.human, campaign.judge, strict=True)]
            seconds[name] += time.perf_counter() - started
            ends[name].append(
                (np.stack([m for m, _ in intervals]), np.stack([d for _, d in intervals]))
            )
    for name, campaigns in ends.items():
        for place, what in enumerate(("mean", "difference")):
            intervals = np.stack([campaign[place] for campaign in campaigns])
            low, high = intervals[..., 0], intervals[..., 1]
            shown = np.isfinite(low) & np.isfinite(high)
            covers = np.where(
                shown, (low <= truth(scores)[place]) & (truth(scores)[place] <= high), 0
            )
            share = covers.sum() / shown.sum()
            # Intervals of one campaign share its queries.
            off = (covers - share * shown).sum(axis=(1, 2))
            error = np.sqrt((off**2).sum()) / shown.sum()
            yield {
                "scores": scores, "labels": labels, "statistic": what, "way": name,
                "repetitions": repetitions, "withheld": round(1 - float(shown.mean()), 4),
                "coverage": round(float(share), 4), "monte_carlo_error": round(float(error), 4),
                "median_width": round(float(np.median((high - low)[shown])), 3),
                "seconds": round(seconds[name] / repetitions / len(JUDGES), 5),
            }  # fmt: skip


def largest(table: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """The row with most campaigns of every figure and way."""
    by_key: dict[tuple[str, ...], Mapping[str, str]] = {}
    for row in sorted(table, key=lambda row: int(row["repetitions"])):
        by_key[key_of(row)[:-1]] = row
    return [row for row in table if by_key[key_of(row)[:-1]] is row]


def readme_row(table: Sequence[Mapping[str, str]], scores: str, labels: int) -> str:
    """A cell as the page on corrected scores shows it: coverage and median width of each way."""
    shown = [scores, str(labels)]
    for way in ("ours", "weight one", "truescore"):
        figures = [
            f"{float(row['coverage']):.3f} {float(row['median_width']):.1f}".removeprefix("0")
            for row in largest(table)
            if (row["scores"], row["labels"]) == (scores, str(labels)) and way in row["way"]
        ]
        shown.append("; ".join(figures))
    return f"| {' | '.join(shown)} |"


def narrower_rows(table: Sequence[Mapping[str, str]]) -> dict[tuple[str, ...], str]:
    """Rows of the page, by scores, labels and statistic, where another package is narrower.

    The narrowest of those that cover .935 in the simulation, how much narrower it is in percent of
    the width here on the same campaigns, and its coverage with the Monte Carlo error.
    """
    by_key = {key_of(row): row for row in table}
    most: dict[tuple[str, ...], tuple[float, str]] = {}
    for row in largest(table):
        figure, campaigns = key_of(row)[:3], row["repetitions"]
        here = by_key[(*figure, "ours", campaigns)]
        share = 1 - float(row["median_width"]) / float(here["median_width"])
        if share > most.get(figure, (0.0, ""))[0] and float(row["coverage"]) >= ENOUGH:
            coverage = f"{float(row['coverage']):.3f}".removeprefix("0")
            error = f"{float(row['monte_carlo_error']):.3f}".removeprefix("0")
            cells = (*figure, row["way"], f"{100 * share:.1f}", f"{coverage} ± {error}")
            most[figure] = share, f"| {' | '.join(cells)} |"
    return {figure: row for figure, (_, row) in most.items()}


def main() -> None:
    """Print a row a cell, statistic and way, and write them with --out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--scores", choices=SCORES)
    parser.add_argument("--labels", type=int, choices=LABELS)
    parser.add_argument("--ways", nargs="+", default=[""], help="parts of the names of ways")
    parser.add_argument("--out", type=Path)
    options, _ = parser.parse_known_args()
    logging.disable(logging.CRITICAL)
    chosen = {
        name: way for name, way in ways().items() if any(part in name for part in options.ways)
    }
    table: dict[tuple[str, ...], Mapping[str, object]] = {}
    if options.out and options.out.exists():
        table = {key_of(row): row for row in read_rows(options.out.resolve())}
    for scores in SCORES if options.scores is None else (options.scores,):
        for labels in LABELS if options.labels is None else (options.labels,):
            for row in compared(scores, labels, options.repetitions, chosen):
                table[key_of(row)] = row
                print(*row.values(), flush=True)
            if options.out:
                write_rows(options.out, [dict(row) for row in table.values()])


def key_of(row: Mapping[str, object]) -> tuple[str, ...]:
    """What identifies a row of the table."""
    return tuple(str(row[name]) for name in ("scores", "labels", "statistic", "way", "repetitions"))


if __name__ == "__main__":
    main()
