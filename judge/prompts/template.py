"""Prompts: their words, how placeholders are filled, and the hash that a run records."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import ValidationError

from judge.prompts.answer_form import AnswerForm
from judge.prompts.answer_schema import AnswerSchema
from study.base.scales import Scale
from study.errors import nearest
from study.types import Sees

PAPER = "ccrs-paper-v1"

Field = Literal["question", "context", "response", "ground_truth"]
SHOWN: dict[Field, Sees] = {
    "question": "question",
    "context": "context",
    "response": "response",
    "ground_truth": "reference",
}
"""A prompt's placeholders, and the field of a response that fills each."""

_MARK = "_mark"
"""`{response_mark}` is the mark of `{response}`: a text that the response cannot contain."""
_MARK_DIGITS = 16
_PLACEHOLDER = re.compile(r"\{((?:" + "|".join(get_args(Field)) + r")(?:_mark)?)\}")


@dataclass(frozen=True)
class Template:
    """The prompt of one construct."""

    text: str

    @cached_property
    def _pieces(self) -> list[str]:
        # Odd positions are names of placeholders.
        return _PLACEHOLDER.split(self.text)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields that the prompt shows, in the order of the text."""
        return tuple(dict.fromkeys(self.shown))

    @cached_property
    def shown(self) -> tuple[Field, ...]:
        """The fields, each as often as the prompt shows it."""
        return tuple(n for n in self._pieces[1::2] if not n.endswith(_MARK))  # type: ignore[misc]

    @cached_property
    def sees(self) -> frozenset[Sees]:
        """The fields of a response that the prompt shows."""
        return frozenset(SHOWN[field] for field in self.fields)

    @cached_property
    def own_bytes(self) -> int:
        """Length in bytes of the text around the fields, including marks."""
        marks = sum(name.endswith(_MARK) for name in self._pieces[1::2])
        return len("".join(self._pieces[::2]).encode()) + marks * _MARK_DIGITS

    def fill(self, values: dict[Field, str]) -> str:
        """Return the prompt with its placeholders filled, in one pass.

        A placeholder inside a value, such as "{ground_truth}" in a passage, stays text. A mark is
        the beginning of its field's SHA-256: no text contains its own.
        """
        return "".join(self.parts(values))

    def parts(self, values: dict[Field, str]) -> list[str]:
        """Return the filled prompt in parts: each field is a separate part."""
        pieces = list(self._pieces)
        pieces[1::2] = [_filling(name, values) for name in pieces[1::2]]
        return pieces


def _filling(name: str, values: dict[Field, str]) -> str:
    field: Field = name.removesuffix(_MARK)  # type: ignore[assignment]
    if field == name:
        return values[field]
    return sha256(values[field].encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_DIGITS]


@dataclass(frozen=True, kw_only=True)
class PromptSet(ABC):
    """The prompts of a metric under one name, as engines and runs know them."""

    name: str
    """Name of the version, which a run records."""
    source: str = ""
    """Where the words come from."""
    metric: str = ""
    """Key of the metric that asks with them; part of a run's identity."""
    system: str = ""
    """System message before each prompt; empty: there is none."""
    structured: bool = False
    """Whether answers follow their schemas wherever the engine or the endpoint can enforce them,
    unless the settings of a run say otherwise."""
    max_tokens: int
    """Limit of an answer's tokens, where a prompt does not set its own."""
    temperature: float
    passage_separator: str
    """Joins the passages of a context."""
    strip_fields: bool
    """Whether white space around the fields of a response is removed."""

    @property
    @abstractmethod
    def texts(self) -> Sequence[str]:
        """The templates, as they are written."""

    @property
    @abstractmethod
    def schemas(self) -> Sequence[AnswerSchema]:
        """The schemas of answers, each once; examples of them where they depend on the response."""

    @property
    def score_scales(self) -> Sequence[Scale]:
        """The scales of scores with which answers begin, each once.

        Engines read the probabilities of scores in such answers only.
        """
        return ()

    @abstractmethod
    def hashed(self) -> dict[str, Any]:
        """Return the words, and the points of layout that not all kinds of prompts have."""

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hexadecimal) of the words and the layout."""
        content = {
            **self.hashed(),
            "passage_separator": self.passage_separator,
            "strip_fields": self.strip_fields,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        }
        if self.system:
            # Left out otherwise, so that it does not change the hash of other versions.
            content["system"] = self.system
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return sha256(text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class PromptVersion(PromptSet):
    """The prompts of CCRS."""

    templates: dict[str, Template]
    """Construct key to prompt, in the order of the files' names."""
    answer: AnswerForm
    """What the prompts ask for."""
    answers: Mapping[str, AnswerForm] = field(default_factory=dict)
    """What the prompts of these constructs ask for instead."""
    construct_names: tuple[str, ...] = ()
    """What a study calls its constructs: labels of scores, as the names of CCRS are."""
    metric: str = "ccrs"

    def hashed(self) -> dict[str, Any]:
        """Return the words, the scale, the score of empty responses, and the form."""
        content: dict[str, Any] = {
            "templates": {key: template.text for key, template in self.templates.items()},
            **self.answer.hashed(),
        }
        if self.answers:
            # Left out where all prompts ask for the same, so that it does not change the hash.
            content["constructs"] = {key: form.hashed() for key, form in self.answers.items()}
        return content

    def answer_of(self, construct: str) -> AnswerForm:
        """Return what the prompt of a construct asks for."""
        return self.answers.get(construct, self.answer)

    @property
    def schemas(self) -> list[AnswerSchema]:
        """The schemas of answers, each once."""
        found = (self.answer_of(key).schema for key in self.templates)
        return list(dict.fromkeys(schema for schema in found if schema is not None))

    @property
    def score_scales(self) -> list[Scale]:
        """The scales of scores with which answers begin, each once."""
        found = (self.answer_of(key).score_scale for key in self.templates)
        return list(dict.fromkeys(scale for scale in found if scale is not None))

    @property
    def texts(self) -> list[str]:
        """The templates, as they are written."""
        return [template.text for template in self.templates.values()]

    def trimmed(self, text: str) -> str:
        """Return a field's text as a prompt shows it."""
        return text.strip() if self.strip_fields else text


def invalid_settings(path: Path, error: ValidationError, names: Iterable[str]) -> str:
    """Return a line for each fault in a TOML file; `names` are the settings that it may contain."""
    lines = []
    for detail in error.errors(include_url=False):
        name = ".".join(str(part) for part in detail["loc"])
        if detail["type"] == "extra_forbidden":
            message = f"unknown setting. {nearest(str(detail['loc'][-1]), names)}".rstrip()
        else:
            message = detail["msg"].removeprefix("Value error, ")
        value = detail["input"]
        is_simple = name and isinstance(value, str | int | float | list)
        shown = f"{name} = {value!r}: " if is_simple else name and f"{name}: "
        lines.append(f"{path}: {shown}{message}")
    return "\n".join(lines)
