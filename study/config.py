"""study.toml: every setting is a field here, with its default and its help in one place."""

import tomllib
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Self
from unicodedata import category
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from study.constructs import CCRS, ConstructSpec
from study.errors import StudyError, nearest
from study.scales import Scale
from study.words import Key, ScorerKind


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScorerSpec(_Section):
    """What is known of a scorer beforehand: `[scorers."NAME"]`."""

    kind: ScorerKind | None = Field(
        default=None, description="human, adjudicated, judge or metric; files may then leave it out"
    )
    scale: Scale | None = Field(
        default=None, description="the scorer's own scale, where it differs from the construct's"
    )
    note: str | None = Field(
        default=None, description="a remark that the report shows with the scorer"
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


class PreferenceSpec(_Section):
    """`[preferences]`: how comparisons of two responses are scaled."""

    scale: Scale = Field(
        default=Scale(min=-2, max=2, step=1, level="ordinal"),
        description="range of a preference; a positive value says that response b is better",
    )


class AnalysisSpec(_Section):
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
    wanted_width: float | None = Field(
        default=None,
        gt=0,
        description="half-width in points that corrected means should reach; 5% of the scale "
        "unless given",
    )


class HypothesisSpec(_Section):
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
        default=(), description="keys of the constructs it speaks of; all of them unless given"
    )
    scorer: str | None = Field(
        default=None, description="whose scores test it; each judge's unless given"
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


class CheckSpec(_Section):
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


class RatingSpec(_Section):
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
        pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
        description="language of the texts, as in HTML; a query's attribute `language` goes first",
    )
    words_per_minute: float = Field(
        default=238,
        gt=0,
        description="reading speed for the hours that `ccrs assign` states",
    )

    @field_validator("base_url")
    @classmethod
    def _an_origin(cls, address: str) -> str:
        try:
            parts = urlsplit(address)
            _ = parts.port
        except ValueError as error:
            raise ValueError(f"is no address: {error}") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("begin with http:// or https:// and a host")
        if "@" in parts.netloc:
            raise ValueError("holds a user or password; leave it out")
        if parts.path not in {"", "/"} or parts.query or parts.fragment:
            raise ValueError("give scheme, host and port only, without a path")
        return f"{parts.scheme}://{parts.netloc}"


class StudyConfig(_Section):
    """The whole of study.toml."""

    name: str = Field(default="Untitled study", min_length=1, description="title of the report")
    seed: int = Field(
        default=0, ge=0, lt=2**63, description="seed of everything random in the study"
    )
    database: str = Field(
        default="study.db",
        description="file beside study.toml, or a postgresql+psycopg:// address without password",
    )
    constructs: tuple[ConstructSpec, ...] = Field(
        default=CCRS, description="what is measured; the five CCRS constructs unless given"
    )
    scorers: dict[Key, ScorerSpec] = Field(
        default={}, description="what is known of scorers beforehand"
    )
    preferences: PreferenceSpec = PreferenceSpec()
    rating: RatingSpec = RatingSpec()
    analysis: AnalysisSpec = AnalysisSpec()
    check: tuple[CheckSpec, ...] = Field(
        default=(), description="what `ccrs check` demands of the report's figures"
    )
    hypotheses: tuple[HypothesisSpec, ...] = Field(
        default=(), description="claims about systems, declared beforehand"
    )

    @field_validator("database")
    @classmethod
    def _reachable_and_without_secret(cls, address: str) -> str:
        if "://" not in address:
            if Path(address).name != address or address in {"", ".", "..", "study.toml"}:
                raise ValueError("name a file beside study.toml, without a folder")
            if any(character in address for character in "?#%\x00"):
                raise ValueError("name a file without ?, # or %")
            return address
        parts = urlsplit(address)
        if parts.scheme not in {"postgresql", "postgresql+psycopg"}:
            raise ValueError(f"{parts.scheme}:// is not supported; use postgresql+psycopg://")
        if parts.password:
            raise ValueError("holds a password; use PGPASSWORD or a ~/.pgpass file instead")
        return address

    @model_validator(mode="after")
    def _each_construct_once(self) -> Self:
        keys = [construct.key for construct in self.constructs]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        if twice:
            raise ValueError(f"constructs: {', '.join(twice)} is defined more than once")
        if not keys:
            raise ValueError("constructs: define at least one, or leave the setting out")
        return self

    def construct_spec(self, key: str) -> ConstructSpec | None:
        """Return the construct with this key, if the study has it."""
        return next((c for c in self.constructs if c.key == key), None)

    def scale(self, construct_key: str, scorer: str) -> Scale | None:
        """Return the scale that `scorer` uses on a construct; None for an unknown construct."""
        construct = self.construct_spec(construct_key)
        if construct is None:
            return None
        own = self.scorers[scorer].scale if scorer in self.scorers else None
        return own or construct.scale


