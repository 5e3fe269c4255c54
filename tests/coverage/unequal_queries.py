"""What intervals cover where a single query has a large part of the responses.

`python -m tests.coverage.unequal_queries` prints a line for each number of responses of the first
of 20 queries, the others having two, and for each standard deviation of judge minus people between
queries (`between`, in points; 10 within): bias for these raters and for raters like these, tau-b,
and the difference of judge and rater in r. The truth of the last two is their mean over the
studies. `covered` is the share of the studies, `width` the median width of the interval.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from analysis.core.interval import Interval
from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.human_ceiling import human_ceiling
from analysis.statistics.reliability.variance_components import bias_for_raters_like_these

QUERIES, OTHERS, RATERS = 20, 2, 5
FIRST = (2, 10, 20, 60)
BETWEEN = (0.0, 3.0, 8.0)


def figures(
    first: int, between: float, rng: np.random.Generator
) -> Iterator[tuple[str, float, Interval]]:
    """Figures of one study with their intervals."""
    sizes = np.r_[first, np.full(QUERIES - 1, OTHERS)]
    query = np.repeat(np.arange(QUERIES), sizes)
    quality = 10 * rng.normal(size=QUERIES)[query] + 10 * rng.normal(size=query.size)
    error = between * rng.normal(size=QUERIES)[query] + 10 * rng.normal(size=query.size)
    judge, people = quality + error, quality[:, None] + 10 * rng.normal(size=(query.size, RATERS))
    resampling = QueryResampling(QUERIES)
    reference = people.mean(axis=1)
    bias = association("bias", judge, reference, query)
    yield "bias", bias.point, resampling.interval(bias)
    like_these = bias_for_raters_like_these(judge, people, query)
    yield "bias, raters like these", like_these.value, like_these.interval
    order = association("kendall_tau_b", judge, reference, query)
    yield "tau-b", order.point, resampling.interval(order, "fisher_z")
    difference = human_ceiling(people, judge, query).difference
    assert difference is not None
    yield "r, judge minus rater", difference.point, resampling.interval(difference)


def main() -> None:
    """Print the coverage of each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400, help="studies of each kind")
    studies = parser.parse_args().studies
    for first in FIRST:
        for between in BETWEEN:
            rng = np.random.default_rng((first, int(between)))
            by_name = defaultdict(list)
            for _ in range(studies):
                for name, value, interval in figures(first, between, rng):
                    by_name[name].append((value, interval.low, interval.high))
            for name, rows in by_name.items():
                value, low, high = np.array(rows).T
                truth = 0.0 if name.startswith("bias") else value.mean()
                covered = float(np.mean((low <= truth) & (truth <= high)))
                print(
                    f"first query {first}, between {between:g}, {name}: covered {covered:.3f}, "
                    f"width {np.median(high - low):.3g}, error {value.std():.3g}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
