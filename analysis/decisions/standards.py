"""The thresholds that answers are measured by: declared ones, or the defaults with their reasons.

`ccrs help decisions` gives the reasons.
"""

from __future__ import annotations

from dataclasses import dataclass

from analysis.core.options import Options
from analysis.decisions.records import DecisionThreshold
from study.base.scales import Scale

#: The probability of a false yes of a use, and of a false no, is at most this: each one-sided.
ALPHA = 0.05

#: The part of it that figures have which can only speak against a use, such as the bias on one
#: system. The figures that a use needs have the rest for a no.
CONTRARY = 0.2

#: From this probability on an answer is likely, up to 1 minus it unlikely.
LIKELY = 0.8

#: With fewer raters nothing is said of raters like these: a variance of two has no use.
RATERS_OF_A_KIND = 3

#: By how much a judge's tau-b, or pairwise accuracy, may be below a rater's.
ORDER_MARGIN = 0.1

#: The margin of a level, as a share of the scale.
LEVEL_SHARE = 0.05

#: A calibration error above this many margins is named.
FAR = 2.0

#: The smallest share of pairs that a judge must order as a single rater does. Two raters whose
#: values correlate by .6 order .70 of the pairs alike (1/2 + arcsin(.6) / pi), and .6 is where the
#: agreement of raters begins to count as good (Cicchetti 1994, Psychological Assessment 6:284-290).
CONCORDANCE = 0.7

DEFAULT = "default"


@dataclass(frozen=True)
class Standards:
    """Thresholds of one construct; `alpha` is the one-sided level of an answer after correction."""

    order: DecisionThreshold
    accuracy: DecisionThreshold
    chance: DecisionThreshold
    level: DecisionThreshold | None
    """None without a scale: a share of it is then no number of points."""
    regret: DecisionThreshold | None
    """The same number of points, to one side."""
    true_rate: DecisionThreshold
    concordance: DecisionThreshold
    guess: DecisionThreshold
    """The accuracy of a choice between two at random."""
    alpha: float


def standards(options: Options, scale: Scale | None, answers: int) -> Standards:
    """The thresholds of a construct on this scale, where a question has so many answers."""
    margin, declared = options.non_inferiority_margin, "non_inferiority_margin"
    if margin is None:
        margin, declared = ORDER_MARGIN, DEFAULT
    points, points_declared = options.bias_margin, "bias_margin"
    if points is None and scale is not None:
        points, points_declared = LEVEL_SHARE * scale.width, DEFAULT
    level = regret = None
    if points is not None:
        level = DecisionThreshold("level_margin", points_declared, -points, points)
        regret = DecisionThreshold("level_margin", points_declared, maximum=points)
    rate = DecisionThreshold(
        "true_rate",
        DEFAULT if options.true_rate == type(options).true_rate else "true_rate",
        options.true_rate,
    )
    return Standards(
        DecisionThreshold("order_margin", declared, -margin),
        DecisionThreshold("accuracy_margin", declared, -margin),
        DecisionThreshold("chance", "by definition", 0.0),
        level,
        regret,
        rate,
        DecisionThreshold("concordance", DEFAULT, CONCORDANCE),
        DecisionThreshold("chance", "by definition", 0.5),
        ALPHA / max(1, answers),
    )
