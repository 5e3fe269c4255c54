"""The sections of study.toml: each setting is a field with its default and its help."""

from typing import Literal
from unicodedata import category

from pydantic import BaseModel, ConfigDict, Field, field_validator

from study.scales import RatingScale
from study.types import Key, ScorerKind


class SettingsSection(BaseModel):
    """What all of them have in common: unknown settings are refused, nothing changes later."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ScorerSpec(SettingsSection):
    """What is known of a scorer beforehand: `[scorers."NAME"]`."""

    kind: ScorerKind | None = Field(
        default=None, description="human, adjudicated, judge or metric; files may then leave it out"
    )
    scale: RatingScale | None = Field(
        default=None, description="the scorer's own scale, where it differs from the construct's"
    )
    note: str | None = Field(
        default=None, description="a remark that the report shows with the scorer"
    )

    family: Key | None = Field(
        default=None,
        description="family of a judge's model, as in systems; the report then looks for "
        "self-preference",
    )

    @field_validator("note")
    @classmethod
    def _one_paragraph(cls, note: str) -> str:
        text = " ".join(note.split())
        if not text:
            raise ValueError("is blank; write a remark, or leave the setting out")
        if any(category(character) == "Cc" for character in text):
            # It is printed on terminals, which obey some of them.
            raise ValueError("holds a control character; remove it")
        return text


class JurySpec(SettingsSection):
    """`[juries."NAME"]`: several judges whose scores make those of one scorer."""

    of: tuple[Key, ...] = Field(
        min_length=2, description="the judges; what one of them left out the jury has no score of"
    )
    by: Literal["median", "mean"] = Field(
        default="median", description="what the jury says of its judges' first scores"
    )

    @field_validator("of")
    @classmethod
    def _each_once(cls, judges: tuple[str, ...]) -> tuple[str, ...]:
        twice = sorted({name for name in judges if judges.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(map(repr, twice))} is named more than once")
        return judges


class SystemSpec(SettingsSection):
    """What is known of a system beforehand: `[systems."NAME"]`."""

    family: Key = Field(description="family of the model that writes its responses, such as llama")


class PreferenceSpec(SettingsSection):
    """`[preferences]`: how comparisons of two responses are scaled."""

    scale: RatingScale = Field(
        default=RatingScale(min=-2, max=2, step=1, level="ordinal"),
        description="range of a preference; a positive value says that response b is better",
    )


class AnalysisSpec(SettingsSection):
    """`[analysis]`: choices of the report."""

    reference: Literal["mean_of_raters", "adjudicated"] = Field(
        default="mean_of_raters",
        description="what scorers are compared with: the mean of a response's raters, or an "
        "adjudicated value",
    )
    resamples: int = Field(
        default=2000, ge=200, le=100_000, description="bootstrap resamples of queries"
    )
    ci_level: float = Field(
        default=0.95, gt=0.5, lt=1, description="confidence level of every interval"
    )
    ac_lambda: float = Field(
        default=0.7, ge=0, le=1, description="weight of the exact match in composed AC"
    )
    second_metrics: tuple[str, ...] = Field(
        default=(),
        description="constructs or scorers that are a second set of metrics, beside the study's "
        "own",
    )
    published: bool = Field(
        default=False,
        description="whether the CCRS paper's own figures stand beside those of systems A to F",
    )
    non_inferiority_margin: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="how much lower than a rater's a judge's correlation with people may be",
    )
    bias_margin: float | None = Field(
        default=None, gt=0, description="points within which a judge's bias counts as none"
    )
    alt_test_epsilon: float = Field(
        default=0.15,
        ge=0,
        lt=1,
        description="allowance of the alternative annotator test: 0.2 where raters are experts, "
        "0.15 where they are skilled, 0.1 in a crowd",
    )
    overall: str | None = Field(
        default=None,
        description="construct that holds an overall human rating, from which a composite's "
        "weights are learned",
    )
    target_width: float | None = Field(
        default=None,
        gt=0,
        description="half-width in points that corrected means should reach; 5% of the scale "
        "unless given",
    )


class HypothesisSpec(SettingsSection):
    """`[[hypotheses]]`: a claim about pairs of systems, declared before the scores are there."""

    name: str = Field(min_length=1, description="what the report calls it")
    pairs: tuple[tuple[str, str], ...] = Field(
        min_length=1, description="pairs of systems; the first is expected above the second"
    )
    direction: Literal["greater", "different"] = Field(
        default="greater",
        description="greater tests each pair one-sided, different two-sided",
    )
    constructs: tuple[str, ...] = Field(
        default=(), description="keys of the constructs it speaks of; default: all"
    )
    scorer: str | None = Field(
        default=None, description="whose scores test it; default: each judge's"
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


class CheckSpec(SettingsSection):
    """`[[check]]`: what `ccrs check` demands of a figure of the report."""

    statistic: str = Field(min_length=1, description="id of the figure, as in report.json")
    construct_key: str | None = Field(default=None, description="of this construct; else of each")
    scorer: str | None = Field(default=None, description="of this scorer; else of each")
    system: str | None = Field(default=None, description="of this system; else whatever systems")
    scope: str | None = Field(
        default=None, description="pooled, within_query, ...; needed where a figure has several"
    )
    target: Literal["these_raters", "raters_like_these"] | None = Field(
        default=None, description="whom the interval speaks of; needed where a figure has both"
    )
    params: dict[str, str | float] = Field(
        default={}, description="further choices as in report.json, such as level or form"
    )
    on: Literal["value", "ci_low", "ci_high"] = Field(
        default="value", description="the number that is bounded: the value, or an interval's end"
    )
    minimum: float | None = Field(default=None, description="smallest number that passes")
    maximum: float | None = Field(default=None, description="largest number that passes")
    allowed_drop: float | None = Field(
        default=None, ge=0, description="how far the value may lie below the baseline's"
    )
    allowed_rise: float | None = Field(
        default=None, ge=0, description="how far the value may lie above the baseline's"
    )
