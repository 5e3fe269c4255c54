"""Mean squares of a ragged table of responses and raters, and bounds on their differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.computation import chi2_quantile, f_quantile
from analysis.core.query_statistic import as_values

#: A sum of squares below this share of the total, by rating, is rounding error.
ROUNDING = 1e-20


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Mean squares of y = response + rater + error, both as fixed effects, by least squares.

    On complete data these are the classic MSR, MSC and MSE. With missing cells the rater sum of
    squares is adjusted for responses, and E[rater] = residual + per_rater * rater variance with
    `per_rater` the effective number of ratings per rater.
    """

    responses: BoolArray  #: (n_items,) rows with a rating
    raters: BoolArray  #: (n_raters,) columns with a rating
    n_ratings: int
    n_responses: int
    n_raters: int
    ms_response: float  #: of response means, adjusted for raters, times the harmonic mean count
    ms_rater: float
    ms_residual: float
    df_residual: int
    per_response: float  #: harmonic mean of the ratings per response
    per_rater: float
    rater_effects: FloatArray  #: (raters with a rating,), sum 0
    response_means: FloatArray  #: (responses with a rating,), adjusted for rater effects


def two_way_undefined_reason(values: npt.ArrayLike) -> str | None:
    """Why response, rater and residual variance are not identified; None where they are."""
    array = as_values(values)
    if array.ndim != 2:
        raise ValueError(f"values have shape {array.shape}, expected (items, raters)")
    present = np.isfinite(array)
    table = present[present.any(axis=1)][:, present.any(axis=0)]
    n, k = table.shape
    if k < 2:
        return f"variance components need at least 2 raters, there is {k or 'none'}"
    if n < 2:
        return f"variance components need at least 2 rated responses, there is {n or 'none'}"
    rated = array[present]
    if rated.min() == rated.max():
        return f"all ratings are {rated[0]:g}: without variation the components are undefined"
    groups = connected_groups(array)
    if groups > 1:
        return (
            f"raters and responses fall into {groups} groups without a common rating: differences "
            "between the groups' raters and responses cannot be distinguished"
        )
    if table.sum() - n - k + 1 < 1:
        return "no ratings are left to estimate the residual: each response has one rating too few"
    return None


