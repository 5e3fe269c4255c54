"""Reads the score with which the last sentence of a reason ends."""

import re
from dataclasses import replace

from judge.parsing.contests import reason_alone
from judge.parsing.markup import unmarked
from judge.parsing.score_forms import ScoreMatch, ends, score_of, signed_zero
from judge.parsing.score_patterns import Names, score_patterns
from study.base.scales import Scale


def score_in_last_sentence(line: str, scale: Scale | None, names: Names) -> ScoreMatch | None:
    """Return the labelled score that a line ends with: "It is right. Final score: 90"."""
    patterns = score_patterns(scale and ends(scale), names)
    for start in _CLAUSE.finditer(line):
        match = score_of(line[start.end() :], patterns)
        if match and match.rule == "labelled":
            return replace(match, tail="", reason=line[: start.end()])
    sentence = _LAST_SENTENCE.split(unmarked(line))[-1]
    *above, last = _LAST_SENTENCE.split(line)
    alone = score_of(last, patterns)
    if alone and alone.rule == "decorated" and re.search("[A-Za-z]{3}", " ".join(above)):
        beside = line[: -len(last)]
        return None if _ITEM.match(last) else replace(alone, rule="labelled", tail=beside)
    if len(sentence) > _LONGEST:
        return None
    found = patterns.at_end.fullmatch(sentence)
    if found is None or _CONDITION.search(sentence) or _OF_OTHERS.search(found["before"]):
        return None
    number, before = found["whole"] or found["given"] or found["fair"], found["before"]
    if scale:
        before = reason_alone(before, scale)
    if signed_zero(number) or _ONE_OF_SEVERAL.search(before):
        return None
    # Digits in the sentence itself are a reason unless the judge changes its mind there.
    tail = before if re.search("[0-9]", before) else ""
    return ScoreMatch(number, "labelled", tail, reason=line[: -len(sentence)])


_LONGEST = 600
"""Characters of a sentence in which a score is looked for."""
_CLAUSE = re.compile(
    r"[.!?][*_]{0,2} +|[,，。；、]\s*(?:因此|所以|故)?(?=[^\x00-\x7f])|\s*(?:→|->|=>|⇒|;)\s*|"
    r"\s+[-–—]+\s+(?=[A-Z*_])|"
    r",? (?:which |so it )?(?:leav(?:es|ing)|giv(?:es|ing)|result(?:s|ing) in|yield(?:s|ing)|"
    r"mak(?:es|ing)|for) (?:it |us |me )?(?=an? )"
)
"""Where the words may begin that are the score: "3 of 5 -> Score: 60"."""
_LAST_SENTENCE = re.compile(r"(?<=[.!?]) +(?=[^ ])|(?<=[。！？])(?=.)")
_ITEM = re.compile(r"\W*(?:1?[0-9]|20)(?![0-9]|\s*(?:/|%|out))")
_CONDITION = re.compile(
    r"\b(?:if|unless|had (?:it|the)|were it|would have|could have|asks? (?:me|for)|wenn|falls|"
    r"hätte|wäre|si|s'il|aurait|se|hubiera|fosse)\b|如果|もし",
    re.IGNORECASE,
)
"""Words of a condition: "If it had sources, I would give it a 90"."""
_OF_OTHERS = re.compile(
    r"\b(?:says?|claims?|states?|mentions?|thinks?|believes?|reports?|writes?|wants?|asks?|"
    r"according to|critics|itself|own|not|never|"
    r"doesn|isn|could|(?:no|perfect|ideal|better|complete) (?:response|answer|one))\b"
    r"[^,;]*\Z|\baccording to\b",
    re.IGNORECASE,
)
"""Words in the clause of the number that give it to others, or to nobody: "It says 90/100"."""
_ONE_OF_SEVERAL = re.compile(
    r"[0-9][^A-Za-z0-9.,;:()]*(?:[A-Za-z]{1,4}[^A-Za-z0-9]*)?\Z|[0-9] ?(?:-|–|to|and|or) ?[0-9]"
)
"""A number right before the score, or a range: "70 to 80/100", "between 60 and 70, so 65"."""
