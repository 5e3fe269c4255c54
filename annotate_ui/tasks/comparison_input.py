"""What a rater may say of a comparison: the points of the scale, and a choice as it is sent."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from study.scales import RatingScale
from study.types import Key, Text, storable

# Without steps, or with more points than fit on a page, these are offered.
_MOST_POINTS = 11
_Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


def _none_when_blank(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None


class Choice(BaseModel):
    """What a rater said of a comparison. A value speaks of a and b, whatever was shown first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    construct_key: Annotated[Key, Field(alias="construct")]
    value: Annotated[float, Field(strict=True, allow_inf_nan=False)] | None = None
    status: Literal["rated", "cannot_judge", "skipped"] = "rated"
    reason: Annotated[_Reason, AfterValidator(storable)] | None = None
    comment: Annotated[
        Annotated[Text, Field(max_length=5000)] | None, AfterValidator(_none_when_blank)
    ] = None
    input_kind: Literal["typed", "button"]
    active_seconds: Annotated[float, Field(ge=0, le=7 * 86400, allow_inf_nan=False)] | None = None
    # A page may stay open over a holiday.
    wall_seconds: Annotated[float, Field(ge=0, le=366 * 86400, allow_inf_nan=False)] | None = None
    base_revision: Annotated[int, Field(strict=True, ge=0)]
    """The revision that the rater saw; 0 when there was none."""
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{16,64}$")]
    """Random, one for each choice: sent twice, it is stored once."""


def points(scale: RatingScale) -> tuple[float, ...]:
    """Return the points of the scale of preferences that raters are offered, from low to high.

    A scale without steps, or with more than eleven, is offered as five points: its ends, the
    middle, and halfway between.
    """
    if scale.step is not None:
        steps = int((scale.max - scale.min) / scale.step + 1e-6)
        if steps < _MOST_POINTS:
            # Rounded: 0.1 three times is not 0.3.
            return tuple(round(scale.min + i * scale.step, 9) for i in range(steps + 1))
    middle = 0.0 if scale.min < 0 < scale.max else (scale.min + scale.max) / 2
    low, high = (scale.min + middle) / 2, (middle + scale.max) / 2
    return (scale.min, low, middle, high, scale.max)
