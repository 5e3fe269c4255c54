"""Recognizes that an answer names another scale than the construct's beside its score."""

import re

from judge.parsing.markup import unmarked
from judge.parsing.score_patterns import END, NUMBER_WORDS
from study.base.scales import Scale


def names_other_scale(answer: str, value: float, scale: Scale) -> bool:
    """Return whether an answer says that its value is on a scale other than the construct's.

    Only a scale that has the value counts: "on a scale of 1 to 10" next to 85 is about something
    else.
    """
    for match in _SCALE_NAMED.finditer(unmarked(answer)):
        written = match["written"]
        if written and float(written) != value:
            continue
        low = float(match["low"] or match["least"] or 0)
        end = next(filter(None, (match[name] for name in _ENDS))).lower()
        high = float(NUMBER_WORDS.get(end, 0) or end)
        if high != scale.max and low <= value <= high:
            return True
    return False


_ENDS = (
    "high",
    "most",
    "top",
    "points",
    "anchor",
    "whole",
    "best",
    "full",
    "graded",
    "named",
    "limit",
)
_SCALE_NAMED = re.compile(
    # A range that is called a scale; the highest value of a field; "9 out of ten", "9/10".
    r"\b(?:scale|skala|échelle|escala|scala|шкал\w*)\W{0,4}(?:(?:goes |runs |of |from |is |"
    r"between |von |de |da |от )*)"
    r"(?P<low>[0-9]+) ?(?:-|–|—|to|and|bis|à|a|до) ?(?P<high>[0-9]+)\b|"
    r"(?P<least>[0-9]+) ?(?:-|–|to) ?(?P<best>[0-9]+)(?:[ -][a-z]+){0,2} scale\b|"
    r"\b(?:max(?:imum)?|out[_ ]of)(?:[_ ](?:score|value|points))?"
    r"(?:\W{0,3}[:=]\W{0,3}|(?<=max)\.? |(?<=maximum) )(?P<most>[0-9]+)\b|"
    r"(?<![0-9] )\bscale\W{0,3}[:=]\W{0,3}(?P<top>[0-9]+)\b(?! ?(?:-|–|—|to\b))|"
    r"(?:满分|만점)(?:为|是)? ?(?P<full>[0-9]+)|(?P<graded>[0-9]+) ?(?:点満点|段階|点中|점 만점)|"
    r"\b(?P<points>[0-9]+|three|four|five|seven|ten)[- ]point (?:[a-z]+ )?scale\b|"
    r"\b(?P<named>10|5|7)\)? being the (?:best|highest|maximum)|"
    r"\b(?:scale[^.\n0-9]{1,20}\bup to |where (?=[0-9]+ (?:is|means) )|massimo |m[áa]ximo |"
    r"höchst\w* )(?P<limit>[0-9]+)\b|"
    r"\b[01] ?= ?[a-z][^0-9\n]{0,60}\b(?P<anchor>[0-9]+) ?= ?[a-z]|"
    r"(?:\b(?P<written>[0-9]+(?:\.[0-9]+)?)\W{0,3})?(?<![a-z] )"
    r"(?:/|\bout of|\b(?:von|sur|sobre|su)\b|\bof(?= [0-9]+ (?:points|stars)\b)) ?"
    rf"(?P<whole>{END})\b(?! ?(?!(?:points|stars)\b)[a-z])",
    re.IGNORECASE | re.ASCII,
)


def names_maximum(answer: str, value: float) -> bool:
    """Return whether a value that ends the scale is the number of points that could be had.

    "Total marks: 100" and "Marks obtained: 60" below; a total by itself is one of points or marks.
    """
    text = unmarked(answer)
    total = _TOTAL.search(text)
    if total is None or float(total["number"] or total["other"]) != value:
        return False
    rest = text[: total.start()] + text[total.end() :]
    smaller = any(float(found[1]) < value for found in _OBTAINED.finditer(rest))
    return smaller or bool(_OF_POINTS.search(total[0]))


_TOTAL = re.compile(
    r"(?:\b(?:total\w*|gesamt\w*|toplam|сумм\w+|всего|łączn\w+|wszystkich|tổng)\b|"
    r"कुल|کل|σύνολο|الكلية|[总總総]|총)[^\n:：0-9]{0,30}[:：]?\s*(?P<number>[0-9]+)|"
    r"\b[^\W\d_]+ (?:gesamt|totale?s?) ?: (?P<other>[0-9]+)",
    re.IGNORECASE,
)
_OBTAINED = re.compile(
    r"(?:[:：]\s*|得|得点|획득)([0-9]+(?:\.[0-9]+)?)(?![0-9]|\s*(?:/|%|[a-z]))", re.IGNORECASE
)
_OF_POINTS = re.compile(r"\b(?:marks|points|punkte|puntos|punti|pontos|puan|अंक)\b", re.IGNORECASE)
