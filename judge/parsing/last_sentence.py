"""Reads the score with which the last sentence of a reason ends."""

import re
from dataclasses import replace
from itertools import islice

from judge.parsing.conditional_sentences import CONDITION
from judge.parsing.contests import reason_alone
from judge.parsing.label_words import any_of, kind_of_label, names_response
from judge.parsing.markup import unmarked
from judge.parsing.score_forms import ScoreMatch, ends, score_of, signed_zero
from judge.parsing.score_patterns import Names, ScorePatterns, score_patterns
from study.base.scales import Scale


def score_in_last_sentence(line: str, scale: Scale | None, names: Names) -> ScoreMatch | None:
    """Return the labelled score that a line ends with: "It is right. Final score: 90"."""
    patterns = score_patterns(scale and ends(scale), names)
    for start in _CLAUSE.finditer(line):
        if start[0].strip() == ";" and _ENDS_IN_NUMBER.search(line[: start.start()]):
            continue
        match = score_of(line[start.end() :], patterns)
        supposed = match and not match.named and CONDITION.search(line)
        if (
            match
            and match.rule == "labelled"
            and not supposed
            and (match.final or "for" not in start[0])
        ):
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
    sentences = _SENTENCE.split(unmarked(reason_alone(text, scale)))
    found = [
        (place, match)
        for place, sentence in enumerate(sentences)
        if re.search("[A-Za-z\u00c0-\uffff]{2}.*[0-9]", sentence)
        and not _AT_FIRST.search(sentence)
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
    if len(sentence) > _LONGEST or CONDITION.search(sentence) or _OF_A_PART.search(sentence):
        return None
    breaks = [at.end("head") for at in islice(_BREAK.finditer(sentence), _MOST_BREAKS)]
    for end in (len(sentence), *breaks):
        found = patterns.at_end.fullmatch(sentence[:end])
        if found is not None and not _OF_OTHERS.search(found["before"]):
            return _at_end(found, sentence, reason, patterns, scale)
        known = _known_clause(sentence[:end], patterns)
        if known and not _ENDS_IN_NUMBER.search(sentence[end:]):
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
    if _ONE_OF_SEVERAL.search(before) or _ENDS_IN_NUMBER.search(after):
        return None
    # Digits in the sentence itself are a reason unless the judge changes its mind there.
    tail = before if re.search("[0-9]", before) else ""
    return ScoreMatch(number, "labelled", f"{tail}\n{after}" if after else tail, reason=reason)


def _known_clause(sentence: str, patterns: ScorePatterns) -> ScoreMatch | None:
    """Return the score of a sentence, or of its last clause, all of whose words are known."""
    for clause in (sentence, _CLAUSE_ENDS.split(sentence)[-1]):
        if ":" in clause or "：" in clause or _OF_OTHERS.search(clause):
            continue
        match = score_of(clause, patterns)
        supposed = clause is not sentence and _WOULD.search(clause)
        if match and match.rule == "labelled" and not supposed:
            return match
    return None


_OF_A_PART = re.compile(
    r"[0-9](?: points)? (?:for|in|on) (?:(?:its|the) )?(?:style|fluency|clarity|grammar|tone|"
    r"effort|context|length|format\w*|reference|passages?)\b",
    re.IGNORECASE,
)
_WOULD = re.compile(r"\b(?:it|this|that|response|answer|one) would\b", re.IGNORECASE)
_CLAUSE_ENDS = re.compile(r"(?:[,;]|\s[-–—])\s+(?:(?:but|so|and|thus|hence|therefore),?\s+)?")


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
_CLAUSE_BEGINS = re.compile(
    r"[,;:，；、]|\s[-–—]\s|\b(?:so|thus|hence|therefore|and|daher|deshalb|also|und|donc|et|por|así|y|"
    r"quindi|e|portanto|dus|en|поэтому|и|więc|i)\b|所以|因此|故",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile("ない|ません|않|없|못|नहीं|未満|以下|以上|미만|이하|이상")
_SMALL = 10
"""A number up to this one alone in a sentence may be on a scale to 10."""
_NAMED_BY = re.compile(r"\W*(?:[^\W\d]+ ?){1,3}:\s*")
_ENDS_IN_NUMBER = re.compile(
    r"(?<![0-9])[0-9]{1,2}%?(?:\W*\Z|,? (?:for|on|in|für|pour|para|por)\b)"
)
_MOST_SENTENCES = 40
_MOST_BREAKS = 4
_SENTENCE = re.compile(r"(?<=[.!?]) +|(?<=[。！？])|\n")
_AT_FIRST = re.compile(
    r"\b(?:at first|initial\w*|first (?:sight|glance)|zunächst|auf den ersten|au départ|d.abord|"
    r"a primera|"
    r"al principio|another|previous|other)\b|сначала|起初|最初|\?\s*\Z",
    re.IGNORECASE,
)
"""Words before a score that a judge takes back, or gives to another response."""
_BREAK = re.compile(
    r"(?P<head>[0-9]%?(?: ?(?:/|[^\W\d]{1,6}) ?100)?[^0-9,;:()]{0,24}?)(?:[,;，；]|\s[-–—(]|"
    r"\s(?:for|since|because|as|on|in|to|a|à|au|para|för|für|"
    r"weil|da|denn|car|parce|puisque|porque|ya|perché|poiché|pois|omdat|want|bo|vì)\b(?! [0-9])|"
    r"\s(?:потому|поскольку|так как|因为))"
)
"""Where the reason of a score may begin in its sentence: "I give it 75, because ..."."""
_LONGEST = 600
"""Characters of a sentence in which a score is looked for."""
_CLAUSE = re.compile(
    r"(?<![Mm]ax)(?<![Mm]in)[.!?][*_]{0,2} +|"
    r"[,，。；、]\s*(?:因此|所以|故)?(?=[^\x00-\x7f]|[0-9]{1,3}[点分점])|"
    r"(?<=므로|니까|지만|어서) (?=[0-9])|\s*(?:→|->|=>|⇒|;)\s*|"
    r"\s+[-–—]+\s+(?=[A-Z*_])|"
    r",? (?:which |so it )?(?:leav(?:es|ing)|giv(?:es|ing)|result(?:s|ing) in|yield(?:s|ing)|"
    r"mak(?:es|ing)|for) (?:it |us |me )?(?=an? )"
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
