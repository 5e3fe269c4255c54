"""The scale of a construct: the closed range of its points, with its level of measurement."""

import math
from dataclasses import dataclass, field
from typing import Literal, Self

from study.base.declaration import Declaration, described

Level = Literal["nominal", "ordinal", "interval", "ratio"]


@dataclass(frozen=True)
class Scale(Declaration):
    """A closed range of points with its level of measurement.

    `step` is the grid of values that people can choose; stored values may be between its points,
    as means over repeats and expected scores are.

    Raises
    ------
    ValueError
        An end is not finite, the ends are not in order, the step does not fit between them, or the
        level is unknown.

    Examples
    --------
    >>> from ccrs_study import Scale
    >>> Scale(1, 5, step=1, level="ordinal").width
    4.0
    """

    min: float = field(default=0.0, metadata=described("smallest value"))
    max: float = field(default=100.0, metadata=described("largest value"))
    step: float | None = field(
        default=None,
        metadata=described("distance between the values that people can choose; default: any"),
    )
    level: Level = field(
        default="interval",
        metadata=described("level of measurement, which decides how agreement is computed"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("min", "max", "step"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, float(getattr(self, name)))
        if not (math.isfinite(self.min) and math.isfinite(self.max)):
            raise ValueError("min and max must be finite numbers")
        if self.min >= self.max:
            raise ValueError(f"min {self.min:.15g} must be below max {self.max:.15g}")
        if self.step is not None and not 0 < self.step <= self.width:
            raise ValueError(f"step {self.step:.15g} must be positive and fit between min and max")

    def __str__(self) -> str:
        return f"{self.min:.15g} to {self.max:.15g}"

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

    def same_points(self, other: Self) -> bool:
        """Whether differences between values on the two scales mean something."""
        return (self.min, self.max) == (other.min, other.max)

    def problem(self, value: float) -> str | None:
        """Return why `value` is not a point of this scale; None if it is one."""
        if not math.isfinite(value):
            return f"{value} is not a finite number"
        if not self.min <= value <= self.max:
            return f"{value:.15g} is outside the scale {self}"
        return None

    def off_grid(self, value: float) -> str | None:
        """Return why people cannot choose `value`, a point of the scale; None if they can."""
        if self.step is None:
            return None
        steps = (value - self.min) / self.step
        if math.isclose(steps, round(steps), abs_tol=1e-6):
            return None
        return f"{value:.15g} is not a point of the scale {self} in steps of {self.step:.15g}"

    def converted(self, value: float, source: Self) -> float:
        """Return the point of this scale that corresponds to a point of `source`, linearly."""
        if self.same_points(source):
            return value
        share = (value - source.min) / source.width
        return self.min * (1 - share) + self.max * share  # exact at both ends
