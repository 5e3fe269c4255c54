"""Recognizes that a judge refuses to give a score, in common English words."""

import re

_REFUSAL = re.compile(
    # At the start of the answer or of a clause, since the answer may quote the response.
    r"\A(?:(?:i'?m |i am )?(?:very |so |truly )?sorry|(?:i |my )?apolog(?:i[sz]e|ies)|"
    r"(?:unable|not able) to|cannot|can't|as an? (?:ai|(?:large )?language model))\b|"
    r"(?:\A|[.!,;:\n] ?|\b(?:but|and|however|so) )(?:"
    r"i (?:can't|cannot|can not|could not|couldn't|won't|will not|(?:must )?decline|refuse)"
    r"(?! (?:decide|choose|find|fault|help but))|"
    r"i(?:'m| am) (?:unable|not able|not comfortable|not allowed|not permitted)|"
    r"i (?:don't|do not) feel comfortable|"
    r"it is (?:not possible|impossible) to (?:assess|assign|determine|evaluate|give|rate|score))\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    # Next to the lowest score: at the start of the answer, of a line or of a sentence.
    r"(?:\A|\n|[.!] )[*_\s]*(?:(?:i'?m |i am )?(?:very |so |truly )?sorry\b|i apologi[sz]e|"
    r"as an? (?:ai|(?:large )?language model)\b|"
    r"i(?:'m| am) (?:unable|not able|not comfortable|not allowed|not permitted)|"
    r"i (?:can't|cannot|can not|could not|couldn't|won't|will not|(?:must )?decline|refuse)\b"
    r"(?! (?:decide|choose|find|fault|help but))|i (?:don't|do not) feel comfortable)|"
    # In a later clause only with what is refused, since the judge may give no more than 0 either.
    r"(?:[,;(] ?|\b(?:so|and|but|hence|therefore) )"
    r"i(?: can't| cannot| can not|(?:'m| am) unable to) (?:evaluate|assess|judge|rate|score) "
    r"(?:it|this|the response|the answer)\b(?! (?:any )?(?:higher|above|more|as))",
    re.IGNORECASE,
)
_RATE = (
    r"(?:(?:fairly|properly|reliably|meaningfully|adequately|fully|really|accurately|honestly) )?"
    r"(?:evaluate|assess|judge|rate|score|grade|"
    r"(?:provide|give|assign|offer|determine|produce) (?:you )?(?:an?|the|any) (?:\w+ )?"
    r"(?:score|rating|evaluation|assessment|judge?ment|grade))\b"
)
_REFUSES_TO_RATE = re.compile(
    # Beside any score: what is refused is the rating itself, or the number is called a placeholder.
    rf"\b(?:i|we)(?:'m| am| are)? (?:can't|cannot|can not|could not|couldn't|won't|will not|"
    rf"unable to|not able to|not going to|refuse to|decline to|must decline to) {_RATE}|"
    rf"(?:\A|[\n.!(:;,–—-] ?)(?:unable|not able|not possible|impossible|cannot|can't) "
    rf"(?:to )?{_RATE}|"
    rf"\bit(?: is|'s) (?:not possible|impossible) to {_RATE}|"
    r"\b(?:the response|this|the answer|the content|it) (?:can't|cannot|can not|could not) be "
    r"(?:evaluated|assessed|judged|rated|scored|graded)\b|"
    r"(?:\A|\n)\W*(?:this |the )?(?:response |answer )?(?:cannot|can't) be "
    r"(?:evaluated|rated|scored|assessed)\b|"
    r"\bsorry,? (?:but )?i (?:can't|cannot|won't)(?=[.,;!\n]|\Z)|"
    r"\bevaluation (?:is )?(?:not possible|impossible)\b|"
    r"\b(?:refuse|decline) to (?:judge|rate|score|evaluate|assess)\b|"
    r"\b(?:a |is a |as a |just a )?placeholder\b|\brandom guess\b|\bdefault (?:value|score)\b|"
    r"\(?(?:unable|cannot|can't) (?:to )?(?:judge|rate|score|evaluate|assess)\b",
    re.IGNORECASE,
)
_NO_RATING = re.compile(
    # Beside the lowest score alone: what programs and filters print.
    r"(?:\A|\n|[(:,–—-] ?)\W*(?:n/?a|null|none|error|refused|declined|skipped|blocked|"
    r"not applicable|not rated|request declined|please provide)\b|"
    r"\bblocked by\b|\bviolates? (?:my|the|our|content|these|safety)\b[^.\n]{0,30}"
    r"(?:guidelines?|polic(?:y|ies))|\bi can(?:'t|not) help with\b|无法评|不能评|"
    r"\bne peux pas [ée]valuer\b|\bkann (?:das|dies|die antwort)? ?nicht bewerten\b|"
    r"\bno puedo evaluar\b",
    re.IGNORECASE,
)
_REFUSAL_WITHIN = 300
"""Characters. A refusal is at the beginning."""


def is_refusal(answer: str) -> bool:
    """Return whether an answer without a score is a refusal."""
    start = answer[:_REFUSAL_WITHIN].replace("’", "'").lstrip(" \n*_`\"'“‘#>")
    return bool(_REFUSAL.search(start))


def refuses_next_to_score(answer: str) -> bool:
    """Return whether an answer with the lowest score refuses as well: "I cannot rate this. 0"."""
    text = answer.replace("’", "'")
    return bool(_REFUSES.search(text) or _NO_RATING.search(text)) or refuses_to_rate(answer)


def refuses_to_rate(answer: str) -> bool:
    """Return whether an answer refuses the rating itself, whatever number it has."""
    return bool(_REFUSES_TO_RATE.search(answer.replace("’", "'")))
