"""Signals in a rater's values on one construct: straight-lining, little variation, gaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from analysis.core.query_statistic import BoolArray, FloatArray, IntArray
from annotate_ui.monitoring.signal import Signal, too_few
from annotate_ui.monitoring.straight_lining import ValueRun, longest_run

#: With fewer values or queries, no signal is computed for a rater on a construct.
LEAST_VALUES, LEAST_QUERIES = 20, 8

#: A run is flagged when so few permutations have one as long, and it is this many times theirs.
_RARE, _LONGER = 0.001, 1.5

#: On so many constructs at once, runs are flagged that are less rare than that.
_SEVERAL, _UNUSUAL = 3, 0.02

#: Share of the most frequent value from which variation is doubtful.
_MODAL = 0.9

#: The same where nobody else rated the responses.
_MODAL_ALONE = 0.95

#: A rater's spread, or share of other values, is small below this share of the other raters'.
_SPREAD, _OTHER_VALUES = 0.25, 1 / 3

#: Share of missing values that is flagged, if it is also this many times the others'.
_MISSING, _MORE_MISSING = 0.2, 3.0


@dataclass(frozen=True, eq=False)
class ConstructValues:
    """Raters' values on one construct, in the order of rating: (n,) each, NaN without a value."""

    rater: IntArray
    response: IntArray
    query: IntArray
    value: FloatArray

    def where(self, chosen: BoolArray) -> Self:
        """Return a part of it."""
        return type(self)(
            self.rater[chosen], self.response[chosen], self.query[chosen], self.value[chosen]
        )

    @property
    def given(self) -> Self:
        """Those with a value."""
        return self.where(np.isfinite(self.value))


def run_of(own: ConstructValues, seed: int) -> ValueRun | None:
    """Return the longest run of one value of a rater; None where there are too few values."""
    given = own.given
    if given.value.size < LEAST_VALUES or np.unique(given.query).size < LEAST_QUERIES:
        return None
    return longest_run(given.value, given.query, seed)


def straight_lining(run: ValueRun | None, own: ConstructValues, construct: str) -> Signal:
    """Return whether a run of equal values is longer than the rater's own values explain."""
    if run is None:
        return too_few("straight_lining", construct, own.given.value.size, "values")
    flagged = run.p <= _RARE and run.length >= _LONGER * run.expected
    return Signal(
        "straight_lining",
        construct,
        "flagged" if flagged else "fine",
        float(run.length),
        run.expected,
        run.n_values,
        f"the same value {run.length} times in a row; {run.expected:g} would be usual for these "
        f"{run.n_values} values in another order",
    )


def straight_lining_throughout(runs: Sequence[ValueRun]) -> Signal:
    """Return whether runs are too long on several constructs, each by less than would do alone.

    Who stops reading stops on all of them.
    """
    if len(runs) < _SEVERAL:
        return too_few("straight_lining", None, len(runs), "constructs")
    long = sum(run.p <= _UNUSUAL and run.length >= _LONGER * run.expected for run in runs)
    return Signal(
        "straight_lining",
        None,
        "flagged" if long >= _SEVERAL else "fine",
        float(long),
        float(_SEVERAL),
        len(runs),
        f"unusually long runs of one value on {long} of {len(runs)} constructs",
    )


def little_variation(own: ConstructValues, others: ConstructValues, construct: str) -> Signal:
    """Return whether a rater's values hardly differ where the others' do.

    Others count with their values on the responses that the rater has.
    """
    values = own.given.value
    if values.size < LEAST_VALUES:
        return too_few("little_variation", construct, values.size, "values")
    modal, spread = _modal_share(values), float(values.std(ddof=1))
    words = f"the most frequent value is {modal:.0%} of {values.size} values"
    there = others.where(np.isin(others.response, own.response)).given
    told: float | None = None
    if there.value.size < LEAST_VALUES:
        flagged = modal >= _MODAL_ALONE
    else:
        told, usual = _modal_share(there.value), _mean_spread(there)
        alike = modal >= _MODAL and 1 - modal < _OTHER_VALUES * (1 - told)
        flagged = alike or spread < _SPREAD * usual
        words += f", {told:.0%} of the others' there; spread {spread:.1f} against {usual:.1f}"
    return Signal(
        "little_variation",
        construct,
        "flagged" if flagged else "fine",
        modal,
        told,
        values.size,
        words,
    )


def many_missing(own: ConstructValues, others: ConstructValues, construct: str) -> Signal:
    """Return whether a rater leaves out far more than the others do on the construct."""
    count = own.value.size
    if count < LEAST_VALUES:
        return too_few("many_missing", construct, count, "responses")
    share = float(np.isnan(own.value).mean())
    usual = float(np.isnan(others.value).mean()) if others.value.size else 0.0
    flagged = share >= _MISSING and share >= _MORE_MISSING * usual
    return Signal(
        "many_missing",
        construct,
        "flagged" if flagged else "fine",
        share,
        usual,
        count,
        f"{share:.0%} of {count} responses without a value, {usual:.0%} among the others",
    )


def _modal_share(values: FloatArray) -> float:
    return float(np.unique(values, return_counts=True)[1].max() / values.size)


def _mean_spread(said: ConstructValues) -> float:
    """Mean over raters of the standard deviation of each; 0 where nobody has two values."""
    raters = np.unique(said.rater, return_inverse=True)[1]
    count = np.bincount(raters)
    mean = np.bincount(raters, said.value) / count
    squares = np.bincount(raters, (said.value - mean[raters]) ** 2)
    several = count > 1
    return float(np.sqrt(squares[several] / (count[several] - 1)).mean()) if several.any() else 0.0
