"""REML fit of y = system + query + response + rater + error: systems fixed, the rest random.

With raters assigned by system, a difference between systems contains the difference between their
raters. This model separates the two as far as raters are shared by systems. With the variance
ratios a, b and c of query, rater and response to the residual, the covariance is residual * H and

    H = I + a Z Z' + c W W' + b U U'.

Responses belong to one query each, so I + a Z Z' + c W W' is inverted query by query in closed
form, and raters enter with the systems through Henderson's equations. An evaluation costs the
number of responses times the squared number of systems and raters.

Sources: Patterson and Thompson (1971), Biometrika 58:545-554; Henderson (1975), Biometrics
31:423-447; degrees of freedom: Giesbrecht and Burns (1985), Biometrics 41:477-486.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.statistics.reliability.reml import polished

#: Random effects of the model, in the order of the variances.
EFFECTS = ("query", "response", "rater")
RATER = EFFECTS.index("rater")

#: Ratios beyond this are treated as this: the sums of squares would lose their digits.
LARGEST_RATIO = 1e5

#: A share of the variance below this is rounding.
EXACT = 1e-12


@dataclass(frozen=True, eq=False)
class Ratings:
    """Single ratings (N,) with codes of what they belong to, each from 0 and without gaps.

    `response` is one answer of one system; `system_of` and `query_of` (responses,) place it.
    """

    values: FloatArray
    response: IntArray
    rater: IntArray
    system_of: IntArray
    query_of: IntArray

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return int(self.system_of.max()) + 1

    @property
    def n_raters(self) -> int:
        """Number of raters."""
        return int(self.rater.max()) + 1

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return int(self.query_of.max()) + 1


@dataclass(frozen=True, eq=False)
class AdditiveFit:
    """Estimates of the model; variances in squared points of the scale.

    Every mean is linear in the ratings, with the sums of its weights by rater in `rater_weights`.
    """

    means: FloatArray  #: (systems,) generalized least squares
    variances: FloatArray  #: (3,) of query, response and rater; 0 where not identified
    residual: float
    n_ratings: int
    severities: FloatArray  #: (raters,) best linear predictions
    covariance: FloatArray  #: (systems, systems) of the means under the model
    inflation: FloatArray  #: (systems, systems) that estimated variances add to `covariance`
    rater_weights: FloatArray  #: (systems, raters)
    by_query: FloatArray  #: (queries, systems) weighted residuals, whose sums are the errors
    variance_covariance: FloatArray  #: (4, 4) of the variances, the residual's last; 0 at a bound
    slopes: FloatArray  #: (4, systems, systems) of `covariance` in the variances

    def satterthwaite_df(self, contrast: npt.ArrayLike) -> float:
        """Degrees of freedom of a contrast (systems,) of the means under the model."""
        weights = np.asarray(contrast, dtype=np.float64)
        variance = float(weights @ self.covariance @ weights)
        slope = np.einsum("i,kij,j->k", weights, self.slopes, weights)
        error = float(slope @ self.variance_covariance @ slope)
        return 2 * variance**2 / error if error > 0 else float("inf")


class _Evaluated(NamedTuple):
    """What one pair of ratios leads to."""

    deviance: float
    quadratic: float
    gamma: FloatArray
    omega: FloatArray
    traces: FloatArray  # (3,) tr(P G) of each effect
    explained: FloatArray  # (3,) y' P G P y
    weights: tuple[FloatArray, FloatArray, FloatArray]  # (groups, systems): Z' L of each effect
    response_scale: FloatArray
    query_scale: FloatArray


class _Model:
    """Sums of the ratings that every evaluation needs; y has mean 0 and standard deviation 1."""

    def __init__(self, ratings: Ratings, y: FloatArray) -> None:
        self.s, self.r = ratings.n_systems, ratings.n_raters
        self.y, self.ratings, self.n = y, ratings, y.size
        columns = self.s + self.r
        self.k = np.zeros((self.n, columns + 1))
        rows = np.arange(self.n)
        self.k[rows, ratings.system_of[ratings.response]] = 1.0
        self.k[rows, self.s + ratings.rater] = 1.0
        self.k[:, -1] = y
        self.m = np.bincount(ratings.response).astype(np.float64)
        self.to_response, self.to_query = _groups(ratings.response), _groups(ratings.query_of)
        self.by_response: FloatArray = self.to_response @ self.k
        self.products = self.k.T @ self.k
        self.responses = np.bincount(ratings.query_of).astype(np.float64)
        # A query with one response, or a response with one rating, is not told from its only part.
        self.free: BoolArray = np.array([self.responses.max() > 1, self.m.max() > 1, True])

    @property
    def df(self) -> int:
        """Ratings minus fixed effects."""
        return self.n - self.s

    def at(self, ratios: FloatArray) -> _Evaluated:
        """Profiled deviance and its parts at the ratios (3,) of the variances to the residual."""
        a, c, b = ratios
        s, place = self.s, self.ratings.query_of
        shrink = 1 / (1 + c * self.m)
        shrunk = self.by_response * shrink[:, None]
        h = np.bincount(place, self.m * shrink)
        t = self.to_query @ shrunk
        query_scale = a / (1 + a * h)
        gram = self.products - (self.by_response * (c * shrink)[:, None]).T @ self.by_response
        gram -= (t * query_scale[:, None]).T @ t
        root = np.ones(gram.shape[0])
        root[s:-1] = np.sqrt(b)
        scaled = gram * root
        inner = scaled[:-1, :-1] * root[:-1, None]
        inner[range(s, inner.shape[0]), range(s, inner.shape[0])] += 1.0
        omega = np.linalg.inv(inner)
        right = gram[:-1, -1] * root[:-1]
        gamma = omega @ right
        quadratic = float(gram[-1, -1] - right @ gamma)
        log_det = float(np.log1p(c * self.m).sum() + np.log1p(a * h).sum())
        deviance = self.df * np.log(quadratic) + log_det + float(np.linalg.slogdet(inner)[1])

        response_rows = (shrunk - (self.m * shrink * query_scale[place])[:, None] * t[place]) * root
        within = self.m * shrink - (self.m * shrink) ** 2 * query_scale[place]
        query_rows = t / (1 + a * h)[:, None] * root
        rater_rows = scaled[s:-1]
        parts = (
            (query_rows, float(np.sum(h / (1 + a * h)))),
            (response_rows, float(within.sum())),
            (rater_rows, float(np.trace(gram[s:-1, s:-1]))),
        )
        traces, explained, weights = np.zeros(3), np.zeros(3), []
        for effect, (rows, trace) in enumerate(parts):
            known = rows[:, :-1]
            traces[effect] = trace - float(np.sum((known @ omega) * known))
            explained[effect] = float(np.sum((rows[:, -1] - known @ gamma) ** 2))
            weights.append(known @ omega[:, :s])
        return _Evaluated(
            deviance, quadratic, gamma, omega, traces, explained,
            (weights[0], weights[1], weights[2]), c * shrink, query_scale,
        )  # fmt: skip

    def profiled(self, shares: FloatArray) -> tuple[float, FloatArray]:
        """Deviance and slope per rating in the free shares, ratio / (1 + ratio)."""
        ratios = np.zeros(3)
        ratios[self.free] = shares / (1 - shares)
        of = self.at(ratios)
        slope = of.traces - of.explained * self.df / of.quadratic
        chain = (1 + ratios[self.free]) ** 2
        return of.deviance / self.n, slope[self.free] * chain / self.n

    def slope(self, variances: FloatArray) -> FloatArray:
        """Slopes (4,) of -2 log restricted likelihood in the variances, the residual's last."""
        residual = variances[3]
        of = self.at(variances[:3] / residual)
        traces, explained = of.traces / residual, of.explained / residual**2
        # Weighted by the variances, traces sum to the degrees of freedom and squares to y'Py.
        rest = (self.df - variances[:3] @ traces) / residual
        left = (of.quadratic / residual - variances[:3] @ explained) / residual
        slope: FloatArray = np.append(traces, rest) - np.append(explained, left)
        return slope

    def weights(self, of: _Evaluated, root: float) -> FloatArray:
        """Weights (N, systems) of the ratings in each system's mean."""
        scaled = self.k[:, :-1].copy()
        scaled[:, self.s :] *= root
        g = scaled @ of.omega[:, : self.s]
        response, query = self.ratings.response, self.ratings.query_of
        sums = self.to_response @ g
        shrink = 1 - of.response_scale * self.m
        totals = self.to_query @ (sums * shrink[:, None])
        off = of.response_scale[:, None] * sums
        off += (shrink * of.query_scale[query])[:, None] * totals[query]
        out: FloatArray = g - off[response]
        return out


