"""Names from data in a drawing: cut to the room there is, with the full name in the description."""

from __future__ import annotations

from unicodedata import east_asian_width


def shortened(name: str, room: int) -> str:
    """The name in at most `room` characters, cut in the middle: names differ at their ends.

    Wide characters, as of Chinese, count two.
    """
    if _width(name) <= room:
        return name
    end = _fitting(name[::-1], room // 2 - 1)[::-1]
    return f"{_fitting(name, room - 1 - _width(end))}…{end}"


def _fitting(name: str, room: int) -> str:
    """As much of the name's beginning as has room."""
    while _width(name) > room:
        name = name[:-1]
    return name


def _width(name: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in name)
