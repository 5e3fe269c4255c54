"""P-values of declared hypotheses, and their adjustment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from analysis.core.hypothesis import Hypothesis
from analysis.statistics.discrimination.tukey import one_sided


def hypothesis_p(
    hypothesis: Hypothesis,
    p: Mapping[tuple[str, str, str], float],
    difference: Mapping[tuple[str, str, str], float],
    constructs: Sequence[str],
) -> float:
    """p of a hypothesis from the tests of its pairs; NaN where one of them is undefined.

    Parameters
    ----------
    p, difference
        Two-sided p and difference by (construct, first system, second system); a pair may stand in
        either order.
    constructs
        Those that a hypothesis without its own speaks of.
    """
    found = []
    chosen = hypothesis.constructs or tuple(constructs)
    for construct in chosen:
        for first, second in hypothesis.pairs:
            turned = (construct, first, second) not in p
            key = (construct, second, first) if turned else (construct, first, second)
            own = p.get(key, np.nan)
            apart = difference.get(key, np.nan) * (-1 if turned else 1)
            if hypothesis.direction == "greater":
                own = float(one_sided(own, apart))
            found.append(own)
    if not found or np.isnan(found).any():
        return float("nan")
    if hypothesis.aggregation == "maximum":
        return float(max(found))
    # A product above 1 is no probability.
    return float(min(1.0, min(found) * len(chosen)))


def holm(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """p-values (m,) adjusted by Holm's step-down method; undefined ones stay out.

    Holm 1979. [.01, .04, .03, .005] becomes [.03, .06, .06, .02].
    """
    given = np.asarray(p, dtype=np.float64)
    adjusted = np.full(given.size, np.nan)
    defined = np.flatnonzero(np.isfinite(given))
    order = defined[np.argsort(given[defined], kind="stable")]
    stepped = given[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped)) if order.size else stepped
    return adjusted
