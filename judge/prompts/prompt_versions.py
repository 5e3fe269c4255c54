"""Prompt versions as folders: those that come with the package, and a study's own."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError, model_validator

from judge.parsing import Form
from judge.prompts.template import PAPER, SHOWN, PromptVersion, Template
from study.errors import StudyError, nearest
from study.scales import RatingScale

PROMPT_VERSIONS = Path(__file__).parent / "versions"
OWN = "prompts"
"""Folder of a study that holds the prompt versions of its own."""

_SETTINGS = "version.toml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# What looks like a placeholder; other braces, such as those of JSON, are text.
_BRACED = re.compile(r"\{([a-z_]+)\}")


_Point = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Settings(BaseModel):
    """A version.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str = ""
    scale: tuple[_Point, _Point]
    # Whole numbers stay whole: they are part of the hash.
    empty_response: StrictInt | _Point | None = None
    line_separator: str = "\n"
    passage_separator: str = "\n\n"
    strip_fields: bool = True
    max_tokens: Annotated[int, Field(ge=1)] = 16
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    form: Form = "score"

    @model_validator(mode="after")
    def _on_the_scale(self) -> "_Settings":
        low, high = self.scale
        if not low < high:
            raise ValueError("scale: write the lowest and the highest score, such as [0, 100]")
        if self.empty_response is not None and not low <= self.empty_response <= high:
            raise ValueError("empty_response: lies outside the scale")
        return self


@dataclass(frozen=True)
class VersionSummary:
    """A prompt version that a study can be judged with."""

    name: str
    own: bool
    """Whether it is the study's own."""
    hash: str
    constructs: tuple[str, ...]
    source: str


def prompt_version(name: str = PAPER, study_folder: Path | None = None) -> PromptVersion:
    """Return the prompt version of this name.

    Parameters
    ----------
    name
        One that comes with the package, or a folder in `prompts` of the study.
    study_folder
        The study whose own versions count, too.

    Raises
    ------
    StudyError
        There is none of this name, or its files can't be used.

    Examples
    --------
    >>> prompt_version("ccrs-paper-v1").templates["QR"].fields
    ('question', 'response')
    """
    folders = _folders(study_folder)
    if name not in folders:
        hint = nearest(name, folders)
        raise StudyError(
            f"There is no prompt version {name!r}. {hint} Known: {', '.join(sorted(folders))}."
            " A study's own lie in its folder `prompts`.".replace(".  ", ". ")
        )
    _refuse_clash(name, study_folder)
    return _read(folders[name])


def list_versions(study_folder: Path) -> list[VersionSummary]:
    """Return the prompt versions that a study can be judged with, those of the package first.

    Raises
    ------
    StudyError
        The files of one can't be used.
    """
    folders = _folders(study_folder)
    for name in folders:
        _refuse_clash(name, study_folder)
    return [
        VersionSummary(
            name,
            folder.parent != PROMPT_VERSIONS,
            (version := _read(folder)).hash,
            tuple(version.templates),
            version.source,
        )
        for name, folder in folders.items()
    ]


def copy_version(study_folder: Path, name: str, original: str = PAPER) -> Path:
    """Copy a prompt version into a study, as the beginning of its own; return the folder.

    Raises
    ------
    StudyError
        The name can't be one, or is taken.
    """
    if not _NAME.fullmatch(name):
        raise StudyError(
            f"{name!r} can't name a prompt version: take letters, digits, . - and _, such as "
            f"{original}-mine."
        )
    folders = _folders(study_folder)
    target = study_folder / OWN / name
    if name in folders or target.exists():
        raise StudyError(f"There is a prompt version {name!r} already; choose another name.")
    if original not in folders:
        raise StudyError(
            f"There is no prompt version {original!r}. {nearest(original, folders)}".rstrip()
        )
    copytree(folders[original], target)
    return target


def _folders(study_folder: Path | None) -> dict[str, Path]:
    """Return the folders of all versions by name."""
    found = {
        path.parent.name: path.parent for path in sorted(PROMPT_VERSIONS.glob(f"*/{_SETTINGS}"))
    }
    if study_folder is None:
        return found
    for path in sorted((study_folder / OWN).glob(f"*/{_SETTINGS}")):
        if _NAME.fullmatch(path.parent.name):
            # The package's own goes before; `_refuse_clash` says so where it is asked for.
            found.setdefault(path.parent.name, path.parent)
    return found


def _refuse_clash(name: str, study_folder: Path | None) -> None:
    if study_folder is None:
        return
    own = study_folder / OWN / name
    if (PROMPT_VERSIONS / name).is_dir() and (own / _SETTINGS).exists():
        raise StudyError(
            f"{own}: the package has a prompt version of this name, whose words are known by it. "
            "Rename the folder."
        )


def _read(folder: Path) -> PromptVersion:
    settings = _settings(folder / _SETTINGS)
    templates = dict(_templates(folder, settings.line_separator))
    if not templates:
        raise StudyError(f"{folder} holds no prompt; write one file a construct, such as QR.txt.")
    low, high = settings.scale
    return PromptVersion(
        name=folder.name,
        source=settings.source,
        templates=templates,
        scale=RatingScale(min=low, max=high),
        empty_response=settings.empty_response,
        passage_separator=settings.passage_separator,
        strip_fields=settings.strip_fields,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        form=settings.form,
    )


def _settings(path: Path) -> _Settings:
    try:
        given: dict[str, Any] = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path} is no TOML: {error}") from None
    try:
        return _Settings(**given)
    except ValidationError as error:
        lines = []
        for detail in error.errors(include_url=False):
            name = ".".join(str(part) for part in detail["loc"])
            message = detail["msg"].removeprefix("Value error, ")
            if detail["type"] == "extra_forbidden":
                message = f"unknown setting. {nearest(name, _Settings.model_fields)}".rstrip()
            shown = f"{name} = {detail['input']!r}: " if name in given else ""
            lines.append(f"{path}: {shown or (name and f'{name}: ')}{message}")
        raise StudyError("\n".join(lines)) from None


def _templates(folder: Path, line_separator: str) -> Iterator[tuple[str, Template]]:
    for path in sorted(folder.glob("*.txt")):
        # The file ends with a line break, as files do; the prompt does not.
        lines = _text(path).removesuffix("\n").split("\n")
        template = Template(line_separator.join(lines))
        for name in _BRACED.findall(template.text):
            if name.removesuffix("_mark") not in SHOWN:
                raise StudyError(
                    f"{path}: {{{name}}} is no field. {nearest(name, SHOWN)} A prompt can show "
                    f"{', '.join(f'{{{field}}}' for field in SHOWN)}.".replace("  ", " ")
                )
        if "response" not in template.fields:
            raise StudyError(f"{path} does not show what is judged: write {{response}} in it.")
        yield path.stem, template


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise StudyError(f"{path} is not in UTF-8; save it so.") from None
