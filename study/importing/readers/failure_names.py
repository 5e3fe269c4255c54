"""Names of columns and constructs on which yes is the failure, or 1 the best of many."""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from study.importing.readers.value_words import Declaration, Vocabulary, as_option

_FAILURES = re.compile(
    r"hallucinat\w*|toxic\w*|errors?|erroneous|mistakes?|unsafe\w*|harm(ful|fulness|s)?|bias(ed|es)?"
    r"|violat\w*|refus\w*|leak\w*|plagiari\w*|fail(s|ed|ure|ures|ing)?|incorrect\w*|wrong|"
    r"inaccura\w*|unsupported|unfaithful\w*|ungrounded|untrue|offensive\w*|abus\w*|hate|hateful|"
    r"insult\w*|threat\w*|jailbr[eo]\w*|injection|bugs?|defects?|defective|misinformation|"
    r"disinformation|mislead\w*|fabricat\w*|contradict\w*|irrelevan\w*|incoheren\w*|inconsisten\w*|"
    r"incomplete\w*|invalid|inappropriate\w*|unethical|illegal|dangerous|problem\w*|issues?|"
    r"omissions?|omit\w*|missing|repetiti\w*|redundan\w*|verbos\w*|evasi\w*|stereotyp\w*|spam|"
    r"obscene|profan\w*|nsfw|halluzinat\w*|fehler\w*|falsch|schädlich|erreurs?|toxique|errore?i?|"
    r"alucina\w*|tóxic\w*|sesgo\w*|allucinaz\w*|hallucinations?"
)
_NEGATIONS = {
    "no", "not", "non", "none", "without", "free", "absence", "lack", "never", "anti", "avoids",
    "avoid", "avoided", "avoidance", "correct", "correctly", "appropriate", "ohne", "kein", "keine",
    "sans", "sin", "sem", "senza", "handling", "resolved", "fixed", "correction",
}  # fmt: skip
_PARTS = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")

# Words that say that what the column is called is there, or how much of it.
_AFFIRMATIONS = {
    "yes", "y", "true", "t", "ja", "oui", "si", "sí", "sì", "sim", "wahr", "vrai", "vraie", "vero",
    "vera", "verdadero", "verdadeiro", "waar", "zutreffend", "positive", "pos", "high", "very high",
    "h", "always", "strongly agree", "agree", "+", "✅", "✓", "✔", "☑", "1",
}  # fmt: skip

# Of ranks, and of grades in German, 1 is the best.
_BEST_FIRST = {
    *("rank", "ranks", "ranking", "rankings", "rang", "platz", "place", "placement", "puesto"),
    *("classement", "schulnote", "schulnoten", "zensur", "note", "noten"),
}
_GERMAN_GRADES = {"note", "noten"}
_WORST_GERMAN_GRADE = 6


def names_failure(name: str) -> bool:
    """Whether a column or construct is called what a response should not be or do."""
    parts = [part.casefold() for part in _PARTS.findall(_CAMEL.sub("_", name))]
    if _NEGATIONS.intersection(parts):
        return False
    return any(_FAILURES.fullmatch(part) for part in parts)


def affirms(word: str) -> bool:
    """Whether a word says that what the column is called is there, unlike pass or correct."""
    return word.strip().casefold() in _AFFIRMATIONS


class ReadScores(NamedTuple):
    """The judgments of a scorer on a construct, as they were read."""

    names: tuple[str, ...]
    """The names that they go by, such as those of the column and of the construct."""
    vocabulary: Vocabulary | None
    """None for numbers."""
    numbers: Collection[float] = ()
    """The different numbers."""


def direction_notes(read: Iterable[ReadScores], declare: Declaration = as_option) -> list[str]:
    """Return a warning where yes, or 1, may be the failure by the name of its column.

    Numbers of words that are declared are taken to be meant.
    """
    read = list(read)
    notes: dict[tuple[str, str], list[str]] = {}
    ranked = {
        name: max(found.numbers)
        for found in read
        for name in found.names
        if found.vocabulary is None and _may_be_ranks(name, found.numbers)
    }
    for ranks in ranked:
        remedy = (
            f"then write {max(ranked.values()) + 1:g} minus the value in every column that has 1 "
            "as the best"
        )
        notes.setdefault(("the highest number counts as the best", remedy), []).append(ranks)
    for names, vocabulary, numbers in read:
        name = next((name for name in names if names_failure(name)), None)
        if name is None:
            continue
        if vocabulary is None:
            if set(numbers) == {0.0, 1.0}:
                remedy = "then write 0 for the failure, and 1 for the others"
                notes.setdefault(("1 counts as pass", remedy), []).append(name)
            continue
        words = sorted(vocabulary.used, key=lambda pair: -pair[1])
        ends = [number for _, number in vocabulary.words]
        top = [word for word, number in words if number == max(ends) and affirms(word)]
        if vocabulary.declared or vocabulary.nominal or not top:
            continue
        turned = {word: min(ends) + max(ends) - number for word, number in words}
        counts = "pass" if vocabulary.two_valued else "the best"
        remedy = f"{declare([], turned)} reads it so"
        notes.setdefault((f"{top[0]} counts as {counts}", remedy), []).append(name)
    return [
        f"{counts}; in {_columns_named(names)} {_instead(counts)}: {remedy}."
        for (counts, remedy), names in notes.items()
    ]


def names_rank(name: str) -> bool:
    """Whether a column or construct is called a rank or grade of which 1 may be the best."""
    return bool(_words_for_ranks(name))


def _words_for_ranks(name: str) -> set[str]:
    return {part.casefold() for part in _PARTS.findall(_CAMEL.sub("_", name))} & _BEST_FIRST


def _may_be_ranks(name: str, numbers: Collection[float]) -> bool:
    """Whether a column is called a rank, or a German grade, and has whole numbers from 1 on."""
    called = _words_for_ranks(name)
    if not called or not numbers or not all(n >= 1 and float(n).is_integer() for n in numbers):
        return False
    return not called <= _GERMAN_GRADES or max(numbers) <= _WORST_GERMAN_GRADE


def _instead(counts: str) -> str:
    return "1 may be the best" if counts.startswith("the highest") else "it may be the failure"


def _columns_named(names: Iterable[str]) -> str:
    distinct = [repr(name) for name in dict.fromkeys(names)]
    noun = "a column named" if len(distinct) == 1 else "columns named"
    return f"{noun} {' and '.join(filter(None, (', '.join(distinct[:-1]), distinct[-1])))}"
