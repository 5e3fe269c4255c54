"""Prompt versions as folders: those of the package, and a study's own."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError, model_validator

from judge.parsing.labels import folded
from judge.parsing.parse_answer import Form
from judge.prompts.answer_fields import Kind
from judge.prompts.answer_form import AnswerForm
from judge.prompts.template import PAPER, SHOWN, PromptVersion, Template, invalid_settings
from study.base.scales import Scale
from study.errors import StudyError, nearest
from study.settings.study_toml import read_config

PROMPT_VERSIONS = Path(__file__).parent / "versions"
STUDY_PROMPTS = "prompts"
"""Folder of a study with its own prompt versions."""

_SETTINGS = "version.toml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Looks like a placeholder; other braces, such as those of JSON, are text.
_BRACED = re.compile(r"\{([a-z_]+)\}")


_OF_VERSION = {
    *("source", "passage_separator", "strip_fields", "max_tokens", "temperature", "system"),
    "structured",
}
"""Settings that all prompts of a version share."""
_WITH_LABELS = {True: {"label", "json"}, False: {"score", "rationale", "json"}}
"""Forms with and without labels."""

_Point = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Answer(BaseModel):
    """What the prompts ask for, or the prompt of one construct."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scale: tuple[_Point, _Point]
    # Whole numbers stay integers, since the hash depends on it.
    empty_response: StrictInt | _Point | None = None
    form: Form = "score"
    labels: dict[str, _Point] = {}
    fields_: dict[str, Kind] = Field(default={}, alias="fields")
    max_tokens: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _on_the_scale(self) -> Self:
        low, high = self.scale
        if not low < high:
            raise ValueError("scale: write the lowest and the highest score, such as [0, 100]")
        if self.empty_response is not None and not low <= self.empty_response <= high:
            raise ValueError("empty_response: is outside the scale")
        return self

    @model_validator(mode="after")
    def _labels_of_the_form(self) -> Self:
        if self.form not in _WITH_LABELS[bool(self.labels)]:
            raise ValueError(
                'labels: go with form = "label"; write a table [labels] such as yes = 1, no = 0'
            )
        if (self.form == "json") != bool(self.fields_):
            raise ValueError(
                'fields: go with form = "json"; write a table [fields] such as reason = "text", '
                'score = "score"'
            )
        if self.fields_ and [*self.fields_.values()].count("score") != 1:
            raise ValueError('fields: exactly one is the score, such as rating = "score"')
        if len({folded(name) for name in self.fields_} - {""}) < len(self.fields_):
            raise ValueError("fields: differ only in case or white space, or one is empty")
        low, high = self.scale
        for label, value in self.labels.items():
            if not low <= value <= high:
                raise ValueError(f"labels: {label} = {value:g} is outside the scale")
        if len({folded(label) for label in self.labels} - {""}) < len(self.labels):
            raise ValueError("labels: differ only in case or white space, or one is empty")
        if self.labels and len(set(self.labels.values())) == 1:
            raise ValueError("labels: all have the same value")
        return self

    def answer_form(self, max_tokens: int | None = None) -> AnswerForm:
        """Return what the prompts ask for."""
        low, high = self.scale
        return AnswerForm(
            scale=Scale(min=low, max=high),
            form=self.form,
            labels=self.labels,
            fields=self.fields_,
            empty_response=self.empty_response,
            max_tokens=max_tokens,
        )


class _Settings(_Answer):
    """A version.toml."""

    source: str = ""
    line_separator: str = "\n"
    passage_separator: str = "\n\n"
    strip_fields: bool = True
    max_tokens: Annotated[int, Field(ge=1)] = 16
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    system: str = ""
    structured: bool = False
    constructs: dict[str, dict[str, Any]] = {}

    @model_validator(mode="after")
    def _constructs_can_be_used(self) -> Self:
        for key in self.constructs:
            try:
                self.answer_of(key)
            except ValidationError as error:
                detail = error.errors(include_url=False)[0]
                name = ".".join(("constructs", key, *map(str, detail["loc"])))
                message = detail["msg"].removeprefix("Value error, ")
                raise ValueError(f"{name}: {message}") from None
        return self

    def answer_of(self, construct: str) -> AnswerForm:
        """Return what the prompt of a construct with its own table asks for.

        What the table lacks is as for the other prompts. A construct with its own scale does not
        take their labels and their score of an empty response, one with its own form no labels or
        fields.
        """
        table = self.constructs[construct]
        left_out = {"max_tokens"}
        left_out |= {"labels", "empty_response"} if "scale" in table else set()
        left_out |= {"labels", "fields"} if "form" in table else set()
        taken = self.model_dump(include={*_Answer.model_fields} - left_out, by_alias=True)
        kept = {name: value for name, value in taken.items() if name not in left_out}
        own = _Answer(**{**kept, **table})
        return own.answer_form(own.max_tokens)


@dataclass(frozen=True)
class VersionSummary:
    """A prompt version that a study can be judged with."""

    name: str
    in_study: bool
    """Whether it is in the study's folder."""
    hash: str
    constructs: tuple[str, ...]
    source: str


