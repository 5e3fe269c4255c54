"""The section [design] of study.toml: the sample of responses and who rates them."""

from typing import Literal, Self

from pydantic import Field, model_validator

from study.settings import SettingsSection, option


class DesignSpec(SettingsSection):
    """`[design]`: which responses are rated by whom. Options of `ccrs assign` take precedence."""

    sample: int | None = Field(
        default=None,
        ge=1,
        description="number of queries or responses that are drawn at random; default: all",
        json_schema_extra=option("N"),
    )
    sample_of: Literal["queries", "responses"] = Field(
        default="queries",
        description="what is drawn: queries with all their responses, so that every system meets "
        "each drawn query, or responses one by one",
    )
    strata: tuple[str, ...] = Field(
        default=(),
        description="what the sample is stratified by: names of query attributes and, for "
        "responses, `system` and `judge_score`",
        json_schema_extra=option("NAMES"),
    )
    allocation: Literal["proportional", "equal"] = Field(
        default="proportional", description="how the sample is shared among strata"
    )
    judge: str | None = Field(
        default=None, description="scorer whose scores make the bands of the stratum `judge_score`"
    )
    judge_construct: str | None = Field(
        default=None,
        description="construct of those scores; default: the mean over constructs",
    )
    bands: tuple[float, ...] = Field(
        default=(), description="scores at which a new band begins, rising; 50 and 80 make three"
    )
    per_item: int = Field(
        default=3,
        ge=1,
        le=1000,
        description="raters for each response",
        json_schema_extra=option("K"),
    )
    overlap: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="share of the queries that go to per_item raters; the others go to one",
        json_schema_extra=option("SHARE"),
    )
    calibration: int = Field(
        default=0,
        ge=0,
        description="queries that every rater rates first, kept out of agreement",
        json_schema_extra=option("N"),
    )
    training: int = Field(
        default=0, ge=0, description="training responses of one attempt, before anything else"
    )
    pass_mark: float = Field(
        default=0.8,
        gt=0,
        le=1,
        description="share of the values of an attempt that must lie in their expected range",
    )
    training_attempts: int = Field(
        default=3, ge=1, le=20, description="attempts at the training, each with new responses"
    )
    checks: int = Field(
        default=0,
        ge=0,
        description="checks that each rater meets in between, unannounced",
        json_schema_extra=option("N"),
    )
    repeats: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="share of a rater's queries that they rate again in another session",
        json_schema_extra=option("SHARE"),
    )
    repeat_after_hours: float = Field(
        default=24, ge=0, description="time between a query's first rating and its repeat"
    )
    one_construct_a_pass: bool = Field(
        default=False,
        description="let raters go through all responses once for each construct",
        json_schema_extra=option(),
    )
    layout: Literal["single", "side_by_side"] = Field(
        default="single",
        description="one response a page, or all of a rater's responses to a query side by side",
        json_schema_extra=option(),
    )
    comparisons: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="share of the pairs of systems a query that are compared directly, as a "
        "separate task after the ratings",
    )
    comparison_constructs: tuple[str, ...] = Field(
        default=(), description="constructs on which pairs are compared; default: all"
    )
    ratings: bool = Field(
        default=True, description="whether responses are rated; without it pairs are compared only"
    )

    @model_validator(mode="after")
    def _that_can_be_drawn(self) -> Self:
        if list(self.bands) != sorted(set(self.bands)):
            raise ValueError("bands must rise")
        if ("judge_score" in self.strata) != bool(self.bands):
            raise ValueError("the stratum judge_score and bands go together")
        response_strata = {"system", "judge_score"}.intersection(self.strata)
        if response_strata and self.sample_of == "queries":
            raise ValueError(
                f"{sorted(response_strata)[0]} differs between the responses to a query; "
                'set sample_of = "responses"'
            )
        if not self.ratings and not self.comparisons:
            raise ValueError("ratings = false needs comparisons above 0")
        return self
