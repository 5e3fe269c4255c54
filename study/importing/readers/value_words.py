"""Words as values: well-known words for judgments, and words that mean a missing one.

Words are compared without regard to capital letters, spaces, hyphens, underscores, apostrophes,
full stops, and the variants of emoji. Two-valued words are 1 and 0; three or more in an order are
0, 1, 2 and so on from the lowest. The exception are the letters of Inspect, which are C 1, P 0.5,
I 0 and N (no answer) 0, as Inspect itself counts them.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise

from study.importing.readers.cells import NO_VALUE, looks_like_number
from study.importing.readers.known_words import (
    WORDS_BY_VALUE,
    WORDS_FOR_MISSING,
    likely_grades,
    numbers_in,
    school_grades,
    with_plain_letters,
)
from study.text import quoted_names, shell_word

# What a cell may hold alone in place of a value.
_SIGNS_FOR_MISSING = {"-", "--", "---", "–", "—", "?", "??", "???", ".", "...", "…", "*", "/", "🤷"}

NONE = "none"
"""A word for missing, unless it is a level or a category among the other words."""

# Spaces, separators, quotes and apostrophes, colons around names of emoji; joiners, variation
# selectors, skin tones and genders of emoji.
_IGNORED = re.compile("[\\s_\\-‐‑–—'’‘`´\":\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff♀♂]+")


# A- is another grade than A.
_GRADE = re.compile(r"[^\W\d_]\s?[-–−+]")


@lru_cache(maxsize=4096)
def folded_word(word: str) -> str:
    """Return a word as it is compared; a sign alone, such as + or -, stays as it is."""
    text = unicodedata.normalize("NFC", word).strip().casefold()
    if _GRADE.fullmatch(text):
        return text[0] + ("+" if text[-1] == "+" else "-")
    return _IGNORED.sub("", text).rstrip(".!") or text


def is_missing(cell: object) -> bool:
    """Whether a cell has a word that says that there is no judgment, such as unsure or n/a."""
    return isinstance(cell, str) and (
        cell.strip() in _SIGNS_FOR_MISSING or folded_word(cell) in _missing()
    )


@dataclass(frozen=True)
class Vocabulary:
    """Words of one scale with their numbers."""

    words: tuple[tuple[str, float], ...]
    """A word for each value as it is shown, from the lowest value."""
    numbers: Mapping[str, float]
    """By folded word."""
    missing: frozenset[str] = frozenset()
    """Folded words that are declared to mean a missing value."""
    nominal: bool = False
    """Whether the words are names without an order."""
    declared: bool = False
    numbered: bool = False
    """Whether the words have their numbers in them, such as 4 - good; the scale is then one of
    numbers."""
    graded: bool = False
    """Whether the words are the letters of school grades, of which A is the best."""
    none: str | None = None
    """How none is written where it is a level or a category; written otherwise it is missing."""
    used: tuple[tuple[str, float], ...] = ()
    """The words of the table for which it was chosen, with their numbers."""

    @property
    def two_valued(self) -> bool:
        """Whether the words are 1 and 0."""
        return not self.nominal and {number for _, number in self.words} == {0, 1}

    @property
    def range(self) -> tuple[float, float, float | None] | None:
        """Lowest and highest value, and the distance of values where all have the same one.

        None for fewer than two values, and for numbers in words, whose scale may have more points.
        """
        if self.numbered:
            return None
        numbers = sorted({number for _, number in self.words})
        if len(numbers) < 2:
            return None
        steps = {round(above - below, 9) for below, above in pairwise(numbers)}
        return numbers[0], numbers[-1], steps.pop() if len(steps) == 1 else None

    def value(self, word: str) -> float | None:
        """Return the number of a word; None for another word and for a missing value."""
        key = folded_word(word)
        if key == NONE and not self.declared and _capitals(word) != _capitals(self.none or ""):
            return None
        return self.numbers.get(key)

    def knows(self, word: str) -> bool:
        """Whether a word is one of these, or means a missing value."""
        key = folded_word(word)
        return key in self.numbers or key in self.missing or is_missing(word)

    def names(self) -> dict[float, str]:
        """Return a word for each number from the lowest: the table's own where it has one."""
        own = {number: word for word, number in reversed(self.used)}
        return dict(sorted(({number: word for word, number in self.words} | own).items()))

    @property
    def label(self) -> str:
        """The words from the highest value to the lowest: 'good, ok and bad'."""
        words = [word for word, _ in reversed(self.words)]
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

    def __str__(self) -> str:
        """Say what is read as what: 'good read as 2, ok as 1 and bad as 0'.

        The words of the table are named where these are known.
        """
        pairs = list(self.used or self.words)
        pairs.sort(key=lambda pair: pair[1] if self.nominal else -pair[1])
        parts = [
            f"{word} {'read ' if position == 0 else ''}as {number:g}"
            for position, (word, number) in enumerate(pairs)
        ]
        return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def vocabulary_of(
    words: Iterable[str], declared: Mapping[str, float | None] | None = None
) -> Vocabulary | None:
    """Return the vocabulary that contains all of these words, apart from those for missing.

    The one with the fewest values is returned, or one of the numbers that the words have in them,
    such as 4 - good; None where there is neither or where no word has a value. `declared` is by
    word as `declared_values` returns it; None is missing. Where a word is declared, all others with
    a value are too; or they are known as 1 and 0, and the declared numbers are from 0 to 1.
    """
    declared = words_alone(declared or {})
    words = list(words)
    found: dict[str, str] = {}
    for word in words:
        found.setdefault(folded_word(word), word.strip())
    numbers = {folded_word(word): n for word, n in declared.items() if n is not None}
    missing = frozenset(folded_word(word) for word, n in declared.items() if n is None)
    present = {
        key: word
        for key, word in found.items()
        if key not in missing
        and (key in numbers or not is_missing(word) or (key == "-" and "+" in found))
    }
    none = None
    if NONE not in missing and NONE not in numbers and _fitting({*present, NONE}):
        none = _none_among(words)
    if none is not None:
        present[NONE] = none
    others = present.keys() - numbers.keys()
    known = _fitting(others) if others else None
    if present.keys() & numbers.keys():
        if others and not (
            known and known.two_valued and all(0 <= n <= 1 for n in numbers.values())
        ):
            return None
        shown = {number: word.strip() for word, number in declared.items() if number is not None}
        if known:
            shown |= {number: word for word, number in known.words if number not in shown}
            numbers = dict(known.numbers) | numbers
        in_order = tuple((word, number) for number, word in sorted(shown.items()))
        chosen = Vocabulary(in_order, numbers, missing, declared=True)
    elif known is not None:
        chosen = replace(known, missing=missing, none=none)
    elif (grades := school_grades(present)) is not None:
        chosen = Vocabulary(with_plain_letters(grades), grades, missing, graded=True)
    elif (word_numbers := numbers_in(present.values())) is not None:
        chosen = Vocabulary(
            tuple(sorted(word_numbers.items(), key=lambda pair: pair[1])),
            {key: word_numbers[word] for key, word in present.items()},
            missing,
            numbered=True,
        )
    else:
        return None
    used = tuple((word, chosen.numbers[key]) for key, word in present.items())
    return replace(chosen, used=used)


