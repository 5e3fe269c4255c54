"""Rewrites forms of a score that are not lines: tables, number words, numbers below their label.

Each becomes a line such as "Overall: 76", which the one rule for lines reads.
"""

import ast
import re
from collections.abc import Callable
from operator import add, mul, sub, truediv

from judge.parsing.label_words import NUMBERS, kind_of_label
from judge.parsing.markup import undecorated
from judge.parsing.score_lines import score_of_line
from judge.parsing.score_patterns import NOUN, Names, score_patterns
from study.base.scales import Scale

_ROW = re.compile(r"^ *\|(?P<cells>.+)\| *$")
_RULE = re.compile(r"[\s|:-]+")
_CELL_NUMBER = re.compile(r"[*_` ]*-?[0-9]+(?:\.[0-9]+)?(?: ?/ ?[0-9]+| ?%| ?\([0-9]+\))?[*_` ]*")

_ROW_NUMBERS = {"#", "No.", "No", "Nr.", "Nr", "n", "", "Claim", "Fact", "Step", "Passage"}
"""Headers of the first column of a table whose rows have numbers."""
_MAXIMUM = re.compile(r"(?<=[0-9])[*_` ]*\(([0-9]+)\)\Z")
"""The end of the scale in brackets: "84 (100)"."""
_POINTS = re.compile(r"(?:points?|awarded)(?: ?\(.*\))?", re.IGNORECASE)