def rater_groups(values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Group of each rater (n_raters,) of values (n_items, n_raters), -1 without a rating.

    Raters of one group are linked through responses that they share, directly or through others.
    """
    present = np.isfinite(as_values(values))
    indicator = present.astype(np.float64)
    # Raters reached from each rater: squaring doubles the length of the paths that count.
    reached = (indicator.T @ indicator) > 0
    for _ in range(indicator.shape[1].bit_length()):
        reached = (reached.astype(np.float64) @ reached) > 0
    groups = np.full(indicator.shape[1], -1, dtype=np.int64)
    rated = present.any(axis=0)
    first = reached[rated].argmax(axis=1) if rated.any() else np.empty(0, dtype=np.int64)
    groups[rated] = np.unique(first, return_inverse=True)[1]
    return groups


def connected_groups(values: npt.ArrayLike) -> int:
    """Number of groups of raters and responses that share no rating; 1 if all are connected."""
    return int(rater_groups(values).max(initial=-1)) + 1


def two_way(values: npt.ArrayLike) -> TwoWay:
    """Mean squares of values (n_items, n_raters); raises ValueError where they are undefined."""
    array = as_values(values)
    reason = two_way_undefined_reason(array)
    if reason is not None:
        raise ValueError(reason)
    present = np.isfinite(array)
    responses = np.asarray(present.any(axis=1))
    raters = np.asarray(present.any(axis=0))
    indicator = present[responses][:, raters].astype(np.float64)
    y = np.where(indicator > 0, array[responses][:, raters], 0.0)
    grand = y.sum() / indicator.sum()
    y = np.where(indicator > 0, y - grand, 0.0)
    n, k = indicator.shape
    m = indicator.sum(axis=1)
    # Responses are eliminated; what is left is a small system in the raters.
    system = np.diag(indicator.sum(axis=0)) - indicator.T @ (indicator / m[:, None])
    right = y.sum(axis=0) - indicator.T @ (y.sum(axis=1) / m)
    # Only a shift of all raters is left open (they are connected); the added block fixes it at 0.
    # A pseudoinverse may fail to distinguish that direction from rounding.
    effects = np.linalg.solve(system + np.trace(system) / k**2, right)
    effects -= effects.mean()
    means = (y - indicator * effects).sum(axis=1) / m
    residuals = np.where(indicator > 0, y - effects - means[:, None], 0.0)
    rounding = ROUNDING * float((y**2).sum()) * y.size

    def mean_square(squares: float, df: int) -> float:
        return squares / df if squares > rounding else 0.0

    df = int(indicator.sum()) - n - k + 1
    per_response = float(n / np.sum(1 / m))
    return TwoWay(
        responses=responses,
        raters=raters,
        n_ratings=int(indicator.sum()),
        n_responses=n,
        n_raters=k,
        ms_response=mean_square(per_response * float(np.var(means)) * n, n - 1),
        ms_rater=mean_square(float(effects @ system @ effects), k - 1),
        ms_residual=mean_square(float((residuals**2).sum()), df),
        df_residual=df,
        per_response=per_response,
        per_rater=float(np.trace(system)) / (k - 1),
        rater_effects=effects,
        response_means=means + grand,
    )


@dataclass(frozen=True)
class Contrast:
    """Modified large-sample bounds on the expectation of first - second - third.

    The three terms are proportional to mean squares with degrees of freedom `df`; `tail` is the
    error allowed on each side. With second = 0 and ample third degrees of freedom the bounds agree
    with the F test.

    Notes
    -----
    With 3 raters the mean square between raters has 2 degrees of freedom, and may by chance be a
    fortieth of its expectation. Satterthwaite's approximation computes degrees of freedom as if the
    estimate were the truth: with raters who differ strongly in severity (standard deviation 12,
    that of responses 15.6) its intervals of ICC(A,1) covered .77, these .94 to .97.

    Ting, Burdick, Graybill, Jeyaratnam and Lu (1990), Journal of Statistical Computation and
    Simulation 35:135-143; for the intraclass correlation Cappelleri and Ting (2003), Statistics in
    Medicine 22:1861-1877.
    """

    df: tuple[float, float, float]
    tail: float

    def lower(self, first: float, second: float, third: float) -> float:
        """Bound that is above the expectation with probability `tail`."""
        above, below = self._gaps
        cross = [
            ((f - 1) ** 2 - (above[0] * f) ** 2 - below[j] ** 2) / f
            for j, f in enumerate(self._upper_f, start=1)
        ]
        variance = (
            (above[0] * first) ** 2
            + (below[1] * second) ** 2
            + (below[2] * third) ** 2
            + cross[0] * first * second
            + cross[1] * first * third
        )
        return first - second - third - float(np.sqrt(max(variance, 0.0)))

    def upper(self, first: float, second: float, third: float) -> float:
        """Bound that is below the expectation with probability `tail`."""
        above, below = self._gaps
        cross = [
            ((1 - f) ** 2 - (below[0] * f) ** 2 - above[j] ** 2) / f
            for j, f in enumerate(self._lower_f, start=1)
        ]
        variance = (
            (below[0] * first) ** 2
            + (above[1] * second) ** 2
            + (above[2] * third) ** 2
            + cross[0] * first * second
            + cross[1] * first * third
        )
        return first - second - third + float(np.sqrt(max(variance, 0.0)))

    @cached_property
    def _gaps(self) -> tuple[list[float], list[float]]:
        """How far an expectation may be below and above its mean square, as shares of it."""
        above = [1 - df / chi2_quantile(1 - self.tail, df) for df in self.df]
        below = [df / chi2_quantile(self.tail, df) - 1 for df in self.df]
        return above, below

    @cached_property
    def _upper_f(self) -> list[float]:
        return [f_quantile(1 - self.tail, self.df[0], df) for df in self.df[1:]]

    @cached_property
    def _lower_f(self) -> list[float]:
        return [f_quantile(self.tail, self.df[0], df) for df in self.df[1:]]
