"""study.toml as a whole, and how it is read."""

import json
import tomllib
from collections.abc import Collection, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator

from study.base.analysis_settings import AnalysisSettings
from study.base.hypotheses import Hypothesis
from study.base.published_figures import PublishedFigures
from study.base.scales import Scale
from study.columns import EXPECTED
from study.errors import StudyError, nearest
from study.settings import SettingsSection, option
from study.settings.constructs import CCRS, RETRIEVAL, ConstructSpec
from study.settings.design import DesignSpec
from study.settings.faults import faults
from study.settings.rating import LabelStudioSpec, RaterSpec, RatingSpec
from study.settings.report import CheckSpec, StoppingSpec
from study.settings.scorer_sections import (
    CombinedMember,
    CombinedSpec,
    CompositeSpec,
    JudgeSpec,
    JurySpec,
    MetricSpec,
    PreferenceSpec,
    ScorerSpec,
    SystemSpec,
)
from study.text import shell_word
from study.types import Key


class StudyConfig(SettingsSection):
    """The whole of study.toml."""

    name: str = Field(default="Untitled study", min_length=1, description="title of the report")
    seed: int = Field(
        default=0,
        ge=0,
        lt=2**63,
        description="seed of everything random in the study, such as the resamples of a report",
        json_schema_extra=option("N"),
    )
    database: str = Field(
        default="study.db",
        description="file next to study.toml, or a postgresql+psycopg:// address without password",
    )
    constructs: tuple[ConstructSpec, ...] = Field(
        default=CCRS, description="what is measured; default: the five CCRS constructs"
    )
    scorers: dict[Key, ScorerSpec] = Field(
        default={}, description="kind, scale and family of scorers"
    )
    metrics: dict[Key, MetricSpec] = Field(
        default={}, description="constructs that metrics measure in this study"
    )
    juries: dict[Key, JurySpec] = Field(
        default={}, description="scorers that combine several judges"
    )
    composites: dict[Key, CompositeSpec] = Field(
        default={}, description="scorers that are weighted means of metrics and judges"
    )
    systems: dict[Key, SystemSpec] = Field(
        default={}, description="model families of systems, and how their responses are made"
    )
    preferences: PreferenceSpec = PreferenceSpec()
    judge: JudgeSpec = JudgeSpec()
    design: DesignSpec = DesignSpec()
    raters: dict[Key, RaterSpec] = Field(default={}, description="languages of raters")
    rating: RatingSpec = RatingSpec()
    label_studio: LabelStudioSpec = LabelStudioSpec()
    stopping: StoppingSpec = StoppingSpec()
    analysis: AnalysisSettings = AnalysisSettings()
    check: tuple[CheckSpec, ...] = Field(
        default=(), description="requirements of `ccrs check` on the report's figures"
    )
    hypotheses: tuple[Hypothesis, ...] = Field(
        default=(), description="hypotheses about systems, declared in advance"
    )
    published: tuple[PublishedFigures, ...] = Field(
        default=(), description="figures that publications report on the study's data"
    )

    @field_validator("database")
    @classmethod
    def _reachable_and_without_secret(cls, address: str) -> str:
        if "://" not in address:
            if Path(address).name != address or address in {"", ".", "..", "study.toml"}:
                raise ValueError("name a file next to study.toml, without a folder")
            if any(character in address for character in "?#%\x00"):
                raise ValueError("name a file without ?, # or %")
            return address
        parts = urlsplit(address)
        if parts.scheme not in {"postgresql", "postgresql+psycopg"}:
            raise ValueError(f"{parts.scheme}:// is not supported; use postgresql+psycopg://")
        if parts.password:
            raise ValueError("contains a password; use PGPASSWORD or a ~/.pgpass file instead")
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

    @model_validator(mode="after")
    def _metrics_on_known_constructs(self) -> Self:
        known = {RETRIEVAL.key, *(construct.key for construct in self.constructs)}
        for name, spec in self.metrics.items():
            for key in spec.on:
                if key not in known:
                    hint = nearest(key, known)
                    raise ValueError(f'metrics."{name}".on: {key!r} is unknown. {hint}'.rstrip())
        return self

    @model_validator(mode="after")
    def _combined_on_one_scale(self) -> Self:
        for name in self.composites:
            if name in self.juries:
                raise ValueError(f'composites."{name}": a jury has this name; choose another')
        for name, spec in self.combined.items():
            problem = self._problem_of_combined(name, spec)
            if problem is not None:
                section = "juries" if name in self.juries else "composites"
                raise ValueError(f'{section}."{name}": {problem}')
        return self

    @model_validator(mode="after")
    def _mapped_from_a_scale(self) -> Self:
        for name in self.analysis.map:
            if self.own_scale(name) is None:
                raise ValueError(
                    f"analysis.map: {name!r} has no scale to be mapped from; declare it "
                    f"under [scorers.{json.dumps(name)}]"
                )
        return self

    def _problem_of_combined(self, name: str, spec: CombinedSpec) -> str | None:
        jury = isinstance(spec, JurySpec)
        what, members = ("a jury", "judges") if jury else ("a composite", "metrics and judges")
        allowed = {None, "judge"} if jury else {None, "judge", "metric"}
        settings = self.scorers.get(name, ScorerSpec())
        if settings.scale is not None or settings.kind not in {None, *(["judge"] if jury else [])}:
            return (
                f"{what} has the kind and scale of its members; leave kind and scale out of scorers"
            )
        for member, _, _ in spec.members:
            if member in self.combined:
                section = "jury" if member in self.juries else "composite"
                return f"{member!r} is a {section} itself; name its members instead"
            kind = self.scorers.get(member, ScorerSpec()).kind
            if kind not in allowed:
                return f"{member!r} is declared {kind}; {what} consists of {members}"
        if not isinstance(spec, JurySpec) and spec.on is not None:
            return self._problem_of_constructs(spec.members, spec.on)
        first, *others = spec.of
        for construct in self.constructs:
            scale = self.scale(construct.key, first)
            for member in others:
                other = self.scale(construct.key, member)
                if scale != other:
                    return (
                        f"{first!r} is on {scale} and {member!r} on {other}; the members of "
                        f"{what} share one scale, so leave one of them out"
                    )
        return None

    def _problem_of_constructs(self, members: Sequence[CombinedMember], on: str) -> str | None:
        known = [construct.key for construct in self.constructs]
        named = [
            (f"of: {member.scorer}:{member.construct}", member.construct) for member in members
        ]
        for where, key in (*named, (f"on: {on}", on)):
            if key not in known and (key == on or key != RETRIEVAL.key):
                hint = nearest(str(key), known) or f"Name one of {', '.join(known)}."
                return f"{where}: the study has no construct {key!r}. {hint}"
        return None

    @property
    def combined(self) -> dict[str, CombinedSpec]:
        """Juries and composites by name."""
        return {**self.juries, **self.composites}

    def construct_spec(self, key: str) -> ConstructSpec | None:
        """Return the construct with this key, if the study has it."""
        return next((c for c in self.constructs if c.key == key), None)

    def scale(self, construct_key: str, scorer: str) -> Scale | None:
        """Return the scale that `scorer` uses on a construct; None for an unknown construct."""
        construct = self.construct_spec(construct_key)
        if construct is None and construct_key == RETRIEVAL.key:
            construct = RETRIEVAL
        if construct is None:
            return None
        return self.own_scale(scorer) or construct.scale

    def own_scale(self, scorer: str) -> Scale | None:
        """Return the scale of a scorer on all constructs; None where it takes each construct's."""
        combined = self.combined.get(scorer)
        if combined is not None:
            first = combined.members[0]
            if first.construct is not None:
                return None  # its members are converted to the construct's
            scorer = first.scorer
        # The mean of a judge's distribution is on the scale of its numbers.
        names = (scorer, scorer.removesuffix(EXPECTED))
        return next((self.scorers[name].scale for name in names if name in self.scorers), None)

    def scorer_scales(
        self, scorers: Iterable[str], constructs: Collection[str]
    ) -> dict[tuple[str, str], Scale]:
        """Return the own scales of these scorers on these constructs, by both."""
        return {
            (name, key): scale
            for name in scorers
            if (scale := self.own_scale(name)) is not None
            for key in constructs
        }