def _fitting(keys: Collection[str]) -> Vocabulary | None:
    """Return the shortest known vocabulary that has all of these folded words."""
    fitting = [known for known in _known() if all(key in known.numbers for key in keys)]
    return min(fitting, key=lambda known: len(known.words)) if fitting else None


#: So many different words at most are names of categories.
MOST_CATEGORIES = 10


def categories_of(
    columns: Collection[Mapping[str, int]], most: int = MOST_CATEGORIES
) -> Vocabulary | None:
    """Return the words of columns as names without an order: 0, 1, 2 and so on, sorted.

    `columns` are those of judges and raters on a construct: for each word how often it occurs. They
    are categories where each column shares a word with another one, and where they are few and
    repeated, unlike comments.
    """
    counts: dict[str, int] = {}
    first: dict[str, str] = {}
    folded = []
    none = _none_among([word for column in columns for word in column])
    for column in columns:
        column_words = set()
        for word, count in column.items():
            key = folded_word(word)
            if not is_missing(word) or (
                key == NONE and none is not None and _capitals(word) == _capitals(none)
            ):
                column_words.add(key)
                counts[key] = counts.get(key, 0) + count
                first.setdefault(key, word.strip())
        folded.append(column_words)
    if len(folded) < 2 or not 2 <= len(counts) <= most or sum(counts.values()) < 2 * len(counts):
        return None
    for number, words in enumerate(folded):
        others = set().union(*folded[:number], *folded[number + 1 :])
        if words and not words & others:
            return None
    shown = tuple((first[key], float(code)) for code, key in enumerate(sorted(counts)))
    return Vocabulary(shown, {folded_word(word): n for word, n in shown}, nominal=True, none=none)


