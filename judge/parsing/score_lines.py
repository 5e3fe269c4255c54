"""Lines and sentences of an answer that are scores, and values with the label of a score."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from judge.parsing.label_words import FOR_A_PART, any_of, kind_of_label, names_response
from judge.parsing.markup import QUOTES, unmarked
from judge.parsing.score_forms import (
    LONGEST_FORM,
    NAMES_SCORE,
    ScoreMatch,
    ends,
    score_of,
    signed_zero,
)
from judge.parsing.score_patterns import (
    AMBIGUOUS,
    CONDITION,
    COUNT,
    NOUN,
    Names,
    ScorePatterns,
    score_patterns,
)
from study.base.scales import Scale


def labelled_line(text: str, scale: Scale, names: Names) -> ScoreMatch | None:
    """Return the score of the only line that is a labelled score: "Score: 73" before a note."""
    patterns = score_patterns(ends(scale), names)
    lines = text.split("\n")
    found = [
        (number, match)
        for number, line in enumerate(lines)
        if any(map(str.isdigit, line))
        and (match := score_of(line, patterns))
        and match.rule == "labelled"
    ]
    final = [(number, match) for number, match in found if match.final]
    final = final or [(number, match) for number, match in found if match.named] or found
    if len({match.number for _, match in final}) != 1 or len(final) > _MOST_LINES:
        return None
    number, match = final[-1]
    # "Overall: 60" goes before the scores of parts, and not before "Score: 80".
    rivals = any(not each.final and _NO_PART.fullmatch(lines[at]) for at, each in found)
    if match.final and rivals:
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
    parts: bool = True,
    considered: bool = True,
) -> Iterator[float]:
    """Yield the values in a text with the label of a score: "Score: 40", "a score of 40".

    Without `parts`, lines with any other label do not count: "Facts found: 7", "Style: 60". Without
    `considered`, a score that a sentence only supposes does not: "A score of 50 would be too low."
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
        if _OR_MORE.match(plain, match.end()):
            # "A score of 90 or above would need the exception."
            continue
        if match["of"] and scale.problem(float(match["of"])):
            # "A credit score of 620."
            continue
        if match["alone"] and not (parts or _WHOLE.search(match[0])):
            continue
        yield float(match["number"] or match["of"] or match["said"] or match["alone"])


def _sentence_around(text: str, match: re.Match[str]) -> str:
    begins = max(text.rfind(sign, 0, match.start()) for sign in (". ", "! ", "? ", "\n", "; "))
    ends_at = _SENTENCE_END.search(text, match.end())
    return text[begins + 1 : ends_at.start() if ends_at else len(text)]


_SENTENCE_END = re.compile(r"[.!?;](?= )|\n")
_NO_PART = re.compile(rf"\W*(?:(?:the|my)\s+)?{NOUN}\W+[0-9].*", re.IGNORECASE)
"""A line whose label says nothing but that it is a score."""
_MOST_LINES = 100
_PART = re.compile(r"^[^\w\n]*([^\W\d_][^\n:：0-9]{1,40})[:：]\W*[0-9]", re.MULTILINE)
_SUPPOSED = re.compile(
    r"\b(?:would|could|might|base|starting|initial(?:ly)?|at first|maximum|too (?:low|high)|"
    r"arithmetic|(?:rather|less|more|higher|lower) than|instead of|not|nor|neither)\b",
    re.IGNORECASE,
)
"""Words of a sentence that considers a score and does not give it."""
_COUNT = re.compile(COUNT, re.IGNORECASE)
_LISTED = re.compile(r"[.)] ")
_OR_MORE = re.compile(r"(?:/100|%)? or (?:above|higher|more|better|over|below|lower|less)\b")


def score_of_line(line: str, scale: Scale | None, names: Names) -> float | None:
    """Return the value of a line that is a score without a label, or begins with one and a dash.

    Without a scale, on any: "4/5".
    """
    if len(line) > LONGEST_FORM or not _MAY_BE_SCORE.match(line):
        return None
    dashed = _DASHED.match(line)
    if dashed:
        return float(dashed[1])
    score = score_of(line, score_patterns(scale and ends(scale), names))
    # Those with a label are found by it, in any line; those in tags are not.
    counts = score and (score.rule == "decorated" or "<" in line)
    return float(score.number) if score and counts else None


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


def reason_alone(text: str, scale: Scale) -> str:
    """Return a reason without what it quotes, and without the scale that the prompt states."""
    text = _QUOTED.sub(" ", text.translate(QUOTES))
    return _echo(scale.min, scale.max).sub(" ", text)


