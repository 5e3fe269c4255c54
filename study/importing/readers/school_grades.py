"""Letters as school grades: A, B, C, D and F, of which A is the best, with or without + and -."""

from collections.abc import Collection, Iterable

_POINTS = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0, "f": 0.0}
_SIGNS = {"+": 0.3, "-": -0.3}
_FURTHER = {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0, "f": 0.0}
# With fewer letters F may be false, or female.
_FEWEST = 3


def grade_number(grade: str) -> float:
    """Return the points of a grade as they are averaged in schools: A 4, B+ 3.3, F 0.

    Raises
    ------
    KeyError
        It is no grade.
    """
    letter, sign = grade[:1].casefold(), grade[1:]
    return round(_POINTS[letter] + (_SIGNS[sign] if sign else 0), 1)


def school_grades(words: Collection[str]) -> dict[str, float] | None:
    """Return the points of folded words that can only be school grades; None for others.

    A, B, C and D alone may also be the answers to a question; an F without E, or a + or - behind a
    letter, is what answers do not have.
    """
    try:
        points = {word: grade_number(word) for word in words}
    except KeyError:
        return None
    letters = {word[0] for word in points}
    signed = any(len(word) > 1 for word in points)
    return points if signed or ("f" in letters and len(letters) >= _FEWEST) else None


def with_plain_letters(grades: Collection[str]) -> tuple[tuple[str, float], ...]:
    """Return these grades and A, B, C, D and F with their points, from the lowest."""
    shown = sorted({*"FDCBA", *(grade.upper() for grade in grades)}, key=grade_number)
    return tuple((grade, grade_number(grade)) for grade in shown)


def likely_grades(words: Iterable[str]) -> dict[str, float]:
    """Return points of letters from A on in case that they are grades; nothing for other words."""
    letters = set(words)
    if len(letters) < _FEWEST or not letters <= _FURTHER.keys():
        return {}
    points = _FURTHER if "e" in letters else _POINTS
    return {letter: points[letter] for letter in letters}