def _groups(place: IntArray) -> sparse.csr_array:
    """Indicators (groups, n) of the group of each row: their product with rows sums by group."""
    n = place.size
    entries = (np.ones(n), (place, np.arange(n)))
    groups: sparse.csr_array = sparse.csr_array(entries, shape=(int(place.max()) + 1, n))
    return groups


def undefined_reason(ratings: Ratings) -> str | None:
    """Why the model cannot be fitted; None where it can."""
    if ratings.n_raters < 2:
        return "the variance of raters needs at least 2 raters, there is 1"
    if ratings.n_queries < 2:
        return "an interval needs at least 2 queries, there is 1"
    if ratings.values.size <= ratings.n_systems + ratings.n_raters:
        return "there are too few ratings to estimate raters' severity and an error"
    if np.ptp(ratings.values) == 0:
        return f"all ratings are {ratings.values[0]:g}, so that nothing can be estimated"
    if _leftover(ratings) < EXACT:
        return "systems and raters explain every rating exactly, so that there is no error"
    return None


def _leftover(ratings: Ratings) -> float:
    """Share of the ratings' variance that means of systems and of raters leave."""
    system, n = ratings.system_of[ratings.response], ratings.values.size
    columns = np.zeros((n, ratings.n_systems + ratings.n_raters))
    columns[np.arange(n), system] = columns[np.arange(n), ratings.n_systems + ratings.rater] = 1
    y = ratings.values - ratings.values.mean()
    rest = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    return float(rest @ rest / (y @ y))