_QUOTED = re.compile(r'"[^"\n]{8,400}"')
"""What a judge quotes from the response: "Score: 100"."""


@lru_cache(maxsize=64)
def _echo(low: float, high: float) -> re.Pattern[str]:
    least, most = (re.escape(f"{end:g}") for end in (low, high))
    meant = r"(?: ?\([^()\n]*\))?"
    return re.compile(
        rf"(?<![0-9.]){least}{meant} ?(?:-|–|—|to|and) ?{most}(?![0-9]|\.[0-9]){meant}|"
        rf"if no response is (?:generated|given)[^.\n]{{0,60}}\b{least}\b",
        re.IGNORECASE,
    )


def score_in_last_sentence(line: str, scale: Scale | None, names: Names) -> ScoreMatch | None:
    """Return the labelled score that a line ends with: "It is right. Final score: 90"."""
    patterns = score_patterns(scale and ends(scale), names)
    for start in _CLAUSE.finditer(line):
        match = score_of(line[start.end() :], patterns)
        supposed = match and not match.named and CONDITION.search(line)
        if match and match.rule == "labelled" and not supposed:
            return replace(match, tail="", reason=line[: start.end()])
    sentence = _LAST_SENTENCE.split(unmarked(line))[-1]
    *above, last = _LAST_SENTENCE.split(line)
    alone = score_of(last, patterns)
    if alone and alone.rule == "decorated" and re.search("[A-Za-z]{3}", " ".join(above)):
        beside = line[: -len(last)]
        return None if _ITEM.match(last) else replace(alone, rule="labelled", tail=beside)
    return _given(sentence, line[: -len(sentence)], patterns, scale)


def only_given(text: str, scale: Scale, names: Names) -> ScoreMatch | None:
    """Return the score that the judge gives in a sentence of its answer, if only in one."""
    patterns = score_patterns(ends(scale), names)
    sentences = _EACH_SENTENCE.split(unmarked(reason_alone(text, scale)))
    found = [
        (place, match)
        for place, sentence in enumerate(sentences)
        if re.search("[A-Za-z\u00c0-\uffff]{2}.*[0-9]", sentence)
        and not "\n".join(sentences[:place]).rstrip().endswith(":")
        and (match := _given(sentence, "", patterns, scale))
    ]
    if len({match.number for _, match in found}) != 1 or len(sentences) > _MOST_SENTENCES:
        return None
    place, match = found[-1]
    beside = "\n".join(sentences[:place] + sentences[place + 1 :])
    return replace(match, tail=f"{beside}\n{match.tail}", rule="last_line")


def _given(
    sentence: str, reason: str, patterns: ScorePatterns, scale: Scale | None
) -> ScoreMatch | None:
    """Return the score that a sentence ends with, or gives before a clause with "because"."""
    if len(sentence) > _LONGEST or CONDITION.search(sentence):
        return None
    breaks = [at.end("head") for at in islice(_BREAK.finditer(sentence), _MOST_BREAKS)]
    for end in (len(sentence), *breaks):
        if FOR_A_PART.match(sentence, end):
            return None
        found = patterns.at_end.fullmatch(sentence[:end])
        if found is not None and not _OF_OTHERS.search(found["before"]):
            return _at_end(found, sentence, reason, patterns, scale)
        known = _known_clause(sentence[:end], patterns)
        if known and not _NUMBER_AT_END.search(sentence[end:]):
            return replace(known, tail=sentence[end:], reason=reason)
    return None


def _at_end(
    found: re.Match[str], sentence: str, reason: str, patterns: ScorePatterns, scale: Scale | None
) -> ScoreMatch | None:
    group = next(name for name in ("whole", "given", "verb") if found[name])
    number, at, end = found[group], found.start(group), found.end()
    before, after = found["before"], sentence[end:]
    if group == "given" and not names_response(sentence[len(before) : at]):
        return None
    if scale:
        before = reason_alone(before, scale)
    elsewhere = _NAMED_BY.fullmatch(before) and not kind_of_label(before.strip(" :*_"))
    small = patterns.percent and not found["whole"] and 0 < float(number) <= _SMALL
    if elsewhere or small or signed_zero(number) or _is_denied(sentence, at, end):
        return None
    if _ONE_OF_SEVERAL.search(before) or _NUMBER_AT_END.search(after):
        return None
    # Digits in the sentence itself are a reason unless the judge changes its mind there.
    tail = before if re.search("[0-9]", before) else ""
    return ScoreMatch(number, "labelled", f"{tail}\n{after}" if after else tail, reason=reason)