_Settings = TypeVar("_Settings", bound=StudyConfig)


def parse_config(text: str, source: str = "study.toml") -> StudyConfig:
    """Return the settings in the TOML `text`.

    Raises
    ------
    StudyError
        As `parse_settings`.
    """
    return parse_settings(StudyConfig, text, source)


def parse_settings(kind: type[_Settings], text: str, source: str) -> _Settings:
    """Return the settings of a kind of file in the TOML `text`.

    Raises
    ------
    StudyError
        The text is not valid TOML, a key is unknown (the nearest known one is named), or a value is
        not allowed. All faults are listed.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{source}: not valid TOML: {error}") from None
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        lines = [f"  {line}" for line in faults(error.errors(include_url=False), kind)]
        raise StudyError("\n".join([f"{source} can't be used:", *lines])) from None


def read_settings(path: Path) -> str:
    """Return the text of a file of settings.

    Raises
    ------
    StudyError
        It is not UTF-8.
    """
    try:
        # Some editors begin a file with a byte order mark; it is not part of the settings.
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyError(
            f"{path}: byte {error.start} is not UTF-8; save the file again as UTF-8."
        ) from None


def read_config(path: Path) -> tuple[StudyConfig, str]:
    """Read study.toml; return its settings and the SHA-256 of its text."""
    try:
        text = read_settings(path)
    except IsADirectoryError:
        raise StudyError(f"{path} is a folder; move it away.") from None
    except (FileNotFoundError, NotADirectoryError):
        raise StudyError(
            f"{path.parent} contains no study.toml. Create a study with "
            f"`ccrs init {shell_word(path.parent)}`."
        ) from None
    return parse_config(text, str(path)), sha256(text.encode()).hexdigest()


def read_checks(path: Path) -> tuple[CheckSpec, ...]:
    """Read the `[[check]]` of a separate file, in the form they have in study.toml.

    Raises
    ------
    StudyError
        The file can't be read, has other settings, or has no check.
    """
    return _alone(path, "check").check


def read_hypotheses(path: Path) -> tuple[Hypothesis, ...]:
    """Read the `[[hypotheses]]` of a separate file, in the form they have in study.toml.

    Raises
    ------
    StudyError
        The file can't be read, has other settings, or has no hypothesis.
    """
    return _alone(path, "hypotheses").hypotheses


def _alone(path: Path, section: str) -> StudyConfig:
    """Read a file that contains this section of study.toml alone."""
    config, _ = read_config(path)
    others = sorted(config.model_fields_set - {section})
    if others:
        raise StudyError(f"{path}: {', '.join(others)} belongs in study.toml; leave it out here")
    if not getattr(config, section):
        raise StudyError(f"{path} contains no [[{section}]]")
    return config
