"""Answer Correctness (AC), composed of an exact match (EM) and a judge's part (LLM).

AC = lambda EM + (1 - lambda) LLM (Muhamed 2025, arXiv 2506.20128, section 2.3). Both parts are on
the same scale, as a rule 0 to 100 points, so that an exact match that the judge gives 100 has 100.

The formula of the paper is on 0 to 1. Where the judge's part is in points and the match is left at
1, a match is worth lambda of a point in place of 100 lambda: table 15 of the paper has a maximum
of 30.7 = .3 * 100 + .7 * 1 in all six systems. `unit_check` finds this slip in composed values.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.errors import AnalysisError
from study.base.scales import Scale


def composed_ac(
    llm: npt.ArrayLike, em: npt.ArrayLike, weight: float, scale: Scale | None = None
) -> FloatArray:
    """Composed AC (n,) in points: weight * em + (1 - weight) * llm, NaN where either is missing.

    `weight` is the paper's lambda. With a `scale`, every exact match must be one of its ends,
    so that EM in 0 and 1 with an LLM part in 0 to 100 is refused.

    Raises
    ------
    AnalysisError
        The weight is outside 0 to 1, or an exact match is neither end of the scale.

    Examples
    --------
    >>> composed_ac([80, 60], [100, 0], 0.3, Scale(0, 100)).tolist()
    [86.0, 42.0]
    """
    if not 0 <= weight <= 1:
        raise AnalysisError(f"lambda {weight:g} is outside 0 to 1")
    judged, matched = np.asarray(llm, dtype=np.float64), np.asarray(em, dtype=np.float64)
    if scale is not None:
        problem = em_problem(matched, scale)
        if problem:
            raise AnalysisError(problem)
    return np.asarray(weight * matched + (1 - weight) * judged)


def em_problem(em: FloatArray, scale: Scale) -> str | None:
    """Why these values are not exact matches on the scale; None where they are."""
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


Unit = Literal["slip", "consistent", "cannot tell"]

#: Values in points are read as multiples of 1 / (denominator of lambda) within this.
TOLERANCE = 1e-6

#: A lambda is read as a fraction with at most this denominator.
DENOMINATOR = 1000

POINTS = 100

NO_GRID = (
    "its values are not composed of whole points of a judge and an exact match with lambda "
    "{weight:.4g}, or are means of repeats"
)
NONE_ABOVE = (
    "no value is above {most:.4g}, the largest without a match, so that there may be no match"
)
COLLIDING = (
    "; with lambda {weight:.4g} nearly every value of a match counted as 1 also arises without one"
)
BOTH = (
    "its values arise from a match worth 1 as well as from one worth 100 that was judged close to 0"
)


@dataclass(frozen=True)
class UnitCheck:
    """What a match is worth in a composed AC, with the reason where it cannot be determined."""

    unit: Unit
    reason: str | None = None
    off_grid: bool = False
    """Whether the values are composed neither way."""

    @property
    def value(self) -> float:
        """1 for the slip, 0 where a match is worth 100 lambda points, NaN if unknown."""
        return {"slip": 1.0, "consistent": 0.0}.get(self.unit, float("nan"))


def composed_ac_as_published(
    llm: npt.ArrayLike, em: npt.ArrayLike, weight: float, scale: Scale | None = None
) -> FloatArray:
    """AC (n,) with a match counted as 1 and an LLM part in points: to reproduce tables only.

    `em` is at the ends of `scale` (by default 0 to 100). NaN where either part is missing.

    Raises
    ------
    AnalysisError
        The weight is outside 0 to 1.
    """
    if not 0 <= weight <= 1:
        raise AnalysisError(f"lambda {weight:g} is outside 0 to 1")
    judged, matched = np.asarray(llm, dtype=np.float64), np.asarray(em, dtype=np.float64)
    ends = scale or Scale()
    unit_match = np.where(np.isfinite(matched), (matched == ends.max).astype(np.float64), np.nan)
    return np.asarray(weight * unit_match + (1 - weight) * judged)


def unit_check_with_parts(
    ac: npt.ArrayLike, llm: npt.ArrayLike, matched: npt.ArrayLike, weight: float
) -> UnitCheck:
    """What AC (n,) adds to (1 - lambda) LLM where there is a match: lambda, or 100 lambda points.

    `llm` (n,) is in points and `matched` (n,) bool; responses without either value do not count.

    Raises
    ------
    ValueError
        The shapes differ.
    """
    whole, part = np.asarray(ac, dtype=np.float64), np.asarray(llm, dtype=np.float64)
    match = np.asarray(matched, dtype=bool)
    if not whole.shape == part.shape == match.shape or whole.ndim != 1:
        raise ValueError(
            f"shapes {whole.shape}, {part.shape} and {match.shape}: expected equal (n,)"
        )
    if weight == 0:
        return UnitCheck("cannot tell", "with lambda 0 a match adds 0 points")
    both = np.isfinite(whole) & np.isfinite(part)
    added = (whole - (1 - weight) * part)[both]
    match = match[both]
    if not match.any():
        return UnitCheck("cannot tell", "no scored response matches a reference exactly")
    if (np.abs(added[~match]) > TOLERANCE).any():
        return UnitCheck(
            "cannot tell",
            f"without a match it is not {1 - weight:.4g} times the judge's part",
        )
    if (np.abs(added[match] - weight) <= TOLERANCE).all():
        return UnitCheck("slip")
    if (np.abs(added[match] - POINTS * weight) <= TOLERANCE).all():
        return UnitCheck("consistent")
    return UnitCheck(
        "cannot tell",
        f"a match adds neither {weight:g} nor {POINTS * weight:g} points throughout",
    )


def unit_check(ac: npt.ArrayLike, weight: float) -> UnitCheck:
    """What a match is worth, from composed values (n,) in points alone.

    The judge's part is assumed to be whole points k. A slip has every value on (1 - lambda) k or
    (1 - lambda) k + lambda, and one above 100 (1 - lambda), the largest that a response without a
    match reaches. Where a match is worth 100 lambda, every value is on (1 - lambda) k or
    (1 - lambda) k + 100 lambda, and one is above that bound. Compared in whole numbers.
    """
    values = np.asarray(ac, dtype=np.float64)
    values = values[np.isfinite(values)]
    share = Fraction(weight).limit_denominator(DENOMINATOR)
    n, d = share.numerator, share.denominator
    if not 0 < share < 1:
        return UnitCheck("cannot tell", f"with lambda {weight:g} one part alone makes up the whole")
    if not values.size:
        return UnitCheck("cannot tell", "there are no values")
    whole = fixed(values, d)
    if whole is None:
        return UnitCheck("cannot tell", NO_GRID.format(weight=weight), off_grid=True)
    step = d - n
    above = bool((whole > POINTS * step).any())
    slip = bool((_composed(whole, step, 0) | _composed(whole, step, n)).all())
    sound = bool((_composed(whole, step, 0) | _composed(whole, step, POINTS * n)).all())
    if above and slip != sound:
        return UnitCheck("slip" if slip else "consistent")
    if not slip and not sound:
        reason = NO_GRID.format(weight=weight)
    elif above:
        reason = BOTH
    else:
        reason = NONE_ABOVE.format(most=float(POINTS * (1 - share)))
        if n % step == 0:
            reason += COLLIDING.format(weight=weight)
    return UnitCheck("cannot tell", reason, off_grid=not (slip or sound))


def fixed(values: FloatArray, denominator: int) -> IntArray | None:
    """Values (n,) in parts of 1 / denominator; None where one is not a whole number of them."""
    parts = values * denominator
    whole = np.round(parts)
    if (np.abs(parts - whole) > TOLERANCE * denominator).any():
        return None
    return np.asarray(whole, dtype=np.int64)


def _composed(whole: IntArray, step: int, match: int) -> BoolArray:
    """Which are step * k + match for a k from 0 to 100."""
    rest = whole - match
    return np.asarray((rest % step == 0) & (rest >= 0) & (rest <= POINTS * step))
