"""A prompt as tokens: the model's chat template around it, and judged text always as text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from jinja2 import TemplateError

from judge.engines.vllm.text_encoding import TextEncoder
from judge.protocol.exchange import chat_messages
from study.errors import StudyError

# Replaces the prompt while the template is applied: private characters, which no template has.
_PROMPT = "\ue000prompt\ue001"
DATE = "26 Jul 2024"
"""The date that templates receive: with the current date, prompts would differ from day to day."""


@dataclass(frozen=True)
class ChatLayout:
    """What surrounds a prompt, and how its text becomes tokens."""

    before: tuple[int, ...]
    """Tokens up to the last control token before the prompt."""
    lead: str
    """What the template writes between these and the prompt; encoded together with the text."""
    trail: str
    """What it writes between the prompt and the next control token."""
    after: tuple[int, ...]
    """Tokens from that control token on."""
    hash: str
    """SHA-256 (hexadecimal) of the applied template."""
    encoder: TextEncoder

    def tokens(self, prompt: str) -> list[int]:
        """Return the tokens of a prompt. Names of control tokens in it stay text."""
        return [*self.before, *self.text(f"{self.lead}{prompt}{self.trail}"), *self.after]

    def text(self, text: str) -> list[int]:
        """Return the tokens of a text by itself."""
        return self.encoder.tokens(text)

    def answer_text(self, tokens: Sequence[int]) -> str:
        """Return the text of an answer's tokens, without control tokens."""
        decoded = self.encoder.tokenizer.decode(
            tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return str(decoded)

    @property
    def around(self) -> int:
        """Upper bound of the tokens around a prompt."""
        text = len(self.text(self.lead)) + len(self.text(self.trail))
        return len(self.before) + len(self.after) + text


def chat_layout(
    tokenizer: Any, model: str, template: str | None = None, system: str = ""
) -> ChatLayout:
    """Return the layout of a model's chat template, or of another `template` (Jinja).

    A `system` message, which is not judged text, comes before each prompt.

    Raises
    ------
    StudyError
        The model has no chat template, or one that changes the user's message; or its tokenizer
        encodes names of control tokens in a text as control tokens.
    """
    if not (template or getattr(tokenizer, "chat_template", None)):
        raise StudyError(
            f"{model} has no chat template: use a model that was tuned to follow instructions."
        )
    try:
        applied = tokenizer.apply_chat_template(
            chat_messages(_PROMPT, system),
            chat_template=template,
            tokenize=False,
            add_generation_prompt=True,
            date_string=DATE,
            strftime_now=lambda _form: DATE,
        )
    except TemplateError as error:
        raise StudyError(f"The chat template of {model} can't be applied: {error}") from error
    if system and system.strip() not in applied:
        raise StudyError(
            f"The chat template of {model} leaves out the system message of the prompt version. "
            "Use prompts without one."
        )
    head, prompt, tail = applied.partition(_PROMPT)
    if not prompt or _PROMPT in tail:
        raise StudyError(f"The chat template of {model} does not show a message unchanged, once.")
    control = _control_tokens(tokenizer)
    control_head, lead = _split_after_last(head, control)
    trail, control_tail = _split_before_first(tail, control)
    before = tokenizer.encode(control_head, add_special_tokens=False) if control_head else []
    layout = ChatLayout(
        tuple(_with_one_bos(tokenizer, before)),
        lead,
        trail,
        tuple(tokenizer.encode(control_tail, add_special_tokens=False)) if control_tail else (),
        sha256(f"{head}\0{tail}".encode()).hexdigest(),
        TextEncoder(tokenizer, _cut_pattern(tokenizer, control)),
    )
    encoded = set(layout.text(" ".join(control))) & set(control.values())
    if encoded:
        raise StudyError(
            f"The tokenizer of {model} encodes {tokenizer.convert_ids_to_tokens(min(encoded))} in "
            "a text as a control token, so a response could end the judge's turn. Use another "
            "model."
        )
    return layout


def _control_tokens(tokenizer: Any) -> dict[str, int]:
    """Return the control tokens by name: Llama 3 has 256 of them."""
    return {
        token.content: number
        for number, token in tokenizer.added_tokens_decoder.items()
        # Other added tokens are words, unless they look like a control token.
        if token.special or (token.content[:1] in {"<", "["} and len(token.content) > 1)
    }


def _cut_pattern(tokenizer: Any, control: dict[str, int]) -> re.Pattern[str] | None:
    """Match the names that the tokenizer encodes as control tokens even where it should not."""
    names = [
        name
        for name, number in control.items()
        if len(name) > 1
        and number in tokenizer.encode(name, add_special_tokens=False, split_special_tokens=True)
    ]
    return re.compile(f"(?=(?:{'|'.join(map(re.escape, names))}))") if names else None


def _split_after_last(text: str, control: Iterable[str]) -> tuple[str, str]:
    end = max((text.rfind(name) + len(name) for name in control if name in text), default=0)
    return text[:end], text[end:]


def _split_before_first(text: str, control: Iterable[str]) -> tuple[str, str]:
    start = min((text.find(name) for name in control if name in text), default=len(text))
    return text[:start], text[start:]


def _with_one_bos(tokenizer: Any, before: list[int]) -> list[int]:
    """Return the tokens with a single token for the beginning of the sequence, if there is one."""
    bos = tokenizer.bos_token_id
    if bos is None:
        return before
    while before[:2] == [bos, bos]:
        before = before[1:]
    # Some templates leave it to the tokenizer, which adds it to a text by default.
    if before[:1] != [bos] and tokenizer.encode("")[:1] == [bos]:
        return [bos, *before]
    return before
