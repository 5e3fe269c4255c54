"""The answer to one question about a judge, with the figures that it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from analysis.core.estimates import Estimate

Use = Literal[
    "rank_systems", "choose_between_responses", "order_responses", "report_level", "replace_rater"
]
USES: tuple[Use, ...] = get_args(Use)

Answer = Literal["yes", "with_care", "no", "undecided", "not_applicable"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)


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
    """A figure with its threshold, and the p-values of the statements about it.

    Each p is one-sided and for this figure alone: `p` of the threshold not being met, `p_weak` of
    the weaker one not being met, `p_against` of it being met. `favorable` is whether the value
    meets the threshold. `factor` is by how much the number of queries must grow to decide it if
    the value stays; None where queries alone do not.
    """

    estimate: Estimate
    threshold: DecisionThreshold
    p: float
    p_weak: float
    p_against: float
    favorable: bool = False
    factor: float | None = None


@dataclass(frozen=True)
class UseDecision:
    """The answer for one construct, scorer and use; construct None for the judge as a whole.

    `binding` is the figure that decides: of those that speak for the use, the one with the least
    support. `limits` qualify the answer. `missing` states why the question has no answer, or cannot
    be asked of this table (not_applicable). `further_queries` is how many more would decide, None
    where the number is unknown; `weakest` names the construct that decides for the judge as a
    whole. `answers` is for how many answers to the question it is corrected, and `supported`
    whether all figures meet their thresholds after that.
    """

    construct: str | None
    scorer: str
    use: Use
    answer: Answer
    figures: tuple[DecidingFigure, ...] = ()
    binding: DecidingFigure | None = None
    limits: tuple[str, ...] = field(default=())
    missing: str | None = None
    further_queries: int | None = None
    further_raters: bool = False
    weakest: str | None = None
    answers: int = 1
    supported: bool = False


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