_VALUES = {
    word: step * n
    for name, first, step in (("units", 0, 1), ("tens", 2, 10))
    for words in NUMBERS[name]
    for n, word in enumerate(words.split(), first)
    if word != "_"
}
_ENGLISH = {word for words in NUMBERS.values() for word in words[0].split()}
_UNITS = ("percent", "points", "punkte", "puntos", "punti", "pontos", "100")
_LAST_WORDS = (*_VALUES, *(f"{word}s" for word in _VALUES), *_UNITS)
_NUMERAL = "|".join(sorted(_VALUES, key=len, reverse=True))
_OF_HUNDRED_IN_WORDS = (
    r" (?:out of|sur|von|su|sobre|de) (?:one |a |ein)?(?:hundred|cent|cien|cem|cento|hundert|100)"
)
_IN_WORDS = re.compile(
    rf"^(?P<before>[^\n0-9]*?)(?<![^\W\d_])(?:(?:one|a) (?=hundred))?(?P<words>(?:{_NUMERAL})s?"
    rf"(?:(?:[- ](?:y|e|et|und|en)[- ]|und|en|[- ]|"
    rf"(?=[^\W\d_]))(?:{_NUMERAL})s?){{0,2}})(?![^\W\d_])"
    rf"(?P<after>[*_]*(?: (?:percent|points|punkte|puntos|punti|pontos))?"
    rf"(?:{_OF_HUNDRED_IN_WORDS})?[*_]*[.!]?[*_ ]*(?: ?\([^()\n]*\)[*_]*\.?)?)$",
    re.IGNORECASE | re.MULTILINE,
)
_BEFORE_WORDS = re.compile(
    r"[*_#> ]*(?:(?:[^\W\d_]+ ){0,6}[^\W\d_]+ ?(?::| is| of| it| at)[*_]* *)?[*_]*", re.IGNORECASE
)
_WORD = re.compile(rf"(?:{_NUMERAL})(?=s?(?:[- ]|und|en|y|e|et|\Z|{_NUMERAL}))", re.IGNORECASE)
_TWICE = re.compile(
    r"\b([0-9]{1,3})[*_]*(?: (?:percent|points|punkte|puntos|punti|pontos))? ?\([*_]*\1[*_]*\)",
    re.I,
)
_WORDS_BESIDE = re.compile(
    rf"\b(?P<words>(?:{_NUMERAL})(?:(?:[- ]|und|en)?(?:{_NUMERAL})){{0,2}})"
    r" ?\((?P<number>[0-9]{1,3})\)",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"\A[^\w\n]*full (?:marks|score|points)"
    r"(?=(?:: 100)?\. [A-Z]| ?[.!—–-]|: [A-Za-z]|\W*\Z)(?:: 100)?|"
    r"\A[^\w\n]*(?:an? )?perfect score(?: of|:) 100(?=\.?\s*\Z)",
    re.IGNORECASE,
)
_OF_HUNDRED = re.compile(
    r"(?:满分(?:为|是)?\s*100\s*分?[，,、]?\s*(?:我给|得|评|给)?(?:出|分)?\s*|"
    r"100\s*(?:点満点(?:中|で|のうち)?|分満点中|[分点]中|分制?[，,]|"
    r"점\s*만점에|점\s*중|\s*üzerinden|"
    r"\s*में\s*से)\s*[、,]?\s*)([0-9]+(?:\.[0-9]+)?)(?![0-9])\s*(?:分|点|점)?"
)
"""The end of the scale before the score: "100点満点中80点", "100 üzerinden 80"."""
_CALL = re.compile(
    r"^[^\w\n#]*[a-z_.]{0,30}(?:print|score|rate|rating|grade|evaluat|judge|submit|"
    r"answer)[a-z_]{0,20}"
    r"\((?:(?:score|value|rating|points|grade|result) ?= ?)?"
    r"[\"']?([0-9]+(?:\.[0-9]+)?)[\"']?"
    r"(?:, ?[a-z_]{1,20} ?= ?[^\n]{0,300})?\);?[^\w\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_CHINESE = "一二三四五六七八九"
_CHINESE_LINE = re.compile(
    rf"^(?P<before>[^\n0-9]{{0,12}}?)(?P<tens>[{_CHINESE}]?)十(?P<units>[{_CHINESE}]?)"
    r"(?P<after>[分点][。.]?|(?<=^..)|(?<=^...))$",
    re.MULTILINE,
)
"""Tens in Chinese and Japanese: "八十五分", "評価：二十点"."""
_SENTENCE = re.compile(r"((?<=[.!?]) +(?=\S))")
_GIVEN_BEFORE = re.compile(
    rf"(?:{NOUN})[*_]* (?:of|is|at|(?:would|should) be) [*_]*\Z|"
    r"\b(?:rate|score|grade|mark|give|award|assign)\b[^.!?:]{0,60} "
    r"(?:an?|at|it|response|answer|this) [*_]*\Z",
    re.IGNORECASE,
)
"""What stands before a number in words that a sentence gives."""
_LONGEST_LINE = 200
"""Characters of a line that may be a score in words."""
_EQUIVALENT = re.compile(
    r"\b(?:[0-9]+(?:\.[0-9]+)? ?(?:/|out of) ?[0-9]+|0?\.[0-9]+)(?: (?:stars?|points?))?"
    r"(?:,? ?\(?(?:i\.e\.,?|(?:which |that )?(?:is(?: equivalent to)?|equals?|corresponds? to|"
    r"translates? (?:in)?to|converts? to|amounts? to)|or|equivalent to|=|→|->)"
    r"|,? \((?:(?:i\.e\.|=|that is),?)?) ?"
    r"(?P<score>[0-9]+(?:\.[0-9]+)?)"
    r"(?: ?(?:/|out of) ?100|%| on (?:a|the) (?:0 ?(?:-|–|to) ?100|100[- ]point) scale)\)?",
    re.IGNORECASE,
)

_GLUED = re.compile(
    r"(?<=[a-z0-9)\]][.!?])(?=[*_]{0,2}(?:Final )?(?:Score|Rating)[*_]{0,2} ?: ?[*_]{0,2}[0-9])"
)
"""Where a label stands without a space after a sentence: "It leaves out the limit.Score: 72"."""

_BELOW_LABEL = re.compile(
    # Not the number of a first list item.
    r"^(?P<label>[^\n0-9]{2,80})\n(?: *\n)*(?! *[0-9]{1,2}[.)] *$)"
    r"(?P<number>(?:[^\nA-Za-z]|\\boxed){1,40})$",
    re.MULTILINE,
)


def labels_joined(text: str, scale: Scale, names: Names) -> str:
    """Return a text whose scores stand beside their labels, where blank lines were between."""
    labels = score_patterns((scale.min, scale.max), names).label

    def joined(match: re.Match[str]) -> str:
        label = (undecorated(match["label"]) or "").strip(" :：[]")
        named = labels.fullmatch(label) or kind_of_label(label)
        number = undecorated(match["number"]) or ""
        if not named or score_of_line(number, scale, names) is None:
            return match[0]
        return f"{label}: {number}"

    return _BELOW_LABEL.sub(joined, text)


_NAME = r"[^\W\d_][\w-]{0,30}"
_ELEMENT = re.compile(
    rf"<({_NAME})(?P<attributes>\s[^<>\n]{{0,200}})?>([^<>]*)(?P<closed></{_NAME}\s*>|(?=\Z|\n))"
)
_OF_OTHERS = re.compile(
    r"<(reference|draft|example|expected|previous|original|prompt|instructions?|input)\b[^<>]*>"
    r".{0,5000}?</\1\s*>",
    re.IGNORECASE | re.DOTALL,
)
"""Elements with the score of something else, or an earlier one."""
_TAG = re.compile(rf"(?m)^[ \t]*</?{_NAME}>|</{_NAME}>[ \t]*$")
_GIVEN = re.compile(
    r"\b(?:value|val|score|rating|points)\s*=\s*[\"']?([0-9]+(?:\.[0-9]+)?)\b", re.I
)
"""The attribute of an element with its score."""
_LIMIT = re.compile(
    r"\b(?:max\w*|out[_-]?of|of|scale|range)\s*=\s*[\"']?(?:[0-9]+ ?(?:-|–|to) ?)?([0-9]+)", re.I
)
"""The attribute of an element with the end of its scale."""
_HAS_NUMBER = re.compile(r"[^0-9]{0,20}[0-9][^<>]{0,20}")
_VALUE = {"value", "val", "score", "rating", "points", "result", "n"}


def elements_apart(text: str) -> str:
    """Return a text with its elements as lines: <score>85</score> as "score: 85"."""
    if "<" not in text or ">" not in text:
        return text

    def line(match: re.Match[str]) -> str:
        content = match[3].strip()
        if not content and (given := _GIVEN.search(match["attributes"] or "")):
            content = given[1]
        limit = _LIMIT.search(match["attributes"] or "")
        if limit and limit[1] != "100":
            return match[0]  # An element on another scale.
        if not _HAS_NUMBER.fullmatch(content):
            return f"\n{content}\n"
        label = "score" if match[1].lower() in _VALUE else match[1].replace("-", " ")
        before = match.string[: match.start()].rstrip(" \t")
        if before and before[-1] not in ".!?。>\n":
            return f"{label}: {content}"
        return f"\n{label}: {content}" + ("\n" if match["closed"] else "")

    lines = _TAG.sub("\n", _ELEMENT.sub(line, _OF_OTHERS.sub("\n", text))).strip("\n")
    return lines + ("\n" if text.endswith(("\n", ">")) else "")


def rewritten(text: str, names: Names) -> str:
    """Return an answer whose scores in tables, in words and beside another scale are lines."""
    if "]" in text:
        text = _RESULT.sub("\nScore: ", text)
    if _UNSURE.search(text):
        text = _CONFIDENCE.sub("", text)
    if "=" in text or "≈" in text:
        text = _SUM.sub(_summed, "\n".join(map(_sum_without_remarks, text.split("\n"))))
    text = _MISSPELT.sub("Score", text)
    text = _EQUIVALENT.sub(r"\g<score>/100", _GLUED.sub("\n", text))
    if "100" in text and not text.isascii():
        text = _OF_HUNDRED.sub(r"\1/100", text)
    if "→" in text or ">" in text:
        text = _ARROW.sub(r"\nOverall: ", text)
    text = _TEMPLATE.sub("", _LEADING_ZERO.sub(r"\g<before>\g<digit>", text))
    text = _ALONE.sub(r"\1", text)
    text = _CHINESE_LINE.sub(_chinese, "\n".join(map(_words_in_digits, text.split("\n"))))
    text = _FULL.sub("100", text)
    if "(" in text:
        text = _CALL.sub(r"score: \1", _TWICE.sub(r"\1", _WORDS_BESIDE.sub(_agreeing, text)))
    return "\n".join(_table_rows(text, names)) if "|" in text else text


_ALONE = re.compile(
    r"\A(?:[-*•] +|\W{0,3}(?:(?:very |mostly |partially |partly |rather |quite )?"
    r"(?:excellent|good|fair|poor|perfect|strong|weak|high|low|moderate|average|adequate|acceptable|satisfactory|relevant|"
    r"correct|incorrect|coherent|complete|incomplete|irrelevant))\W{0,3} ?(?:\(|[:=] ?|[-–—] )"
    r"(?=[1-9][0-9]|0\b))"
    r"([0-9]+(?:\.[0-9]+)?)(?: ?%|/100)?\)?\W{0,3}\Z",
    re.IGNORECASE,
)
"""A number behind a bullet or a grade in words: "- 61", "Poor (20)"; "Correct: 3" counts."""
_LEADING_ZERO = re.compile(r"^(?P<before>[^\n0-9]{0,40})0(?P<digit>[1-9])(?=[^\w.,:/-]*$)", re.M)
_ARROW = re.compile(
    r" ?(?:→|->|=>) ?[*_]{0,2}(?:overall|total|average|mean|final(?: score)?)[*_]{0,2} "
    r"(?=[*_]{0,2}[0-9])",
    re.IGNORECASE,
)
"""The end of "Relevance 80, focus 90 → overall 85"."""
_RESULT = re.compile(r"\s*\[RESULT\] *(?=[0-9])")
"""How Prometheus ends its feedback."""
_MISSPELT = re.compile(r"\bS(?:ocre|croe|coer)\b", re.IGNORECASE)
_TEMPLATE = re.compile(r"(?<=[Ss]core: )[NX] ?= ?(?=[0-9])")
"""The letter of the prompt's "Score: N" before the number."""


def _sum_without_remarks(line: str) -> str:
    """Return "100 - 20 (no dosage) = 80" without the remarks, and another line as it is."""
    bare = _REMARK.sub("", line) if "=" in line and len(line) <= _LONGEST_SUM else line
    return bare if bare != line and _SUM.search(bare) and not _SUM.search(line) else line


def _summed(match: re.Match[str]) -> str:
    """Return the result of a calculation that is right: "100 - 15 = 85", "(80 + 90) / 2 = 85"."""
    line = match.string[: match.start()].rpartition("\n")[2]
    if not re.search(r"\w", line) and _PLAIN_SUM.fullmatch(match["sum"]):
        # Not what is left of the maximum: a calculation of the response.
        return match[0]
    if float(match["result"]) < 1:
        return match[0]  # A share, of which the score may follow.
    text = _PERCENT.sub(r"(\1/100)", match["sum"].translate(_SIGNS).replace("x", "*"))
    try:
        value = _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ArithmeticError, ValueError):
        return match[0]
    decimals = len(match["result"].partition(".")[2])
    right = abs(value - float(match["result"])) <= 0.5 * 10.0**-decimals + _EQUAL
    return match["result"] if right else match[0]


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    raise ValueError(ast.dump(node))