def _none_among(words: Iterable[str]) -> str | None:
    """Return none as it is written where the other words are written so too, in capitals or not."""
    words = list(words)
    others = {_capitals(word) for word in words if not is_missing(word)}
    written = [word.strip() for word in words if folded_word(word) == NONE]
    return next((word for word in written if others == {_capitals(word)}), None)


def _capitals(word: str) -> tuple[bool, bool]:
    word = word.strip()
    return word[:1].isupper(), word.isupper()


# The words may contain commas and signs of equality.
_PAIR = re.compile(r"(.+?)=([^=,]*)(?:,|$)", re.DOTALL)


def declared_values(texts: Iterable[str]) -> dict[str, float | None]:
    """Read `good=2,ok=1,bad=0,unsure=` as numbers by word; a word without a number is missing.

    So is a number that has none, such as `-1=,99=`.

    Raises
    ------
    ValueError
        A part is not WORD=NUMBER, a number is given another one, a word is there twice, a number
        is not finite.
    """
    pairs: list[tuple[str, float | None]] = []
    for text in texts:
        place = 0
        while place < len(text):
            match = _PAIR.match(text, place)
            if match is None or not match[1].strip():
                raise ValueError(
                    f"{text[place:]!r} is not WORD=NUMBER; write good=2,ok=1,bad=0, and WORD= for "
                    "a word that means a missing value"
                )
            number = match[2].strip()
            try:
                pairs.append((match[1], float(number) if number else None))
            except ValueError:
                raise ValueError(
                    f"{number!r} is not a number; write {match[1].strip()}=1, for example"
                ) from None
            place = match.end()
    return checked_values(pairs)


def checked_values(pairs: Iterable[tuple[str, float | None]]) -> dict[str, float | None]:
    """Return the numbers of declared words by word; None is missing.

    A number can be declared to be missing.

    Raises
    ------
    ValueError
        A word is blank or there twice, a number is not finite, or one is given another number.
    """
    declared: dict[str, float | None] = {}
    keys: dict[str | float, str] = {}
    for written, number in pairs:
        word = str(written).strip()
        own = _as_number(word)
        earlier = keys.setdefault(folded_word(word) if own is None else own, word)
        if not word:
            raise ValueError("a word is blank; blank cells are missing values in any case")
        if number is not None and (own is not None or word.isdigit()):
            raise ValueError(
                f"{word!r} is a number, which is read as it is; only a word is given a number, and "
                f"{word}= without one makes {word} a missing value"
            )
        if word in declared or earlier != word:
            raise ValueError(f"{word!r} is declared twice; keep one of them")
        if number is not None and not abs(number) < float("inf"):
            raise ValueError(f"{number:g} of {word!r} is not a finite number; correct it")
        declared[word] = number
    return declared


def _as_number(word: str) -> float | None:
    return float(word.replace(",", ".")) if looks_like_number(word) else None


def missing_numbers(declared: Mapping[str, float | None]) -> frozenset[float]:
    """Return the numbers that are declared to mean a missing value, such as 99."""
    numbers = (_as_number(word) for word, number in declared.items() if number is None)
    return frozenset(number for number in numbers if number is not None)


