"""Names from data in a drawing: cut to the room there is, with the full name in the description."""

from __future__ import annotations

from unicodedata import east_asian_width


def shortened(name: str, room: float) -> str:
    """The name in the room of so many characters, cut in the middle: names differ at their ends.

    The room is that of average characters; wide ones take more of it.
    """
    if _width(name) <= room:
        return name
    end = _fitting(name[::-1], room // 2 - 1)[::-1]
    return f"{_fitting(name, room - 1 - _width(end))}…{end}"


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
