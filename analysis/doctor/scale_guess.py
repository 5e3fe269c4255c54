"""Which scale values look like; a guess is said, never used unasked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def looks_like(values: npt.ArrayLike, scorer_values: npt.ArrayLike | None = None) -> str | None:
    """The usual scale that values lie on, as `--scale` writes it: 0:1, 1:5:1, 0:10 or 0:100.

    Parameters
    ----------
    values
        Of one scorer on one construct (n,); NaN is left out.
    scorer_values
        Of the same scorer on all constructs (m,): scorers mostly keep to one scale, so a construct
        on which only low values were given is seen with the others.

    Returns
    -------
    The scale, or None where the values lie on none of them or are all equal.

    Notes
    -----
    Whole numbers from 1 to 5 are taken for 1 to 5, although they might be the lower half of 0 to
    10; values from 0 to 1 for 0 to 1, although they might be 0 to 100 badly used.
    """
    own = _known(values)
    wider = own if scorer_values is None else _known(scorer_values)
    if own.size == 0 or np.ptp(wider) == 0:
        return None
    alone, together = _smallest(own), _smallest(wider)
    # Fractions tell 0 to 1 from the low end of a wider scale, whatever other constructs have.
    if alone == "0:1" and (own % 1 != 0).any():
        return alone
    return together


def _known(values: npt.ArrayLike) -> FloatArray:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[np.isfinite(array)]


def _smallest(values: FloatArray) -> str | None:
    low, high = float(values.min()), float(values.max())
    whole = bool((values % 1 == 0).all())
    if low < 0 or high > 100:
        return None
    if high <= 1:
        return "0:1"
    if whole and low >= 1 and high <= 5:
        return "1:5:1"
    return "0:10" if high <= 10 else "0:100"
