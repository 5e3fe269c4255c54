"""Each rater against the mean of the others, and who lies below the rest."""

from dataclasses import dataclass

import numpy as np

from analysis.core.context import Context
from analysis.topics.agreement.human_ceiling import raters_against_others
from annotate_ui.monitoring.signal import Signal, too_few

#: With fewer queries shared with others, no signal is computed.
LEAST_PROBABILITYD = 10

#: Raters needed to find one who differs: of two raters, both always agree equally.
LEAST_RATERS = 3


@dataclass(frozen=True)
class AgainstOthers:
    """A rater's correlation with the mean of the others on a construct."""

    rater: str
    construct: str
    value: float
    low: float
    high: float
    n_queries: int


def each_against_others(context: Context) -> list[AgainstOthers]:
    """Return the pooled correlation of each rater on each construct, with its interval."""
    return [
        AgainstOthers(
            one.scorers[0], one.constructs[0], one.value, one.ci_low, one.ci_high, one.n_queries
        )
        for one in raters_against_others(context, ("pooled",))
    ]


def low_agreement(own: AgainstOthers, others: list[AgainstOthers]) -> Signal:
    """Return whether a rater's interval lies below those of the other raters.

    That is: below the median of the lower ends of the others' intervals on the same construct.
    """
    known = [other.low for other in others if np.isfinite(other.low)]
    if own.n_queries < LEAST_PROBABILITYD or not np.isfinite(own.high):
        what = "queries shared with others"
        return too_few("low_agreement", own.construct, own.n_queries, what)
    if len(known) + 1 < LEAST_RATERS:
        what = "raters to compare with"
        return too_few("low_agreement", own.construct, len(known), what)
    least = float(np.median(known))
    return Signal(
        "low_agreement",
        own.construct,
        "flagged" if own.high < least else "fine",
        own.value,
        least,
        own.n_queries,
        f"correlation with the mean of the others {own.value:.2f} [{own.low:.2f}, "
        f"{own.high:.2f}]; most others lie above {least:.2f}",
    )
