"""Cumulative-logit model of ratings on few ordered points: systems, raters and a random query.

With K points, thresholds t_1 < ... < t_(K-1), and F the logistic distribution function,

    P(rating <= point c) = F(t_c - system - rater - sd * u),   u ~ N(0, 1) for each query,

so that a rater's severity moves all thresholds by the same distance: the rating-scale form of the
many-facet Rasch model. With `by_rater` each rater has thresholds t_rc of their own instead, as
`nominal = ~ rater` does in R's ordinal, so that raters may also keep the points differently far
apart. Systems and raters are fixed. The likelihood integrates the queries out by
adaptive Gauss-Hermite quadrature, and its slope is the mean, over the posterior of u, of that of
the ratings given u.

Sources: McCullagh (1980), Journal of the Royal Statistical Society B 42:109-142; Linacre (1989),
Many-Facet Rasch Measurement; quadrature: Pinheiro and Bates (1995), Journal of Computational and
Graphical Statistics 4:12-35.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import special

from analysis.core.arrays import FloatArray
from analysis.statistics.reliability.additive_model import Ratings

#: Nodes of the quadrature around each query's mode.
NODES = 11

#: An effect beyond this on the logit scale is that of raters or systems without a finite estimate.
LARGEST_EFFECT = 12.0

NOT_FINITE = (
    "the ratings separate systems or raters completely: an effect has no finite estimate on the "
    "logit scale"
)

#: Newton steps towards the mode of a query, and the change at which it has been reached.
_STEPS, _REACHED = 50, 1e-10


@dataclass(frozen=True, eq=False)
class CumulativeFit:
    """Estimates on the logit scale; the first system has the effect 0.

    `leave_one_out` (queries, parameters) are the parameters without each query, by one Newton step
    from the estimate, in the order of `CumulativeLogit` or of `RaterThresholds`.
    """

    thresholds: FloatArray  #: (raters, K - 1)
    systems: FloatArray  #: (systems,)
    query_sd: float
    log_likelihood: float
    parameters: FloatArray
    covariance: FloatArray  #: inverse of the observed information of the parameters
    leave_one_out: FloatArray


class _Parts(NamedTuple):
    """Parameters by their role."""

    thresholds: FloatArray  # (raters, K - 1)
    gaps: FloatArray  # (raters, K - 2)
    systems: FloatArray
    query_sd: float


class Posterior(NamedTuple):
    """Nodes of u and their weights (queries, nodes), which sum to 1 within a query."""

    nodes: FloatArray
    weights: FloatArray


class _Given(NamedTuple):
    """What the parameters lead to."""

    value: FloatArray  # (queries,) log likelihood
    posterior: Posterior
    upper: FloatArray  # (ratings, nodes) end of the point above, less the effects
    lower: FloatArray
    apart: FloatArray  # (ratings,) distance of the two ends


class CumulativeLogit:
    """The likelihood of ratings with codes 0 to `points` - 1 in `values`, all of which occur.

    Parameters: first threshold, log distances of the thresholds, systems but the first, raters but
    the first, standard deviation of the queries.
    """

    def __init__(self, ratings: Ratings, points: int) -> None:
        self.s, self.r, self.k = ratings.n_systems, ratings.n_raters, points
        self.n_queries = ratings.n_queries
        response = ratings.response
        order = np.argsort(ratings.query_of[response], kind="stable")
        self.y = ratings.values.astype(np.int64)[order]
        self.system = ratings.system_of[response][order]
        self.rater = ratings.rater[order]
        self.query = ratings.query_of[response][order]
        self.starts = np.flatnonzero(np.r_[True, np.diff(self.query) > 0])
        self.modes = np.zeros(self.n_queries)
        x, w = np.polynomial.hermite.hermgauss(NODES)
        self.x, self.log_w = x, np.log(w) + x**2

    @property
    def n_parameters(self) -> int:
        """Thresholds, systems and raters but the first of each, and the queries' spread."""
        return self.k - 1 + self.s - 1 + self.r - 1 + 1

    @property
    def first_effect(self) -> int:
        """Place of the second system's effect among the parameters."""
        return self.k - 1

    def parts(self, parameters: FloatArray) -> _Parts:
        """The parameters by role, with the effects of the first system and rater."""
        k = self.k - 1
        gaps = np.exp(parameters[1:k])
        thresholds = parameters[0] + np.r_[0.0, np.cumsum(gaps)]
        systems = np.r_[0.0, parameters[k : k + self.s - 1]]
        raters = np.r_[0.0, parameters[k + self.s - 1 : -1]]
        return _Parts(
            thresholds - raters[:, None], np.tile(gaps, (self.r, 1)), systems, parameters[-1]
        )

    def start(self) -> FloatArray:
        """Parameters of equal systems and raters, with the observed shares of the points."""
        shares = np.cumsum(np.bincount(self.y, minlength=self.k))[:-1] / self.y.size
        thresholds = special.logit(shares)
        out = np.zeros(self.n_parameters)
        out[0], out[1 : self.k - 1] = thresholds[0], np.log(np.diff(thresholds))
        out[-1] = 1.0
        return out

    def by_query(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log likelihood (queries,) and its slopes (queries, parameters)."""
        of = self._given(parameters)
        # Each rating's slopes in the ends of its point and in its effects, over the posterior of u.
        each = of.posterior.weights[self.query]
        f_upper, f_lower = special.expit(of.upper), special.expit(of.lower)
        nearness = 1 / np.expm1(of.apart)
        of_threshold = np.zeros((self.n_queries, self.r, self.k + 1))
        above = ((1 - f_upper) * each).sum(axis=1) + nearness
        np.add.at(of_threshold, (self.query, self.rater, self.y + 1), above)
        below = (f_lower * each).sum(axis=1) + nearness
        np.add.at(of_threshold, (self.query, self.rater, self.y), -below)
        pull = (f_upper + f_lower - 1) * each
        systems = np.zeros((self.n_queries, self.s))
        np.add.at(systems, (self.query, self.system), pull.sum(axis=1))
        spread = (pull * of.posterior.nodes[self.query]).sum(axis=1)
        # A threshold is the first one and all distances below it.
        later = np.cumsum(of_threshold[:, :, -2:0:-1], axis=2)[:, :, ::-1]
        later[:, :, 1:] *= self.parts(parameters).gaps
        return of.value, self._slopes(later, systems[:, 1:], self._sums(spread))

    def _slopes(
        self, thresholds: FloatArray, systems: FloatArray, query_sd: FloatArray
    ) -> FloatArray:
        """Slopes (queries, parameters) from those of each rater's thresholds (queries, R, K - 1).

        A rater's severity moves the first threshold, the other way.
        """
        raters = -thresholds[:, 1:, 0]
        return np.column_stack([thresholds.sum(axis=1), systems, raters, query_sd])

    def posterior(self, parameters: FloatArray) -> Posterior:
        """Nodes and weights of each query's u given its ratings."""
        return self._given(parameters).posterior

    def _given(self, parameters: FloatArray) -> _Given:
        at = self.parts(parameters)
        ends = np.pad(at.thresholds, ((0, 0), (1, 1)), constant_values=np.inf)
        ends[:, 0] = -np.inf
        shift = at.systems[self.system]
        above = ends[self.rater, self.y + 1] - shift
        below = ends[self.rater, self.y] - shift
        nodes, scale = self._nodes(above, below, at.query_sd)
        moved = at.query_sd * nodes[self.query]
        upper, lower = above[:, None] - moved, below[:, None] - moved
        # log P = log F(above) + log F(-below) + log(1 - exp(below - above))
        gaps = np.pad(at.gaps, ((0, 0), (1, 1)), constant_values=np.inf)
        apart = gaps[self.rater, self.y]
        log_p = special.log_expit(upper) + special.log_expit(-lower)
        joint = self._sums(log_p + np.log(-np.expm1(-apart))[:, None])
        joint += self.log_w + np.log(scale)[:, None] - nodes**2 / 2 - np.log(np.pi) / 2
        value = special.logsumexp(joint, axis=1)
        posterior = Posterior(nodes, np.exp(joint - value[:, None]))
        return _Given(value, posterior, upper, lower, apart)

    def _nodes(
        self, above: FloatArray, below: FloatArray, sd: float
    ) -> tuple[FloatArray, FloatArray]:
        """Nodes (queries, NODES) around each query's mode, and the scale (queries,) of each."""
        u = self.modes
        for _ in range(_STEPS):
            moved = sd * u[self.query]
            f_upper, f_lower = special.expit(above - moved), special.expit(below - moved)
            pull = f_upper + f_lower - 1
            bend = f_upper * (1 - f_upper) + f_lower * (1 - f_lower)
            slope = sd * self._sums(pull) - u
            curvature = sd**2 * self._sums(bend) + 1
            step = slope / curvature
            u = u + np.clip(step, -1, 1)
            if np.abs(step).max() < _REACHED:
                break
        self.modes = u
        scale = np.sqrt(2 / curvature)
        return u[:, None] + scale[:, None] * self.x, scale / np.sqrt(2)

    def _sums(self, rows: FloatArray) -> FloatArray:
        """Sums (queries, ...) of the rows of each query."""
        out: FloatArray = np.add.reduceat(rows, self.starts, axis=0)
        return out


class RaterThresholds(CumulativeLogit):
    """The likelihood with thresholds of each rater; every rater has used all points.

    Parameters: for each rater the first threshold and the log distances; then systems but the
    first, standard deviation of the queries.
    """

    @property
    def n_parameters(self) -> int:
        """Each rater's thresholds, systems but the first, and the queries' spread."""
        return self.r * (self.k - 1) + self.s - 1 + 1

    @property
    def first_effect(self) -> int:
        """Place of the second system's effect among the parameters."""
        return self.r * (self.k - 1)

    def parts(self, parameters: FloatArray) -> _Parts:
        """The parameters by role, with the effect of the first system."""
        end = self.first_effect
        own = parameters[:end].reshape(self.r, self.k - 1)
        gaps = np.exp(own[:, 1:])
        above_first = np.pad(np.cumsum(gaps, axis=1), ((0, 0), (1, 0)))
        systems = np.r_[0.0, parameters[end:-1]]
        return _Parts(own[:, :1] + above_first, gaps, systems, parameters[-1])

    def start(self) -> FloatArray:
        """Parameters of equal systems, with the shares of the points among each rater's ratings."""
        out = np.zeros(self.n_parameters)
        for rater in range(self.r):
            counts = np.bincount(self.y[self.rater == rater], minlength=self.k)
            thresholds = special.logit(np.cumsum(counts)[:-1] / counts.sum())
            own = np.r_[thresholds[0], np.log(np.diff(thresholds))]
            out[rater * (self.k - 1) : (rater + 1) * (self.k - 1)] = own
        out[-1] = 1.0
        return out

    def _slopes(
        self, thresholds: FloatArray, systems: FloatArray, query_sd: FloatArray
    ) -> FloatArray:
        return np.column_stack([thresholds.reshape(self.n_queries, -1), systems, query_sd])


def undefined_reason(ratings: Ratings) -> str | None:
    """Why the model has no finite estimates; None where only the fit shows it."""
    values = ratings.values
    if np.unique(values).size < 2:
        return f"all ratings are {values[0]:g}, so that nothing can be estimated"
    if ratings.n_queries < 2:
        return "an interval needs at least 2 queries, there is 1"
    for what, place, count in (
        ("system", ratings.system_of[ratings.response], ratings.n_systems),
        ("rater", ratings.rater, ratings.n_raters),
    ):
        for end, words in ((values.min(), "lowest"), (values.max(), "highest")):
            at_end = np.bincount(place, values == end, count) == np.bincount(place)
            if at_end.any():
                return (
                    f"all ratings of a {what} are the {words} point, {end:g}: its effect has no "
                    "finite estimate"
                )
    if values.size <= np.unique(values).size + ratings.n_systems + ratings.n_raters:
        return "there are too few ratings to estimate raters' severity"
    return None


def unused_point(ratings: Ratings) -> tuple[int, float] | None:
    """A rater who never chose one of the points, and the point; None where all used all.

    Such a rater's thresholds have no finite estimates.
    """
    values, codes = np.unique(ratings.values, return_inverse=True)
    counts = np.zeros((ratings.n_raters, values.size), dtype=np.int64)
    np.add.at(counts, (ratings.rater, codes), 1)
    for rater, point in np.argwhere(counts == 0):
        return int(rater), float(values[point])
    return None


def fit(ratings: Ratings, by_rater: bool = False) -> CumulativeFit:
    """Fit the model to ratings whose distinct values are the points.

    Raises ValueError where `undefined_reason` has one, where a rater's thresholds are asked for who
    never chose a point, or where an estimate is not finite.
    """
    reason = undefined_reason(ratings)
    if reason is None and by_rater and unused_point(ratings) is not None:
        reason = "a rater never chose one of the points"
    if reason is not None:
        raise ValueError(reason)
    model = model_of(ratings, by_rater)
    parameters = _maximum(model)
    values, slopes = model.by_query(parameters)
    information = _information(model, parameters)
    total = information.sum(axis=0)
    try:
        covariance = np.linalg.inv(np.linalg.cholesky(total))
    except np.linalg.LinAlgError:
        raise ValueError(NOT_FINITE) from None
    covariance = covariance.T @ covariance
    at = model.parts(parameters)
    effects = np.abs(np.r_[at.systems, (at.thresholds - at.thresholds[:1]).ravel()])
    if effects.max() > LARGEST_EFFECT or np.diag(covariance).max() > LARGEST_EFFECT**2:
        raise ValueError(NOT_FINITE)
    moves = np.linalg.solve(total - information, slopes[:, :, None])[:, :, 0]
    return CumulativeFit(
        thresholds=at.thresholds,
        systems=at.systems,
        query_sd=abs(float(at.query_sd)),
        log_likelihood=float(values.sum()),
        parameters=parameters,
        covariance=covariance,
        leave_one_out=parameters - moves,
    )


def model_of(ratings: Ratings, by_rater: bool = False) -> CumulativeLogit:
    """The likelihood with the distinct values as points."""
    codes = np.unique(ratings.values, return_inverse=True)[1].astype(np.float64)
    kind = RaterThresholds if by_rater else CumulativeLogit
    return kind(replace(ratings, values=codes), int(codes.max()) + 1)


def _maximum(model: CumulativeLogit) -> FloatArray:
    """Parameters of the largest likelihood."""
    from scipy import optimize  # imported here: few reports have such ratings

    n = model.y.size

    def objective(parameters: FloatArray) -> tuple[float, FloatArray]:
        values, slopes = model.by_query(parameters)
        return -float(values.sum()) / n, -slopes.sum(axis=0) / n

    best = optimize.minimize(
        objective, model.start(), jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 300}
    )
    parameters = np.asarray(best.x, dtype=np.float64)
    # A Newton step takes the digits that the optimizer leaves.
    total = _information(model, parameters).sum(axis=0)
    slope = model.by_query(parameters)[1].sum(axis=0)
    step: FloatArray = np.linalg.lstsq(total, slope)[0]
    return parameters + step if np.abs(step).max() < 0.01 else parameters


def _information(model: CumulativeLogit, parameters: FloatArray) -> FloatArray:
    """Observed information (queries, parameters, parameters) of each query."""
    out = np.empty((model.n_queries, parameters.size, parameters.size))
    for column in range(parameters.size):
        step = np.zeros(parameters.size)
        step[column] = 1e-4
        change = model.by_query(parameters - step)[1] - model.by_query(parameters + step)[1]
        out[:, :, column] = change / 2e-4
    symmetric: FloatArray = (out + out.transpose(0, 2, 1)) / 2
    return symmetric