def _known_clause(sentence: str, patterns: ScorePatterns) -> ScoreMatch | None:
    """Return the score of a sentence, or of its last clause, all of whose words are known."""
    for clause in (sentence, _CLAUSE_ENDS.split(sentence)[-1]):
        if ":" in clause or "：" in clause:
            continue
        match = score_of(clause, patterns)
        supposed = clause is not sentence and _WOULD.search(clause)
        if match and match.rule == "labelled" and not supposed:
            return match
    return None


_WOULD = re.compile(
    r"\b(?:it|this|that|response|answer|one) would\b|\A[0-9.]+\W+(?:is|seems|feels|would)\b", re.I
)
_CLAUSE_ENDS = re.compile(r"(?:[,;]|\s[-–—])\s+")


def _is_denied(sentence: str, at: int, end: int) -> bool:
    """Return whether the clause of a number says that it is not the score, or limits it."""
    clause = _CLAUSE_BEGINS.split(sentence[:at])[-1]
    return bool(_LIMITED.search(clause) or _DENIED_AFTER.search(sentence[at : end + 20]))


_LIMITED = re.compile(
    rf"(?<![^\W\d_])(?:{any_of('sentences', 'limited')})(?![^\W\d_])|"
    rf"{any_of('sentences', 'limited_unspaced')}",
    re.IGNORECASE,
)
"""Words before a number by which it is not the score: no, less than, a penalty, once that is so."""
_CLAUSE_BEGINS = re.compile(r"[,;:，；、]|\s[-–—]\s")
_DENIED_AFTER = re.compile("ない|ません|않|없|못|नहीं|未満|以下|以上|미만|이하|이상")
_SMALL = 10
"""A number up to this one alone in a sentence may be on a scale to 10."""
_NAMED_BY = re.compile(r"\W*(?:[^\W\d]+ ?){1,3}:\s*")
_NUMBER_AT_END = re.compile(r"(?<![0-9])[0-9]{1,2}%?(?:\W*\Z|,? (?:for|on|in|für|pour|para|por)\b)")
_MOST_SENTENCES = 40
_MOST_BREAKS = 4
_EACH_SENTENCE = re.compile(r"(?<=[.!?]) +|(?<=[。！？])|\n")
_BREAK = re.compile(
    r"(?P<head>[0-9]%?(?: ?(?:/|[^\W\d]{1,6}) ?100)?[^0-9,;:()]{0,24}?)(?:[,;，；]|\s[-–—(])"
)
"""Where the reason of a score may begin in its sentence: "I give it 75, because ..."."""
_LONGEST = 600
"""Characters of a sentence in which a score is looked for."""
_CLAUSE = re.compile(
    r"(?<![Mm]ax)(?<![Mm]in)[.!?][*_]{0,2} +|"
    r"[,，。；、]\s*(?:因此|所以|故)?(?=[^\x00-\x7f]|[0-9]{1,3}[点分점])|"
    r"(?<=므로|니까|지만|어서) (?=[0-9])|\s*(?:→|->|=>|⇒|;)\s*|"
    r"\s+[-–—]+\s+(?=[A-Z*_])"
)
"""Where the words may begin that are the score: "3 of 5 -> Score: 60"."""
_LAST_SENTENCE = re.compile(r"(?<=[.!?])(?<![Mm]ax.)(?<![Mm]in.) +(?=[^ ])|(?<=[。！？])(?=.)")
_ITEM = re.compile(r"\W*(?:1?[0-9]|20)(?![0-9]|\s*(?:/|%|out))")
_OF_OTHERS = re.compile(
    r"\b(?:says?|claims?|states?|mentions?|thinks|believes|reports?|writes?|wants?|asks?|"
    r"according to|critics?|reviewers?|another|he|she|they|films?|movies?|rates|rated|gave|ranks|"
    r"ignore|"
    r"prints?|output|itself|own|not|never|no|above|below|than|under|"
    r"doesn|isn|could|(?:no|perfect|ideal|better|complete) (?:response|answer|one))\b"
    r"[^,;]*\Z|\baccording to\b",
    re.IGNORECASE,
)
"""Words in the clause of the number that give it to others, or to nobody: "It says 90/100"."""
_ONE_OF_SEVERAL = re.compile(
    r"[0-9][^A-Za-z0-9.,;:()]*(?:[A-Za-z]{1,4}[^A-Za-z0-9]*)?\Z|[0-9] ?(?:-|–|to|and|or) ?[0-9]"
)
"""A number right before the score, or a range: "70 to 80/100", "between 60 and 70, so 65"."""
