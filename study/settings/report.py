"""The sections of study.toml that reports and checks read."""

from typing import Literal, Self

from pydantic import Field, model_validator

from study.settings import SettingsSection


class StoppingSpec(SettingsSection):
    """`[stopping]`: the stopping rule, declared before any interim analysis."""

    quantity: Literal["human_mean", "judge_error"] = Field(
        default="human_mean",
        description="the mean over queries whose interval is used: of people's values, or of the "
        "judge's values minus people's",
    )
    constructs: tuple[str, ...] = Field(
        default=(), description="constructs that must all reach it; default: all"
    )
    judge: str | None = Field(default=None, description="scorer of judge_error")
    half_width: float | None = Field(
        default=None,
        gt=0,
        description="half-width of the interval, in points, that is sufficient; default: no rule",
    )
    least_queries: int = Field(
        default=30, ge=30, description="least number of queries before rating may stop"
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.quantity == "judge_error" and self.judge is None:
            raise ValueError("judge_error needs the judge's name in judge")
        return self


class CheckSpec(SettingsSection):
    """`[[check]]`: a requirement of `ccrs check` on a figure of the report."""

    statistic: str = Field(min_length=1, description="id of the figure, as in report.json")
    construct_key: str | None = Field(default=None, description="construct; default: each")
    scorer: str | None = Field(default=None, description="scorer; default: each")
    against: str | None = Field(
        default=None,
        description="second judge of judge_difference, which is the scorer's figure minus its own",
    )
    system: str | None = Field(default=None, description="system; default: any")
    scope: str | None = Field(
        default=None, description="pooled, within_query, ...; needed if a figure has several"
    )
    target: Literal["these_raters", "raters_like_these"] | None = Field(
        default=None,
        description="the raters that the interval refers to; needed if a figure has both",
    )
    params: dict[str, str | float] = Field(
        default={}, description="further parameters as in report.json, such as level or form"
    )
    on: Literal["value", "ci_low", "ci_high"] = Field(
        default="value", description="the number that is bounded: the value, or an interval's end"
    )
    minimum: float | None = Field(default=None, description="smallest number that passes")
    maximum: float | None = Field(default=None, description="largest number that passes")
    allowed_drop: float | None = Field(
        default=None, ge=0, description="how far the value may be below the baseline's"
    )
    allowed_rise: float | None = Field(
        default=None, ge=0, description="how far the value may be above the baseline's"
    )
