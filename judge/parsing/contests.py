"""What contests a score: another score, a correction, another scale, a refusal. No other digits.

A reason counts facts, quotes years and cites passages, and none of these is a second score. One is
a number with the label of a score or the end of the scale ("Score: 40", "40/100"), a line that is
a score by itself, or a number beside words by which a judge changes its mind or hesitates.
Refusals are read in common English words.
"""

import re
from collections.abc import Iterator
from itertools import islice

from judge.parsing.label_words import any_of
from judge.parsing.markup import unmarked
from judge.parsing.score_lines import labelled_scores, reason_alone, score_of_line
from judge.parsing.score_patterns import CONDITION, END, NUMBER_WORDS, Names
from study.base.scales import Scale

_CHANGES = re.compile(
    # The judge speaks of a score to give, or takes one back.
    r"\b(?:i(?:['’ ]d| would| will|['’ ]ll| might| could| may)?(?: also| now| then|"
    r" first)? (?:say|give|gave|rate|score|grade|go (?:with|for)|put|set|assign|award|settle|"
    r"lean|estimate|prefer|pick|choose)|wait|actually|rather(?! than)|correction|"
    r"scratch that|oops|no(?=,)|sorry|second thoughts?|(?:on |upon )?(?:further |"
    r"closer )?reflection|reconsider(?:ed|ing)?|revis(?:e[ds]?|ing|ion)|make (?:it|that)|"
    r"closer to|better (?:score|rating)|fairer|more (?:fair|accurate|appropriate|fitting|"
    r"reasonable)|would be (?:fair|better|right|appropriate|reasonable|fitting)|"
    r"is (?:fair|better|right(?! (?:about|on|in|that|and|but)\b)|appropriate)|"
    r"should be(?= (?:(?:an?|at|around|about|set|rated|lowered|raised|reduced|changed|corrected)"
    r"(?: (?:to|at))? )?(?:an? )?[0-9])|hmm|no(?=\.\s*\Z)|perhaps|maybe|alternatively|"
    r"mine (?:is|would be))\b",
    re.IGNORECASE,
)
_CHANGED_TO = re.compile(
    # "lowers it to 60", "85 or 90", "minus 30".
    r"\b(?:(?:lower|rais|bring|drop|reduc|adjust|chang|revis|correct)\w*\b[^.!?\n]{0,40}"
    r"\bto(?: an?)?|(?:could|might|may)(?: well)? be(?: an?| around| about)?) \Z|"
    r"[0-9]%?(?: points)?,? (?:or|minus) \Z|"
    # A number alone in the last clause: "However, since the date is wrong, 50."
    r"\b(?:however|but|so|therefore|thus|hence)\b.*[,;:–—-] (?P<alone>)\Z",
    re.IGNORECASE,
)
_COUNTS = re.compile(
    r" (?!(?:points|marks|seems|feels|fits|reflects|suits|matches|represents|captures|works|does|"
    r"was|this|plus|minus)\b)[a-z]{2,}s\b"
)
"""Behind a number of things: "these 4 factors"."""
_TAKEN_BACK = re.compile(
    r"\b(?:withdraw|retract|disregard|take (?:it|that|this) back|scratch that|strike that|"
    r"never ?mind|recompute|recalculate|(?:let me|need to|should|must|i) reconsider|no,? wait|"
    r"oops|i mean|(?:that|this) is wrong|that's wrong|"
    r"(?:far |much |way )?too (?:high|low|generous|harsh|lenient|strict)\b(?! (?:a|an|for)\b)|"
    r"ignore (?:that|this|the|my) (?:score|rating|number|answer|above)|"
    r"(?:i would|i'd|should(?: be)?|let me|must|to) "
    r"(?:subtract|deduct|lower(?:ed)?|reduced?|raised?)\b|"
    r"(?:deserves?|worth|make (?:it|that)|rather|say|give it) half|half of (?:that|it) is|"
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
_CHANGES_ELSEWHERE = re.compile(
    rf"\b(?:{any_of('sentences', 'changes')})\b|{any_of('sentences', 'changes_unspaced')}", re.I
)
_TENS = re.compile(
    r"\b(?:zero|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred)\b(?!-)", re.I
)
_NUMBER = re.compile(
    # Not inside words, versions and citations, and not a year or an amount in thousands.
    r"(?<![A-Za-z0-9_])(?<![0-9][.,])(?<![A-Za-z]-)(?<!\[)-?[0-9]{1,3}(?:\.[0-9]+)?"
    r"(?![A-Za-z0-9_]|[.,][0-9]|\])",
    re.ASCII,
)
_BEFORE = re.compile(
    r"(?:/|\bof(?: the| a| all| these)?(?: possible)?|\b(?:passage|document|doc|chunk|source|"
    r"reference|section|chapter|table|figure|fig|page|line|paragraph|sentence|item|part|step|"
    r"stage|phase|"
    r"type|point|claim|fact|in|since|until|by|year)s?\.?) ?#?\Z",
    re.IGNORECASE,
)
_ONE_WORD = re.compile(r"\A\W*[^\W\d]+, \Z")
_OF_SCALE = re.compile(
    r" ?(?:/|out of|von|sur|sobre|su|из|of(?= [0-9]+ (?:points|pts|marks)\b)) ?([0-9]+)\b"
    r"(?! (?!points|pts|marks)[a-z]{3,})",
    re.IGNORECASE,
)
_MOST = 100
_MOST_ITEMS = 20
_SHORT = 60
"""Characters of an answer whose numbers are all taken for scores when it is explained."""
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<![ie]\.[eg]\.)(?<!\b[Aa]rt\.)(?<!\b[Aa]bs\.)(?<!\b[NnBb]r\.)(?<!\b[Ss]ec\.) +|\n"
)


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
        elif score_of_line(line, None, names) is not None:
            yield None
    for sentence in _SENTENCE_END.split(unmarked(text)):
        if not CONDITION.search(sentence):
            yield from _in_sentence(sentence, scale)
    if _TAKEN_BACK.search(text):
        yield None


