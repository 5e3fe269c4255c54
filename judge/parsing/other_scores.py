"""Numbers next to a score that may be another score, as in "85, or rather 90"."""

import re
from collections.abc import Iterator
from functools import lru_cache

from ccrs_base.scales import Scale
from judge.parsing.markup import unmarked

_NUMBER = re.compile(
    # Not inside words and versions, and not IL-6 or COVID-19.
    r"(?<![A-Za-z0-9_])(?<![0-9][.,])(?<![A-Za-z]-)[0-9]+(?:\.[0-9]+)?"
    r"(?!(?!points?\b|pts\b)[A-Za-z0-9_]|[.,][0-9])",
    re.ASCII,
)
_MINUS = re.compile(r"(?<![0-9])(?<![0-9] )-\Z")
_WINDOW = 80
_NEAR = 30
"""Characters around a number that are searched for words of scoring, and for its meaning."""

_SENTENCE_END = re.compile(r"[.!?] |\n")
_ABOUT_SCORES = re.compile(
    r"\b(?:scor(?:e[ds]?|ing)|rat(?:e[ds]?|ing|ings)|grade[ds]?|points?|pts|marks?|marked|"
    r"giv(?:es?|ing)|gave|assign(?:ed|s)?|award(?:ed|s)?|deserve[ds]?|deduct(?:ed|s)?|"
    r"final|overall|total|"
    r"reconsider(?:ed|ing)?|reflection|revis(?:e[ds]?|ed|ing|ion)|correction|adjust(?:ed|s|ing)?|"
    r"lower(?:ed|s|ing)?|rais(?:e[ds]?|ing))\b",
    re.IGNORECASE,
)
_REVISES = re.compile(
    r"\b(?:actually|instead|rather|wait|prefer|better|closer|fits?|chang(?:e[ds]?|ing))\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:perhaps|maybe|probably|about|around|roughly|seems?|feels?|say|think|go|make|appropriate|"
    r"fair|would|could|should|might|is|be)\b|[a-z]'?d ",
    re.IGNORECASE,
)
_STATEMENT = 8
"""Words of a sentence that says something of the response, if none of them is about a score."""
_COUNTED_PLURAL = re.compile(
    # "3 reasons", "2 of the 4 points": things of the response, whatever the verb.
    r"(?: (?:out )?of(?: the| its| these)? [0-9]+ [a-z]+|"
    r" (?!(?:points|marks|stars|fits|seems|feels|reflects|makes|captures|looks|sounds|works|does|"
    r"was|has|suits|gets|remains|expresses|represents|serves|overstates|understates)\b)[a-z]{2,}s)\b",
    re.IGNORECASE,
)
_CITED_BEFORE = re.compile(r"\[[0-9,; –-]*\Z")
_CITED_AFTER = re.compile(r"[0-9,; –-]*\]")
_LISTED = re.compile(r"[.)] ")
_WHOLE_BEFORE = re.compile(r"(?:/|\bof(?: the| a| all| these)?(?: possible)?) ?\Z", re.IGNORECASE)
_SCORE_OF = re.compile(r"\b(?:scores?|ratings?|grades?|marks?|value) of \Z", re.IGNORECASE)
_PART_AFTER = re.compile(
    r" ?\(?(?:/|(?:out )?of(?: the| a| all| these)?(?: possible)?) ?([0-9]+)", re.IGNORECASE
)
_FRACTION_OF_THINGS = re.compile(
    r" (?:out )?of(?: the| a| all| these| its)? [0-9]+ (?!(?:stars|marks)\b)[a-z]{3,}",
    re.IGNORECASE,
)
"""2 of 3 points that are made: a score has the end of the scale as its whole."""
_POINTS = re.compile(r" (?:points?|pts)\b", re.IGNORECASE)
_FAR_BEYOND = 10
_NUMBERED_BEFORE = re.compile(
    r"\b(?:passage|document|doc|chunk|source|reference|section|chapter|table|figure|fig|page|line|"
    r"paragraph|sentence|item|part|step|stage|phase|type)s?\.? \Z",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    # A noun or a unit follows: any word that is not in this list, or a word that counts in Chinese,
    # Japanese or Korean.
    r" ?(?:[个個条條项項处處句段篇种種次年月件つ개명년]|か所)|"
    r"(?:[-–][0-9.]+)?%?[ -](?!(?:and|or|to|but|nor|so|as|at|by|for|from|in|on|if|is|was|be|are|"
    r"were|would|could|should|might|may|can|will|seems?|feels?|because|since|due|given|though|although|"
    r"then|than|this|that|it|the|an?|i|my|we|not|only|with|without|when|while|out|here|now|max|"
    r"per ?cent|perhaps|maybe|probably|versus|vs|reflects?)\b)[A-Za-z]",
    re.IGNORECASE,
)