def parse_config(text: str, source: str = "study.toml") -> StudyConfig:
    """Return the settings that the TOML `text` holds.

    Raises
    ------
    StudyError
        The text is no TOML, a key is unknown (the nearest known one is named), or a value is
        not allowed. All faults are listed.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{source}: not valid TOML: {error}") from None
    try:
        return StudyConfig.model_validate(data)
    except ValidationError as error:
        lines = [f"  {_describe(detail)}" for detail in error.errors(include_url=False)]
        raise StudyError("\n".join([f"{source} can't be used:", *lines])) from None


def read_config(path: Path) -> tuple[StudyConfig, str]:
    """Read study.toml; return its settings and the SHA-256 of its text."""
    try:
        # Some editors begin a file with a byte order mark; it is no part of the settings.
        text = path.read_text(encoding="utf-8-sig")
    except IsADirectoryError:
        raise StudyError(f"{path} is a folder; move it away.") from None
    except (FileNotFoundError, NotADirectoryError):
        raise StudyError(
            f"{path.parent} holds no study.toml. Make a study with `ccrs init {path.parent}`."
        ) from None
    except UnicodeDecodeError as error:
        raise StudyError(
            f"{path}: byte {error.start} is not UTF-8; save the file again as UTF-8."
        ) from None
    return parse_config(text, str(path)), sha256(text.encode()).hexdigest()


def read_checks(path: Path) -> tuple[CheckSpec, ...]:
    """Read the `[[check]]` of a file of their own, in the form they have in study.toml.

    Raises
    ------
    StudyError
        The file can't be read, holds another setting, or no check.
    """
    return _alone(path, "check").check


def read_hypotheses(path: Path) -> tuple[HypothesisSpec, ...]:
    """Read the `[[hypotheses]]` of a file of their own, in the form they have in study.toml.

    Raises
    ------
    StudyError
        The file can't be read, holds another setting, or no hypothesis.
    """
    return _alone(path, "hypotheses").hypotheses


def _alone(path: Path, section: str) -> StudyConfig:
    """Read a file that holds this section of study.toml and nothing else."""
    config, _ = read_config(path)
    others = sorted(config.model_fields_set - {section})
    if others:
        raise StudyError(f"{path}: {', '.join(others)} belongs in study.toml; leave it out here")
    if not getattr(config, section):
        raise StudyError(f"{path} holds no [[{section}]]")
    return config


def _describe(detail: ErrorDetails) -> str:
    location = ".".join(str(part) for part in detail["loc"]) or "study.toml"
    if detail["type"] == "extra_forbidden":
        known = _known_keys(detail["loc"][:-1])
        hint = nearest(str(detail["loc"][-1]), known)
        return f"{location}: unknown setting. {hint} Known here: {', '.join(known)}.".replace(
            ".  ", ". "
        )
    message = detail["msg"].removeprefix("Value error, ")
    # An address may hold a password, so it is not repeated; nor are whole sections.
    shown = location != "database" and isinstance(detail["input"], str | int | float | bool)
    return f"{location} = {detail['input']!r}: {message}" if shown else f"{location}: {message}"


def _known_keys(location: Iterable[Any]) -> list[str]:
    """Return the settings allowed at a place in study.toml."""
    sections: dict[str, type[BaseModel]] = {
        "constructs": ConstructSpec,
        "scorers": ScorerSpec,
        "preferences": PreferenceSpec,
        "rating": RatingSpec,
        "analysis": AnalysisSpec,
        "hypotheses": HypothesisSpec,
        "check": CheckSpec,
        "scale": Scale,
    }
    model: type[BaseModel] = StudyConfig
    for part in location:
        model = sections.get(str(part), model)
    return sorted(model.model_fields)
