"""Signals in a rater's values on one construct: straight-lining, little variation, gaps."""

import numpy as np
import pandas as pd

from annotate_ui.watching.signal import Signal, too_few
from annotate_ui.watching.straight_lining import longest_run

#: Values, and queries, below which nothing is said of a rater on a construct.
LEAST_VALUES, LEAST_QUERIES = 20, 8

#: A run is flagged when so few permutations have one as long, and it is this many times theirs.
_RARE, _LONGER = 0.001, 1.5

#: Share of the most frequent value from which variation is doubtful.
_MODAL = 0.9

#: A rater's spread, or share of other values, is small below this share of the other raters'.
_SPREAD, _OTHER_VALUES = 0.25, 1 / 3

#: Share of missing values that is flagged, if it is also this many times the others'.
_MISSING, _MORE_MISSING = 0.2, 3.0


def straight_lining(own: pd.DataFrame, construct: str, seed: int) -> Signal:
    """Return whether a run of equal values is longer than the rater's own values explain.

    `own` are the rater's values on the construct in the order of rating.
    """
    given = own[own["value"].notna()]
    queries = given["query"].nunique()
    if len(given) < LEAST_VALUES or queries < LEAST_QUERIES:
        return too_few("straight_lining", construct, len(given), "values")
    values = given["value"].to_numpy(dtype=np.float64)
    run = longest_run(values, given["query"].to_numpy(dtype=np.int64), seed)
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


def little_variation(own: pd.DataFrame, others: pd.DataFrame, construct: str) -> Signal:
    """Return whether a rater's values hardly differ where the others' do.

    `others` are values of other raters on the same construct and responses.
    """
    values = own["value"].dropna()
    if len(values) < LEAST_VALUES:
        return too_few("little_variation", construct, len(values), "values")
    modal = float(values.value_counts(normalize=True).iloc[0])
    spread = float(values.std())
    words = f"the most frequent value is {modal:.0%} of {len(values)} values"
    rest = others[others["response"].isin(own["response"])].dropna(subset="value")
    if len(rest) < LEAST_VALUES:
        flagged = modal >= 0.95
        told = None
    else:
        told = float(rest["value"].value_counts(normalize=True).iloc[0])
        by_rater = rest.groupby("rater")["value"].std()
        usual = float(by_rater.mean()) if by_rater.notna().any() else 0.0
        alike = modal >= _MODAL and 1 - modal < _OTHER_VALUES * (1 - told)
        flagged = alike or spread < _SPREAD * usual
        words += f", {told:.0%} of the others' there; spread {spread:.1f} against {usual:.1f}"
    return Signal(
        "little_variation",
        construct,
        "flagged" if flagged else "fine",
        modal,
        told,
        len(values),
        words,
    )


def many_missing(own: pd.DataFrame, others: pd.DataFrame, construct: str) -> Signal:
    """Return whether a rater leaves out far more than the others do on the construct."""
    if len(own) < LEAST_VALUES:
        return too_few("many_missing", construct, len(own), "responses")
    share = float(own["value"].isna().mean())
    usual = float(others["value"].isna().mean()) if len(others) else 0.0
    flagged = share >= _MISSING and share >= _MORE_MISSING * usual
    return Signal(
        "many_missing",
        construct,
        "flagged" if flagged else "fine",
        share,
        usual,
        len(own),
        f"{share:.0%} of {len(own)} responses without a value, {usual:.0%} among the others",
    )
