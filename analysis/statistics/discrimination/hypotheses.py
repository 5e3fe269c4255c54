"""P-values of declared hypotheses, and whether the scores have what they name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from analysis.core.errors import AnalysisError, did_you_mean
from analysis.statistics.discrimination.tukey import one_sided
from study.base.hypotheses import Hypothesis


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


def check_hypotheses(
    hypotheses: Sequence[Hypothesis],
    systems: Collection[str],
    constructs: Collection[str],
    scorers: Collection[str],
) -> None:
    """Check that hypotheses have different names and that the scores have what they name.

    Raises
    ------
    AnalysisError
        Two hypotheses have one name, or a name is not in the scores; the message lists theirs.
    """
    names = [hypothesis.name for hypothesis in hypotheses]
    for name in names:
        if names.count(name) > 1:
            raise AnalysisError(f"two hypotheses are called {name!r}; give one another name")
    for hypothesis in hypotheses:
        references = [("system", name, systems) for pair in hypothesis.pairs for name in pair]
        references += [("construct", name, constructs) for name in hypothesis.constructs]
        if hypothesis.scorer is not None:
            references.append(("scorer", hypothesis.scorer, scorers))
        for noun, name, present in references:
            if name not in present:
                listed = ", ".join(present) or "none"
                raise AnalysisError(
                    f"hypothesis {hypothesis.name!r}: unknown {noun} {name!r}; the scores have "
                    f"{listed}.{did_you_mean(name, present)}"
                )
