"""Means of systems and their differences by people, adjusted for the severity of raters.

The estimates are generalized least squares of `additive_model`, a statement about raters like
these. Their variance is Kenward and Roger's, with Satterthwaite's degrees of freedom. It takes
ratings as equally spread on all systems; where the queries' own contributions to a contrast spread
more than that (a system at the end of the scale next to one in the middle), their variance replaces
the model's.

Sources: Kenward and Roger (1997), Biometrics 53:983-997; simultaneous intervals: Hothorn, Bretz and
Westfall (2008), Biometrical Journal 50:346-363.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.computation import t_quantile, two_sided_p
from analysis.core.interval import Interval
from analysis.core.simultaneous_intervals import SimultaneousIntervals
from analysis.statistics.reliability.additive_model import (
    RATER,
    AdditiveFit,
    Ratings,
    fit,
    undefined_reason,
)
from analysis.statistics.reliability.rater_balance import RaterBalance, rater_balance

METHOD = "kenward_roger"

#: Why two systems are not compared.
NOT_LINKED = (
    "no rater links {} and {}, also not over other systems: a difference may come from the raters"
)

#: Draws of the largest of several contrasts.
_DRAWS = 20_000


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Adjusted values (m,) with intervals; NaN with a reason where they are withheld."""

    values: FloatArray
    low: FloatArray
    high: FloatArray
    reasons: tuple[str | None, ...]
    level: float
    errors: FloatArray
    p: FloatArray
    """Two-sided p (m,) of each value alone being 0."""
    df: FloatArray
    """Degrees of freedom (m,) of each error."""

    @property
    def simultaneous(self) -> SimultaneousIntervals:
        """All intervals; each has its own degrees of freedom, so that no critical value is one."""
        return SimultaneousIntervals(
            self.low, self.high, self.errors, float("nan"), self.level, METHOD, self.reasons,
            self.p, self.df,
        )  # fmt: skip

    def at(self, place: int) -> Interval:
        """The interval of one of the values."""
        return self.simultaneous.at(place)


@dataclass(frozen=True, eq=False)
class AdjustedSystems:
    """Systems by people, adjusted for raters' severity within each group that raters link."""

    names: tuple[str, ...]
    balance: RaterBalance
    fits: dict[int, AdditiveFit]  #: by group of systems
    members: dict[int, IntArray]  #: systems of each group, in the order of the fit
    why_not: dict[int, str]  #: why a group has no fit

    def means(self, level: float = 0.95) -> Adjusted:
        """Mean of each system (S,), each with its own interval."""
        size = len(self.names)
        return self._of([(place, None) for place in range(size)], level, simultaneous=False)

    def differences(
        self, first: IntArray, second: IntArray, level: float = 0.95, seed: int = 0
    ) -> Adjusted:
        """First minus second of pairs (P,) of systems, with intervals for all pairs at once."""
        pairs = [(int(i), int(j)) for i, j in zip(first, second, strict=True)]
        return self._of(pairs, level, simultaneous=True, seed=seed)

    def better(self, first: int, second: int) -> float:
        """One-sided p of the first system being better; NaN where they cannot be compared."""
        if self._reason(first, second) is not None:
            return float("nan")
        value, error, df = self._contrast(first, second)[:3]
        return 1 - float(special.stdtr(df, value / error))

    def _of(
        self,
        contrasts: Sequence[tuple[int, int | None]],
        level: float,
        *,
        simultaneous: bool,
        seed: int = 0,
    ) -> Adjusted:
        reasons = [self._reason(*contrast) for contrast in contrasts]
        values, low, high, errors, p, dfs = (np.full(len(contrasts), np.nan) for _ in range(6))
        used = [place for place, reason in enumerate(reasons) if reason is None]
        parts = [self._contrast(*contrasts[place]) for place in used]
        tail = (1 - level) / 2
        if simultaneous and len(parts) > 1:
            tail = _joint_tail([part[3] for part in parts], level, seed)
        for place, (value, error, df, _) in zip(used, parts, strict=True):
            reach, errors[place] = t_quantile(1 - tail, df) * error, error
            values[place], low[place], high[place] = value, value - reach, value + reach
            p[place] = two_sided_p(value / error, df)
            dfs[place] = df
        return Adjusted(values, low, high, tuple(reasons), level, errors, p, dfs)

    def _reason(self, first: int, second: int | None) -> str | None:
        groups = self.balance.groups
        places = (first,) if second is None else (first, second)
        without = [self.names[place] for place in places if groups[place] < 0]
        if without:
            return f"no scores of {' and '.join(without)}"
        if second is not None and np.isnan(self.balance.imbalance[first, second]):
            return "no query with both systems"
        if second is not None and not self.balance.linked(first, second):
            return NOT_LINKED.format(self.names[first], self.names[second])
        return self.why_not.get(int(groups[first]))

    def _contrast(
        self, first: int, second: int | None
    ) -> tuple[float, float, float, tuple[int, FloatArray]]:
        """Value, standard error, degrees of freedom; and group with error by source.

        The errors by source have length 1, or are all 0 where queries and raters add none.
        """
        group = int(self.balance.groups[first])
        model, members = self.fits[group], self.members[group]
        weights = np.zeros(members.size)
        weights[np.searchsorted(members, first)] = 1
        if second is not None:
            weights[np.searchsorted(members, second)] -= 1
        by_rater = np.sqrt(model.variances[RATER]) * (weights @ model.rater_weights)
        by_query = model.by_query @ weights
        n, lost = len(by_query), members.size + by_rater.size - 1
        spread = (
            n / (n - 1) * float(by_query @ by_query) * model.n_ratings / (model.n_ratings - lost)
        )
        model_variance = float(weights @ model.covariance @ weights)
        more = max(0.0, spread - (model_variance - float(by_rater @ by_rater)))
        variance = model_variance + float(weights @ model.inflation @ weights) + more
        source = np.concatenate([by_rater, by_query])
        length = float(np.linalg.norm(source))
        unit = source / length if length else source
        df = model.satterthwaite_df(weights)
        return float(weights @ model.means), float(np.sqrt(variance)), df, (group, unit)