_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
}
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "≈": "=", "−": "-", "–": "-"})
_SUM = re.compile(
    r"(?<![\w.)=*/+-])(?P<sum>\(*[0-9]+(?:\.[0-9]+)?%?(?:[ ()]{0,3}(?:[-−–+/*×·÷]|\bx\b)[ ()]{0,3}"
    r"[0-9]+(?:\.[0-9]+)?%?){1,20}\)*) ?[=≈] ?"
    r"(?P<result>[0-9]+(?:\.[0-9]+)?)(?![0-9]|\.[0-9]|[ *_]*[-+*/=%])"
)
_REMARK = re.compile(r"(?<=[0-9]) ?\([^()\n0-9]*[A-Za-z]{3}[^()\n]*\)")
_LONGEST_SUM = 400
_PLAIN_SUM = re.compile(r"(?!100\b)[0-9 ]+(?:[-+x×*·] ?[0-9 ]+)+")
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)%")
_EQUAL = 1e-6
_UNSURE = re.compile("onfiden|onfian|ertainty|onfidenz|信|確|увер", re.IGNORECASE)
_CONFIDENCE = re.compile(
    r"[.,;|]?[ \t]*[(\[]?[*_]*\b(?:confidence|certainty|konfidenz|confiance|confianza|置信度|"
    r"確信度|信頼度|уверенность)"
    r"(?: (?:level|score))?[*_]*[\"']?(?: ?[:=：]|"
    r" is)[*_ ]*[\"']?(?:[0-9.]{1,6} ?%?(?: ?/ ?[0-9]+)?|high|medium|low)[\"']?[)\]]?",
    re.IGNORECASE,
)
"""How sure a judge is: not a second score."""


