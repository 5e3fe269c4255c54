"""The sections of study.toml that reports and checks read."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from study.settings import SettingsSection, option


class AnalysisSpec(SettingsSection):
    """`[analysis]`: choices of the report."""

    reference: Literal["mean_of_raters", "adjudicated"] = Field(
        default="mean_of_raters",
        description="what scorers are compared with: the mean of a response's raters, or an "
        "adjudicated value",
        json_schema_extra=option(),
    )
    resamples: int = Field(
        default=2000,
        ge=100,
        le=100_000,
        description="bootstrap resamples of queries",
        json_schema_extra=option("N"),
    )
    level: float = Field(
        default=0.95,
        gt=0.5,
        lt=1,
        description="confidence level of every interval",
        json_schema_extra=option("SHARE"),
    )
    ac_lambda: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="weight of the exact match in composed AC",
        json_schema_extra=option("WEIGHT"),
    )
    second_metrics: tuple[str, ...] = Field(
        default=(),
        description="constructs or scorers that form a second set of metrics, compared with the "
        "study's",
        json_schema_extra=option("NAMES"),
    )
    published: bool = Field(
        default=False,
        description="whether the CCRS paper's figures are shown next to those of systems A to F",
        json_schema_extra=option(),
    )
    non_inferiority_margin: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="how much lower a judge's correlation with people may be than a rater's; "
        "default: 0.1 in the answers",
        json_schema_extra=option("DIFFERENCE"),
    )
    bias_margin: float | None = Field(
        default=None,
        gt=0,
        description="largest bias of a judge, in points, that is treated as none; default: 5% of "
        "the scale in the answers",
        json_schema_extra=option("POINTS"),
    )
    alt_test_epsilon: float = Field(
        default=0.15,
        ge=0,
        lt=1,
        description="allowance of the alternative annotator test: 0.2 where raters are experts, "
        "0.15 where they are skilled, 0.1 in a crowd",
        json_schema_extra=option("ALLOWANCE"),
    )
    true_rate: float = Field(
        default=0.8,
        gt=0.5,
        lt=1,
        description="smallest true positive and true negative rate with which a judge of two "
        "values is used for its level",
        json_schema_extra=option("SHARE"),
    )
    cut: dict[str, float] = Field(
        default={},
        description="lowest value with which people (human) or a scorer pass a response, where "
        "they grade; default: not cut, a scorer where people pass or fail by the best cut",
        json_schema_extra=option("human|SCORER[:CONSTRUCT]=VALUE"),
    )
    overall: str | None = Field(
        default=None,
        description="construct of an overall human rating, from which the weights of a composite "
        "are estimated",
        json_schema_extra=option("CONSTRUCT"),
    )
    without_unopened: bool = Field(
        default=False,
        description="whether the agreement is also shown without ratings that were given before "
        "any passage was opened",
        json_schema_extra=option(),
    )
    target_width: float | None = Field(
        default=None,
        gt=0,
        description="half-width in points that corrected means should reach; default: 5% of "
        "the scale",
        json_schema_extra=option("POINTS"),
    )
    map: dict[str, Literal["linear", "thresholds"]] = Field(
        default={},
        description="how a scorer with a different scale is mapped to people's: linear, its ends "
        "to theirs, or thresholds, by people's distribution on other queries; default: not mapped",
        json_schema_extra=option("SCORER=linear|thresholds"),
    )


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


class HypothesisSpec(SettingsSection):
    """`[[hypotheses]]`: a hypothesis about pairs of systems, declared before there are scores."""

    name: str = Field(min_length=1, description="name in the report")
    pairs: tuple[tuple[str, str], ...] = Field(
        min_length=1, description="pairs of systems; the first is expected above the second"
    )
    direction: Literal["greater", "different"] = Field(
        default="greater",
        description="greater tests each pair one-sided, different two-sided",
    )
    constructs: tuple[str, ...] = Field(
        default=(), description="keys of the constructs that it is about; default: all"
    )
    scorer: str | None = Field(
        default=None, description="scorer whose scores test it; default: each judge"
    )
    aggregation: Literal["maximum", "bonferroni_minimum"] = Field(
        default="maximum",
        description="maximum claims every pair on every construct, bonferroni_minimum at least one",
    )

    @field_validator("pairs")
    @classmethod
    def _two_systems_each(cls, pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        same = next((pair for pair in pairs if pair[0] == pair[1]), None)
        if same is not None:
            raise ValueError(f"{same[0]!r} is paired with itself; name two systems")
        return pairs


class PublishedSpec(SettingsSection):
    """`[[published]]`: figures that a publication reports on the study's data."""

    source: str = Field(min_length=1, description="publication and table")
    measure: Literal["pearson", "spearman", "preference_accuracy", "mean"] = Field(
        description="statistic of the report that they are; mean is that of each system"
    )
    on: Literal["responses", "preferences"] = Field(
        default="responses",
        description="what a correlation is with: people's values, or their preferences",
    )
    construct_key: str | None = Field(
        default=None, description="key of the construct that a mean is of"
    )
    note: str = Field(default="", description="remark below the table")
    figures: dict[str, dict[str, float]] = Field(
        min_length=1,
        description="by scorer, then by construct, or for means by system; a scorer of the study "
        "has its name there",
    )

    @model_validator(mode="after")
    def _of_a_construct(self) -> Self:
        if (self.measure == "mean") != (self.construct_key is not None):
            raise ValueError("construct_key: a mean needs one, and other measures have none")
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