def _joint_tail(sources: list[tuple[int, FloatArray]], level: float, seed: int) -> float:
    """Error on each side of one contrast, so that all intervals cover at once."""
    rng = np.random.default_rng(seed)
    largest = np.zeros(_DRAWS)
    for group in dict.fromkeys(number for number, _ in sources):
        units = np.array([unit for number, unit in sources if number == group])
        shared = units @ units.T
        # What has no source in common with another contrast is drawn by itself.
        np.fill_diagonal(shared, 1 + 1e-10)
        root = np.linalg.cholesky(shared)
        drawn = np.abs(rng.standard_normal((_DRAWS, len(units))) @ root.T)
        largest = np.maximum(largest, drawn.max(axis=1))
    return float(special.ndtr(-np.quantile(largest, level)))


def adjusted_systems(
    ratings: FloatArray,
    query: IntArray,
    produced: BoolArray,
    n_queries: int,
    names: tuple[str, ...],
) -> AdjustedSystems | None:
    """Fit ratings (n, R) of systems `produced` (n, S); None where raters are balanced.

    A response that several systems gave counts for each of them.
    """
    balance = rater_balance(ratings, query, produced, n_queries)
    if balance.balanced:
        return None
    fits, members, why_not = {}, {}, {}
    for group in range(int(balance.groups.max()) + 1):
        systems = np.flatnonzero(balance.groups == group)
        table = ratings_of(ratings, query, produced[:, systems])
        reason = undefined_reason(table)
        if reason is not None:
            why_not[group] = reason
            continue
        fits[group], members[group] = fit(table), systems
    return AdjustedSystems(names, balance, fits, members, why_not)


def ratings_of(ratings: FloatArray, query: IntArray, produced: BoolArray) -> Ratings:
    """Single ratings of a table (n, R) of systems `produced` (n, S), each with ratings."""
    present = np.isfinite(ratings)
    response, system = np.nonzero(produced & np.atleast_1d(present.any(axis=1))[:, None])
    row, rater = np.nonzero(present[response])
    return Ratings(
        ratings[response[row], rater],
        row.astype(np.int64),
        np.unique(rater, return_inverse=True)[1],
        system.astype(np.int64),
        np.unique(query[response], return_inverse=True)[1],
    )
