"""Exact match and token F1 as extractive question answering measures them.

Source: Rajpurkar et al. 2016 (SQuAD), section 6.1. Only ASCII punctuation is removed, and it is
removed before the articles, as their evaluation does it: "P-A" becomes "pa".
"""

import re
from collections import Counter
from collections.abc import Iterable
from string import punctuation

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", punctuation)


def normalized(text: str) -> str:
    """Return `text` in lower case, without punctuation and articles, single-spaced."""
    bare = text.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(text: str, references: Iterable[str]) -> float:
    """Return 1 if `text` equals a reference after normalization, else 0."""
    answer = normalized(text)
    return float(any(answer == normalized(reference) for reference in references))


def token_f1(text: str, references: Iterable[str]) -> float:
    """Return the largest F1 of the tokens of `text` and those of a reference, in [0, 1].

    Without a reference, or without a token in common with any, it is 0.
    """
    answer = Counter(normalized(text).split())
    return max((_f1(answer, Counter(normalized(ref).split())) for ref in references), default=0.0)


def _f1(answer: Counter[str], other: Counter[str]) -> float:
    common = (answer & other).total()
    return 2 * common / (answer.total() + other.total()) if common else 0.0
