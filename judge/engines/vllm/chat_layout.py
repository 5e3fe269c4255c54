"""A prompt as tokens: the model's chat template around it, and what is judged as mere text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from study.errors import StudyError

# Stands for the prompt while the template is applied: private characters, which no template has.
_PROMPT = "\ue000prompt\ue001"
DATE = "26 Jul 2024"
"""The date that templates are told: one that names today would be another prompt each day."""


@dataclass(frozen=True)
class Layout:
    """What stands around a prompt, and how its text becomes tokens."""

    before: tuple[int, ...]
    """Tokens up to the last control token before the prompt."""
    lead: str
    """What the template writes between that and the prompt: a part of the text's tokens."""
    trail: str
    """What it writes between the prompt and the next control token."""
    after: tuple[int, ...]
    hash: str
    """SHA-256 (hexadecimal) of the template as it was applied."""
    tokenizer: Any
    cuts: re.Pattern[str] | None = None
    """Where a text is cut, so that the name of a control token in it stays text."""

    def tokens(self, prompt: str) -> list[int]:
        """Return a prompt as the model gets it. Names of control tokens in it stay text."""
        return [*self.before, *self.text(f"{self.lead}{prompt}{self.trail}"), *self.after]

    def text(self, text: str) -> list[int]:
        """Return the tokens of a text by itself."""
        found: list[int] = []
        for part in _parts(text, self.cuts):
            found += self.tokenizer.encode(
                part, add_special_tokens=False, split_special_tokens=True
            )
        return found

    @property
    def around(self) -> int:
        """Tokens that are not the prompt's, at most."""
        words = len(self.text(self.lead)) + len(self.text(self.trail))
        return len(self.before) + len(self.after) + words


def chat_layout(tokenizer: Any, model: str, template: str | None = None) -> Layout:
    """Return the layout of a model's chat template, or of another `template` (Jinja).

    Raises
    ------
    StudyError
        The model has no chat template, or one that does not show the user's message as it is; or
        its tokenizer takes names of control tokens in a text for control tokens.
    """
    if not (template or getattr(tokenizer, "chat_template", None)):
        raise StudyError(
            f"{model} has no chat template: take a model that was tuned to follow instructions."
        )
    shown = tokenizer.apply_chat_template(
        [{"role": "user", "content": _PROMPT}],
        chat_template=template,
        tokenize=False,
        add_generation_prompt=True,
        date_string=DATE,
        strftime_now=lambda _form: DATE,
    )
    head, there, tail = shown.partition(_PROMPT)
    if not there or _PROMPT in tail:
        raise StudyError(f"The chat template of {model} does not show a message as it is, once.")
    control = _control_tokens(tokenizer)
    control_head, lead = _at_last(head, control)
    trail, control_tail = _at_first(tail, control)
    before = tokenizer.encode(control_head, add_special_tokens=False) if control_head else []
    layout = Layout(
        tuple(_with_one_beginning(tokenizer, before)),
        lead,
        trail,
        tuple(tokenizer.encode(control_tail, add_special_tokens=False)) if control_tail else (),
        sha256(f"{head}\0{tail}".encode()).hexdigest(),
        tokenizer,
        _cuts(tokenizer, control),
    )
    taken = set(layout.text(" ".join(control))) & set(control.values())
    if taken:
        raise StudyError(
            f"The tokenizer of {model} takes {tokenizer.convert_ids_to_tokens(min(taken))} in a "
            "text for a control token, so a response could end the judge's turn. Take another "
            "model."
        )
    return layout


def _control_tokens(tokenizer: Any) -> dict[str, int]:
    """Return the tokens that a text has no spelling for, by name: Llama 3 has 256 of them."""
    return {
        token.content: number
        for number, token in tokenizer.added_tokens_decoder.items()
        # Others are words that a tokenizer was taught later, unless they look like a sign.
        if token.special or (token.content[:1] in {"<", "["} and len(token.content) > 1)
    }


def _cuts(tokenizer: Any, control: dict[str, int]) -> re.Pattern[str] | None:
    """Return what finds the names that the tokenizer takes for control tokens when told not to."""
    taken = [
        name
        for name, number in control.items()
        if len(name) > 1
        and number in tokenizer.encode(name, add_special_tokens=False, split_special_tokens=True)
    ]
    if not taken:
        return None
    return re.compile(f"(?=(?:{'|'.join(map(re.escape, taken))}))")


def _parts(text: str, cuts: re.Pattern[str] | None) -> Iterable[str]:
    """Yield a text cut after the first character of each name: no part holds a whole one."""
    if not text:
        return
    start = 0
    for found in cuts.finditer(text) if cuts else ():
        yield text[start : found.start() + 1]
        start = found.start() + 1
    yield text[start:]


def _at_last(text: str, control: Iterable[str]) -> tuple[str, str]:
    end = max((text.rfind(name) + len(name) for name in control if name in text), default=0)
    return text[:end], text[end:]


def _at_first(text: str, control: Iterable[str]) -> tuple[str, str]:
    start = min((text.find(name) for name in control if name in text), default=len(text))
    return text[:start], text[start:]


def _with_one_beginning(tokenizer: Any, before: list[int]) -> list[int]:
    begin = tokenizer.bos_token_id
    if begin is None:
        return before
    while before[:2] == [begin, begin]:
        before = before[1:]
    # Some templates leave it to the tokenizer, which adds it to a text by default.
    if before[:1] != [begin] and tokenizer.encode("")[:1] == [begin]:
        return [begin, *before]
    return before
