"""No figure is outside its range and no interval is turned round, however few ratings there are."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.pipeline.estimation import analyse
from analysis.pipeline.sections import statistics

VALUES = {
    "any": lambda rng, truth: float(np.clip(truth + rng.normal(0, 15), 0, 100)),
    "five points": lambda rng, _: float(rng.integers(0, 5) * 25),
    "two points": lambda rng, _: float(rng.choice([0, 100, 100, 100])),
}


def sparse(seed: int) -> ScoreTable:
    """Up to nine queries, of which raters share one to three; two judges, one with gaps."""
    rng = np.random.default_rng(seed)
    queries, systems, raters = rng.integers((2, 1, 2), (10, 4, 5))
    shared = rng.integers(1, 4)
    value = VALUES[rng.choice(list(VALUES))]
    rows = []
    for query, system in np.ndindex(int(queries), int(systems)):
        truth = rng.normal(50, 20)
        scores = {"first": float(np.clip(truth + rng.normal(0, 20), 0, 100))}
        if rng.random() < 0.5:
            scores["second"] = float(rng.choice([0, 100]))
        people = {
            f"rater-{r}": value(rng, truth)
            for r in range(raters)
            if query < shared or (query + r) % raters == 0
        }
        rows += [
            (f"{query}-{system}", f"q{query}", f"s{system}", "X", name, kind, score)
            for kind, named in (("human", people), ("judge", scores))
            for name, score in named.items()
        ]
    columns = ["response_id", "query_id", "system", "construct", "scorer", "scorer_kind", "value"]
    return ScoreTable.from_frame(pd.DataFrame(rows, columns=columns), {"X": Scale(0, 100)})


@pytest.mark.parametrize("seed", [0, 7, 87, 120, 301, 440])
def test_every_figure_and_interval_is_in_its_range(seed: int) -> None:
    declared = {statistic.id: statistic for statistic in statistics()}
    seen = 0
    for estimate in analyse(sparse(seed), options=Options(resamples=100)).estimates:
        statistic = declared[estimate.statistic]
        low, high = estimate.ci_low, estimate.ci_high
        place = (estimate.statistic, estimate.scope, estimate.params)
        if estimate.defined:
            assert statistic.contains(estimate.value), place
        if not np.isnan(low):
            seen += 1
            if estimate.statistic == "mean" and 0 <= estimate.value <= 100:
                assert low >= 0, place
                assert high <= 100, place
            assert low <= high, place
            assert statistic.contains(low), place
            assert statistic.contains(high), place
        else:
            assert np.isnan(high), place
    assert seen > 0
