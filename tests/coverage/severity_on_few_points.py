"""Coverage of people's differences between systems on few ordered points, raters by system.

    python -m tests.coverage.severity_on_few_points --out FILE

Each system has half of the raters, whose severity has a standard deviation of 1 logit; in a share
`overlap` of the responses a rater of the other half rates as well (`double`), or instead (`swap`).
A rating is a latent quality of query (SD 1), response (SD .7), system (`effects`, in logits) and
logistic noise, cut into `points`; the middle of the scale is `level` logits below the mean. Of the
`used` tables, whose assignment is not by lot, `coverage` is that of the three differences in points
at once by the additive model. The truth is computed from the raters' own severities.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy import special

from analysis.core.arrays import FloatArray
from analysis.statistics.reliability.adjusted_systems import adjusted_systems
from tests.coverage.tables import options, write_rows

NAMES = ("A", "B", "C")
FIRST, SECOND = np.triu_indices(3, 1)
QUERY_SD, RESPONSE_SD, RATER_SD = 1.0, 0.7, 1.0
CELLS = tuple(
    product(
        (30, 60), ((4, 3), (4, 5), (8, 5)), (("swap", 0.2), ("double", 0.3)),
        (((0.0, 0.0, 0.0), 0.0), ((0.0, 0.7, 1.4), 0.0), ((0.0, 0.7, 1.4), 1.2)),
    )
)  # fmt: skip
FIELDS = (
    "queries", "raters", "points", "kind", "overlap", "effects", "level", "repetitions", "used",
    "coverage", "width",
)  # fmt: skip


def thresholds(points: int, level: float) -> FloatArray:
    """Thresholds (points - 1,) in logits; a higher level brings more ratings to the top."""
    widest = 1.5 if points > 3 else 1.05
    return np.linspace(-widest, widest, points - 1) - level


def expected(at: FloatArray, effect: float, severity: FloatArray) -> float:
    """Mean points over queries and responses of a system that all raters rate."""
    x, w = np.polynomial.hermite_e.hermegauss(61)
    quality = effect + np.hypot(QUERY_SD, RESPONSE_SD) * x
    above = special.expit(quality[:, None, None] + severity[:, None] - at)
    return 1 + float(w @ above.sum(axis=2).mean(axis=1)) / float(w.sum())


def assignment(
    rng: np.random.Generator, queries: int, raters: int, kind: str, overlap: float
) -> FloatArray:
    """Which rater (queries * 3, raters) rates which response, as 1 or NaN."""
    half = raters // 2
    query, system = (place.ravel() for place in np.indices((queries, 3)))
    group = np.minimum(system, 1)
    turns = rng.permuted(np.tile(np.arange(queries) % half, (3, 1)), axis=1)
    own = group * half + turns[system, query]
    other = (1 - group) * half + rng.integers(half, size=query.size)
    among = rng.permuted(np.tile(np.arange(queries) < round(overlap * queries), (3, 1)), axis=1)
    exchanged = among[system, query]
    rated = np.full((query.size, raters), np.nan)
    rows = np.arange(query.size)
    rated[rows, np.where(exchanged & (kind == "swap"), other, own)] = 1
    rated[rows[exchanged], other[exchanged]] = 1
    return rated


def simulated(
    rng: np.random.Generator, rated: FloatArray, effects: tuple[float, ...], at: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Ratings (queries * 3, raters) with points from 1, and the raters' severities."""
    queries = len(rated) // 3
    severity: FloatArray = rng.normal(0, RATER_SD, size=rated.shape[1])
    quality = np.repeat(rng.normal(0, QUERY_SD, queries), 3) + np.tile(effects, queries)
    quality += rng.normal(0, RESPONSE_SD, quality.size)
    latent = quality[:, None] + severity + rng.logistic(size=rated.shape)
    values: FloatArray = rated * (1 + np.searchsorted(at, latent.ravel()).reshape(latent.shape))
    return values, severity


def measured(repetitions: int, cells: tuple[int, ...]) -> Iterator[dict[str, object]]:
    """A record for each of the cells with these numbers."""
    for number in cells:
        queries, (raters, points), (kind, overlap), (effects, level) = CELLS[number]
        rng = np.random.default_rng([20, number])
        at = thresholds(points, level)
        query, system = (place.ravel() for place in np.indices((queries, 3)))
        produced = system[:, None] == np.arange(3)
        covered, widths = [], []
        for _ in range(repetitions):
            rated = assignment(rng, queries, raters, kind, overlap)
            table, severity = simulated(rng, rated, effects, at)
            linear = adjusted_systems(table, query, produced, queries, NAMES)
            if linear is None or not linear.balance.connected:
                continue
            truth = np.array([expected(at, effect, severity) for effect in effects])
            apart = truth[FIRST] - truth[SECOND]
            pairs = linear.differences(FIRST, SECOND)
            covered.append(bool(((pairs.low <= apart) & (apart <= pairs.high)).all()))
            widths.append(np.mean(pairs.high - pairs.low))
        if not covered:
            continue
        figures = (
            repetitions, len(covered), round(float(np.mean(covered)), 4),
            round(float(np.median(widths)), 3),
        )  # fmt: skip
        where = (queries, raters, points, kind, overlap, "/".join(map(str, effects)), level)
        yield dict(zip(FIELDS, (*where, *figures), strict=True))


def main() -> None:
    parser = options(__doc__, repetitions=300)
    parser.add_argument("--cells", type=int, nargs="*", default=range(len(CELLS)))
    arguments = parser.parse_args()
    write_rows(arguments.out, measured(arguments.repetitions, tuple(arguments.cells)))


if __name__ == "__main__":
    main()
