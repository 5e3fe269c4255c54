"""The scale of a construct, and the range check of all its values."""

import math
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Level = Literal["nominal", "ordinal", "interval", "ratio"]


class RatingScale(BaseModel):
    """A closed range of points with its level of measurement.

    `step` is the grid of values that people can choose; stored values may be between its points,
    as means over repeats and expected scores are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    min: float = Field(default=0.0, description="smallest value")
    max: float = Field(default=100.0, description="largest value")
    step: float | None = Field(
        default=None, description="distance between the values that people can choose; default: any"
    )
    level: Level = Field(
        default="interval",
        description="level of measurement, which decides how agreement is computed",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not (math.isfinite(self.min) and math.isfinite(self.max)):
            raise ValueError("min and max must be finite numbers")
        if self.min >= self.max:
            raise ValueError(f"min {self.min:.15g} must be below max {self.max:.15g}")
        if self.step is not None and not 0 < self.step <= self.max - self.min:
            raise ValueError(f"step {self.step:.15g} must be positive and fit between min and max")
        return self

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

    def converted(self, value: float, source: "RatingScale") -> float:
        """Return the point of this scale that corresponds to a point of `source`, linearly."""
        if (source.min, source.max) == (self.min, self.max):
            return value
        share = (value - source.min) / (source.max - source.min)
        return self.min * (1 - share) + self.max * share  # exact at both ends

    def __str__(self) -> str:
        return f"{self.min:.15g} to {self.max:.15g}"