def whole_scores(text: str, scale: Scale) -> Iterator[float]:
    """Yield the numbers of a text that stand beside the end of the scale: "40/100"."""
    for number in _NUMBER.finditer(text):
        whole = _OF_SCALE.match(text, number.end())
        if whole and float(whole[1]) == scale.max:
            yield float(number[0])


def last_correction(answer: str) -> str | None:
    """Return the end of an answer from where the judge last corrects itself in words."""
    begins = [found.start() for found in _CORRECTION.finditer(answer, 1)]
    return answer[begins[-1] :].lstrip(".!?\n ") if begins else None


_CORRECTION = re.compile(
    r"[.!?…\n][ *_(]{0,4}(?:(?:hmm|wait|actually|correction|sorry|edit|update|revised)\b|"
    r"(?:up)?on (?:second thought|"
    r"reflection|(?:(?:closer|further) )?(?:inspection|reading|re-?reading|look|review))|"
    r"(?:(?:so|therefore|thus|hence),? )?(?:i(?:['’]ll)?|let me) (?:(?:must|should|will|have to|"
    r"now|therefore|need to) ){0,2}(?:lower|raise|revise|adjust|correct|change|"
    r"reconsider|update|reduce) (?:my|the|this|it|that)\b)",
    re.IGNORECASE,
)


def names_several(answer: str, scale: Scale, names: Names) -> bool:
    """Return whether an answer without a score names several: "80-90", "Score: 40 or 50"."""
    if len({*islice(contests(answer, scale, names), _MOST)}) > 1:
        return True
    return len(answer) <= _SHORT and len(_NUMBER.findall(unmarked(answer))) > 1


def _in_sentence(sentence: str, scale: Scale) -> Iterator[float | None]:
    changes = _CHANGES.search(sentence) or _CHANGES_ELSEWHERE.search(sentence)
    for word in _TENS.finditer(sentence):
        if changes or _CHANGED_TO.search(sentence[: word.start()][-60:]):
            yield None
    for number in _NUMBER.finditer(sentence):
        before, after = sentence[: number.start()], sentence[number.end() :]
        if _COUNTS.match(after):
            continue
        changed_to = _CHANGED_TO.search(before[-60:])
        if changed_to and changed_to["alone"] is not None and re.match(" [a-z]", after):
            changed_to = None
        value = float(number[0])
        # "Hmm, no. 60." and "Nein, 60."; "2." is the number of an item.
        alone = not (re.search(r"\w", _ONE_WORD.sub("", before) + after) or scale.problem(value))
        alone = alone and not (value <= _MOST_ITEMS and after.startswith((".", ")")))
        whole = _OF_SCALE.match(after)
        if (
            alone
            or (whole and float(whole[1]) == scale.max)
            or (
                (changes or changed_to)
                and not scale.problem(value)
                and value not in (scale.min, scale.max)
                and not _BEFORE.search(before[-30:])
            )
        ):
            yield value


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

    "Total marks: 100" is the number of points or marks; "Total: 100" may be a score.
    """
    text = unmarked(answer)
    total = _TOTAL.search(text)
    if total is None or not _OF_POINTS.search(total[0]):
        return False
    return float(total["number"] or total["other"]) == value


_TOTAL = re.compile(
    r"(?:\b(?:total\w*|gesamt\w*|toplam|сумм\w+|всего|łączn\w+|wszystkich|tổng)\b|"
    r"कुल|کل|σύνολο|الكلية|[总總総]|총)[^\n:：0-9]{0,30}[:：]?\s*(?P<number>[0-9]+)|"
    r"\b[^\W\d_]+ (?:gesamt|totale?s?) ?: (?P<other>[0-9]+)",
    re.IGNORECASE,
)
_OF_POINTS = re.compile(r"\b(?:marks|points|punkte|puntos|punti|pontos|puan|अंक)\b", re.IGNORECASE)


_SORRY = (
    r"(?:(?:i'?m |i am )?(?:very |so )?sorry|(?:i |my )?apolog(?:i[sz]e|ies)|"
    r"as an? (?:ai|(?:large )?language model))\b"
)
_CANNOT = (
    r"(?:i (?:can't|cannot|can not|could not|couldn't|won't|will not|(?:must )?decline|refuse)\b"
    r"(?! (?:decide|choose|find|fault|help but))|i (?:don't|do not) feel comfortable|"
    r"i(?:'m| am) (?:unable|not (?:able|comfortable|allowed|permitted)))"
)
_REFUSAL = re.compile(
    # At the start of the answer or of a clause, since the answer may quote the response.
    rf"\A(?:{_SORRY}|(?:(?:unable|not able) to|cannot|can't)\b)|"
    rf"(?:\A|[.!,;:\n] ?|\b(?:but|and|however|so) )(?:{_CANNOT}|"
    r"it is (?:not possible|impossible) to (?:assess|assign|determine|evaluate|give|rate|score)\b)",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    # Next to the lowest score: at the start of the answer, of a line or of a sentence.
    rf"(?:\A|\n|[.!] )[*_\s]*(?:{_SORRY}|{_CANNOT})|"
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
