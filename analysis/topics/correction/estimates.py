"""System means and paired differences, corrected by ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import SYSTEM, Statistic
from analysis.statistics.correction.prediction_powered import (
    INFORMATIVE_FROM,
    Compared,
    Corrected,
    LearnedLambda,
    corrected,
    informative,
    labels_needed,
    labels_saved,
    learnable,
    learned_lambda,
    uncorrected,
)
from analysis.statistics.correction.query_sums import QuerySums, inclusion_probabilities, query_sums
from analysis.topics.correction.unseen_failures import coverage_with_failures
from analysis.topics.distribution.people_by_system import severity_by_system
from study.base.scales import Scale

#: Pairs are compared up to this many systems (190 pairs).
SYSTEMS_PAIRED = 20

#: Share of people's scale that an interval should reach to each side, unless points are given.
WANTED_SHARE = 0.05

POPULATION = "queries like these"

#: What the interval of people's mean covers at 30 labels with 78% at the end of the scale
#: (tests/coverage/corrected.csv); that of the corrected mean covers .96 there.
CROWDED_COVERAGE = 0.92


def correction(context: Context) -> Iterator[Estimate]:
    """Every judge's means, or the metrics' of a construct without a judge, over all queries."""
    yield from _corrected(context, overall_only=False)


def corrected_overall(context: Context) -> Iterator[Estimate]:
    """The part of `correction` on the mean of all responses."""
    yield from _corrected(context, overall_only=True)


def _corrected(context: Context, *, overall_only: bool) -> Iterator[Estimate]:
    for construct, data in context.whole.items():
        for scorer in data.examined:
            record: dict[str, Any] = {
                "constructs": (construct,),
                "scorers": (scorer, *data.people),
                "target": "these_raters",
            }
            why = data.reference_missing
            if why is None and np.isfinite(data.reference).all():
                why = "every response has a human value: no correction is needed"
            if why:
                yield Estimate("ppi_mean", reason=why, **record)
                continue
            scorer_correction = Correction(context, data, scorer, record)
            yield from (
                scorer_correction.overall() if overall_only else scorer_correction.estimates()
            )


@dataclass(frozen=True, eq=False)
class Correction:
    """One judge's scores of one construct, with the ratings that correct them."""

    context: Context
    data: ConstructData
    scorer: str
    record: dict[str, Any]

    @cached_property
    def probability(self) -> FloatArray:
        return inclusion_probabilities(self.context.scores, self.data)

    @cached_property
    def scale(self) -> Scale | None:
        return self.context.human_scale(self.data.construct)

    @cached_property
    def contains_severity(self) -> str | None:
        """Why figures by system are withheld where raters are not balanced over systems."""
        return severity_by_system(self.context, self.data.construct)

    @property
    def raters(self) -> tuple[str, ...]:
        """Whose ratings make up the human values; empty where they are adjudicated."""
        return self.data.raters if self.data.reference_kind == "mean_of_raters" else ()

    def sums(self, chosen: BoolArray | slice = slice(None)) -> QuerySums:
        """Of the responses of one system, or of all, each once."""
        data = self.data
        judge_scale = self.context.scores.scale(data.construct, self.scorer)
        return query_sums(
            data.reference[chosen],
            data.scorers[self.scorer][chosen],
            data.query[chosen],
            data.n_queries,
            self.probability[chosen],
            human_width=self.scale.width if self.scale else None,
            judge_width=judge_scale.width if judge_scale else None,
        )

    def shared_lambda(self, figures: Sequence[Compared]) -> LearnedLambda | str:
        """What these means, or differences, share; or why it cannot be learned."""
        withheld = self.context.differences_withheld(self.data.construct, self.scorer)
        if withheld and not learnable(figures):
            return f"too few labels to learn the judge's scale, and without that: {withheld}"
        return learned_lambda(figures, one_scale=withheld is None)

    def overall(self) -> Iterator[Estimate]:
        sums = self.sums()
        yield from self.mean(sums, self.shared_lambda([(sums,)]), "pooled", ())

    def estimates(self) -> Iterator[Estimate]:
        yield from self.overall()
        systems = self.data.systems
        of = {name: self.sums(self.data.produced_by(name)) for name in systems}
        shared = self.shared_lambda([(sums,) for sums in of.values()])
        for name in systems:
            chosen = self.data.produced_by(name)
            yield from self.mean(of[name], shared, f"system:{name}", (name,), chosen)
        if len(systems) > SYSTEMS_PAIRED:
            yield Estimate(
                "ppi_difference",
                scope="system_level",
                reason=f"{len(systems)} systems are more than the {SYSTEMS_PAIRED} whose pairs are "
                "compared",
                **self.record,
            )
            return
        pairs = list(combinations(systems, 2))
        shared = self.shared_lambda([(of[a], of[b]) for a, b in pairs])
        for pair in pairs:
            yield from self.difference(of[pair[0]], of[pair[1]], shared, pair)

    def mean(
        self,
        sums: QuerySums,
        shared: LearnedLambda | str,
        scope: str,
        systems: tuple[str, ...],
        chosen: BoolArray | slice = slice(None),
    ) -> Iterator[Estimate]:
        contains_severity = self.contains_severity if systems else None
        value, ratings_alone = self.both(sums, None, shared, contains_severity)
        record = {**self.record, "scope": scope, "systems": systems}
        few, most = informative(sums)
        falls_short = (
            few < INFORMATIVE_FROM and most > 2 * few and ratings_alone.interval.reason is None
        )
        short: dict[str, Any] = {"measured_coverage": CROWDED_COVERAGE} if falls_short else {}
        rated = self.data.reference[chosen]
        failures: dict[str, Any] = coverage_with_failures(
            rated[np.isfinite(rated)], self.scale, self.context.options.level
        )
        people_params = short | failures
        yield self.estimate("weighted_human_mean", ratings_alone, sums, None, record, people_params)
        params: dict[str, Any] = {
            "judge_mean": sums.judge_mean,
            "human_mean": None if contains_severity else sums.human_mean,
            "judge_missing": sums.n_unjudged,
            **(short if value.alone else {}),
            **failures,
        }
        yield self.estimate("ppi_mean", value, sums, None, record, params)
        yield from self.planned(value, ratings_alone, sums, None, record)

    def difference(
        self,
        first: QuerySums,
        second: QuerySums,
        shared: LearnedLambda | str,
        pair: tuple[str, str],
    ) -> Iterator[Estimate]:
        value, ratings_alone = self.both(first, second, shared, self.contains_severity)
        record = {**self.record, "scope": "system_level", "systems": pair}
        params: dict[str, Any] = {
            "judge_difference": first.judge_mean - second.judge_mean,
            "human_difference": (
                None if self.contains_severity else first.human_mean - second.human_mean
            ),
        }
        yield self.estimate("ppi_difference", value, first, second, record, params)
        yield from self.planned(value, ratings_alone, first, second, record)

    def both(
        self,
        sums: QuerySums,
        minus: QuerySums | None,
        shared: LearnedLambda | str,
        contains_severity: str | None,
    ) -> tuple[Corrected, Corrected]:
        """The corrected value, and that of the ratings alone; neither where severity is in it."""
        level = self.context.options.level
        alone = corrected(sums, minus, lam=0.0, level=level)
        if contains_severity:
            return _without(alone, contains_severity), _without(alone, contains_severity)
        if isinstance(shared, LearnedLambda):
            return corrected(sums, minus, shared, level=level), alone
        if alone.reason is None and not uncorrected(sums, minus):
            return _without(alone, shared), alone
        return corrected(sums, minus, level=level), alone

    def estimate(
        self,
        name: str,
        value: Corrected,
        sums: QuerySums,
        minus: QuerySums | None,
        record: dict[str, Any],
        params: dict[str, Any],
    ) -> Estimate:
        tables = (sums,) if minus is None else (sums, minus)
        labels = sum(table.n_labels for table in tables)
        judge_params: dict[str, Any] = (
            {} if name == "weighted_human_mean" else {"lambda": value.lam, "df": value.df}
        )
        if judge_params and value.alone:
            judge_params["ratings_alone"] = value.alone
        return Estimate(
            name,
            value=value.value,
            **value.interval.fields,
            n_responses=labels,
            n_queries=value.n_labeled_queries,
            n_raters=len(self.raters),
            reason=value.reason or value.interval.reason,
            **record,
            params={
                "target_population": POPULATION,
                "pool": sum(table.n_pool for table in tables),
                **judge_params,
                **params,
            },
        )

    def planned(
        self,
        value: Corrected,
        ratings_alone: Corrected,
        sums: QuerySums,
        minus: QuerySums | None,
        record: dict[str, Any],
    ) -> Iterator[Estimate]:
        """What the judge saved, and what a wanted width takes."""
        labels = sums.n_labels + (minus.n_labels if minus else 0)
        unlabeled = sums.n_unlabeled + (minus.n_unlabeled if minus else 0)
        saved = labels_saved(value, ratings_alone, labels, unlabeled)
        counts: dict[str, Any] = {
            **record,
            "n_responses": labels,
            "n_queries": value.n_labeled_queries,
            "n_raters": len(self.raters),
        }
        reason = value.reason or value.interval.reason or ratings_alone.interval.reason
        yield Estimate("labels_saved", value=saved, reason=reason, **counts)
        target = self.context.options.target_width
        if target is None and self.scale is not None:
            target = WANTED_SHARE * self.scale.width
        if target is None:
            why: str | None = (
                "no scale is declared, so that a width cannot be a share of it; give it in points"
            )
            yield Estimate("labels_needed", reason=why, **counts)
            return
        needed, why = labels_needed(value, target, labels, self.context.options.level)
        if needed > labels + unlabeled:
            needed = float("nan")
            why = f"not even ratings of all {labels + unlabeled:,} responses would be enough"
        yield Estimate(
            "labels_needed", value=needed, reason=why, params={"half_width": target}, **counts
        )


