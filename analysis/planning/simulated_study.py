"""Simulated studies, and the interval of each statistic in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.construct_data import mean_over
from analysis.core.interval import Interval
from analysis.core.pairs import Scope
from analysis.core.query_statistic import QueryStatistic
from analysis.core.resampling import QueryResampling
from analysis.core.statistic import ORDER
from analysis.core.uncertainty import Transform
from analysis.planning.components import Components
from analysis.render.verdict_facts import ENOUGH_RATERS
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.further_rater import beside_a_further_rater
from analysis.statistics.agreement.human_ceiling import human_ceiling
from analysis.statistics.correction.prediction_powered import (
    Corrected,
    corrected,
    learned_lambda,
)
from analysis.statistics.correction.query_sums import QuerySums, query_sums
from analysis.statistics.reliability.alpha import alpha_of_weights
from analysis.statistics.reliability.icc import icc_interval
from analysis.statistics.reliability.variance_components import bias_for_raters_like_these

#: Resamples of an interval: its width is averaged over many simulated studies.
RESAMPLES = 400


@dataclass(frozen=True)
class Design:
    """Each of `raters` people rates `responses` responses to each of `queries` queries."""

    queries: int
    raters: int
    responses: int
    """Responses per query: the systems, where all answer all queries."""

    @property
    def n_responses(self) -> int:
        """Responses that are rated."""
        return self.queries * self.responses

    @property
    def n_ratings(self) -> int:
        """Values that people give."""
        return self.n_responses * self.raters


@dataclass(frozen=True, eq=False)
class Simulated:
    """One simulated study: ratings (n, R), judge (n,), query codes (n,).

    `unrated` (queries judged beyond those rated, systems) are scores of the judge. `true`
    (n,) are the true values by the components, and `noise` (2, n) the standard normal noise of the
    judge and of another one, from which further judges of the same responses follow.
    """

    ratings: FloatArray
    judge: FloatArray
    unrated: FloatArray
    query: IntArray
    design: Design
    level: float
    seed: int
    components: Components
    true: FloatArray
    noise: FloatArray
    width: float = 100.0
    """Of the scale, in points."""

    def interval(self, statistic: QueryStatistic, transform: Transform | None = None) -> Interval:
        """Interval for these raters, as a report has it."""
        return self.resampling.interval(statistic, transform)

    @property
    def resampling(self) -> QueryResampling:
        """The resamples of its queries."""
        return QueryResampling(self.design.queries, RESAMPLES, self.seed, self.level)

    def beside_a_rater(
        self, judge: FloatArray, level: float | None = None
    ) -> tuple[float, Interval]:
        """How much better a judge (n,) orders responses than a rater, as the verdict states it.

        By tau-b within queries, or over all responses where there is one a query; for raters like
        these where there are enough of them, else for these.
        """
        scope: Scope = "within_query" if self.design.responses > 1 else "pooled"
        ceiling = human_ceiling(self.ratings, judge, self.query, scope, ORDER)
        assert ceiling.difference is not None  # noqa: S101  (a judge was given)
        resampling = replace(self.resampling, level=level or self.level)
        if len(ceiling.used) >= ENOUGH_RATERS:
            interval = beside_a_further_rater(ceiling, resampling)
            if interval.reason is None:
                return ceiling.difference.point, interval
        return ceiling.difference.point, resampling.interval(ceiling.difference)


def simulated(
    components: Components,
    design: Design,
    level: float,
    seed: int,
    run: int,
    judged: int = 1000,
    width: float = 100.0,
) -> Simulated:
    """A study drawn from normal distributions; the same for the same seed and run.

    `judged` queries beyond those rated have scores of the judge only. `width` is that of the scale.
    """
    stream = np.random.SeedSequence(
        seed, spawn_key=(design.queries, design.raters, design.responses, run)
    )
    rng = np.random.default_rng(stream)
    n = design.n_responses
    query = np.repeat(np.arange(design.queries), design.responses)
    true = components.query * rng.normal(size=design.queries)[query]
    true = true + components.response * rng.normal(size=n)
    # One panel for all numbers of queries, so that these are compared and not the panels.
    panel = np.random.SeedSequence(seed, spawn_key=(design.raters, run))
    severity = components.rater * np.random.default_rng(panel).normal(size=design.raters)
    error = components.error * rng.normal(size=(n, design.raters))
    judge_noise = rng.normal(size=n)
    judge = components.slope * true + components.judge * judge_noise
    further = components.query * rng.normal(size=(judged, 1))
    further = further + components.response * rng.normal(size=(judged, design.responses))
    unrated = components.slope * further + components.judge * rng.normal(size=further.shape)
    ratings = true[:, None] + severity + error
    noise = np.stack([judge_noise, rng.normal(size=n)])
    return Simulated(
        ratings, judge, unrated, query, design, level, seed, components, true, noise, width
    )  # fmt: skip


def _alpha(study: Simulated) -> Interval:
    return study.interval(alpha_of_weights(study.ratings, study.query, "interval"))


def _icc(study: Simulated) -> Interval:
    return icc_interval(study.ratings, study.query, "A,1", level=study.level)


def _bias(study: Simulated) -> Interval:
    return bias_for_raters_like_these(study.judge, study.ratings, study.query, study.level).interval


def _pearson(study: Simulated) -> Interval:
    reference = mean_over(study.ratings)
    return study.interval(association("pearson", study.judge, reference, study.query), "fisher_z")


def _pearson_within(study: Simulated) -> Interval:
    reference = mean_over(study.ratings)
    statistic = association("pearson", study.judge, reference, study.query, "within_query")
    return study.interval(statistic, "fisher_z")


def _ceiling(study: Simulated) -> Interval:
    return study.beside_a_rater(study.judge)[1]


def _ppi_mean(study: Simulated) -> Interval:
    systems = _systems(study)
    shared = learned_lambda([(of,) for of in systems])
    return corrected(systems[0], lam=shared, level=study.level).interval


def _ppi_difference(study: Simulated) -> Interval:
    return between_systems(study).interval


def between_systems(study: Simulated, better: float = 0.0) -> Corrected:
    """The corrected difference of two systems, of which the first is `better` points better."""
    systems = _systems(study, better)
    shared = learned_lambda(list(combinations(systems, 2)))
    return corrected(systems[0], systems[1], shared, level=study.level)


def _systems(study: Simulated, better: float = 0.0) -> list[QuerySums]:
    """Sums of all systems, of which the first is `better` points better."""
    number = study.design.responses
    return [_sums(study, system, better if system == 0 else 0.0) for system in range(number)]


def _sums(study: Simulated, system: int, better: float = 0.0) -> QuerySums:
    """One system's responses: those that people rated, then those that only the judge scored.

    The responses are `better` points better than simulated, which the judge sees times its slope.
    """
    shape = (study.design.queries, study.design.responses)
    people = mean_over(study.ratings).reshape(shape)[:, system] + better
    unrated = study.unrated[:, system]
    human = np.concatenate([people, np.full(unrated.size, np.nan)])
    judge = np.concatenate([study.judge.reshape(shape)[:, system], unrated])
    judge += study.components.slope * better
    return query_sums(human, judge, np.arange(judge.size))


@dataclass(frozen=True)
class PlannedStatistic:
    """A statistic that can be planned for."""

    interval: Callable[[Simulated], Interval]
    description: str
    raters: int
    """Fewest raters it needs."""
    responses: int = 1
    """Fewest responses per query it needs."""
    points: bool = False
    """Whether it is in points of the scale."""


#: By id; the report has the same ids, except pearson_within_query.
STATISTICS: dict[str, PlannedStatistic] = {
    "krippendorff_alpha": PlannedStatistic(_alpha, "agreement of people, these raters", 2),
    "icc": PlannedStatistic(_icc, "ICC(A,1), raters like these", 2),
    "bias": PlannedStatistic(_bias, "judge minus people, raters like these", 2, points=True),
    "pearson": PlannedStatistic(_pearson, "judge against people, pooled", 1),
    "pearson_within_query": PlannedStatistic(
        _pearson_within, "judge against people, within a query", 1, 2
    ),
    "human_ceiling_difference": PlannedStatistic(
        _ceiling, "judge minus rater, tau-b, as in the verdict", 2
    ),
    "ppi_mean": PlannedStatistic(_ppi_mean, "a system's corrected mean", 1, points=True),
    "ppi_difference": PlannedStatistic(
        _ppi_difference, "corrected difference of 2 systems", 1, 2, True
    ),
}