def prompt_version(name: str = PAPER, study_folder: Path | None = None) -> PromptVersion:
    """Return the prompt version of this name.

    Parameters
    ----------
    name
        A version of the package, or a folder in `prompts` of the study.
    study_folder
        The study whose own versions are included.

    Raises
    ------
    StudyError
        The name is unknown, or its files are not valid.

    Examples
    --------
    >>> prompt_version("ccrs-paper-v1").templates["QR"].fields
    ('question', 'response')
    """
    folders = _folders(study_folder)
    if name not in folders:
        hint = nearest(name, folders)
        raise StudyError(
            f"Unknown prompt version {name!r}. {hint} Versions: {', '.join(sorted(folders))}."
            " A study's own are in its folder `prompts`.".replace(".  ", ". ")
        )
    _refuse_clash(name, study_folder)
    version = _read(folders[name])
    return replace(version, construct_names=_construct_names(version, study_folder))


def list_versions(study_folder: Path) -> list[VersionSummary]:
    """Return the prompt versions that a study can be judged with, those of the package first.

    Raises
    ------
    StudyError
        The files of one are not valid.
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
    """Copy a prompt version into a study, to be changed there; return the folder.

    Raises
    ------
    StudyError
        The name is not valid, or exists already.
    """
    refuse_invalid_name(name)
    folders = _folders(study_folder)
    target = study_folder / STUDY_PROMPTS / name
    if name in folders or target.exists():
        raise StudyError(f"The prompt version {name!r} exists already; choose another name.")
    if original not in folders:
        raise StudyError(
            f"Unknown prompt version {original!r}. {nearest(original, folders)}".rstrip()
        )
    copytree(folders[original], target)
    return target


def refuse_invalid_name(name: str) -> None:
    """Raise a `StudyError` unless a prompt version can have this name."""
    if not _NAME.fullmatch(name):
        raise StudyError(
            f"{name!r} is not a valid name of a prompt version: use letters, digits, . - and _, "
            f"such as {PAPER}-mine."
        )


def version_files(folder: Path) -> list[Path]:
    """Return the files that make a prompt version; others in its folder are not read."""
    settings = folder / _SETTINGS
    return [*sorted(folder.glob("*.txt")), *([settings] if settings.exists() else [])]


def _construct_names(version: PromptVersion, study_folder: Path | None) -> tuple[str, ...]:
    """Return the keys of the constructs that are asked for, and their names in study.toml."""
    settings = study_folder and study_folder / "study.toml"
    if not settings or not settings.exists():
        return tuple(version.templates)
    config, _ = read_config(settings)
    names = {construct.key: construct.name for construct in config.constructs}
    asked = dict.fromkeys(text for key in version.templates for text in (key, names.get(key, key)))
    return tuple(asked)


def _folders(study_folder: Path | None) -> dict[str, Path]:
    """Return the folders of all versions by name."""
    folders = {
        path.parent.name: path.parent for path in sorted(PROMPT_VERSIONS.glob(f"*/{_SETTINGS}"))
    }
    if study_folder is None:
        return folders
    for path in sorted((study_folder / STUDY_PROMPTS).glob(f"*/{_SETTINGS}")):
        if _NAME.fullmatch(path.parent.name):
            # The package's version has priority; `_refuse_clash` reports the clash.
            folders.setdefault(path.parent.name, path.parent)
    return folders


def _refuse_clash(name: str, study_folder: Path | None) -> None:
    if study_folder is None:
        return
    folder = study_folder / STUDY_PROMPTS / name
    if (PROMPT_VERSIONS / name).is_dir() and (folder / _SETTINGS).exists():
        raise StudyError(
            f"{folder}: the package has a prompt version of this name. Rename the folder."
        )


def _read(folder: Path) -> PromptVersion:
    settings = _settings(folder / _SETTINGS)
    templates = dict(_templates(folder, settings.line_separator))
    if not templates:
        raise StudyError(
            f"{folder} contains no prompt; write one file for each construct, such as QR.txt."
        )
    without = [key for key in settings.constructs if key not in templates]
    if without:
        raise StudyError(
            f"{folder / _SETTINGS}: constructs.{without[0]} has no prompt; write {without[0]}.txt, "
            "or leave the table out."
        )
    return PromptVersion(
        name=folder.name,
        templates=templates,
        answer=settings.answer_form(),
        answers={key: settings.answer_of(key) for key in settings.constructs},
        **settings.model_dump(include=_OF_VERSION),
    )


def _settings(path: Path) -> _Settings:
    try:
        settings: dict[str, Any] = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from None
    try:
        return _Settings(**settings)
    except ValidationError as error:
        raise StudyError(invalid_settings(path, error, _Settings.model_fields)) from None


def _templates(folder: Path, line_separator: str) -> Iterator[tuple[str, Template]]:
    for path in sorted(folder.glob("*.txt")):
        # The file ends with a line break, the prompt does not.
        lines = _text(path).removesuffix("\n").split("\n")
        template = Template(line_separator.join(lines))
        for name in _BRACED.findall(template.text):
            if name.removesuffix("_mark") not in SHOWN:
                raise StudyError(
                    f"{path}: unknown field {{{name}}}. {nearest(name, SHOWN)} A prompt can show "
                    f"{', '.join(f'{{{field}}}' for field in SHOWN)}.".replace("  ", " ")
                )
        if "response" not in template.fields:
            raise StudyError(f"{path} does not show the judged response: write {{response}} in it.")
        yield path.stem, template


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except IsADirectoryError:
        raise StudyError(f"{path} is a folder, not a file of a prompt; rename it.") from None
    except UnicodeDecodeError:
        raise StudyError(f"{path} is not in UTF-8; save it in UTF-8.") from None
