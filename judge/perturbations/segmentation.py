"""What alterations share: sentences, words, draws that depend on the text alone."""

import re
from hashlib import blake2b
from random import Random

# A full stop, question or exclamation mark (also full-width) ends a sentence before white space.
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
_WORD = re.compile(r"\w+")
_SHORT = 4


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space between them."""
    return [part for part in _END.split(text.strip()) if part]


def content_words(text: str) -> frozenset[str]:
    """Return the words of four characters and more, and numbers, in lower case."""
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word for word in words if len(word) >= _SHORT or word.isdigit())


def drawn_from(*texts: str) -> Random:
    """Return random numbers that depend on these texts alone."""
    digest = blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=8)
    return Random(int.from_bytes(digest.digest(), "big"))  # noqa: S311  (nothing secret)
