"""Documents cut into chunks: whole sentences up to a number of tokens, with overlap."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from judge.metrics.unicode_words import unicode_words
from judge.responding.corpus import CorpusDocument
from study.errors import StudyError
from study.sentences import sentence_ranges

CountTokens = Callable[[str], int]

WORDS = "words"
"""Tokens without a tokenizer of a model: the words of any script, and each other sign."""
_SIGN = re.compile(r"[^\w\s]")


class Tokens(NamedTuple):
    """How tokens are counted."""

    identity: str
    count: CountTokens


class Chunk(NamedTuple):
    """A part of a document."""

    document: str
    number: int
    """Position in the document, from 0."""
    text: str
    """Headed by the document's title, if it has one."""


def tokens_of(name: str) -> Tokens:
    """Return how tokens are counted: `words`, or as the tokenizer of a model does.

    Parameters
    ----------
    name
        `words`, a folder with a model's tokenizer, or a name on the Hugging Face hub.

    Raises
    ------
    StudyError
        transformers is not installed, or there is no such tokenizer.
    """
    if name == WORDS:
        return Tokens(WORDS, lambda text: len(unicode_words(text)) + len(_SIGN.findall(text)))
    from judge.engines.encoders.model_folder import missing_extra, model_folder

    folder = model_folder(name, "--tokenizer")
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise missing_extra("--tokenizer") from None
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder.path)
    except Exception as error:
        # Files of any kind: each fault has its own type.
        raise StudyError(
            f"--tokenizer {name} can't be loaded ({type(error).__name__}). Name the folder of a "
            f"model with its tokenizer, or {WORDS}."
        ) from error
    return Tokens(
        f"{folder.name} sha256:{folder.sha256}",
        lambda text: len(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]),
    )


def chunked(
    documents: Iterable[CorpusDocument], tokens: CountTokens, size: int, overlap: int
) -> list[Chunk]:
    """Cut documents into chunks; see `text_chunks`. The title does not count."""
    chunks = []
    for document in documents:
        title = document.title.strip()
        parts = [document.text[start:end] for start, end in
                 text_chunks(document.text, tokens, size, overlap)]  # fmt: skip
        for number, part in enumerate(parts or [""]):
            text = "\n".join(filter(None, (title, part.strip())))
            chunks.append(Chunk(document.id, number, text))
    return chunks


def text_chunks(text: str, tokens: CountTokens, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return the ranges (in characters) of the chunks of a text, in order.

    A chunk has whole sentences, of together at most `size` tokens; a longer sentence is a chunk
    of its own. It begins with the last sentences of the chunk before it that have together at
    most `overlap` tokens, as far as there is room. Together the chunks are the whole text.

    Examples
    --------
    >>> text_chunks("One two. Three. Four five six.", tokens_of("words").count, 6, 2)
    [(0, 16), (9, 30)]
    """
    pieces = _pieces(text)
    counts = [tokens(text[start:end]) for start, end in pieces]
    ranges = []
    first = new = 0  # the first sentence of the chunk, and the first that no chunk before it has
    while new < len(pieces):
        while first < new and sum(counts[first : new + 1]) > size:
            first += 1
        end, total = new + 1, sum(counts[first : new + 1])
        while end < len(pieces) and total + counts[end] <= size:
            total += counts[end]
            end += 1
        ranges.append((pieces[first][0], pieces[end - 1][1]))
        first = new = end
        while first > 0 and sum(counts[first - 1 : new]) <= overlap:
            first -= 1
    return ranges


def _pieces(text: str) -> Sequence[tuple[int, int]]:
    """Return the sentences, each with the white space up to the next one."""
    starts = [start for start, _ in sentence_ranges(text)]
    if not starts:
        return []
    return list(zip([0, *starts[1:]], [*starts[1:], len(text)], strict=True))