def _words_in_digits(text: str) -> str:
    """Return a line whose first and last sentence have scores in digits that are in words."""
    sentences = _SENTENCE.split(text)
    for place in {0, len(sentences) - 1}:
        words = sentences[place].partition(" (")[0].rstrip(" .!*_").lower()
        if len(sentences[place]) <= _LONGEST_LINE and words.endswith(_LAST_WORDS):
            sentences[place] = _IN_WORDS.sub(_in_digits, sentences[place])
    return "".join(sentences)


def _in_digits(match: re.Match[str]) -> str:
    before = match["before"]
    if not (_BEFORE_WORDS.fullmatch(before) or _GIVEN_BEFORE.search(before)):
        return match[0]
    found = [word.lower() for word in _WORD.findall(match["words"])]
    values = [_VALUES[word] for word in found]
    value, most = sum(values), max(values)
    # A unit in another language may be another word: "due", "six".
    if (len(values) > 1 and not _LEAST_TEN <= most < value < most + 20) or (
        most < _LEAST_TEN and not _ENGLISH.issuperset(found)
    ):
        return match[0]
    after = re.sub(_OF_HUNDRED_IN_WORDS, "/100", match["after"], flags=re.IGNORECASE)
    return f"{match['before']}{value}{after}"


def _agreeing(match: re.Match[str]) -> str:
    """Return the number in brackets behind the same one in words: "eighty-five (85)"."""
    words = _WORD.findall(match["words"].lower())
    same = sum(_VALUES[word] for word in words) == float(match["number"])
    return match["number"] if same else match[0]


