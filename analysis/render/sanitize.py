"""Somebody else's words on the page: on one line, short, and unable to steer it."""

from __future__ import annotations

import unicodedata

#: Controls, and signs that turn the direction of what follows.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def quoted(text: str, most: int) -> str:
    """The words on one line, what steers text written out, cut after so many characters.

    Examples
    --------
    >>> quoted("It says so\\ntwice.", 80)
    'It says so twice.'
    >>> quoted("It says so twice.", 11)
    'It says so…'
    """
    # A word more than fits is enough to see that more follows, however long the text is.
    line = " ".join(text[: 8 * most].split())
    more = len(text) > 8 * most
    if len(line) > most:
        line, more = line[: most - 1].rstrip(), True
    return "".join(map(_shown, line)) + ("…" if more else "")


def _shown(sign: str) -> str:
    hidden = sign in _TURNING or unicodedata.category(sign) in {"Cc", "Cs"}
    return ascii(sign)[1:-1] if hidden else sign
