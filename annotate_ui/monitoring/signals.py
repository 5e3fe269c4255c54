"""Signals in a rater's values on one construct: straight-lining, little variation, missing values.

A signal flags a rater; it never excludes ratings.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from study.text import counted

Kind = Literal[
    "straight_lining",
    "little_variation",
    "too_fast",
    "checks_missed",
    "low_agreement",
    "many_missing",
    "passages_unopened",
]
Verdict = Literal["fine", "flagged", "too_few"]

#: With fewer values or queries, no signal is computed for a rater on a construct.
LEAST_VALUES, LEAST_QUERIES = 20, 8

#: A run is flagged when so few permutations have one as long, and it is this many times theirs.
_RARE, _LONGER = 0.001, 1.5

#: Permutations that are tried first, and as many as are tried where these do not settle it.
_FIRST, _MOST = 99, 1999

#: Share of the most frequent value from which variation is doubtful.
_MODAL = 0.9

#: The same where no other rater rated the responses.
_MODAL_ALONE = 0.95

#: A rater's spread, or share of other values, is small below this share of the other raters'.
_SPREAD, _OTHER_VALUES = 0.25, 1 / 3

#: Share of missing values that is flagged, if it is also this many times the others'.
_MISSING, _MORE_MISSING = 0.2, 3.0

#: Share of values given without opening a passage that is flagged.
_UNOPENED = 0.5


@dataclass(frozen=True)
class Signal:
    """What was measured, what it is compared with, and on how many cases it rests."""

    kind: Kind
    construct: str | None
    """Null where it is about the rater's work as a whole."""
    verdict: Verdict
    """`too_few`: there are not enough cases for a verdict."""
    value: float | None
    compared_with: float | None
    """`explanation` names it."""
    count: int
    explanation: str

    def as_json(self) -> dict[str, Any]:
        """Return the signal as values that JSON can represent."""
        return asdict(self)


def too_few(kind: Kind, construct: str | None, count: int, cases: str) -> Signal:
    """Return a signal without a verdict; `cases` names what there are too few of."""
    return Signal(kind, construct, "too_few", None, None, count, f"too few {cases} ({count})")


@dataclass(frozen=True, eq=False)
class ConstructValues:
    """Raters' values on one construct, in the order of rating: (n,) each, NaN without a value."""

    rater: IntArray
    response: IntArray
    query: IntArray
    value: FloatArray

    def where(self, chosen: BoolArray) -> Self:
        """Return the chosen rows."""
        return type(self)(
            self.rater[chosen], self.response[chosen], self.query[chosen], self.value[chosen]
        )

    @property
    def with_value(self) -> Self:
        """The rows with a value."""
        return self.where(np.isfinite(self.value))


@dataclass(frozen=True)
class ValueRun:
    """The longest run of equal values in the order of rating.

    `expected` is the median longest run of the permutations, `p` the share of them (with the order
    of rating itself) whose longest run is no shorter.
    """

    length: int
    expected: float
    p: float
    n_values: int
    n_queries: int


def longest_run(values: FloatArray, query: IntArray, seed: int = 0) -> ValueRun:
    """Return the longest run of equal values (n,) in order, compared with permutations.

    A run within one query is weak evidence: an easy query deserves the same value throughout. So
    whole queries change places in the permutations, and values change places within their query.
    What is unusual is a run that continues across queries.

    Raises
    ------
    ValueError
        There are no values, or not a query for each.
    """
    if values.ndim != 1 or not values.size or values.shape != query.shape:
        raise ValueError(f"values {values.shape} and query {query.shape}: expected equal (n,)")
    codes = np.unique(values, return_inverse=True)[1]
    groups = np.unique(query, return_inverse=True)[1]
    length = int(_longest(codes[None, :])[0])
    draw = np.random.default_rng([seed, values.size])
    permuted = _permuted(codes, groups, draw, _FIRST)
    # Most raters are far from any doubt: a tenth of the permutations shows it.
    if np.count_nonzero(permuted >= length) < 0.05 * _FIRST:
        permuted = np.concatenate([permuted, _permuted(codes, groups, draw, _MOST - _FIRST)])
    p = (1 + np.count_nonzero(permuted >= length)) / (1 + permuted.size)
    expected = float(np.median(permuted))
    return ValueRun(length, expected, float(p), values.size, int(groups.max()) + 1)


def _permuted(codes: IntArray, groups: IntArray, draw: np.random.Generator, count: int) -> IntArray:
    """Return longest runs (count,) after permuting the queries, and the values within them."""
    place = draw.random((count, int(groups.max()) + 1))[:, groups]
    within = draw.random((count, codes.size))
    order = np.lexsort((within, place), axis=1)
    return _longest(codes[order])


