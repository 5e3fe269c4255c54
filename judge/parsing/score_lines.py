"""Lines of an answer that are scores, and the values in a text that have the label of a score."""

import re
from collections.abc import Iterator
from dataclasses import replace

from judge.parsing.markup import unmarked
from judge.parsing.score_forms import (
    FINAL,
    LONGEST_FORM,
    NAMES_SCORE,
    ScoreMatch,
    ends,
    score_of,
)
from judge.parsing.score_patterns import AMBIGUOUS, COUNT, NOUN, Names, score_patterns
from study.base.scales import Scale


def labelled_line(text: str, scale: Scale, names: Names) -> ScoreMatch | None:
    """Return the score of the only line that is a labelled score: "Score: 73" before a note."""
    patterns = score_patterns(ends(scale), names)
    lines = text.split("\n")
    found = [
        (number, match)
        for number, line in enumerate(lines)
        if "".join(c for c in line if c.isdigit())
        and (match := score_of(line, patterns))
        and match.rule == "labelled"
    ]
    final = [(number, match) for number, match in found if match.final]
    final = final or [(number, match) for number, match in found if match.named] or found
    if len({match.number for _, match in final}) != 1 or len(final) > _MOST_LINES:
        return None
    number, match = final[-1]
    # "Overall: 60" goes before the scores of parts, but only a later last word before "Score: 80".
    rivals = [at for at, each in found if not each.final and _NO_PART.fullmatch(lines[at])]
    if match.final and rivals:
        between = "\n".join(lines[rivals[-1] + 1 : number])
        if not (_REVISED.search(lines[number]) or _CORRECTS.search(between)):
            return None
    bare = {score_of_line(line, scale, names) for line in lines} - {None, float(match.number)}
    if bare:
        return None
    above, below = "\n".join(lines[:number]), "\n".join(lines[number + 1 :])
    return replace(match, ended=bool(below), tail=below, reason=above)


def labelled_scores(
    text: str,
    scale: Scale,
    names: Names,
    *,
    final: bool = False,
    parts: bool = True,
    considered: bool = True,
) -> Iterator[float]:
    """Yield the values in a text with the label of a score: "Score: 40", "a score of 40".

    With `final` only those whose label says that they are the last word. Without `parts`, lines
    with any other label do not count: "Facts found: 7", "Style: 60". Without `considered`,
    a score that a sentence only supposes does not count: "A score of 50 would be too low."
    """
    plain = unmarked(text)
    patterns = score_patterns(ends(scale), names)
    # Beside a word for a score, several lines with other labels are its parts.
    listed = not parts and len(set(_PART.findall(plain))) > 1
    for match in patterns.anywhere.finditer(plain):
        if not considered and _SUPPOSED.search(_sentence_around(plain, match)):
            continue
        unnamed = match["number"] and not NAMES_SCORE.search(match[0])
        if unnamed and (listed or _COUNT.match(plain, match.start("number"))):
            continue
        if "\n" in match[0] and _LISTED.match(plain, match.end()):
            # A heading above a list: "Evaluation:", and "1. ..." on the next line.
            continue
        if final and not FINAL.search(match[0]):
            continue
        if match["of"] and scale.problem(float(match["of"])):
            # "A credit score of 620."
            continue
        if match["alone"] and not (parts or _WHOLE.search(match[0])):
            continue
        yield float(match["number"] or match["of"] or match["said"] or match["alone"])
    for line in text.split("\n") if ":" in text else ():
        # Labels that only whole lines have: "Score (corrected): 75".
        if (
            len(line) <= LONGEST_FORM
            and _ENDS_IN_NUMBER.search(line)
            and not patterns.anywhere.search(unmarked(line))
        ):
            found = score_of(line, patterns)
            if found and found.rule == "labelled" and found.named and (found.final or not final):
                yield float(found.number)


def _sentence_around(text: str, match: re.Match[str]) -> str:
    begins = max(text.rfind(sign, 0, match.start()) for sign in (". ", "! ", "? ", "\n", "; "))
    ends_at = _SENTENCE_END.search(text, match.end())
    return text[begins + 1 : ends_at.start() if ends_at else len(text)]


_SENTENCE_END = re.compile(r"[.!?;](?= )|\n")
_NO_PART = re.compile(rf"\W*(?:(?:the|my)\s+)?{NOUN}\W+[0-9].*", re.IGNORECASE)
"""A line whose label says nothing but that it is a score."""
_REVISED = re.compile(r"\b(?:revis|correct(?:ed|ion)|updat|adjust)", re.IGNORECASE)
_CORRECTS = re.compile(
    r"\b(?:wait|correction|reconsider\w*|second (?:thought|look)|closer|reflection|overlooked|"
    r"mistake|"
    r"revis\w+|actually|lower|raise)\b",
    re.IGNORECASE,
)
_MOST_LINES = 100
_PART = re.compile(r"^[^\w\n]*([^\W\d_][^\n:：0-9]{1,40})[:：]\W*[0-9]", re.MULTILINE)
_SUPPOSED = re.compile(
    r"\b(?:would|could|might|base|starting|initial(?:ly)?|at first|maximum|too (?:low|high)|"
    r"arithmetic|(?:rather|less|more|higher|lower) than|instead of|not|nor|neither)\b",
    re.IGNORECASE,
)
"""Words of a sentence that considers a score and does not give it."""
_COUNT = re.compile(COUNT, re.IGNORECASE)
_ENDS_IN_NUMBER = re.compile(r":[^A-Za-z0-9]*[0-9]+[^A-Za-z]{0,12}\Z")
_LISTED = re.compile(r"[.)] ")


def score_of_line(line: str, scale: Scale, names: Names) -> float | None:
    """Return the value of a line that is a score without a label, or begins with one and a dash."""
    if len(line) > LONGEST_FORM or not _MAY_BE_SCORE.match(line):
        return None
    dashed = _DASHED.match(line)
    if dashed:
        return float(dashed[1])
    score = score_of(line, score_patterns(ends(scale), names))
    # Those with a label are found by it, in any line; those in tags are not.
    counts = score and (score.rule == "decorated" or "<" in line)
    return float(score.number) if score and counts else None


def other_scale_of_line(line: str, scale: Scale, names: Names) -> bool:
    """Return whether a line is a score on another scale: "4/5"."""
    if len(line) > LONGEST_FORM or not _MAY_BE_SCORE.match(line):
        return False
    if score_of(line, score_patterns(ends(scale), names)):
        return False
    return score_of(line, score_patterns(None, names)) is not None


_MAY_BE_SCORE = re.compile(
    r"[^A-Za-z0-9]*(?:[A-Za-z][A-Za-z ]{0,40}[:=>][^A-Za-z0-9]*)?(?!(?:1?[0-9]|20)[.)] )[0-9]"
)
_DASHED = re.compile(
    r"[^A-Za-z0-9]*([0-9]{1,3})(?:\s+[-–—]+\s+[A-Za-z]|[.]\s+[A-Z]|,?\s+(?:because|since|as)\b)",
    re.ASCII,
)


_WHOLE = re.compile(
    rf"\b(?:{AMBIGUOUS}|{NOUN}|average|mean|edit|update[d]?|correct(?:ed|ion)|revis(?:ed|ion)|"
    rf"adjusted|new|now)\b",
    re.IGNORECASE,
)
"""Words of a label for the whole or for a correction, not for a part or a count."""
