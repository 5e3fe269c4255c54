"""Rewrites forms of a score that are not lines: tables, number words, numbers below their label.

Each becomes a line such as "Overall: 76", which the one rule for lines reads.
"""

import re

from judge.parsing.markup import undecorated
from judge.parsing.score_lines import score_of_line
from judge.parsing.score_patterns import NOUN, Names, score_patterns
from study.base.scales import Scale

_ROW = re.compile(r"^ *\|(?P<cells>.+)\| *$")
_RULE = re.compile(r"[\s|:-]+")
_CELL_NUMBER = re.compile(r"[*_` ]*-?[0-9]+(?:\.[0-9]+)?(?: ?/ ?[0-9]+| ?%| ?\([0-9]+\))?[*_` ]*")

_MAXIMUM = re.compile(r"(?<=[0-9])[*_` ]*\(([0-9]+)\)\Z")
"""The end of the scale in brackets: "84 (100)"."""
_POINTS = re.compile(r"(?:points?|awarded)(?: ?\(.*\))?", re.IGNORECASE)

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {word: value for value, word in enumerate(_UNITS)} | {
    word: 10 * value for value, word in enumerate(_TENS, 2)
}
_ENGLISH = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_UNITS[1:10])}))?|{'|'.join(_UNITS)}|"
    r"(?:one|a) hundred)"
)
_ENGLISH_LINE = re.compile(
    rf"^(?P<before>[*_#> ]*(?:(?:[A-Za-z]+ ){{0,3}}[A-Za-z]+(?::| is| of)[*_]* *)?[*_]*)"
    rf"(?P<words>{_ENGLISH})"
    r"(?P<after>[*_]*(?: out of (?:one |a )?hundred)?[*_]*[.!]?[*_ ]*(?: ?\([^()\n]*\)\.?)?)$",
    re.IGNORECASE | re.MULTILINE,
)
_CHINESE_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")}
_CHINESE_LINE = re.compile(
    r"^(?P<before>[^\n0-9]{0,12}?)(?P<words>[零一二三四五六七八九十百]{1,4})(?P<after>(?:分|点)[。.]?)$",
    re.MULTILINE,
)
_LONGEST_LINE = 120
"""Characters of a line that may be a score in words."""
_EQUIVALENT = re.compile(
    r"\b[0-9]+(?:\.[0-9]+)? ?(?:/|out of) ?[0-9]+"
    r"(?:,? ?\(?(?:i\.e\.,?|which is|that is|or|equivalent to|equals?|corresponds to|=|→|->)"
    r"|,? \() ?"
    r"(?P<score>[0-9]+(?:\.[0-9]+)?)"
    r"(?: ?(?:/|out of) ?100|%| on (?:a|the) (?:0 ?(?:-|–|to) ?100|100[- ]point) scale)\)?",
    re.IGNORECASE,
)

_BELOW_LABEL = re.compile(
    # Not the number of a first list item.
    r"^(?P<label>[^\n0-9]{2,80})\n(?: *\n)+(?! *[0-9]{1,2}[.)] *$)(?P<number>[^\nA-Za-z]{1,40})$",
    re.MULTILINE,
)


def labels_joined(text: str, scale: Scale, names: Names) -> str:
    """Return a text whose scores stand beside their labels, where blank lines were between."""
    labels = score_patterns((scale.min, scale.max), names).label

    def joined(match: re.Match[str]) -> str:
        label = (undecorated(match["label"]) or "").strip(" :：")
        if not labels.fullmatch(label) or score_of_line(match["number"], scale, names) is None:
            return match[0]
        return f"{label}: {match['number']}"

    return _BELOW_LABEL.sub(joined, text)


_ADJACENT = re.compile(
    rf"(</[a-z_]{{1,30}}>|^<[a-z_]{{1,30}}>)[ \t]*(?=</?[a-z_]{{1,30}}>)|"
    rf"(</{NOUN}>)[ \t]+(?=[A-Z])",
    re.IGNORECASE,
)


def elements_apart(text: str) -> str:
    """Return a text whose elements that stand side by side are on separate lines."""
    return (
        _ADJACENT.sub(lambda match: (match[1] or match[2]) + "\n", text) if "</" in text else text
    )


def rewritten(text: str, names: Names) -> str:
    """Return an answer whose scores in tables, in words and beside another scale are lines."""
    text = _EQUIVALENT.sub(r"\g<score>/100", text)
    text = "\n".join(
        _CHINESE_LINE.sub(_chinese, _ENGLISH_LINE.sub(_english, line))
        if len(line) <= _LONGEST_LINE
        else line
        for line in text.split("\n")
    )
    return "\n".join(_table_rows(text, names)) if "|" in text else text


def _english(match: re.Match[str]) -> str:
    words = match["words"].lower().replace("-", " ").split()
    value = 100 if words[-1] == "hundred" else sum(map(_VALUES.__getitem__, words))
    after = re.sub(r"(?i) out of (?:one |a )?hundred", "/100", match["after"])
    return f"{match['before']}{value}{after}"


def _chinese(match: re.Match[str]) -> str:
    words = match["words"]
    if words in {"一百", "百"}:
        return f"{match['before']}100{match['after']}"
    tens, ten, units = words.rpartition("十")
    digits = [_CHINESE_DIGITS.get(sign) for sign in (*tens, *units)]
    if None in digits or len(tens) > 1 or len(units) > 1:
        return match[0]
    value = (10 * (_CHINESE_DIGITS[tens] if tens else 1) if ten else 0) + (
        _CHINESE_DIGITS[units] if units else 0
    )
    return f"{match['before']}{value}{match['after']}"


def _table_rows(text: str, names: Names) -> list[str]:
    """Return the lines; a row with one number becomes "name: number", other rows go."""
    lines = text.split("\n")
    ruled = any(_ROW.match(line) and _RULE.fullmatch(line) for line in lines)
    if not ruled:
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
            numbers = [cell for cell in scored if cell in numbers]
        if len(numbers) == 1 and (len(cells) > 1 or header):
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
