"""Words of a text in any script."""

from functools import lru_cache
from unicodedata import category, normalize

_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),  # Chinese characters, here and in the next three ranges
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
"""Scripts without blanks between words: each of their characters is a token."""


class _Spacing(dict[int, str]):
    """Replacement of each character, for `str.translate`: a blank unless it is part of a token."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        # Letters, numbers and combining marks; a mark is part of the word around it.
        kept = char if category(char)[0] in "LNM" else " "
        if kept != " " and any(first <= code <= last for first, last in _UNSPACED):
            kept = f" {char} "
        self[code] = kept
        return kept


_SPACING = _Spacing()


# A context is shared by responses that follow each other; more would hold many long texts.
@lru_cache(maxsize=64)
def unicode_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in any script, in lower case and without punctuation.

    A word is a run of letters, digits and combining marks after Unicode normalization (NFKC) and
    case folding; each character of Chinese, Japanese, Thai and the other scripts without blanks is
    a word. On ASCII text these are the tokens of the package rouge-score.

    Examples
    --------
    >>> unicode_words("Straße, 12 km: 東京")
    ('strasse', '12', 'km', '東', '京')
    """
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return tuple(folded.translate(_SPACING).split())