def _without(alone: Corrected, reason: str) -> Corrected:
    """A corrected value that is not given."""
    nan = float("nan")
    interval = type(alone.interval)(nan, nan, alone.interval.level, alone.interval.method, reason)
    return Corrected(nan, interval, nan, alone.n_labeled_queries, nan, nan, nan, reason)


#: What the statistics of this module have in common.
_statistic = partial(Statistic, estimates=correction, targets=("these_raters",))

STATISTICS = (
    _statistic(
        "ppi_mean",
        "Corrected mean",
        "corrected mean of a system, or of all; params.lambda, df, judge_mean (of all its "
        "scores), human_mean (weighted, of the rated), judge_missing, pool (responses), "
        "ratings_alone (why they are not corrected), coverage_with_unseen_failures (where few "
        "ratings lie in one half of the scale), target_population; n_responses and n_queries count "
        "the rated; by system withheld where raters are not balanced over systems",
        scopes=("pooled", SYSTEM),
        source="Angelopoulos, Duchi and Zrnic 2023",
    ),
    _statistic(
        "weighted_human_mean",
        "People's mean",
        "mean of the rated responses by 1 / inclusion_prob, with the jackknife interval",
        scopes=("pooled", SYSTEM),
        source="Hájek 1971",
    ),
    _statistic(
        "ppi_difference",
        "Corrected difference",
        "corrected mean of the first system minus the second's; params.judge_difference and "
        "params.human_difference without correction",
        scopes=("system_level",),
        source="Angelopoulos, Duchi and Zrnic 2023",
    ),
    _statistic(
        "labels_saved",
        "Ratings saved",
        "further rated responses that the ratings alone would need for an interval as narrow as "
        "that of the corrected value; at most the unrated ones",
        better="higher",
        scopes=("pooled", SYSTEM, "system_level"),
    ),
    _statistic(
        "labels_needed",
        "Ratings needed",
        "rated responses for an interval of params.half_width to each side; withheld where even "
        "ratings of all responses are not enough",
        range=(0, None),
        better="lower",
        scopes=("pooled", SYSTEM, "system_level"),
    ),
)
