"""The cells of the coverage table: which statistics, with what truth, over which repetitions.

Truth for these raters: one panel's severities are fixed and the statistic is computed on 200,000
queries rated by that panel. For raters like these: severities are drawn anew in each campaign.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.interval import Interval
from analysis.core.pairs import Scope
from analysis.core.query_statistic import QueryStatistic
from analysis.core.resampling import PERCENTILE_FROM, QueryResampling, Scheme
from analysis.core.statistic_family import StatisticFamily
from analysis.core.uncertainty import Transform
from analysis.statistics.agreement.association import Measure, association
from analysis.statistics.agreement.human_ceiling import human_ceiling
from analysis.statistics.calibration.recalibration import recalibration_line
from analysis.statistics.reliability.alpha import alpha_of_weights
from analysis.statistics.reliability.icc import icc_interval
from analysis.statistics.reliability.variance_components import bias_for_raters_like_these
from analysis.statistics.validity.correlation_family import CorrelationFamily, prepared
from analysis.statistics.validity.derived_correlations import averaged_by_fisher, with_derived
from tests.coverage.campaigns import BIAS, Campaign, Design, campaign, shared_queries

LEVEL = 0.95
POPULATION_QUERIES = 200_000
SYSTEMS = 6
CORRELATION = 0.5
Row = dict[str, object]
Named = dict[str, tuple[QueryStatistic, Transform | None]]
Make = tuple[Callable[[], QueryStatistic], Transform | None]

#: Statistics computed from sums, on which the percentile interval is also tried below the number
#: of queries from which reports use it, to show why they do not.
CHEAP = (
    "krippendorff_alpha interval",
    "pearson pooled",
    "pearson within_query",
    "bias pooled",
    "recalibration_slope pooled",
)


def statistics_of(c: Campaign, names: Iterable[str] = ()) -> Named:
    """Statistics that speak of these raters, and the scale their interval is formed on.

    All of them, or those with these names.
    """
    reference = c.reference

    def judged(measure: Measure, scope: Scope) -> Make:
        return lambda: association(measure, c.judge, reference, c.query, scope), "fisher_z"

    def ceiling(scope: Scope, part: str) -> QueryStatistic:
        result = getattr(human_ceiling(c.ratings, c.judge, c.query, scope), part)
        assert isinstance(result, QueryStatistic)
        return result

    makers: dict[str, Make] = {
        "krippendorff_alpha interval": (
            lambda: alpha_of_weights(c.ratings, c.query, "interval"),
            None,
        ),
        "krippendorff_alpha ordinal": (
            lambda: alpha_of_weights(c.ratings, c.query, "ordinal"),
            None,
        ),
        "pearson pooled": judged("pearson", "pooled"),
        "pearson within_query": judged("pearson", "within_query"),
        "spearman pooled": judged("spearman", "pooled"),
        "spearman within_query": judged("spearman", "within_query"),
        "kendall_tau_b pooled": judged("kendall_tau_b", "pooled"),
        "kendall_tau_b within_query": judged("kendall_tau_b", "within_query"),
        "human_ceiling pooled": (lambda: ceiling("pooled", "rater"), "fisher_z"),
        "human_ceiling_difference pooled": (lambda: ceiling("pooled", "difference"), None),
        "human_ceiling_difference within_query": (
            lambda: ceiling("within_query", "difference"),
            None,
        ),
        "bias pooled": (lambda: association("bias", c.judge, reference, c.query), None),
        "recalibration_slope pooled": (lambda: slope(c), None),
    }
    chosen = list(names) or list(makers)
    return {name: (makers[name][0](), makers[name][1]) for name in chosen}


def slope(c: Campaign) -> QueryStatistic:
    """Slope of the human reference on the judge."""
    return _one_of(recalibration_line(c.judge, c.reference, c.query), 0)


def correlation_average(x: FloatArray, y: FloatArray) -> QueryStatistic:
    """Pearson correlations of x and y (queries, systems) within systems, averaged by Fisher's z."""
    pairs = CorrelationFamily(np.arange(x.shape[0]), x.shape[0])
    members = [pairs.add(prepared(a), prepared(b)) for a, b in zip(x.T, y.T, strict=True)]
    names = [f"system {m}" for m in members]
    family = with_derived(pairs.family(), [averaged_by_fisher(members, names)])
    return _one_of(family, len(members))


def _one_of(family: StatisticFamily, place: int) -> QueryStatistic:
    return QueryStatistic(
        lambda weights: family.weighted_statistic(weights)[:, place],
        np.asarray(family.contributing[:, place]),
        int(family.n_responses[place]),
        int(family.n_dropped[place]),
        family.reasons[place],
    )


