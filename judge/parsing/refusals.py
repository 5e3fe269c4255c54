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
_REFUSAL_WITHIN = 300
"""Characters. A refusal is at the beginning."""


def is_refusal(answer: str) -> bool:
    """Return whether an answer without a score is a refusal."""
    start = answer[:_REFUSAL_WITHIN].replace("’", "'").lstrip(" \n*_`\"'“‘#>")
    return bool(_REFUSAL.search(start))


def refuses_next_to_score(answer: str) -> bool:
    """Return whether an answer with the lowest score refuses as well: "I cannot rate this. 0"."""
    return bool(_REFUSES.search(answer.replace("’", "'")))
