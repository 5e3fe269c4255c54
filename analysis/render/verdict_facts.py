"""What a verdict is decided from: each figure and each outcome once, for a scorer on a construct.

Order is compared by Kendall's tau-b. It counts the pairs of responses to a query that are in the
same order, so that a judge is not worse for using its scale unevenly; Pearson's r, which depends on
distances, is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.claims import VERDICT
from analysis.core.construct_data import ConstructData
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER, Target
from analysis.render.formatting import NOISE, correlation, is_zero, with_interval
from analysis.render.sentence_templates import SCOPES
from analysis.render.sentences import Fact, fact
from study.base.scales import Scale

Comparison = Literal["better", "worse", "undecided", "withheld"]

#: Raters from which on a statement about raters like these is carried.
ENOUGH_RATERS = 5


@dataclass(frozen=True)
class JudgeBesideRater:
    """Agreement of the judge and of a rater with the others by one measure, and their difference.

    All three are for the same raters and responses.
    """

    judge: Estimate
    rater: Estimate
    difference: Estimate

    @property
    def pair(self) -> str:
        """'.41 against .55'."""
        return f"{correlation(self.judge.value)} against {correlation(self.rater.value)}"

    @property
    def amounts(self) -> str:
        """'.41 against .55, difference -.14 [-.20, -.08]'."""
        return f"{self.pair}, difference {with_interval(self.difference)}"


def outcome(low: float, high: float) -> Comparison:
    """What an interval of a difference shows by itself; withheld where both ends are NaN."""
    if math.isnan(low):
        return "withheld"
    if high < -NOISE:
        return "worse"
    return "better" if low > NOISE else "undecided"


@dataclass(frozen=True, eq=False)
class VerdictFacts:
    """The figures of one scorer on one construct, and what they show."""

    analysis: Analysis
    construct: str
    scorer: str

    def first(self, statistic: str, **where: Any) -> Estimate | None:
        """The first estimate of this scorer on this construct that is defined, if any."""
        found = self.analysis.estimates.first(
            statistic, construct=self.construct, scorer=self.scorer, **where
        )
        return found if found is not None and found.defined else None

    def select(self, statistic: str, **where: Any) -> list[Estimate]:
        """All estimates on this construct, of whatever scorer."""
        return self.analysis.estimates.select(statistic, construct=self.construct, **where)

    @property
    def data(self) -> ConstructData:
        """Arrays of the construct over the rated queries."""
        return self.analysis.rated[self.construct]

    @property
    def scale(self) -> Scale | None:
        """Scale of people's values."""
        return self.analysis.human_scale(self.construct)

    @cached_property
    def nominal(self) -> bool:
        """Whether values only name categories."""
        return self.analysis.context.nominal([self.construct])

    @cached_property
    def two_valued(self) -> bool:
        """Whether the scorer and people use the two ends of the scale only."""
        scale = self.analysis.scorer_scale(self.construct, self.scorer)
        if scale is None or scale.two_valued:
            return scale is not None
        data = self.analysis.context.whole[self.construct]
        arrays = [data.scorers[self.scorer], data.ratings.ravel(), *data.adjudicated.values()]
        values = np.concatenate(arrays)
        return set(np.unique(values[np.isfinite(values)])) == {scale.min, scale.max}

    @cached_property
    def leading(self) -> tuple[str, Fact | str]:
        """Within a query, unless only all responses carry an interval; with the words for it."""
        within = self.first(ORDER, scope="within_query")
        pooled = self.first(ORDER, scope="pooled")
        if within is not None:
            beside = self.beside("within_query")
            # A tau-b of 1 has no interval; its difference to a rater's has.
            carried = beside is not None and beside.difference.has_interval
            if within.has_interval or carried or pooled is None or not pooled.has_interval:
                return "within_query", SCOPES["within_query"]
        if not self.data.several_a_query:
            return "pooled", fact("pooled_one_each")
        if within is None:
            return "pooled", fact("pooled")
        return "pooled", fact("pooled_no_interval", tau=within)

    @property
    def scope(self) -> str:
        """The scope that the verdict is about."""
        return self.leading[0]

    @cached_property
    def target(self) -> Target:
        """Whom the sentence of a verdict is about, in its order and in its level.

        Raters like these, if at least five raters carry the comparison, and an interval of the bias
        where there is one; else these raters.
        """
        like_these: Target = "raters_like_these"
        order = self.first(
            "human_ceiling_difference", scope=self.scope, measure=ORDER, target=like_these
        )
        bias = self.first("bias", scope="pooled", target=like_these)
        level = bias is None or bias.has_interval
        carried = order is not None and order.has_interval and order.n_raters >= ENOUGH_RATERS
        return like_these if carried and level else "these_raters"

    def beside(
        self, scope: str, measure: str = ORDER, of: Target = "these_raters"
    ) -> JudgeBesideRater | None:
        """The comparison with a rater; None where the difference is undefined."""
        where = {"scope": scope, "measure": measure}
        return self._beside(
            ("judge_against_others", where),
            ("human_ceiling", where),
            ("human_ceiling_difference", {**where, "target": of}),
        )

    @cached_property
    def on_categories(self) -> JudgeBesideRater | None:
        """The comparison with a rater by Cohen's kappa."""
        return self._beside(("judge_kappa", {}), ("rater_kappa", {}), ("kappa_difference", {}))

    def _beside(self, *figures: tuple[str, dict[str, str]]) -> JudgeBesideRater | None:
        judge, rater, difference = (
            self.analysis.estimates.first(
                statistic, construct=self.construct, scorer=self.scorer, **where
            )
            for statistic, where in figures
        )
        if judge is None or rater is None or difference is None or not difference.defined:
            return None
        return JudgeBesideRater(judge, rater, difference)

    @cached_property
    def order(self) -> JudgeBesideRater | None:
        """The comparison with a rater that the verdict states."""
        return self.beside(self.scope, of=self.target)

    @cached_property
    def distance(self) -> JudgeBesideRater | None:
        """The same by Pearson's r."""
        return self.beside(self.scope, "pearson", self.target)

    def outcome(self, beside: JudgeBesideRater | None) -> Comparison:
        """Better or worse if the interval excludes 0, after correction for all of the verdict's."""
        if beside is None:
            return "withheld"
        alone = outcome(beside.difference.ci_low, beside.difference.ci_high)
        if alone == "withheld" or self.analysis.claims.hold(VERDICT, beside.difference):
            return alone
        return "undecided"

    @cached_property
    def bias(self) -> Estimate | None:
        """Bias for the raters that the verdict is about (`target`), defined or not."""
        return self.analysis.estimates.first(
            "bias",
            construct=self.construct, scorer=self.scorer, scope="pooled", target=self.target,
        )  # fmt: skip

    @cached_property
    def bias_shown(self) -> bool:
        """Whether the interval of the bias is on one side of 0, beyond rounding noise.

        It is after correction for all comparisons of the verdict.
        """
        bias = self.bias
        return (
            bias is not None
            and bias.has_interval
            and bias.ci_low * bias.ci_high > 0
            and not any(is_zero(end, self.scale) for end in (bias.ci_low, bias.ci_high))
            and self.analysis.claims.hold(VERDICT, bias)
        )

    def corrected_away(self, e: Estimate) -> Fact | None:
        """That an interval excludes 0 alone, but not after correction."""
        family = self.analysis.claims.of(VERDICT)
        alone = outcome(e.ci_low, e.ci_high) in {"better", "worse"}
        if family is None or not alone or family.holds(e):
            return None
        return fact("not_significant", n=family.comparisons)
