"""The file of `ccrs init --campaign`: study.toml's settings, and who rates which responses."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from study.errors import StudyError
from study.settings import SettingsSection
from study.settings.study_toml import StudyConfig, parse_config, parse_settings, read_settings
from study.types import Key, naming


class LinkSpec(SettingsSection):
    """`[campaign.links."NAME"]`: a link by which raters join, with the options of `ccrs enrol`."""

    quota: int = Field(
        ge=1, le=100_000, description="number of raters who may join by the link NAME"
    )
    queries: int | None = Field(
        default=None, ge=1, description="maximum number of queries for each of them; default: all"
    )
    languages: tuple[str, ...] = Field(
        default=(), description="languages of their queries; default: all"
    )
    require_id: str | None = Field(
        default=None,
        description="regular expression that a recruiter's id must match, or prolific",
    )


class CampaignSpec(SettingsSection):
    """`[campaign]`: what a campaign begins with; it is not kept in study.toml."""

    responses: tuple[str, ...] = Field(
        min_length=1,
        description="file with the responses, or a list of files; a path from this file's folder",
    )
    raters: tuple[Key, ...] | int | None = Field(
        default=None, description="codes of the raters, or their number; else give links"
    )
    links: dict[Key, LinkSpec] = Field(
        default={}, description="links by which raters join, by name; else give raters"
    )

    @field_validator("responses", mode="before")
    @classmethod
    def _one_or_several(cls, files: Any) -> Any:
        return [files] if isinstance(files, str) else files

    @field_validator("raters", mode="before")
    @classmethod
    def _codes_or_number(cls, raters: Any) -> Any:
        is_number = isinstance(raters, int) and not isinstance(raters, bool) and raters > 0
        is_list = isinstance(raters, list) and all(isinstance(code, str) for code in raters)
        if not raters or not (is_number or is_list):
            raise ValueError('write codes, as in raters = ["anna", "ben"], or a number of raters')
        for code in raters if is_list else ():
            naming(code)
        return raters

    @model_validator(mode="after")
    def _raters_or_links(self) -> Self:
        if self.raters is not None and self.links:
            raise ValueError(
                f"raters and links ({', '.join(self.links)}) are both given; leave one of them "
                "out. `ccrs assign` and `ccrs enrol` add the other later"
            )
        if self.raters is None and not self.links:
            raise ValueError(
                'give either raters, as in raters = ["anna", "ben"], or a table '
                "[campaign.links.NAME] with a quota; `ccrs assign` and `ccrs enrol` add others "
                "later"
            )
        return self


class CampaignFile(StudyConfig):
    """The settings of study.toml with the section `[campaign]`."""

    campaign: CampaignSpec = Field(description="responses, and raters or links")


@dataclass(frozen=True)
class CampaignSettings:
    """What a file of `ccrs init --campaign` asks for."""

    campaign: CampaignSpec
    config: StudyConfig
    study_toml: str
    """The file without the section [campaign]; comments and layout stay."""


def read_campaign(path: Path) -> CampaignSettings:
    """Read a file of `ccrs init --campaign`.

    Raises
    ------
    StudyError
        It is not UTF-8 or TOML, or a setting is unknown or not allowed. All faults are listed.
    """
    text = read_settings(path)
    read = parse_settings(CampaignFile, text, str(path))
    left = _without_campaign(text)
    wanted = tomllib.loads(text)
    del wanted["campaign"]
    if tomllib.loads(left) != wanted:
        raise StudyError(
            f"{path}: [campaign] can't be told from the other settings; write it and its links one "
            "after the other, as tables of their own."
        )
    return CampaignSettings(read.campaign, parse_config(left, str(path)), left)


_HEADER = re.compile(r"\s*\[")
_CAMPAIGN = re.compile(r"""\s*\[\s*["']?campaign["']?\s*[.\]]""")


def _without_campaign(text: str) -> str:
    """Return the text without the tables of [campaign]; comments before another table stay."""
    left: list[str] = []
    cut: list[str] | None = None
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            if cut is not None:
                left += _last_comments(cut)
            cut = [] if _CAMPAIGN.match(line) else None
        (left if cut is None else cut).append(line)
    return "".join(left)


def _last_comments(lines: list[str]) -> list[str]:
    first = len(lines)
    while first and (lines[first - 1].startswith("#") or not lines[first - 1].strip()):
        first -= 1
    return lines[first:]
