"""Prompts of a metric that asks in steps: one TOML file next to the metric's module.

A file contains the name of the version, its source, and a table for each step:

    name = "faithfulness-v1"
    source = "Es et al. 2023 (arXiv 2309.15217), section 3"

    [steps.statements]
    max_tokens = 400
    prompt = '''
    Question: {question}
    Answer: {answer}
    List the statements of the answer, one a line.'''

    [reasons]
    no_statements = "the response makes no statement"

`{name}` is a field, which the metric fills. Other braces, such as those of JSON, are text.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from judge.prompts.answer_schema import AnswerSchema, labels_schema, list_schema
from judge.prompts.template import PromptSet, invalid_settings
from study.errors import StudyError
from study.types import Key

_FIELD = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class StepTemplate(BaseModel):
    """The prompt of one step."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Limit of an answer's tokens; None: that of the whole set."""

    @field_validator("prompt")
    @classmethod
    def _without_outer_line_breaks(cls, text: str) -> str:
        text = text.strip("\n")
        if not text.strip():
            raise ValueError("is empty")
        return text

    def fields(self) -> tuple[str, ...]:
        """Return the names of the fields, in the order of the text."""
        return tuple(dict.fromkeys(_FIELD.findall(self.prompt)))

    def parts(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """Return the filled prompt in parts: each field is a separate part.

        Fields are filled in one pass: what looks like a field inside a value stays text.

        Raises
        ------
        KeyError
            A field has no value.
        """
        pieces = _FIELD.split(self.prompt)
        pieces[1::2] = [values[name] for name in pieces[1::2]]
        return tuple(pieces)


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Key
    source: str = ""
    system: str = ""
    max_tokens: Annotated[int, Field(ge=1)] = 256
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    passage_separator: str = "\n\n"
    strip_fields: bool = True
    steps: Annotated[dict[Key, StepTemplate], Field(min_length=1)]
    reasons: dict[Key, str] = {}


@dataclass(frozen=True, kw_only=True)
class StepPrompts(PromptSet):
    """The prompts of a metric by step. The metric sets its own key."""

    steps: Mapping[str, StepTemplate]
    reasons: Mapping[str, str]
    """Meaning of the metric's own missing reasons; not part of the hash."""

    def hashed(self) -> dict[str, Any]:
        """Return the words and limits of the steps."""
        return {"steps": {key: step.model_dump() for key, step in self.steps.items()}}

    @property
    def schemas(self) -> tuple[AnswerSchema, ...]:
        """Examples: the numbers of items and their labels depend on the response."""
        return labels_schema(2, ("no", "yes")), list_schema("items")

    @property
    def texts(self) -> Sequence[str]:
        """The templates, as they are written."""
        return [step.prompt for step in self.steps.values()]


def step_prompts(module: str) -> StepPrompts:
    """Return the prompts in the TOML file next to a module.

    Parameters
    ----------
    module
        `__file__` of the metric's module: `faithfulness.py` has its prompts in
        `faithfulness.toml`.

    Raises
    ------
    StudyError
        The file is missing or not valid; the message names the place.
    """
    path = Path(module).with_suffix(".toml")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StudyError(f"{path}: the prompts of {module} can't be read: {error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not valid TOML in UTF-8: {error}") from None
    try:
        file = _File.model_validate(content)
    except ValidationError as error:
        names = {*_File.model_fields, *StepTemplate.model_fields}
        raise StudyError(invalid_settings(path, error, names)) from None
    return StepPrompts(**{name: getattr(file, name) for name in _File.model_fields})