def words_alone(declared: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return what is declared about words, without numbers that are missing values."""
    return {word: number for word, number in declared.items() if _as_number(word) is None}


def unused_values(
    declared: Mapping[str, float | None], words: Iterable[str], numbers: Iterable[float] = ()
) -> str | None:
    """Return what is wrong where none of the declared words occurs; None where one does.

    `numbers` are those that occur of the ones declared to be missing: each must.
    """
    absent = sorted(missing_numbers(declared).difference(numbers))
    if absent:
        listed = " and ".join(f"{number:g}" for number in absent)
        return f"no column of scores has the number {listed}, which is declared to be missing."
    declared = words_alone(declared)
    found = {folded_word(word): word for word in words}
    if not declared or any(folded_word(word) in found for word in declared):
        return None
    listed = quoted_names(list(found.values())[:MOST_CATEGORIES]) if found else "none"
    return (
        f"no column of scores has a word that is given a number ({quoted_names(declared)}); the "
        f"words there are: {listed}."
    )


def best_of(words: Iterable[str]) -> Vocabulary | None:
    """Return the known vocabulary that has the most of these words; None if none has any."""
    keys = {folded_word(word) for word in words if not is_missing(word)}
    best = max(_by_length(), key=lambda known: sum(key in known.numbers for key in keys))
    return best if any(key in best.numbers for key in keys) else None


Declaration = Callable[[Iterable[str], Mapping[str, float | None] | None], str]
"""Writes how numbers of words are declared: from the words, and those declared already."""


def numbers_to_declare(
    words: Iterable[str], declared: Mapping[str, float | None] | None = None
) -> dict[str, str]:
    """Return the number of each word as it is written: known, empty for missing, or NUMBER."""
    numbers = {word: "" if n is None else f"{n:g}" for word, n in (declared or {}).items()}
    keys = {folded_word(word) for word in numbers}
    once: dict[str, str] = {}
    for word in words:
        key = folded_word(word)
        if key not in keys and (key == NONE or not is_missing(word)):
            once.setdefault(folded_word(word), word.strip())
    others = list(once.values())
    best = None if words_alone(declared or {}) else best_of(others)
    if best is not None and 2 * sum(best.value(word) is not None for word in others) < len(others):
        best = None  # an accident, as that F of A to F is that of T and F
    letters = likely_grades(map(folded_word, others)) if best is None else {}
    for word in others:
        number = best.value(word) if best else letters.get(folded_word(word))
        numbers[word] = "NUMBER" if number is None else f"{number:g}"
    return numbers


def as_option(words: Iterable[str], declared: Mapping[str, float | None] | None = None) -> str:
    """Return `--values good=1,bad=0,further=NUMBER`, quoted for a shell."""
    pairs = numbers_to_declare(words, declared) or {"WORD": "NUMBER"}
    return f"--values {shell_word(','.join(f'{word}={n}' for word, n in pairs.items()))}"


# As the first word of a name, one of these says that it is more or less of something.
_DEGREES = {
    *("very", "highly", "extremely", "quite", "rather", "somewhat", "slightly", "partially"),
    *("partly", "fully", "completely", "mostly", "strongly", "sehr", "extrem", "eher", "ziemlich"),
    *("etwas", "kaum", "teilweise", "überwiegend", "völlig", "voll", "très", "tres", "assez"),
    *("plutôt", "peu", "partiellement", "muy", "bastante", "poco", "parcialmente", "molto"),
    *("abbastanza", "piuttosto", "parzialmente", "muito", "pouco", "zeer", "tamelijk"),
}


def by_degrees(words: Iterable[str]) -> bool:
    """Whether words have an order, since one is a degree of something: sehr gut, highly toxic."""
    split = (re.split(r"[\s_-]+", word.strip().casefold()) for word in words)
    return any(len(parts) > 1 and parts[0] in _DEGREES for parts in split)


def is_verdict(cell: object) -> bool:
    """Whether a cell has true, false or a word for pass or fail or yes or no."""
    if isinstance(cell, bool):
        return True
    if not isinstance(cell, str) or len(folded_word(cell)) < len("no"):
        return False
    return any(known.value(cell) is not None for known in _verdicts())


@cache
def _verdicts() -> tuple[Vocabulary, ...]:
    return tuple(known for known in _known()[:3])


@cache
def _by_length() -> tuple[Vocabulary, ...]:
    return tuple(sorted(_known(), key=lambda known: len(known.words)))


@cache
def _known() -> tuple[Vocabulary, ...]:
    found = []
    for line in WORDS_BY_VALUE.strip().splitlines():
        levels = [[word.strip() for word in level.split(",")] for level in line.split(" | ")]
        numbers = {
            folded_word(word): float(value) for value, words in enumerate(levels) for word in words
        }
        shown = tuple((level[0], float(value)) for value, level in enumerate(levels))
        found.append(Vocabulary(shown, numbers))
    inspect = (("I", 0.0), ("P", 0.5), ("C", 1.0))
    letters = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0}
    return (*found, Vocabulary(inspect, letters))


@cache
def _missing() -> frozenset[str]:
    words = WORDS_FOR_MISSING.replace("\n", " ").split(",")
    return frozenset(folded_word(word) for word in words) | NO_VALUE
