"""Regular expressions of the forms of a score, for a scale and the names of constructs."""

import re
from dataclasses import dataclass
from functools import lru_cache

from judge.parsing.label_words import any_of

_CONSTRUCTS = rf"(?:{any_of('sentences', 'constructs')})"
NOUN = rf"(?:{any_of('sentences', 'nouns')})"
# "The answer is 85" may answer the judged query: these words need a colon, or "final".
AMBIGUOUS = r"(?:answer|output|result|total|sum|overall|final)"
_AFTER_NOUN = r"(?:\s+(?:finale?|globale?|totale?))?"
_OF = rf"(?:{any_of('sentences', 'of')})"
"""Between a score and the end of its scale: "85 out of 100", "85 von 100", "85 sur 100"."""
_LETTER = r"[A-Za-z\u00c0-\u1fff\u2c00-\u2fff\u3040-\uffef]"
_GIVE_OR_TAKE = (
    r"(?:,?\ +(?:or\ +(?:so|thereabouts)|give\ or\ take|more\ or\ less|"
    r"I(?:\ would|['’]d|\ d)?\ (?:think|guess|believe|say|suppose)))?"
)
_NO_SCORES = r"(?!.*\?\s*$)(?!.*\b[A-Za-z]{3,}\ +[0-9]{1,3}[ .!]*(?:[,;]|$))"
"""No list of labels and numbers follows: "Relevance 8, fluency 9"."""
_VERBS_AT_END = r"(?:vergeben|geben|ansetzen|bewerten|erteilen)"
_GIVES = (
    # What a judge says of its own score, or of what the response deserves.
    r"(?:(?:\bI(?:['’\ ](?:d|ll|m))?\s+(?:(?!not\b|never\b|t\b|cannot\b)[a-z]+\s+){0,2}?(?:rate|"
    r"scor(?:e|ing)|"
    r"grad(?:e|ing)|giv(?:e|ing)|award|assign(?:ing)?|mark|put|place|set|say|estimate|assess|"
    r"evaluate|settl(?:e|ing)|arrive|go(?:ing)?|land)|\bmak(?:es|ing)\s+(?:it|this)|"
    r"[我因所][^0-9。，,]{0,12}(?:给|打)[出了]?)"
    r"[^0-9.!?;:]{0,70}?|"
    # What is left after deductions, and a change of one's own score.
    r"\b(?:that|this|which)\s+(?:leaves|makes(?:\s+it)?|gives|comes\s+to|results\s+in|yields)\s+"
    r"(?:(?:us|me)\s+(?:(?:with|at)\s+)?)?"
    r"(?:an?\s+(?:final\s+|total\s+)?(?:score|total|rating)\s+of\s+)?|"
    r"\bI(?:['’]ll|\s+will|\s+would)?\s+(?:[a-z]+\s+)?(?:lower|raise|reduce|revise|adjust|change|bring|"
    r"correct|move)\s+(?:it|this|(?:my|the)\s+[a-z]+)\s+(?:down\s+|up\s+)?to\s+(?:an?\s+)?)"
)
_GIVEN = (
    # Languages whose verb follows: "85 puan veriyorum"; "100点満点で" names the scale.
    r"(?! *(?:点?満点|分?满分|점? ?만점))"
    r"[^0-9,.!?。]{0,20}(?:ver(?:iyorum|irim|dim|eceğim)|주겠|드리|부여합|평가합|매기|"
    r"(?:देता|देती) हूँ|दूं?ँ?ग|می‌?\s?دهم|(?:評価|採点)(?:しま|いた)|点をつけ)[^0-9,.!?。]{0,20}"
)
COUNT = (
    # "3 of 4 facts": a count of things, not a second score.
    r"[0-9]+\ +(?:of\ +(?:the\ +)?[0-9]+\ +)?(?!(?:to|or|and|out|of|points?|pts|is|if|for|at|would|"
    r"may|might|could|because|since|would)\b)[A-Za-z]{3,}"
)
REASON = re.compile(
    # A dash, a colon or a word such as "because"; brackets at the end; another sentence.
    rf" +[-–—]+ +(?={_LETTER}|{COUNT})| *: +(?={_LETTER})|"
    rf" *,? +(?:{any_of('sentences', 'because')}) |"
    r" +(?:#|\||//) +|"
    rf" *[，；] *|, +(?={_LETTER})"
    rf"{_NO_SCORES}|"
    rf" *\((?!(?:out +)?of\b)(?={_LETTER}|{COUNT})(?=[^()]*\) *\.?\s*\Z)|"
    rf" *; +(?={_LETTER}|{COUNT}){_NO_SCORES}|"
    rf"(?P<stop>[.!] +(?={_LETTER})|[。।])",
    re.IGNORECASE,
)
"""Where the reason of a first line with a score begins."""
_WOULD = r"i(?:['’ ]d| would)"
CONDITION = re.compile(
    r"\b(?:if|unless|had (?:it|the|there)|were (?:it|the)|would have|could have|asks? (?:me|for)|"
    r"once|assuming|provided|supposing|otherwise|normally|in the absence of|used to|meant to|"
    rf"{_WOULD} love|as a start|in a better|"
    rf"with(?:out)? (?!it|this|that|them|doubt|hesitation|question)[a-z]+(?: [a-z]+)?,? {_WOULD}|"
    r"(?:correct|change|complete) [^,.]{1,40},? (?:and|then) (?:it|i)|"
    rf"(?:except|but) for [^,]{{1,40}},? {_WOULD}|"
    r"ignoring|without (?:the|that|this|its|these|those)|"
    # German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Indonesian, Vietnamese
    r"wenn|falls|hätte|wäre|s'il|aurait|avec (?:des? |une? )?[a-zé]+,? je|si|se|hubiera|"
    r"(?:de|con|sin) [a-zñ]+(?: [a-zñ]+)?,? (?:le )?dar[íi]a|com [a-zç]+,? (?:eu )?daria|fosse|"
    r"als er|gdyby|om den|jika|nếu)\b|"
    r"\A\W*(?:fix|add|remove|for (?:style|fluency|clarity|grammar))\b|"
    r"如果|もし|если бы|\bбы ответ|olsayd|다면|होते तो|होता तो",
    re.IGNORECASE,
)
"""Words of a condition: "If it had sources, I would give it a 90"."""
NUMBER_WORDS = {"three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10, "twenty": 20}
END = rf"(?:[0-9]+(?:\.[0-9]+)?|{'|'.join(NUMBER_WORDS)})"

Names = tuple[str, ...]
"""Names of a study's constructs, which are labels of scores as those of CCRS are."""


@dataclass(frozen=True, slots=True)
class ScorePatterns:
    score: re.Pattern[str]
    at_end: re.Pattern[str]
    label: re.Pattern[str]
    percent: bool
    """Whether the scale is that of percentages."""
    number: re.Pattern[str]
    written: re.Pattern[str]
    """A number with its unit, as it stands in a sentence."""
    scale_named: re.Pattern[str]
    anywhere: re.Pattern[str]


@lru_cache(maxsize=64)
def score_patterns(ends: tuple[float, float] | None, names: Names) -> ScorePatterns:
    """Compile the forms of a score, which may mention the ends of this scale only, or of any."""
    if ends is None:
        low, high = 0.0, 0.0
        least, most, stars = r"[0-9]+", END, "stars?"
    else:
        low, high = ends
        least, most = (re.escape(f"{end:g}") + r"(?:\.0+)?" for end in ends)
        stars = "stars?" if high <= _MOST_STARS else "(?!)"
    if high == 100:
        most = rf"(?:{most}|(?:a\ +|one\ +)?hundred)"
    constructs = "|".join((_CONSTRUCTS, *(spaced(name) for name in names)))
    constructs = rf"(?:{constructs})"
    meant = r"(?:\s*\([^()0-9\n]*\))?"
    span = rf"(?:from\s+|between\s+)?{least}{meant}\s*(?:-|–|—|to|and)\s*{most}{meant}"
    over = (
        rf"(?:/\ *{most}|{_OF}\ +(?:a\ +)?(?:possible\ +|max(?:imum|\.)?\ +)?{most}|"
        rf"(?:[满滿]分|max(?:imum|\.)?\ ){most}分?|(?<![0-9]){most}(?:点満点|点中|점\ *만점))"
        rf"(?:\ +{stars})?"
    )
    on_scale = (
        rf"(?:on\ +(?:a|the)\ +scale\ +(?:of\ +)?{span}|(?:on\ +(?:a|the)\ +)?{span}\ +scale)"
    )
    bounds = rf"(?:{span}|(?:/\ *|out\ +of\ +){most}|{on_scale})"
    percent = rf"(?:\\?%|{any_of('sentences', 'percent')})" if (low, high) == (0, 100) else r"(?!)"
    points = rf"(?:{any_of('sentences', 'points')})"
    sign = "[-+]?" if low < 0 else "-?"
    number = rf"{sign}(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"

    kind = r"(?:(?:final|overall|total|assigned|numerical|numeric|appropriate|suggested)\s+){0,2}"
    named = (
        rf"(?:{constructs}(?:\s+{NOUN})?|(?:(?:cc|qr|id|ac|ir)\s+)?{NOUN}{_AFTER_NOUN}|"
        rf"final\s+{AMBIGUOUS})"
    )
    bracketed = rf"(?:{bounds}|{percent}|{constructs}|final|overall|total)"
    in_brackets = rf"(?:\s*[(\[]\s*{bracketed}\s*[)\]]|\s+{bounds})?"
    article = r"(?:(?:the|my|your|a|la|le|il|o|el|die|der|das|meine|ma|mon|mi)\s+)?"
    clear = rf"{article}{kind}{named}{in_brackets}"
    # "Note: 85" may be a remark in English; "Note: 85/100" is a grade in French or German.
    grade = rf"not[ea]{_AFTER_NOUN}(?=\s*:\s*{number}\ *{over}|\s+:)"
    ambiguous = rf"(?:{AMBIGUOUS}{_AFTER_NOUN}{in_brackets}|{grade})"
    colon = r"(?:\s*(?:[:=→：]|->)|\s+[-–—]\s)\s*"
    label = (
        rf"(?:(?:{on_scale}|(?:(?:a|the)\s+)?(?:single\s+)?number\s+{span})\s*:\s*|"
        rf"{clear}(?:{colon}|\s+is(?=\s|:)\s*:?\s*)|"
        rf"{ambiguous}{colon})"
    )

    because = (
        rf"(?:(?:=>|->|→)\s*)?(?:满分\s*{most}\s*分?[，,]\s*|(?:last|final)\s+line\s*[-–—:]\s*|"
        r"(?:based|given|considering|looking|after|according|taking|since|because|as|judging)\b"
        r"[^\n:;]{0,150}[,:]\s*)?"
    )
    unit = rf"(?:{points}|{stars})(?:\ *(?:{over}|\(\ *{over}\ *\)))?"
    suffix = (
        rf"(?:\ *(?:{percent}|{unit}|(?:{over}|\(\ *{over}\ *\))(?:\ *{points})?|"
        rf",?\ *{on_scale}|,?\ *\(\ *(?:{on_scale}|{span})\ *\)))?"
    )
    hedge = (
        rf"(?:(?:{any_of('sentences', 'hedges')})\s+|(?:[~≈]|大约|大概|约|およそ|約|약)\s*){{0,2}}"
    )
    before = rf"{because}{label}"
    written = rf"{hedge}(?P<number>{number}){suffix}{_GIVE_OR_TAKE}"
    # With the end of the scale beside it, a number is a score whatever follows.
    of_whole = rf"(?P<whole>{number})\ *(?:{points}\ *)?{over}(?:\ *{points})?"
    flags = re.ASCII | re.IGNORECASE
    return ScorePatterns(
        score=re.compile(
            rf"\s*(?:(?:(?:=>|->|→)\s*)?(?P<label>{before})?(?:[:=]\s*)?{written}|"
            rf"(?P<named>{before})?[(\[<]\s*(?P<framed>{number})\s*[)\]>])"
            r"\ *[.,;!。]?\s*",
            flags,
        ),
        at_end=re.compile(
            rf"(?P<before>.*?)(?:(?<![0-9.,/-]){of_whole}(?:\ +{_VERBS_AT_END})?|"
            rf"{_GIVES}(?<![0-9.,/-])(?P<given>{number}){suffix}{_GIVE_OR_TAKE}"
            rf"(?:\ +(?:{_VERBS_AT_END}))?|(?<![0-9.,/-])(?P<verb>{number}){suffix}{_GIVEN})"
            r"[^\w\u00c0-\u1fff\u2c00-\u2fff\u3040-\uffef?]*",
            flags,
        ),
        label=re.compile(rf"\s*(?:{clear}|{ambiguous})\s*", flags),
        percent=percent != r"(?!)",
        number=re.compile(number, flags),
        written=re.compile(
            rf"(?<![\w.,/-])(?P<number>{number}){suffix}(?![A-Za-z0-9/\u00c0-\u04ff]|[.,][0-9])",
            flags,
        ),
        scale_named=re.compile(
            rf"(?:{on_scale}|\(\ *{span}\ *\)|out\ +of\ +{most}(?!\w)|"
            rf",\ where\ {most}\ (?:is|means)[^:.\n]{{0,80}}(?=:))",
            flags,
        ),
        anywhere=re.compile(
            rf"(?<![A-Za-z0-9_]){clear}(?:{colon}|\s+(?:is|was|would\s+be|should\s+be)\s+)"
            rf"(?P<number>{number})(?![0-9]|[.:–-][0-9]|/[0-9]+ [=≈] | to [0-9])|"
            rf"\b{NOUN}s?\s+of\s+(?P<of>{number})(?![0-9]|\.[0-9])|"
            rf"\b(?:{any_of('labels', 'gives')}|{any_of('labels', 'earns')})\s+"
            rf"(?:[a-z]+\s+){{0,6}}(?P<said>{number})\ *{over}|"
            rf"^[ *_#>|•-]*(?:[a-z]|[^\x00-\u00bf])(?:[a-z ]|"
            rf"[^\x00-\u00bf]){{1,40}}[:：]\s*(?P<alone>{number}){suffix}[^\w\u00c0-\uffff]*$",
            flags | re.MULTILINE,
        ),
    )


_MOST_STARS = 10


def spaced(name: str) -> str:
    """Return a pattern of a name with any white space between its words."""
    return r"\s+".join(re.escape(word) for word in name.split())
