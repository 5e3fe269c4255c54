"""Terms of the report with their meaning, for the glossary and for terms within its sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape


@dataclass(frozen=True)
class Term:
    """A term of the report; `pattern` finds it, with its inflections, in a sentence."""

    key: str
    name: str
    pattern: str
    meaning: str


TERMS = (
    Term(
        "interval", "Interval, in square brackets", r"\bintervals?\b",
        "The values of a figure that the data leave open, at the stated level (95% unless set). An "
        "interval that includes 0 leaves open whether there is a difference.",
    ),
    Term(
        "target", "These raters, raters like these", r"\b(?:for )?raters like these\b",
        "What an interval is about: this panel of raters on other queries, or also other raters "
        "from the same population. The second is wider.",
    ),
    Term(
        "within-query", "Within a query", r"\bwithin a query\b",
        "Among the responses to one question, whatever the question's difficulty.",
    ),
    Term(
        "tau-b", "Tau-b", r"\btau-b\b",
        "Kendall's rank correlation: of the pairs of responses, the share in the same order as "
        "people's minus the share in the opposite order, allowing for ties. 1 is the same order, "
        "0 is chance.",
    ),
    Term(
        "pairwise-accuracy", "Pairwise accuracy",
        r"\bpairwise accuracy\b|\bshare of pairs ordered\b",
        "The share of pairs of responses that are ordered as people order them, where equal values "
        "count as equal.",
    ),
    Term(
        "bias", "Bias", r"\bbias\b",
        "The mean of the judge's score minus people's, in points; above 0 it is too lenient.",
    ),
    Term(
        "alpha", "Krippendorff's alpha", r"\balpha\b",
        "Agreement of raters: 1 is perfect, 0 is what chance gives.",
    ),
    Term(
        "icc", "ICC", r"\bICC\b",
        "Intraclass correlation: how reliable the ratings of one rater (A,1), or the mean of k "
        "raters (A,k), are.",
    ),
    Term(
        "kappa", "Kappa", r"\bkappa\b",
        "Agreement on categories beyond what chance gives: 1 is perfect, 0 is chance.",
    ),
    Term(
        "alternative-annotator", "Alternative annotator test", r"\balternative annotator test\b",
        "Whether the judge is as close to the other raters as each rater is, with an allowance; "
        "the winning rate is the share of raters whom it may replace.",
    ),
    Term(
        "correction", "Correction for several comparisons",
        r"\bafter correction for \d+ (?:comparisons?|answers?)\b",
        "Among many comparisons some look significant by chance. A claim is made where it holds "
        "after Holm's correction for all that it was chosen from.",
    ),
    Term(
        "corrected-mean", "Corrected mean", r"\bcorrected means?\b",
        "The mean that people would give to all responses, estimated from all scores of the judge "
        "and the rated responses.",
    ),
    Term(
        "rates", "True positive rate, true negative rate", r"\btrue (?:positive|negative) rates?\b",
        "Of the responses that people pass (fail), the share that the judge passes (fails).",
    ),
    Term(
        "halo", "Halo", r"\bhalo\b",
        "How much more two constructs correlate when one rater gives both than when two raters do.",
    ),
    Term(
        "discriminative-power", "Discriminative power", r"\bdiscriminative power\b",
        "The share of pairs of systems that differ significantly by a scorer.",
    ),
)  # fmt: skip


def terms_of(sentences: Iterable[str]) -> list[Term]:
    """The terms that occur in sentences, in their order."""
    text = "\n".join(sentences)
    return [term for term in TERMS if re.search(term.pattern, text, re.IGNORECASE)]


class Marked:
    """Sentences of one part of the page, in which each term is marked where it occurs first.

    The key of a construct has its full name wherever it occurs; `names` are these by key.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._left = list(TERMS)
        self._names = {key: name for key, name in names.items() if name and name != key}
        keys = "|".join(map(re.escape, sorted(self._names, key=len, reverse=True)))
        self._key = re.compile(rf"(?<!\w)(?:{keys})(?!\w)") if keys else None

    def __call__(self, text: str) -> Markup:
        """The text, escaped, with buttons that show the meaning of terms."""
        matches = [(re.search(term.pattern, text, re.IGNORECASE), term) for term in self._left]
        result, place = Markup(), 0
        for match, term in sorted(
            ((match, term) for match, term in matches if match), key=lambda pair: pair[0].start()
        ):
            if match.start() < place:
                continue
            self._left.remove(term)
            button = Markup('<button type="button" popovertarget="term-{}" title="{}">{}</button>')
            result += self._with_names(text[place : match.start()])
            result += button.format(term.key, term.meaning, match[0])
            place = match.end()
        return result + self._with_names(text[place:])

    def _with_names(self, text: str) -> Markup:
        if self._key is None:
            return escape(text)
        result, place = Markup(), 0
        for match in self._key.finditer(text):
            named = Markup('<abbr title="{}">{}</abbr>').format(self._names[match[0]], match[0])
            result += escape(text[place : match.start()]) + named
            place = match.end()
        return result + escape(text[place:])
