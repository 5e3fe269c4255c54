"""The answer to one question about a judge, with the figures that it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from analysis.core.estimates import Estimate
from analysis.core.statistic import Target

Use = Literal[
    "rank_systems",
    "rank_all_systems",
    "choose_between_responses",
    "order_responses",
    "report_level",
    "replace_rater",
]
USES: tuple[Use, ...] = get_args(Use)

Answer = Literal["yes", "likely", "open", "unlikely", "no", "not_applicable"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)

TARGETS: tuple[Target, ...] = get_args(Target)


@dataclass(frozen=True)
class DecisionThreshold:
    """Bounds of a figure: above `minimum`, below `maximum`, or both.

    `declared` is where it comes from: the setting, or the default.
    """

    name: str
    declared: str
    minimum: float | None = None
    maximum: float | None = None

    @property
    def value(self) -> float:
        """The number that was declared: the minimum, or the maximum of a margin to both sides."""
        return float(self.minimum if self.maximum is None else self.maximum)  # type: ignore[arg-type]


@dataclass(frozen=True)
class DecidingFigure:
    """A figure with its threshold, and how well the data support or contradict it.

    Each p is one-sided and for this figure alone: `p` of the threshold not being met, `p_against`
    of it being met. `probability` is that of the threshold being met under a flat prior; NaN for a
    condition, which must be shown and has no probability.
    `favorable` is whether the value meets the threshold. `factor` is by how much the number of
    queries must grow to decide it if the value stays, None where queries alone do not;
    `raters_factor` the same of raters. The interval of `estimate` is the one that decides.
    """

    estimate: Estimate
    threshold: DecisionThreshold
    p: float
    p_against: float
    probability: float
    favorable: bool = False
    factor: float | None = None
    raters_factor: float | None = None


@dataclass(frozen=True)
class UseDecision:
    """The answer for one construct, scorer, use and target; construct None for the whole judge.

    `probability` is the chance that the use meets its standard; None beside yes and no, and where
    figures are missing. `binding` is the figure that decides: of those that speak for the use, the
    one with the least support. `limits` qualify the answer. `missing` states why the question has
    no answer, or cannot be asked of this table (not_applicable). `further_queries` is how many more
    would decide, `raters_needed` how many raters in all, None where the number is unknown;
    `weakest` names the construct that decides for the judge as a whole. `alpha` is the one-sided
    level of the interval that decides, and `answers` for how many answers it is corrected.
    `unshown` is whether a yes lacks a condition that has no part in `probability`.
    """

    construct: str | None
    scorer: str
    use: Use
    target: Target
    answer: Answer
    probability: float | None = None
    figures: tuple[DecidingFigure, ...] = ()
    binding: DecidingFigure | None = None
    limits: tuple[str, ...] = field(default=())
    missing: str | None = None
    further_queries: int | None = None
    raters_needed: int | None = None
    further_raters: bool = False
    weakest: str | None = None
    alpha: float = 0.05
    answers: int = 1
    unshown: bool = False


@dataclass(frozen=True)
class CorrectedMeans:
    """What corrected means give: half-widths of the overall mean, in points.

    `ratings_alone` is that of people's ratings without the judge. NaN with a reason.
    """

    construct: str
    scorer: str
    half_width: float
    ratings_alone: float
    n_ratings: int
    reason: str | None = None