def _longest(rows: IntArray) -> IntArray:
    """Return the length of the longest run in each row (R, n)."""
    count, n = rows.shape
    starts = np.ones((count, n), dtype=bool)
    starts[:, 1:] = rows[:, 1:] != rows[:, :-1]
    # Where a row begins, a run begins, so that the rows can be read as one.
    first = np.flatnonzero(starts)
    lengths = np.diff(np.append(first, count * n))
    longest = np.zeros(count, dtype=np.int64)
    np.maximum.at(longest, first // n, lengths)
    return longest


def run_of(rater: ConstructValues, seed: int) -> ValueRun | None:
    """Return the longest run of one value of a rater; None where there are too few values."""
    rows = rater.with_value
    if rows.value.size < LEAST_VALUES or np.unique(rows.query).size < LEAST_QUERIES:
        return None
    return longest_run(rows.value, rows.query, seed)


def straight_lining(run: ValueRun | None, rater: ConstructValues, construct: str) -> Signal:
    """Return whether a run of equal values is longer than the rater's values explain."""
    if run is None:
        return too_few("straight_lining", construct, rater.with_value.value.size, "values")
    flagged = run.p <= _RARE and run.length >= _LONGER * run.expected
    return Signal(
        "straight_lining",
        construct,
        "flagged" if flagged else "fine",
        float(run.length),
        run.expected,
        run.n_values,
        f"the same value {counted(run.length, 'time')} in a row; {run.expected:g} would be "
        f"usual for these {run.n_values} values in another order",
    )


def little_variation(rater: ConstructValues, others: ConstructValues, construct: str) -> Signal:
    """Return whether a rater's values hardly differ where the others' do.

    The others' values are those on the responses that the rater rated.
    """
    values = rater.with_value.value
    if values.size < LEAST_VALUES:
        return too_few("little_variation", construct, values.size, "values")
    modal, spread = _modal_share(values), float(values.std(ddof=1))
    explanation = f"the most frequent value is {modal:.0%} of {values.size} values"
    shared = others.where(np.isin(others.response, rater.response)).with_value
    usual_modal: float | None = None
    if shared.value.size < LEAST_VALUES:
        flagged = modal >= _MODAL_ALONE
    else:
        usual_modal, usual_spread = _modal_share(shared.value), _mean_spread(shared)
        alike = modal >= _MODAL and 1 - modal < _OTHER_VALUES * (1 - usual_modal)
        flagged = alike or spread < _SPREAD * usual_spread
        explanation += (
            f", {usual_modal:.0%} of the others' on the same responses; standard deviation "
            f"{spread:.1f}, {usual_spread:.1f} among the others"
        )
    return Signal(
        "little_variation",
        construct,
        "flagged" if flagged else "fine",
        modal,
        usual_modal,
        values.size,
        explanation,
    )


def many_missing(rater: ConstructValues, others: ConstructValues, construct: str) -> Signal:
    """Return whether a rater leaves out far more than the others do on the construct."""
    count = rater.value.size
    if count < LEAST_VALUES:
        return too_few("many_missing", construct, count, "responses")
    share = float(np.isnan(rater.value).mean())
    usual = float(np.isnan(others.value).mean()) if others.value.size else 0.0
    flagged = share >= _MISSING and share >= _MORE_MISSING * usual
    return Signal(
        "many_missing",
        construct,
        "flagged" if flagged else "fine",
        share,
        usual,
        count,
        f"{share:.0%} of {counted(count, 'response')} without a value, "
        f"{usual:.0%} among the others",
    )


def passages_unopened(opened: Sequence[str | None], construct: str) -> Signal | None:
    """Return whether a rater gave most values on a construct without opening a passage.

    `opened` is `yes`, `no` or None for each value, as in `study.facts.passages_opened`. None is
    returned where it is recorded for no value.
    """
    known = [state for state in opened if state is not None]
    if not known:
        return None
    if len(known) < LEAST_VALUES:
        return too_few("passages_unopened", construct, len(known), "values with passages shown")
    count = known.count("no")
    share = count / len(known)
    return Signal(
        "passages_unopened",
        construct,
        "flagged" if share >= _UNOPENED else "fine",
        share,
        _UNOPENED,
        len(known),
        f"{count} of {counted(len(known), 'value')} ({share:.0%}) given before any "
        "passage was opened",
    )


def _modal_share(values: FloatArray) -> float:
    return float(np.unique(values, return_counts=True)[1].max() / values.size)


def _mean_spread(rows: ConstructValues) -> float:
    """Return the mean of the raters' standard deviations; 0 where no rater has two values."""
    raters = np.unique(rows.rater, return_inverse=True)[1]
    count = np.bincount(raters)
    mean = np.bincount(raters, rows.value) / count
    squares = np.bincount(raters, (rows.value - mean[raters]) ** 2)
    several = count > 1
    return float(np.sqrt(squares[several] / (count[several] - 1)).mean()) if several.any() else 0.0