@dataclass(frozen=True)
class Cell:
    """One cell; `key` names it in the table."""

    design: Design
    seed: int
    repetitions: int
    resamples: int

    @property
    def key(self) -> str:
        """Name of the cell."""
        d = self.design
        kind = type(self).__name__.lower()
        overlap = "" if d.overlap is None else f" overlap {d.overlap:g}"
        return (
            f"{kind} {d.queries}x{d.raters} severity {d.severity:.3g} center {d.center:g}{overlap}"
        )

    def rows(self) -> list[Row]:
        """Coverage of every statistic of the cell."""
        result: dict[tuple[str, str, str], list[tuple[Interval, float]]] = defaultdict(list)
        for repetition in range(self.repetitions):
            # A stream for each repetition: a part of the table is the same part of a longer one.
            stream = np.random.SeedSequence(self.seed, spawn_key=(repetition,))
            rng = np.random.default_rng(stream)
            for target, name, interval, truth in self.intervals(rng, repetition):
                result[target, name, interval.method].append((interval, truth))
        return [self._row(target, name, category) for (target, name, _), category in result.items()]

    def intervals(
        self, rng: np.random.Generator, repetition: int
    ) -> Iterator[tuple[str, str, Interval, float]]:
        """Target, statistic, interval and truth on one campaign."""
        raise NotImplementedError

    def _row(self, target: str, name: str, passed: list[tuple[Interval, float]]) -> Row:
        usable = [(i.low, i.high, truth) for i, truth in passed if i.reason is None]
        low, high, truth = np.array(usable).reshape(-1, 3).T
        covered = float(np.mean((low <= truth) & (truth <= high)))
        described = asdict(self.design)
        if self.design.overlap is not None:
            described["missing"] = round(1 - (1 + self.design.overlap) / self.design.raters, 2)
        kept = ("queries", "raters", "severity", "missing", "center", "bounded")
        return {
            "cell": self.key,
            **{key: described[key] for key in kept},
            "target": target,
            "statistic": name,
            "method": passed[0][0].method,
            "truth": round(float(truth.mean()), 4),
            "repetitions": len(passed),
            "withheld": len(passed) - len(usable),
            "coverage": round(covered, 4),
            "monte_carlo_error": round(float(np.sqrt(covered * (1 - covered) / len(usable))), 4),
            "below": round(float(np.mean(high < truth)), 4),
            "above": round(float(np.mean(low > truth)), 4),
            "median_width": round(float(np.median(high - low)), 4),
        }


class Panel(Cell):
    """One fixed panel: what resampling of queries covers."""

    def intervals(
        self, rng: np.random.Generator, repetition: int
    ) -> Iterator[tuple[str, str, Interval, float]]:
        """By the jackknife and, from sums, by the bootstrap."""
        truth = panel_truth(self.design.of_size(POPULATION_QUERIES))
        drawn = campaign(self.design, severities_of(self.design), rng)
        size = self.design.queries
        resampling = QueryResampling(size, self.resamples, seed=repetition, level=LEVEL)
        names = CHEAP if size >= PERCENTILE_FROM else ()
        for name, (statistic, transform) in statistics_of(drawn, names).items():
            schemes: tuple[Scheme, ...] = ("jackknife",)
            if name in CHEAP:
                schemes = ("bootstrap", "jackknife")
            for scheme in schemes:
                interval = resampling.interval(statistic, transform, scheme)
                yield "these_raters", name, interval, truth[name]


class Population(Cell):
    """Panels drawn anew: claims about raters like these, and bias for the panel at hand."""

    def intervals(
        self, rng: np.random.Generator, repetition: int
    ) -> Iterator[tuple[str, str, Interval, float]]:
        """ICC(A,1), and the bias for both targets."""
        design = self.design
        severities = rng.normal(0, design.severity, design.raters)
        c = campaign(design, severities, rng)
        like_these = "raters_like_these"
        yield like_these, "icc A,1", icc_interval(c.ratings, c.query, "A,1", level=LEVEL), (
            design.icc_a1
        )  # fmt: skip
        estimate = bias_for_raters_like_these(c.judge, c.ratings, c.query, LEVEL)
        yield like_these, "bias pooled", estimate.interval, BIAS
        resampling = QueryResampling(design.queries, self.resamples, seed=repetition, level=LEVEL)
        statistic = association("bias", c.judge, c.reference, c.query)
        # The scheme by the size of the design: by chance a query may have no rating at all.
        scheme: Scheme = "bootstrap" if design.queries >= PERCENTILE_FROM else "jackknife"
        interval = resampling.interval(statistic, None, scheme)
        # Raters miss responses at random: each enters the mean with the same weight.
        chosen = BIAS - float(severities.mean())
        yield "these_raters", "bias pooled", interval, chosen
        # What goes wrong when a claim about people is read off the panel's interval.
        yield "trap", "bias pooled", interval, BIAS


@dataclass(frozen=True)
class Shared(Cell):
    """Correlations within systems that share their queries, averaged by Fisher's z."""

    loading: float = 0.0

    @property
    def key(self) -> str:
        """Name of the cell."""
        return f"shared {self.design.queries} loading {self.loading:g}"

    def intervals(
        self, rng: np.random.Generator, repetition: int
    ) -> Iterator[tuple[str, str, Interval, float]]:
        """The average on Fisher's scale, and the error that takes systems as independent."""
        size = self.design.queries
        x, y = shared_queries(size, SYSTEMS, self.loading, CORRELATION, rng)
        statistic = correlation_average(x, y)
        resampling = QueryResampling(size, self.resamples, seed=repetition, level=LEVEL)
        name = f"construct_correlation_average loading {self.loading:g}"
        yield "none", name, resampling.interval(statistic, "fisher_z"), CORRELATION
        z, reach = np.arctanh(statistic.point), 1.959964 / np.sqrt(SYSTEMS * (size - 3))
        alone = Interval(np.tanh(z - reach), np.tanh(z + reach), LEVEL, "independence")
        yield "trap", name, alone, CORRELATION


@cache
def panel_truth(design: Design) -> dict[str, float]:
    """Values of the statistics in a population of this many queries rated by the panel."""
    drawn = campaign(design, severities_of(design), np.random.default_rng(20_000))
    return {name: statistic.point for name, (statistic, _) in statistics_of(drawn).items()}


def severities_of(design: Design) -> FloatArray:
    """Severities (R,) of the fixed panel, evenly spaced."""
    return np.linspace(-1, 1, design.raters) * design.severity
