"""What contests a score: another score, or a correction in words. Digits in a reason do not.

A reason counts facts, quotes years and cites passages, and none of these is a second score. One is
a number with the label of a score or the end of the scale ("Score: 40", "40/100"), a line that is
a score by itself, or a number beside words by which a judge changes its mind or hesitates.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from judge.parsing.conditional_sentences import CONDITION
from judge.parsing.markup import QUOTES, unmarked
from judge.parsing.score_lines import labelled_scores, other_scale_of_line, score_of_line
from judge.parsing.score_patterns import Names
from study.base.scales import Scale

_CHANGES = re.compile(
    # The judge speaks of a score to give, or takes one back.
    r"\b(?:i(?:['’ ]d| would| will|['’ ]ll| might| could| may)?(?: also| now| then|"
    r" first)? (?:say|give|gave|rate|score|grade|go (?:with|for)|put|set|assign|award|settle|"
    r"lean|estimate|prefer|pick|choose)|wait|actually|instead(?! of)|rather(?! than)|correction|"
    r"scratch that|oops|no(?=,)|sorry|second thoughts?|(?:on |upon )?(?:further |"
    r"closer )?reflection|reconsider(?:ed|ing)?|revis(?:e[ds]?|ing|ion)|make (?:it|that)|"
    r"closer to|better (?:score|rating)|fairer|more (?:fair|accurate|appropriate|fitting|"
    r"reasonable)|would be (?:fair|better|right)|"
    r"is (?:fair|better|right(?! (?:about|on|in|that|and|but)\b)|appropriate)|"
    r"should be(?! (?:noted|added|said|mentioned))|hmm|no(?=\.)|perhaps|maybe|alternatively|"
    r"mine (?:is|would be))\b",
    re.IGNORECASE,
)
_CHANGED_TO = re.compile(
    # "lowers it to 60", "85 or 90", "minus 30".
    r"\b(?:(?:lower|rais|bring|drop|reduc|adjust|chang|revis|correct)\w*\b[^.!?\n]{0,40}"
    r"\bto(?: an?)?|or|minus|(?:could|might|may)(?: well)? be(?: an?| around| about)?) \Z|"
    # A number alone in the last clause: "However, since the date is wrong, 50."
    r"\b(?:however|but|so|therefore|thus|hence)\b.*[,;:–—-] \Z",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:withdraw|retract|disregard|take (?:it|that|this) back|scratch that|strike that|"
    r"never ?mind|recompute|recalculate|(?:let me|need to|should|must|i) reconsider|no,? wait|"
    r"oops|i mean|(?:that|this) is wrong|that's wrong|"
    r"(?:far |much |way )?too (?:high|low|generous|harsh|lenient|strict)\b(?! (?:a|an|for)\b)|"
    r"ignore (?:that|this|the|my) (?:score|rating|number|answer|above)|"
    r"(?:i would|i'd|should(?: be)?|let me|must|to) "
    r"(?:subtract|deduct|lower(?:ed)?|reduced?|raised?)\b|"
    r"(?:deserves?|worth|make (?:it|that)|rather|say|give it) half|"
    r"(?:(?<=[.!?] )|(?<=\n))half (?:is|of (?:that|it) (?:is|would))|half of that is|"
    r"no, (?:lower|higher)|"
    r"(?:score|rating|number|value) (?:above|below|given|here) (?:is|was) (?:not|in|un|wrong|void)|"
    r"no longer (?:holds?|valid|stands?|applies)|(?:does|do) not stand|not (?:a )?valid score|"
    r"(?:true|real|actual|my own|own) (?:score|rating)?(?: is|:)? ?(?:much )?(?:lower|higher)|"
    r"(?:it|score) is (?:much|far|really) (?:lower|higher)|response.s own|"
    r"the response (?:asked for|asks (?:me|for)|wants)|i do not follow it)\b|"
    r"(?:\A|[.!?\n])[ *_(—-]{0,4}(?:hmm[,.… ]{1,3})?(?:wait|hold on)(?=\W)|"
    r"just kidding|(?:score|line|number) (?:is )?(?:that )?of the (?:reference|other)|"
    r"told me to|is a template|"
    r"\((?:not final|draft|wrong|example|tentative|placeholder)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"[^"\n]{8,400}"')
"""What a judge quotes from the response: "Score: 100"."""
# 应为: should be, 更: more, 改: change, 而不是: and not; むしろ: rather, 訂正: correction.
_CHANGES_ELSEWHERE = re.compile(
    r"\b(?:eher|vielmehr|stattdessen|besser|korrig\w+|doch|plut[ôo]t|corrig\w+|m[áa]s bien|mejor|"
    r"rectific\w+|piuttosto|anzi|meglio|correzione|melhor|скорее|лучше|исправ\w+)\b|"
    r"应为|应该|更|改为|改成|而不是|不对|むしろ|訂正|修正|やはり|오히려|정정",
    re.IGNORECASE,
)
_TENS = "zero|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
_IN_WORDS = re.compile(
    r"\b(?:wait|actually|instead|rather|sorry|correction|reconsider\w*|should (?:be|read)|"
    r"lower(?:ed)?|rais(?:e|ed)|update|hmm|subtract|"
    r"i(?:'d| would) (?:say|give|go))\b"
    rf"[^.!?\n]{{0,60}}[.!?,]?[^.!?\n]{{0,60}}\b(?:{_TENS})\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    # Not inside words, versions and citations, and not a year or an amount in thousands.
    r"(?<![A-Za-z0-9_])(?<![0-9][.,])(?<![A-Za-z]-)(?<!\[)-?[0-9]{1,3}(?:\.[0-9]+)?"
    r"(?![A-Za-z0-9_]|[.,][0-9]|\])",
    re.ASCII,
)
_COUNTS = re.compile(
    # "3 facts", "2 of the 4 points", "60% of the claims", "90 km": things of the response.
    r" ?%? (?:out )?of (?:the |its |these |all |a )?[0-9]*\ ?(?!possible|max|100\b)[a-z]{3,}|"
    r"[- ](?!(?:and|or|to|but|so|as|at|by|for|from|in|on|if|is|was|be|are|because|since|due|given|"
    r"though|although|then|than|this|that|it|the|an?|i|not|only|with|without|when|while|out|here|"
    r"now|max|points?|pts|marks?|perhaps|maybe|would|could|should|might|may|seems?|feels?|"
    r"reflects?|fits|better|instead|rather|not)\b)[A-Za-z]",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?:/|\bof(?: the| a| all| these)?(?: possible)?|\b(?:passage|document|doc|chunk|source|"
    r"reference|section|chapter|table|figure|fig|page|line|paragraph|sentence|item|part|step|"
    r"stage|phase|"
    r"type|point|claim|fact|in|since|until|by|year)s?\.?) ?#?\Z",
    re.IGNORECASE,
)
_OF_SCALE = re.compile(
    r" ?(?:/|out of|von|sur|sobre|su|из|of(?= [0-9]+ (?:points|pts|marks)\b)) ?([0-9]+)\b"
    r"(?! (?!points|pts|marks)[a-z]{3,})",
    re.IGNORECASE,
)
_ONLY_NUMBERS = re.compile(r"[\W\d_]*(?:(?:to|and|or|boxed)[\W\d_]*)*", re.IGNORECASE)
_MOST = 100
_MOST_ITEMS = 20
_SHORT = 60
"""Characters of an answer whose numbers are all taken for scores when it is explained."""
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<![ie]\.[eg]\.) +|\n")


def contests(
    text: str, scale: Scale, names: Names, *, parts: bool = True
) -> Iterator[float | None]:
    """Yield the scores in a text beside a score; None for one that is written in words.

    `parts` as in `labelled_scores`.
    """
    text = reason_alone(text, scale)
    if not text.strip():
        return
    yield from labelled_scores(text, scale, names, parts=parts)
    for line in text.split("\n"):
        score = score_of_line(line, scale, names)
        if score is not None:
            yield score
        elif other_scale_of_line(line, scale, names):
            yield None
    for sentence in _SENTENCE_END.split(unmarked(text)):
        if CONDITION.search(sentence):
            continue
        yield from _in_sentence(sentence, scale)
    if _IN_WORDS.search(unmarked(text)) or _TAKEN_BACK.search(text):
        yield None


def reason_alone(text: str, scale: Scale) -> str:
    """Return a reason without what it quotes, and without the scale that the prompt states."""
    text = _QUOTED.sub(" ", text.translate(QUOTES))
    return _echo(scale.min, scale.max).sub(" ", text)


def whole_scores(text: str, scale: Scale) -> Iterator[float]:
    """Yield the numbers of a text that stand beside the end of the scale: "40/100"."""
    for number in _NUMBER.finditer(text):
        whole = _OF_SCALE.match(text, number.end())
        if whole and float(whole[1]) == scale.max:
            yield float(number[0])


def last_correction(answer: str) -> str | None:
    """Return the end of an answer from where the judge last corrects itself in words."""
    begins = [found.start() for found in _CORRECTION.finditer(answer, 1)]
    return _MARKER.sub("", answer[begins[-1] :].lstrip(".!?\n ")) if begins else None


_CORRECTION = re.compile(
    r"[.!?…\n][ *_(]{0,4}(?:(?:hmm|wait|actually|correction|sorry|edit|update|revised)\b|"
    r"(?:up)?on (?:second thought|"
    r"reflection|(?:(?:closer|further) )?(?:inspection|reading|re-?reading|look|review))|"
    r"(?:(?:so|therefore|thus|hence),? )?(?:i(?:['’]ll)?|let me) (?:(?:must|should|will|have to|"
    r"now|therefore|need to) ){0,2}(?:lower|raise|revise|adjust|correct|change|"
    r"reconsider|update|reduce) (?:my|the|this|it|that)\b)",
    re.IGNORECASE,
)
_MARKER = re.compile(
    r"\A[*_(]{0,4}(?:hmm|wait|correction|sorry|edit|update)[*_]{0,2}[:,.;!—–-]+[*_]* *", re.I
)
"""How a judge begins to correct the score above."""


@lru_cache(maxsize=64)
def _echo(low: float, high: float) -> re.Pattern[str]:
    least, most = (re.escape(f"{end:g}") for end in (low, high))
    meant = r"(?: ?\([^()\n]*\))?"
    return re.compile(
        rf"(?<![0-9.]){least}{meant} ?(?:-|–|—|to|and) ?{most}(?![0-9]|\.[0-9]){meant}|"
        rf"if no response is (?:generated|given)[^.\n]{{0,60}}\b{least}\b",
        re.IGNORECASE,
    )


def names_several(answer: str, scale: Scale, names: Names) -> bool:
    """Return whether an answer without a score names several: "80-90", "Score: 40 or 50"."""
    if len({*islice(contests(answer, scale, names), _MOST)}) > 1:
        return True
    short = len(answer) <= _SHORT or _ONLY_NUMBERS.fullmatch(answer)
    return bool(short) and len(_NUMBER.findall(unmarked(answer))) > 1


def _in_sentence(sentence: str, scale: Scale) -> Iterator[float]:
    changes = _CHANGES.search(sentence) or _CHANGES_ELSEWHERE.search(sentence)
    for number in _NUMBER.finditer(sentence):
        before, after = sentence[: number.start()], sentence[number.end() :]
        value = float(number[0])
        # "Hmm, no. 60."; "2." is the number of an item.
        alone = not (re.search(r"\w", before + after) or scale.problem(value))
        alone = alone and not (value <= _MOST_ITEMS and after.startswith((".", ")")))
        whole = _OF_SCALE.match(after)
        if (
            alone
            or (whole and float(whole[1]) == scale.max)
            or (
                (changes or _CHANGED_TO.search(before[-60:]))
                and not scale.problem(value)
                and value not in (scale.min, scale.max)
                and not _COUNTS.match(after)
                and not _BEFORE.search(before[-30:])
            )
        ):
            yield value