def fit(ratings: Ratings) -> AdditiveFit:
    """Fit the model; raises ValueError where `undefined_reason` has one."""
    reason = undefined_reason(ratings)
    if reason is not None:
        raise ValueError(reason)
    center, unit = float(ratings.values.mean()), float(ratings.values.std())
    model = _Model(ratings, (ratings.values - center) / unit)
    ratios = _ratios(model)
    of = model.at(ratios)
    residual = of.quadratic / model.df
    variances = np.append(ratios * residual, residual)
    root = float(np.sqrt(ratios[RATER]))
    means, severities = of.gamma[: model.s], root * of.gamma[model.s :]
    weights = model.weights(of, root)
    fitted = means[ratings.system_of[ratings.response]] + severities[ratings.rater]
    by_query = model.to_query @ (model.to_response @ (weights * (model.y - fitted)[:, None]))
    uncertain = _variance_covariance(model, variances)
    effects = np.array([part.T @ part for part in of.weights])
    covariance = of.omega[: model.s, : model.s] * residual
    rest = (covariance - np.einsum("k,kij->ij", variances[:3], effects)) / residual
    return AdditiveFit(
        means=center + unit * means,
        variances=variances[:3] * unit**2,
        residual=residual * unit**2,
        n_ratings=model.n,
        severities=unit * severities,
        covariance=covariance * unit**2,
        inflation=_inflation(model, variances, uncertain) * unit**2,
        rater_weights=of.weights[RATER].T,
        by_query=unit * (by_query - by_query.mean(axis=0)),
        variance_covariance=uncertain * unit**4,
        slopes=np.concatenate([effects, rest[None]]),
    )


def _ratios(model: _Model) -> FloatArray:
    from scipy import optimize  # imported here: most reports have balanced ratings

    free = int(model.free.sum())
    top = LARGEST_RATIO / (1 + LARGEST_RATIO)
    best = min(
        (
            optimize.minimize(
                model.profiled,
                np.full(free, begin),
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, top)] * free,
                options={"ftol": 1e-15, "gtol": 1e-11, "maxiter": 500},
            )
            for begin in (0.5, 0.1)
        ),
        key=lambda result: float(result.fun),
    )
    shares = polished(model.profiled, np.asarray(best.x, dtype=np.float64), top)
    ratios = np.zeros(3)
    ratios[model.free] = shares / (1 - shares)
    return ratios


def _variance_covariance(model: _Model, variances: FloatArray) -> FloatArray:
    """Twice the inverse of the observed information of the variances above 0."""
    used = np.flatnonzero(variances > 1e-8)
    information = np.empty((used.size, used.size))
    for column, index in enumerate(used):
        step = np.zeros(4)
        step[index] = 1e-4 * variances[index]
        change = model.slope(variances + step) - model.slope(variances - step)
        information[:, column] = change[used] / (2 * step[index])
    out = np.zeros((4, 4))
    out[np.ix_(used, used)] = 2 * np.linalg.pinv((information + information.T) / 2)
    return out


def _inflation(model: _Model, variances: FloatArray, uncertain: FloatArray) -> FloatArray:
    """Kenward and Roger's correction of the covariance of the means, twice their Lambda.

    The weights of the ratings depend on the variances: with D their slopes, V the covariance of the
    ratings and W that of the estimated variances, Lambda = sum over i, j of W_ij D_i' V D_j.
    """
    used = np.flatnonzero(np.diag(uncertain) > 0)
    slopes = []
    for index in used:
        step = np.zeros(4)
        step[index] = 1e-3 * variances[index]
        ahead, behind = (
            model.weights(model.at(at[:3] / at[3]), float(np.sqrt(at[RATER] / at[3])))
            for at in (variances + step, variances - step)
        )
        slopes.append((ahead - behind) / (2 * step[index]))
    out = np.zeros((model.s, model.s))
    indicators = model.to_query @ model.to_response, model.to_response, _groups(model.ratings.rater)
    for i, first in zip(used, slopes, strict=True):
        for j, second in zip(used, slopes, strict=True):
            between = variances[3] * first.T @ second
            for variance, indicator in zip(variances[:3], indicators, strict=True):
                between += variance * (indicator @ first).T @ (indicator @ second)
            out += 2 * uncertain[i, j] * between
    return (out + out.T) / 2
