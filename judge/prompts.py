"""Prompt versions: the words put to a judge, as files, with the hash that a run records."""

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal, get_args

from study.errors import StudyError, nearest
from study.scales import Scale
from study.words import Sees

PROMPT_VERSIONS = Path(__file__).parent / "prompt_versions"
PAPER = "ccrs-paper-v1"

Field = Literal["question", "context", "response", "ground_truth"]
SHOWN: dict[Field, Sees] = {
    "question": "question",
    "context": "context",
    "response": "response",
    "ground_truth": "reference",
}
"""A prompt's placeholders, and the field of a response that fills each."""

_PLACEHOLDER = re.compile(r"\{(" + "|".join(get_args(Field)) + r")\}")


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
        """The placeholders in the order of the text."""
        return tuple(dict.fromkeys(self._pieces[1::2]))  # type: ignore[arg-type]

    @cached_property
    def sees(self) -> frozenset[Sees]:
        """The fields of a response that the prompt shows."""
        return frozenset(SHOWN[field] for field in self.fields)

    @cached_property
    def own_bytes(self) -> int:
        """Length in bytes of the words around the placeholders."""
        return len("".join(self._pieces[::2]).encode())

    def fill(self, values: dict[Field, str]) -> str:
        """Return the prompt with its placeholders filled, in one pass.

        A placeholder inside a value, such as "{ground_truth}" in a passage, stays text.
        """
        pieces = list(self._pieces)
        pieces[1::2] = [values[name] for name in pieces[1::2]]  # type: ignore[index]
        return "".join(pieces)


@dataclass(frozen=True)
class PromptVersion:
    """The prompts of a method, with the points of layout that make them a text."""

    name: str
    source: str
    templates: dict[str, Template]
    """Construct key to prompt, in the order of the files' names."""
    scale: Scale
    """The range of points that the prompts ask for."""
    empty_response: float | None
    """Score of a response without text by the prompts' own rule; None: it is asked about."""
    passage_separator: str
    strip_fields: bool
    max_tokens: int
    temperature: float

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hexadecimal) of the words and of every point of layout."""
        content = {
            "templates": {key: template.text for key, template in self.templates.items()},
            "scale": [self.scale.min, self.scale.max],
            "empty_response": self.empty_response,
            "passage_separator": self.passage_separator,
            "strip_fields": self.strip_fields,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        }
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return sha256(text.encode()).hexdigest()

    def trimmed(self, text: str) -> str:
        """Return a field's text as a prompt shows it."""
        return text.strip() if self.strip_fields else text


def prompt_version(name: str = PAPER) -> PromptVersion:
    """Return the prompt version of this name.

    Raises
    ------
    StudyError
        There is none of this name.

    Examples
    --------
    >>> prompt_version("ccrs-paper-v1").templates["QR"].fields
    ('question', 'response')
    """
    known = sorted(path.parent.name for path in PROMPT_VERSIONS.glob("*/version.toml"))
    if name not in known:
        hint = nearest(name, known)
        raise StudyError(
            f"There is no prompt version {name!r}. {hint} Known: {', '.join(known)}.".replace(
                ".  ", ". "
            )
        )
    folder = PROMPT_VERSIONS / name
    settings = tomllib.loads((folder / "version.toml").read_text(encoding="utf-8"))
    templates = {}
    for path in sorted(folder.glob("*.txt")):
        # The file ends with a line break, as files do; the prompt does not.
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        templates[path.stem] = Template(settings["line_separator"].join(lines))
    low, high = settings["scale"]
    return PromptVersion(
        name=name,
        source=settings["source"],
        templates=templates,
        scale=Scale(min=low, max=high),
        empty_response=settings["empty_response"],
        passage_separator=settings["passage_separator"],
        strip_fields=settings["strip_fields"],
        max_tokens=settings["max_tokens"],
        temperature=settings["temperature"],
    )
