"""A text as tokens, line by line where a tokenizer allows it: lines that prompts share are encoded
once.

The passages of a context are a part of up to five prompts for each response. To encode 5,000 tokens
takes some 9 ms; to look up the lines of such a prompt takes 0.1 ms.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

_MOST_CHARACTERS = 20_000_000
"""Of the lines that are remembered, with some 5 million tokens: about 200 MB."""
_LINE_ENDS = ("\n", "Ċ")
"""How vocabularies write the end of a line: as it is, or as byte-level ones do."""
_BLANK = frozenset(" \t\r\n\u2581ĠĊĉč")
"""White space, in both ways."""
_AFTER_LINE_END = re.compile(r"(?<=\n)(?=[^\W_])")
"""Between the end of a line and a letter or a digit."""
_ENDINGS = (
    "word.",
    "word",
    "7",
    "12",
    ")",
    "]",
    '"',
    "- ",
    "é",
    "中",
    "…",
    "x\n",
    "x \n",
    "\r",
    "",
)
_STARTS = ("A", "a", "The x", "7", "123", "1) ", "é", "Ä", "中文", "ก", "I'm")


@dataclass
class TextEncoder:
    """Encodes judged text, in which the names of control tokens stay text."""

    tokenizer: Any
    cuts: re.Pattern[str] | None = None
    """Matches where a text is cut, so that the name of a control token in it stays text."""
    by_line: bool = field(init=False)
    """Whether lines encoded one by one are the tokens of the whole."""
    _lines: OrderedDict[str, list[int]] = field(init=False, default_factory=OrderedDict)
    _size: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.by_line = _lines_are_separate(self)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the remembered lines out: another process meets other texts."""
        return {**self.__dict__, "_lines": OrderedDict(), "_size": 0}

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text by itself."""
        if not self.by_line:
            return self._whole(text)
        tokens: list[int] = []
        for line in _AFTER_LINE_END.split(text):
            tokens += self._line(line)
        return tokens

    def _line(self, line: str) -> list[int]:
        known = self._lines.get(line)
        if known is not None:
            self._lines.move_to_end(line)
            return known
        tokens = self._lines[line] = self._whole(line)
        self._size += len(line)
        while self._size > _MOST_CHARACTERS:
            self._size -= len(self._lines.popitem(last=False)[0])
        return tokens

    def _whole(self, text: str) -> list[int]:
        tokens: list[int] = []
        for part in _parts(text, self.cuts):
            tokens += self.tokenizer.encode(
                part, add_special_tokens=False, split_special_tokens=True
            )
        return tokens


def _lines_are_separate(encoder: TextEncoder) -> bool:
    """Tell whether the tokens of a text are those of its lines, one after the other.

    No merge crosses the end of a line if no token of the vocabulary goes on after one. What a
    tokenizer adds or removes at the beginning of a text is seen by trying.
    """
    vocabulary = getattr(encoder.tokenizer, "get_vocab", None)
    if vocabulary is None or any(map(_goes_on_after_line_end, vocabulary())):
        return False
    tried = [f"{end}\n{start}" for end, start in product(_ENDINGS, _STARTS)]
    return all(_same_by_line(encoder, text) for text in [*tried, " so\n".join(tried)])


def _goes_on_after_line_end(token: str) -> bool:
    for line_end in _LINE_ENDS:
        start = token.find(line_end)
        if start >= 0 and not _BLANK.issuperset(token[start:]):
            return True
    return False


def _same_by_line(encoder: TextEncoder, text: str) -> bool:
    lines: Sequence[str] = _AFTER_LINE_END.split(text)
    whole = encoder._whole(text)
    return whole == [token for line in lines for token in encoder._whole(line)]


def _parts(text: str, cuts: re.Pattern[str] | None) -> Iterable[str]:
    """Yield a text cut after the first character of each name, so no part contains a whole one."""
    if not text:
        return
    start = 0
    for match in cuts.finditer(text) if cuts else ():
        yield text[start : match.start() + 1]
        start = match.start() + 1
    yield text[start:]
