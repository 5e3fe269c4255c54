"""P-values of declared hypotheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from analysis.statistics.discrimination.tukey import one_sided
from ccrs_base.hypotheses import Hypothesis


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
        Two-sided p and difference by (construct, first system, second system); a pair may be
        in either order.
    constructs
        Those of a hypothesis that names none.
    """
    p_values = []
    chosen = hypothesis.constructs or tuple(constructs)
    for construct in chosen:
        for first, second in hypothesis.pairs:
            turned = (construct, first, second) not in p
            key = (construct, second, first) if turned else (construct, first, second)
            pair_p = p.get(key, np.nan)
            apart = difference.get(key, np.nan) * (-1 if turned else 1)
            if hypothesis.direction == "greater":
                pair_p = float(one_sided(pair_p, apart))
            p_values.append(pair_p)
    if not p_values or np.isnan(p_values).any():
        return float("nan")
    if hypothesis.aggregation == "maximum":
        return float(max(p_values))
    # A product above 1 is not a probability.
    return float(min(1.0, min(p_values) * len(chosen)))
