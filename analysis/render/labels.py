"""Names and texts from data on the page: shortened to fit, without control characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from unicodedata import east_asian_width


def shortened(name: str, room: float) -> str:
    """The name in the room of so many characters, cut in the middle: names differ at their ends.

    The room is that of average characters; wide ones take more of it.
    """
    if _width(name) <= room:
        return name
    end = _fitting(name[::-1], room // 2 - 1)[::-1]
    return f"{_fitting(name, room - 1 - _width(end))}…{end}"


def distinct_labels(names: Sequence[str], room: float) -> list[str]:
    """The names in that room; those that would be equal are cut before the position they differ at.

    Examples
    --------
    >>> distinct_labels(["reader-0-of-many-pages", "reader-1-of-many-pages"], 12)
    ['read…0-of-ma', 'read…1-of-ma']
    """
    cut = {name: shortened(name, room) for name in names}
    # Of three names two may still be equal where the third differs.
    for _ in names:
        for label in dict.fromkeys(cut.values()):
            alike = [name for name in cut if cut[name] == label]
            if len(alike) > 1:
                cut |= _cut_where_they_differ(alike, room)
    return [cut[name] for name in names]


def _cut_where_they_differ(names: list[str], room: float) -> dict[str, str]:
    differ = (place for place, of in enumerate(zip(*names, strict=False)) if len(set(of)) > 1)
    shared = next(differ, min(map(len, names)))
    lead = _fitting(names[0][:shared], room // 3)
    return {name: f"{lead}…{_fitting(name[shared:], room - 1 - _width(lead))}" for name in names}


def _fitting(name: str, room: float) -> str:
    """As much of the name's beginning as has room."""
    while _width(name) > room:
        name = name[:-1]
    return name


def _width(name: str) -> float:
    """Width in average characters, close to that of common sans-serif fonts."""
    return sum(_width_of(character) for character in name)


def _width_of(character: str) -> float:
    if east_asian_width(character) in "WF":
        return 2
    if character in "MWmw@%":
        return 1.6
    return 1.2 if character.isupper() else 0.6 if character in "fijlrt .,:;'!|()[]" else 1


#: Characters that change the direction of the text after them.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def quoted(text: str, most: int) -> str:
    """The text on one line, control characters escaped, cut after `most` characters.

    Examples
    --------
    >>> quoted("It says so\\ntwice.", 80)
    'It says so twice.'
    >>> quoted("It says so twice.", 11)
    'It says so…'
    """
    # Only the beginning is read, however long the text is.
    line = " ".join(text[: 8 * most].split())
    more = len(text) > 8 * most
    if len(line) > most:
        line, more = line[: most - 1].rstrip(), True
    return "".join(map(_shown, line)) + ("…" if more else "")


def _shown(sign: str) -> str:
    hidden = sign in _TURNING or unicodedata.category(sign) in {"Cc", "Cs"}
    return ascii(sign)[1:-1] if hidden else sign
