"""Scales: the closed range of a construct's points, with its level of measurement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from analysis.core.errors import AnalysisError

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[str, ...] = get_args(Level)


@dataclass(frozen=True)
class Scale:
    """Closed range from `min` to `max`; `step` is the distance of the points people choose from.

    Values may be between the grid's points, as means over repeats are.
    """

    min: float = 0.0
    max: float = 100.0
    step: float | None = None
    level: Level = "interval"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.min) and math.isfinite(self.max)):
            raise AnalysisError("a scale's ends must be finite numbers")
        if self.min >= self.max:
            raise AnalysisError(f"scale {self}: the lower end must be below the upper end")
        if self.step is not None and not 0 < self.step <= self.max - self.min:
            raise AnalysisError(f"scale {self}: step {self.step:g} does not fit")
        if self.level not in LEVELS:
            raise AnalysisError(f"level {self.level!r}: use one of {', '.join(LEVELS)}")

    def __str__(self) -> str:
        return f"{self.min:g} to {self.max:g}"

    @property
    def width(self) -> float:
        """Distance between the ends, in points."""
        return self.max - self.min

    @property
    def two_valued(self) -> bool:
        """Whether there are only the two ends, so that shares at an end are not informative."""
        return self.level == "nominal" or self.step == self.width

    @property
    def binary(self) -> bool:
        """Whether the ends are the only points: fail at the lower end, pass at the upper one.

        Of two names without an order neither is the pass.
        """
        return self.step == self.width and self.level != "nominal"

    def same_points(self, other: Scale) -> bool:
        """Whether differences between values on the two scales mean something."""
        return (self.min, self.max) == (other.min, other.max)


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
    return Scale(low, high, step, level)  # type: ignore[arg-type]  # checked by Scale itself
