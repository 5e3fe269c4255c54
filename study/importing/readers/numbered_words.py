"""Words that bring their number along: "4 - good", "4: good", "good (4)", "4 stars", ★★★★☆."""

import re
from collections.abc import Iterable

# A number, a sign, and a name that begins with a letter.
_NUMBER_FIRST = re.compile(
    r"\(?(?P<number>[+-]?\d{1,3})\)?\s*(?:[-–—:=).|]\s*|\s?\(|(?<=\))\s*)"
    r"(?P<name>[^\W\d].*?)\)?",
    re.DOTALL,
)
_NUMBER_LAST = re.compile(
    r"(?P<name>[^\W\d].*?)\s*(?:\(\s*(?P<number>[+-]?\d{1,3})\s*\)|(?:\s[-–—]\s|[:=]\s*)(?P<last>\d{1,3}))",
    re.DOTALL,
)
_STARS_IN_WORDS = re.compile(
    r"(?P<number>\d{1,2})[\s-]*(?:stars?|sterne?|étoiles?|estrellas?|estrelas?|stelle?|stella|⭐|★)",
    re.IGNORECASE,
)
_STARS = re.compile(r"(?:[⭐🌟★][\ufe0f\s]*)*(?:[☆✩][\ufe0f\s]*)*")
_FULL_STAR = re.compile("[⭐🌟★]")

#: More points are no scale that people read as words.
MOST_POINTS = 11
# A longer text is a remark.
_LONG = 60


def numbers_in(words: Iterable[str]) -> dict[str, float] | None:
    """Return the number in each of these words; None where one has none, or they contradict.

    One number has one name, and one name one number, apart from capital letters; stars are counted.
    """
    found: dict[str, float] = {}
    name_of: dict[float, str] = {}
    number_of: dict[str, float] = {}
    for word in words:
        parts = _stars(word) or _named(word)
        if parts is None:
            return None
        number, name = parts
        if name and (
            name_of.setdefault(number, name) != name or number_of.setdefault(name, number) != number
        ):
            return None
        found[word] = number
    return found if found and len(set(found.values())) <= MOST_POINTS else None


def _stars(word: str) -> tuple[float, str] | None:
    text = word.strip()
    if match := _STARS_IN_WORDS.fullmatch(text):
        return float(match["number"]), ""
    if text and _STARS.fullmatch(text):
        return float(len(_FULL_STAR.findall(text))), ""
    return None


def _named(word: str) -> tuple[float, str] | None:
    text = word.strip()
    if len(text) > _LONG:
        return None
    if match := _NUMBER_FIRST.fullmatch(text):
        return float(match["number"]), _name(match["name"])
    if match := _NUMBER_LAST.fullmatch(text):
        return float(match["number"] or match["last"]), _name(match["name"])
    return None


def _name(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!)")