_LEAST_TEN = 20


def _chinese(match: re.Match[str]) -> str:
    tens, units = (f" {_CHINESE}".index(match[name] or " ") for name in ("tens", "units"))
    return f"{match['before']}{10 * (tens or 1) + units}{match['after']}"


def _table_rows(text: str, names: Names) -> list[str]:
    """Return the lines; a row with one number becomes "name: number", other rows go."""
    lines = text.split("\n")
    ruled = any(_ROW.match(line) and _RULE.fullmatch(line) for line in lines)
    if not ruled and not all(map(_ROW.match, filter(str.strip, lines))):
        return lines
    label = score_patterns((0, 100), names).label
    kept: list[str] = []
    rows: list[tuple[int, str]] = []
    header: list[str] = []
    for line in lines:
        row = _ROW.match(line)
        if row is None:
            kept.append(line)
            continue
        cells = [_MAXIMUM.sub(r" /\1", cell.strip("*_` ")) for cell in row["cells"].split("|")]
        numbers = [cell for cell in cells if _CELL_NUMBER.fullmatch(cell)]
        if len(numbers) > 1 and len(header) == len(cells):
            # Beside weights and highest values, the column whose header names it has the score.
            scored = [
                cell
                for name, cell in zip(header, cells, strict=True)
                if label.fullmatch(name) or _POINTS.fullmatch(name)
            ]
            last = numbers[-1:] if kind_of_label(cells[0]) == "final" else []
            numbers = [cell for cell in scored if cell in numbers] or last
        numbered = header and header[0] in _ROW_NUMBERS and numbers[:1] == cells[:1]
        if len(numbers) == 1 and (len(cells) > 1 or header) and not numbered:
            name = cells[0] if cells[0] != numbers[0] else header[0] if header else ""
            column = header[cells.index(numbers[0])] if len(header) == len(cells) else ""
            rows.append((len(kept), f"{column}: {numbers[0]}" if label.fullmatch(column) else ""))
            kept.append(f"{name}: {numbers[0]}")
        elif not numbers and not _RULE.fullmatch(line):
            header = header or cells
    if len(rows) == 1 and rows[0][1]:
        # The only score of a table has the label of its column.
        kept[rows[0][0]] = rows[0][1]
    return kept