def other_scores(text: str, scale: Scale) -> Iterator[float]:
    """Yield the values in a text that may be scores, in their order.

    Left out are values outside the scale where no score is mentioned (2019), numbers that count or
    measure a noun (3 facts, 15 mg), citations ([1]), list numbers, and the scale's own ends
    (0 to 100). A number at the end of a clause is included: "Actually, 70."
    """
    text = _scale_pattern(scale.min, scale.max).sub(" ", unmarked(text))
    listed = 1
    # A larger number is a year or an amount, also where points are mentioned.
    far = _FAR_BEYOND * max(abs(scale.min), abs(scale.max))
    for number in _NUMBER.finditer(text):
        start, end = number.span()
        before, after = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
        value = float(number[0])
        if scale.min < 0 and _MINUS.search(before):
            value = -value
        at_line_start = not before.rpartition("\n")[2].strip()
        if at_line_start and value == listed and _LISTED.match(after):
            listed += 1
        elif value <= far and _is_score(value, before, after, scale):
            yield value


def _is_score(value: float, before: str, after: str, scale: Scale) -> bool:
    near = before[-_NEAR:]
    part = _PART_AFTER.match(after)
    beyond = after[part.end() :] if part else after
    if _SCORE_OF.search(near) or (
        part
        and float(part[1]) == scale.max
        and (not _COUNTED.match(beyond) or _POINTS.match(beyond))
    ):
        return True
    cited = _CITED_BEFORE.search(near) and _CITED_AFTER.match(after)
    of_things = part and float(part[1]) != scale.max and _FRACTION_OF_THINGS.match(after)
    if cited or of_things or _WHOLE_BEFORE.search(near) or _COUNTED_PLURAL.match(after):
        return False
    sentence = _sentence(before, after)
    if _ABOUT_SCORES.search(sentence):
        return True
    if scale.problem(value) or _is_statement(sentence):
        return False
    counted = _COUNTED.match(beyond) or _NUMBERED_BEFORE.search(near)
    return bool(_REVISES.search(sentence)) or not counted


def _is_statement(sentence: str) -> bool:
    """Return whether a sentence tells something of the response, with no word about a score."""
    hesitates = _REVISES.search(sentence) or _HEDGED.search(sentence)
    return len(sentence.split()) >= _STATEMENT and not hesitates


def _sentence(before: str, after: str) -> str:
    begun = _SENTENCE_END.split(before)[-1]
    return f"{begun} # {_SENTENCE_END.split(after, maxsplit=1)[0]}"


@lru_cache(maxsize=64)
def _scale_pattern(low: float, high: float) -> re.Pattern[str]:
    """Match mentions of the construct's scale, and of another scale as part of a label."""
    least, most = (re.escape(f"{end:g}") for end in (low, high))
    span = r"[0-9.]+ ?(?:-|–|—|to) ?[0-9.]+"
    return re.compile(
        rf"(?<![0-9.]){least} ?(?:-|–|—|to|and) ?{most}(?![0-9]|\.[0-9])|"
        rf"\b(?:score|rating|grade) ?[(\[] ?{span} ?[)\]](?= ?[:=])|\bscale (?:of|from) {span}",
        re.IGNORECASE,
    )
