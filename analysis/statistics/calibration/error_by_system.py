"""Judge minus people by system at the same human value, with a curved error and noisy raters."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import (
    NEGLIGIBLE,
    as_codes,
    as_values,
    comparable,
    in_row_blocks,
    ratio,
    sums_by_query,
)
from analysis.core.statistic_family import StatisticFamily
from analysis.core.unequal_queries import QueryWeights, by_leaving_out

Noise = Literal["removed", "in_reference"]

#: Degree of the polynomial by which the judge's score depends on the human value. A judge that is
#: cut at the maximum bends twice; with a line, fair judges are reported to favor systems.
DEGREE = 3

#: Directions in which the powers of the human value vary less than this do not enter.
_COLLINEAR = 1e-10

ONE_SYSTEM = "a comparison needs 2 systems with values of judge and people, there is {n}"
NO_VARIATION = "people's values do not vary within a system"
TOO_NOISY = (
    "two raters do not correlate within a system, so that the noise of their mean cannot be removed"
)


@dataclass(frozen=True, eq=False)
class ErrorBySystem:
    """Effects (S,) of the systems on judge minus people at a given human value; they sum to 0.

    A system without a response that both scored is NaN. `noise` is removed where the raters' noise
    was taken out of the human value.
    """

    effects: StatisticFamily
    noise: Noise


def error_by_system_given_human(
    judge: npt.ArrayLike,
    ratings: npt.ArrayLike,
    query: npt.ArrayLike,
    produced: npt.ArrayLike,
    n_queries: int | None = None,
) -> ErrorBySystem:
    """Regress judge minus people on a cubic of people's value and the system (effects sum to 0).

    A bias that differs between systems may only mean that the judge errs at the level of their
    responses, as one does whose scores end at the maximum. At the same human value, what is left is
    a preference for a system.

    The mean of few raters is noisy: at the same noisy value the better system's responses are
    truly better, and a perfect judge would seem to favor it. Where at least half of the responses
    have two ratings, only those enter, and the human value is the best prediction of the true one
    from the response's ratings and its system: the system's mean plus the deviation from it times
    the reliability of the response's mean, tau^2 / (tau^2 + sigma^2 / k) for k ratings. Given this
    value, true values are distributed equally in all systems, so that a fair judge has one
    regression curve for all. Both variances are computed anew in each resample. With
    one rating each, it is the regression on the value itself.

    Parameters
    ----------
    judge
        (n,), NaN where missing.
    ratings
        (n, R), NaN where missing.
    produced
        (n, S) bool; a response of several systems counts for each.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Notes
    -----
    Carroll, Ruppert, Stefanski and Crainiceanu 2006, chapter 4, on regression calibration; with a
    line it is the estimate of Fuller 1987, section 2.2. Severities of the raters have to be taken
    out first: they count as noise otherwise. False and true namings of a favored system:
    tests/coverage/favored_systems.csv.
    """
    scores, table = as_values(judge, "judge"), as_values(ratings, "ratings")
    by_system = np.asarray(produced, dtype=bool)
    if (
        table.ndim != 2
        or len(table) != scores.size
        or by_system.ndim != 2
        or len(by_system) != scores.size
    ):
        raise ValueError(
            f"ratings has shape {table.shape} and produced {by_system.shape}, expected one row for "
            f"each of {scores.size} responses"
        )
    codes, total = as_codes(query, scores.size, n_queries)
    present = np.isfinite(table)
    number = present.sum(axis=1)
    rated_once = np.isfinite(scores) & (number > 0) & by_system.any(axis=1)
    rated_twice = rated_once & (number > 1)
    noise: Noise = (
        "removed" if 2 * rated_twice.sum() >= max(1, rated_once.sum()) else "in_reference"
    )
    used = rated_twice if noise == "removed" else rated_once
    ratings_used = _Ratings.of(scores[used], table[used], by_system[used], noise)
    sums = sums_by_query(ratings_used.columns(), codes[used], total)
    contributing = np.bincount(codes[used], minlength=total) > 0
    systems = by_system[used].any(axis=0)
    s = systems.size

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        def block(rows: FloatArray) -> FloatArray:
            level = ratings_used.levels(rows @ sums)
            shared = level[:, systems].mean(axis=1)
            return np.asarray(level - shared[:, None])

        return in_row_blocks(block, weights, 3 * max(1, sums.shape[1]))

    def contributions() -> FloatArray:
        alone = error_by_system_given_human(scores, table, np.arange(scores.size), by_system)
        return by_leaving_out(alone.effects.weighted_statistic, used)

    reason, left_out = None, (np.isfinite(scores) | (number > 0)) & ~used
    if np.count_nonzero(systems) < 2:
        reason = ONE_SYSTEM.format(n=np.count_nonzero(systems))
    elif not np.isfinite(weighted_statistic(np.ones((1, total)))[0, systems]).all():
        reason = TOO_NOISY if noise == "removed" else NO_VARIATION
    return ErrorBySystem(
        StatisticFamily(
            weighted_statistic
            if reason is None
            else lambda weights: np.full((len(weights), s), np.nan),
            np.repeat(contributing[:, None], s, axis=1),
            by_system[used].sum(axis=0).astype(np.int64),
            by_system[left_out].sum(axis=0).astype(np.int64),
            [
                reason or (None if has_values else "no response of it has both values")
                for has_values in systems
            ],
            [QueryWeights.from_responses(codes[used], total, codes, contributions)] * s,
        ),
        noise,
    )


@dataclass(frozen=True, eq=False)
class _Ratings:
    """Means of ratings (n,) and the judge (n,), from a common origin in units of the means' SD.

    `number` (n,) counts the ratings of a response, or is infinite where their noise stays in the
    mean; `squares` (n,) are sums of squares around the mean.
    """

    mean: FloatArray
    judge: FloatArray
    squares: FloatArray
    number: FloatArray
    by_system: npt.NDArray[np.bool_]
    unit: float
    degree: int

    @classmethod
    def of(
        cls,
        judge: FloatArray,
        ratings: FloatArray,
        by_system: npt.NDArray[np.bool_],
        noise: Noise,
    ) -> _Ratings:
        present = np.isfinite(ratings)
        number = present.sum(axis=1).astype(np.float64)
        origin = float(np.median(ratings[present])) if present.any() else 0.0
        from_origin = np.where(present, ratings - origin, 0.0)
        mean = from_origin.sum(axis=1) / number
        unit = float(mean.std()) if mean.size else 0.0
        unit = unit or 1.0
        around = np.where(present, from_origin - mean[:, None], 0.0) / unit
        return cls(
            mean / unit,
            (judge - origin) / unit,
            (around**2).sum(axis=1),
            number if noise == "removed" else np.full(number.size, np.inf),
            by_system,
            unit,
            max(1, min(DEGREE, np.unique(comparable(mean)).size - 1)),
        )

    @property
    def numbers(self) -> FloatArray:
        """The different numbers of ratings (C,)."""
        return np.unique(self.number)

    def columns(self) -> FloatArray:
        """What `levels` needs the sums of, (n, C * S * (3 degree + 2) + 2).

        For each number of ratings and system, powers 0 to 2 degree of the mean and products of
        powers 0 to degree with the judge; then the squares and their degrees of freedom.
        """
        powers = self.mean[:, None] ** np.arange(2 * self.degree + 1)
        products = powers[:, : self.degree + 1] * self.judge[:, None]
        both = np.hstack([powers, products])
        cells = (self.number[:, None] == self.numbers)[:, :, None] & self.by_system[:, None]
        width = cells[0].size * both.shape[1] if len(cells) else 0
        parts = (cells[..., None] * both[:, None, None]).reshape(self.mean.size, width)
        freedom = np.where(np.isfinite(self.number), self.number - 1, 0.0)
        return np.column_stack([parts, self.squares, freedom])

    def levels(self, sums: FloatArray) -> FloatArray:
        """Levels (R, S) of the judge by system at human value 0, from sums of the columns (R, m).

        NaN where people's true values do not vary within systems.
        """
        d, numbers = self.degree, self.numbers
        shape = (len(sums), numbers.size, self.by_system.shape[1], 3 * d + 2)
        cells = sums[:, :-2].reshape(shape)
        powers, products = cells[..., : 2 * d + 1], cells[..., 2 * d + 1 :]
        count = powers[..., 0].sum(axis=1)
        some = count > 0
        average = np.where(some, ratio(powers[..., 1].sum(axis=1), count, some), 0.0)
        reliability = self._reliability(powers, sums[:, -2], sums[:, -1])
        # A human value is `average` + reliability (mean - `average`).
        constant = (1 - reliability)[:, :, None] * average[:, None]
        raised = _raised(powers, constant, reliability)
        judged = _raised(products, constant, reliability)
        beta = _coefficients(raised, judged, count)
        fitted = np.einsum("rsp,rp->rs", raised[..., 1 : d + 1], beta)
        return self.unit * ratio(judged[..., 0] - fitted, count, some)

    def _reliability(
        self, powers: FloatArray, squares: FloatArray, freedom: FloatArray
    ) -> FloatArray:
        """Reliability (R, C) of a mean for each number of ratings, NaN where it is not above 0."""
        counts = powers[..., 0]
        count = counts.sum(axis=1)
        some = count > 0
        error = np.where(freedom > 0, ratio(squares, freedom, freedom > 0), 0.0)
        total = powers[..., 1].sum(axis=1)
        second = powers[..., 2].sum(axis=1)
        spread = np.where(some, second - ratio(total**2, count, some), 0.0).sum(axis=1)
        per_mean = np.where(some, (counts / self.numbers[:, None]).sum(axis=1), 0.0)
        noise = np.where(some, per_mean * (1 - ratio(np.ones_like(count), count, some)), 0.0)
        within = np.where(some, count - 1, 0.0).sum(axis=1)
        rest = spread - error * noise.sum(axis=1)
        true = ratio(rest, within, (rest > NEGLIGIBLE * second.sum(axis=1)) & (within > 0))
        return np.asarray(true[:, None] / (true[:, None] + error[:, None] / self.numbers))


def _raised(sums: FloatArray, constant: FloatArray, slope: FloatArray) -> FloatArray:
    """Sums (R, S, P) of powers of constant + slope x, from sums (R, C, S, P) of powers of x."""
    out = []
    for power in range(sums.shape[-1]):
        terms = [
            comb(power, i) * constant ** (power - i) * slope[:, :, None] ** i * sums[..., i]
            for i in range(power + 1)
        ]
        out.append(np.sum(terms, axis=(0, 2)))
    return np.stack(out, axis=-1)


def _coefficients(raised: FloatArray, judged: FloatArray, count: FloatArray) -> FloatArray:
    """Coefficients (R, d) of powers 1 to d within systems, by least squares.

    From sums (R, S, 2 d + 1) of powers and (R, S, d + 1) of products. The shortest solution where
    some powers are collinear.
    """
    some, d = count > 0, judged.shape[-1] - 1
    first = raised[..., 1 : d + 1]
    means = np.where(some[..., None], ratio(first, count[..., None], some[..., None]), 0.0)
    place = np.arange(1, d + 1)
    squares = raised[..., place[:, None] + place] - first[..., :, None] * means[..., None, :]
    products = judged[..., 1:] - means * judged[..., :1]
    matrix, right = squares.sum(axis=1), products.sum(axis=1)
    diagonal = np.einsum("rpp->rp", matrix)
    defined = np.isfinite(matrix).all(axis=(1, 2)) & (diagonal > 0).all(axis=1)
    scale = np.sqrt(np.where(defined[:, None], diagonal, 1.0))
    matrix = np.where(defined[:, None, None], matrix, np.eye(d)) / (
        scale[:, :, None] * scale[:, None]
    )
    inverse = np.linalg.pinv(matrix, rcond=_COLLINEAR, hermitian=True)
    beta = np.einsum("rpq,rq->rp", inverse, right / scale) / scale
    return np.asarray(np.where(defined[:, None], beta, np.nan))
