"""Answer Correctness: an exact-match part and a judge's part, and what composing them does.

Source: Muhamed 2025 (arXiv 2506.20128), section 2.3: AC = lambda EM + (1 - lambda) LLM. Both parts
are taken on the same scale, 0 to 100 points as a rule, so that an exact match judged 100 gives
100. (The paper's table 15 has EM on 0 to 1 beside LLM on 0 to 100: there a match was worth 0.7 of
a point.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.errors import AnalysisError
from analysis.core.scales import Scale

FloatArray = npt.NDArray[np.float64]


def composed_ac(
    llm: npt.ArrayLike, em: npt.ArrayLike, weight: float, scale: Scale | None = None
) -> FloatArray:
    """Composed AC (n,) in points: weight * em + (1 - weight) * llm, NaN where either is missing.

    `weight` is the paper's lambda. With a `scale`, every exact match must stand at one of its
    ends, which refuses EM in 0 and 1 beside an LLM part in 0 to 100.

    Raises
    ------
    AnalysisError
        The weight lies outside 0 to 1, or an exact match is neither end of the scale.
    """
    if not 0 <= weight <= 1:
        raise AnalysisError(f"lambda {weight:g} lies outside 0 to 1")
    judged, matched = np.asarray(llm, dtype=np.float64), np.asarray(em, dtype=np.float64)
    if scale is not None:
        problem = em_problem(matched, scale)
        if problem:
            raise AnalysisError(problem)
    return np.asarray(weight * matched + (1 - weight) * judged)


def em_problem(em: FloatArray, scale: Scale) -> str | None:
    """Why these values are no exact matches on the scale; None where they are."""
    present = em[np.isfinite(em)]
    between = present[(present != scale.min) & (present != scale.max)]
    if between.size:
        return (
            f"an exact match is {between[0]:g}; on a scale of {scale} it is {scale.min:g} or "
            f"{scale.max:g}"
        )
    return None


def attainable_without_match(weight: float, scale: Scale) -> float:
    """Largest composed AC of a response that matches no reference exactly, in points."""
    return weight * scale.min + (1 - weight) * scale.max


def exact_matches(em: npt.ArrayLike, scale: Scale) -> int:
    """Number of responses that match a reference exactly."""
    return int(np.count_nonzero(np.asarray(em, dtype=np.float64) == scale.max))
