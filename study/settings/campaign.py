"""The sections of study.toml about people: the design, the raters, how they rate, when to stop."""

from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from study.settings.sections import SettingsSection

LANGUAGE_TAG = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
"""The form of a language code, as in HTML: de, en-GB."""


class DesignSpec(SettingsSection):
    """`[design]`: who is to rate what. Options of `ccrs assign` go before it."""

    sample: int | None = Field(
        default=None,
        ge=1,
        description="number of queries or responses that are drawn at random; default: all",
    )
    sample_of: Literal["queries", "responses"] = Field(
        default="queries",
        description="queries are drawn with all their responses, so that every system meets each "
        "drawn query; responses are drawn one by one",
    )
    strata: tuple[str, ...] = Field(
        default=(),
        description="what the sample is stratified by: names of query attributes and, for "
        "responses, `system` and `judge_score`",
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
    per_item: int = Field(default=3, ge=1, le=1000, description="raters for each response")
    overlap: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="share of the queries that go to per_item raters; the others go to one",
    )
    calibration: int = Field(
        default=0, ge=0, description="queries that every rater rates first, kept out of agreement"
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
        default=0, ge=0, description="checks that each rater meets in between, unannounced"
    )
    repeats: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="share of a rater's queries that they rate again in another session",
    )
    repeat_after_hours: float = Field(
        default=24, ge=0, description="time between a query's first rating and its repeat"
    )
    one_construct_a_pass: bool = Field(
        default=False,
        description="whether raters go through all responses once for each construct",
    )
    layout: Literal["single", "side_by_side"] = Field(
        default="single",
        description="one response a page, or all of a rater's responses to a query beside each "
        "other",
    )
    comparisons: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="share of the pairs of systems a query that are compared directly, as a task "
        "of its own after the ratings",
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
        of_responses = {"system", "judge_score"}.intersection(self.strata)
        if of_responses and self.sample_of == "queries":
            raise ValueError(
                f"{sorted(of_responses)[0]} differs between the responses to a query; "
                'set sample_of = "responses"'
            )
        if not self.ratings and not self.comparisons:
            raise ValueError("ratings = false needs comparisons above 0")
        return self


class RaterSpec(SettingsSection):
    """`[raters."CODE"]`: what is known of a rater beforehand; nothing personal is needed."""

    languages: tuple[str, ...] = Field(
        default=(),
        description="languages of queries that the rater is given; default: all",
    )


class StoppingSpec(SettingsSection):
    """`[stopping]`: when enough is rated, declared before any interim analysis."""

    quantity: Literal["human_mean", "judge_error"] = Field(
        default="human_mean",
        description="the mean over queries whose interval counts: of people's values, or of the "
        "judge's values minus people's",
    )
    constructs: tuple[str, ...] = Field(
        default=(), description="constructs that must all be there; default: all"
    )
    judge: str | None = Field(default=None, description="scorer of judge_error")
    half_width: float | None = Field(
        default=None, gt=0, description="points to each side of the mean that are enough"
    )
    least_queries: int = Field(default=30, ge=30, description="queries before which nobody stops")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.quantity == "judge_error" and self.judge is None:
            raise ValueError("judge_error needs the judge's name in judge")
        return self


class RatingSpec(SettingsSection):
    """`[rating]`: how people rate on the project's own pages."""

    disclosure: Literal["staged", "all"] = Field(
        default="staged",
        description="staged shows a field only once the constructs that may not see it are rated; "
        "all shows everything at once",
    )
    lease_minutes: float = Field(
        default=120,
        gt=0,
        le=60 * 24 * 366,
        description="how long an open slot stays a rater's without anything being saved",
    )
    base_url: str = Field(
        default="http://127.0.0.1:8350",
        description="address that raters reach the pages at; links begin with it",
    )
    language: str = Field(
        default="en",
        pattern=LANGUAGE_TAG,
        description="language of the texts, as in HTML; a query's attribute `language` goes first",
    )
    interface_language: str = Field(
        default="en",
        pattern=LANGUAGE_TAG,
        description="language of the pages' own words; another than English has a catalogue",
    )
    catalogue: str | None = Field(
        default=None,
        description="gettext catalogue (.po) beside study.toml with the pages' words in "
        "interface_language",
    )
    words_per_minute: float = Field(
        default=238,
        gt=0,
        description="reading speed for the hours that `ccrs assign` states",
    )
    consent: str | None = Field(
        default=None,
        description="Markdown file beside study.toml that raters agree to before anything else",
    )
    instructions: str | None = Field(
        default=None,
        description="Markdown file beside study.toml that raters read before they rate",
    )
    session_minutes: float | None = Field(
        default=None,
        gt=0,
        description="active minutes after which a rater is asked to come back later",
    )
    break_minutes: float = Field(
        default=30, gt=0, description="pause after which a rater's next value begins a session"
    )
    adjudicators_see: str | None = Field(
        default=None,
        min_length=1,
        description="judge run whose score and reason an adjudicator sees beside what others "
        "said, once the blind value is stored",
    )
    completion_code: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="code that raters see when all is done, to claim their payment",
    )
    completion_url: str | None = Field(
        default=None,
        description="https address to which the last page leads back; {code} stands for the code",
    )

    @field_validator("base_url")
    @classmethod
    def _an_origin(cls, address: str) -> str:
        try:
            parts = urlsplit(address)
            _ = parts.port
        except ValueError as error:
            raise ValueError(f"is not a valid address: {error}") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("begin with http:// or https:// and a host")
        if "@" in parts.netloc:
            raise ValueError("holds a user or password; leave it out")
        if parts.path not in {"", "/"} or parts.query or parts.fragment:
            raise ValueError("give scheme, host and port only, without a path")
        return f"{parts.scheme}://{parts.netloc}"

    @field_validator("completion_url")
    @classmethod
    def _a_way_back(cls, address: str | None) -> str | None:
        if address is not None and not address.startswith("https://"):
            raise ValueError("begin with https://")
        return address

    @field_validator("catalogue", "consent", "instructions")
    @classmethod
    def _beside_the_settings(cls, name: str | None) -> str | None:
        if name is not None and (Path(name).name != name or name in {"", ".", ".."}):
            raise ValueError("name a file beside study.toml, without a folder")
        return name
