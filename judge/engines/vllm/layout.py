"""A prompt as tokens: the model's chat template around it, and what is judged as mere text."""

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
    """The tokens before and after a prompt."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    hash: str
    """SHA-256 (hexadecimal) of the template as it was applied."""
    tokenizer: Any

    def tokens(self, prompt: str) -> list[int]:
        """Return a prompt as the model gets it. Names of control tokens in it stay text."""
        return [*self.before, *self.text(prompt), *self.after]

    def text(self, text: str) -> list[int]:
        """Return the tokens of a text by itself."""
        found: list[int] = self.tokenizer.encode(
            text, add_special_tokens=False, split_special_tokens=True
        )
        return found

    @property
    def around(self) -> int:
        """Tokens that are not the prompt's."""
        return len(self.before) + len(self.after)


def chat_layout(tokenizer: Any, model: str) -> Layout:
    """Return the layout of a model's chat template.

    Raises
    ------
    StudyError
        The model has no chat template, or one that does not show the user's message as it is; or
        its tokenizer takes names of control tokens in a text for control tokens.
    """
    if not getattr(tokenizer, "chat_template", None):
        raise StudyError(
            f"{model} has no chat template: take a model that was tuned to follow instructions."
        )
    shown = tokenizer.apply_chat_template(
        [{"role": "user", "content": _PROMPT}],
        tokenize=False,
        add_generation_prompt=True,
        date_string=DATE,
        strftime_now=lambda _form: DATE,
    )
    head, there, tail = shown.partition(_PROMPT)
    if not there or _PROMPT in tail:
        raise StudyError(f"The chat template of {model} does not show a message as it is, once.")
    before = _with_one_beginning(tokenizer, tokenizer.encode(head, add_special_tokens=False))
    layout = Layout(
        tuple(before),
        tuple(tokenizer.encode(tail, add_special_tokens=False)),
        sha256(f"{head}\0{tail}".encode()).hexdigest(),
        tokenizer,
    )
    named = [name for name in tokenizer.all_special_tokens if name]
    taken = set(layout.text(" ".join(named))) & set(tokenizer.all_special_ids)
    if taken:
        raise StudyError(
            f"The tokenizer of {model} takes {tokenizer.convert_ids_to_tokens(min(taken))} in a "
            "text for a control token, so a response could end the judge's turn. Take another "
            "model."
        )
    return layout


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
