"""Scales as they are written, and what values on two of them have in common."""

from __future__ import annotations

from analysis.core.errors import AnalysisError
from study.base.scales import Scale

#: A scale with more points has no neighboring grades to speak of.
MOST_GRADES = 11


def step_of_grades(scale: Scale, *, whole: bool) -> float | None:
    """The distance of neighboring grades on a scale of few points; None where there are none.

    `whole`: whether people's values are whole numbers, which tells it for a scale without a step.
    """
    step = scale.step or (1.0 if whole else None)
    return step if step is not None and scale.width / step < MOST_GRADES else None


def not_common(construct: str, scorer: str, human: Scale | None, scale: Scale | None) -> str | None:
    """Why values of a scorer and of people cannot be subtracted; None where they can."""
    if human is None or scale is None:
        return (
            f"no scale is declared for {construct}, so differences in points have no meaning; "
            f"declare it with --scale {construct}=MIN:MAX"
        )
    if not human.same_points(scale):
        cut = scale.binary and not human.binary
        return (
            f"{scorer} is on {scale}, people are on {human}: not a common scale; map it with "
            f"--map {scorer}=linear or {scorer}=thresholds"
            + (", or declare from which value on people pass: --cut human=VALUE" if cut else "")
        )
    return None


def parse_scale(text: str) -> Scale:
    """Read a scale from `MIN:MAX`, `MIN:MAX:STEP` or `MIN:MAX:STEP:LEVEL`.

    Raises
    ------
    AnalysisError
        The text is not a scale.

    Examples
    --------
    >>> parse_scale("1:5:1:ordinal")
    Scale(min=1.0, max=5.0, step=1.0, level='ordinal')
    """
    parts = text.split(":")
    try:
        if not 2 <= len(parts) <= 4:
            raise ValueError
        low, high = float(parts[0]), float(parts[1])
        step = float(parts[2]) if len(parts) > 2 and parts[2] else None
    except ValueError:
        raise AnalysisError(
            f"scale {text!r} can't be read; write MIN:MAX, for example 0:100, or 1:5:1:ordinal"
        ) from None
    level = parts[3] if len(parts) == 4 else "interval"
    try:
        return Scale(low, high, step, level)  # type: ignore[arg-type]  # checked by Scale itself
    except ValueError as error:
        raise AnalysisError(f"scale {text!r}: {error}") from None
