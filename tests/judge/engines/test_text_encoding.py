"""Texts encoded line by line: only where this gives the tokens of the whole, and once a line."""

import pickle
import re
from dataclasses import dataclass, field

import pytest

from judge.engines.vllm.text_encoding import TextEncoder

CONTEXT = "\n\n".join(f"Passage {number} says that it is so." for number in range(20))


@dataclass
class Tokenizer:
    """A stand-in: a token for each word or character, and what else tokenizers do."""

    vocabulary: tuple[str, ...] = ("a", "Ċ", "ĊĊ", "\n \n")
    prefix: int | None = None
    """Token before any text, as of SentencePiece."""
    joins_ends: bool = False
    """Whether line ends at the end of a text are one token, and two elsewhere, as of GPT-2."""
    asked: list[str] = field(default_factory=list)

    def get_vocab(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(self.vocabulary)}

    def encode(
        self, text: str, *, add_special_tokens: bool, split_special_tokens: bool
    ) -> list[int]:
        assert not add_special_tokens
        assert split_special_tokens
        self.asked.append(text)
        if self.joins_ends:
            text = re.sub(r"\n+$", "\r", text)
        words = re.findall(r"\w+|\W", text)
        tokens = [sum(map(ord, word)) * 31 + len(word) for word in words]
        return tokens if self.prefix is None else [self.prefix, *tokens]


def test_lines_that_prompts_share_are_encoded_once() -> None:
    tokenizer = Tokenizer()
    encoder = TextEncoder(tokenizer)
    assert encoder.by_line
    prompts = [f"Question {n}?\n\n{CONTEXT}\n\nAnswer: {n}.\nA score:" for n in range(5)]
    whole = [encoder._whole(prompt) for prompt in prompts]
    tokenizer.asked.clear()
    assert [encoder.tokens(prompt) for prompt in prompts] == whole
    # Twenty passages and the last line once; question and answer of each prompt.
    assert len(tokenizer.asked) == 20 + 1 + 2 * 5
    encoder.tokens(prompts[0])
    assert len(tokenizer.asked) == 31


@pytest.mark.parametrize(
    "tokenizer",
    [
        Tokenizer(prefix=1),
        Tokenizer(joins_ends=True),
        Tokenizer(vocabulary=("a", "ĊA")),
        Tokenizer(vocabulary=("a", ".\nThe")),
    ],
    ids=["adds to the beginning", "joins ends", "goes on, byte level", "goes on"],
)
def test_a_text_is_encoded_whole_where_its_lines_would_give_other_tokens(
    tokenizer: Tokenizer,
) -> None:
    encoder = TextEncoder(tokenizer)
    assert not encoder.by_line
    assert encoder.tokens(CONTEXT) == encoder._whole(CONTEXT)


def test_names_of_control_tokens_are_cut_in_lines_as_in_the_whole() -> None:
    encoder = TextEncoder(Tokenizer(), re.compile("(?=<end>)"))
    text = f"{CONTEXT}\n<end> It ends<end>\nSo <end"
    assert encoder.tokens(text) == encoder._whole(text)


def test_what_is_remembered_is_bounded_and_stays_in_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("judge.engines.vllm.text_encoding._MOST_CHARACTERS", 100)
    encoder = TextEncoder(Tokenizer())
    whole = encoder._whole(CONTEXT)
    assert encoder.tokens(CONTEXT) == whole == encoder.tokens(CONTEXT)
    assert sum(map(len, encoder._lines)) <= 100
    sent = pickle.loads(pickle.dumps(encoder))
    assert sent.by_line
    assert not sent._lines
    assert sent.tokens(CONTEXT) == whole
