"""What a rater submits for a rating or a comparison, validated as far as possible alone."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from study.types import Key, Text, storable

_Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


def _none_when_blank(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None


class Submission(BaseModel):
    """A value, or the reason why there is none, with the revision that it is based on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    construct_key: Annotated[Key, Field(alias="construct")]
    value: Annotated[float, Field(strict=True, allow_inf_nan=False)] | None = None
    status: Literal["rated", "cannot_judge", "skipped"] = "rated"
    reason: Annotated[_Reason, AfterValidator(storable)] | None = None
    comment: Annotated[
        Annotated[Text, Field(max_length=5000)] | None, AfterValidator(_none_when_blank)
    ] = None
    input_kind: Annotated[Key, Field(max_length=40)]
    """How the value was entered: typed, by a button, or on a control of the page."""
    active_seconds: Annotated[float, Field(ge=0, le=7 * 86400, allow_inf_nan=False)] | None = None
    # A page may stay open over a holiday.
    wall_seconds: Annotated[float, Field(ge=0, le=366 * 86400, allow_inf_nan=False)] | None = None
    base_revision: Annotated[int, Field(strict=True, ge=0)]
    """The revision that the rater saw; 0 when there was none."""
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{16,64}$")]
    """Random, one for each submission: sent twice, it is stored once."""


class RatingInput(Submission):
    """A rater's value for one construct of one response."""

    flags: tuple[Key, ...] = ()


class ComparisonInput(Submission):
    """A rater's preference between two responses.

    The value refers to responses a and b of the comparison, in whichever order they are shown.
    """

    input_kind: Literal["typed", "button"]
