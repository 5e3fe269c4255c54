"""Sentences of a text as character ranges, for people's marks, metrics and altered texts."""

import re
from collections.abc import Iterable, Sequence

Range = tuple[int, int]
"""Start and end of a part of a text in characters (Unicode code points), the end excluded."""

# Ends of sentences before white space, and those of scripts without white space between sentences.
_SPACED = ".!?…؟۔।॥։።"
_UNSPACED = "。！？｡．"
_CLOSING = "\"'”’»›)]}）】〕」』》〉*_"
_ENDS = re.compile(
    rf"[{_SPACED}]+[{re.escape(_CLOSING)}]*(?=\s)|[{_UNSPACED}]+[{re.escape(_CLOSING)}]*"
)
_FENCE = re.compile(r"^[ \t]*(```|~~~)")
_ITEM = re.compile(r"[ \t]*(?:[-*+•–—>#|]|\d{1,3}[.)]|[^\W\d_][.)])(?:\s|$)")
# A full stop after one of these is part of the word: before anything, or before a number.
_ABBREVIATION = (
    "mr|mrs|ms|dr|prof|st|gen|sen|rep|gov|lt|col|sgt|capt|rev|hon|messrs|sr|sra|srta|hr|"
    "vs|cf|al|ca|approx|bzw|vgl|sog|zzgl|inkl|resp"
)
_BEFORE_NUMBER = (
    "no|nr|nos|figs?|abbs?|eqs?|sec|ch|vol|pp?|art|refs?|"
    "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_ANY_ABBREVIATION = re.compile(_ABBREVIATION, re.IGNORECASE)
_NUMBERED = re.compile(f"{_ABBREVIATION}|{_BEFORE_NUMBER}", re.IGNORECASE)
_DAY = re.compile(r"\d{1,2}")
_MONTH = re.compile(
    "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember",
    re.IGNORECASE,
)
_INITIAL = re.compile(r"(?:^|[\s(\[\"'“„‘])(?:[^\W\d_]\.)*[^\W\d_]$")
_WORD = re.compile(r"[^\W_]+$")
_NEXT = re.compile(rf"\s*[{re.escape(_CLOSING)}“„‘¿¡(\[]*([^\W_]+)?")


def sentence_ranges(text: str) -> list[Range]:
    """Return the ranges of the sentences of a text, in order.

    They do not overlap, and there is only white space before, between and after them. A sentence
    ends at its punctuation, at an empty line and before an item of a list; other line breaks end
    it unless the next line continues it in lower case. A fenced block of code is one. Full stops
    of common abbreviations, initials, decimal numbers and numbers of items end no sentence.
    """
    pieces = [part for block in _blocks(text) for part in _split(text, *block)]
    ranges: list[Range] = []
    for start, end in filter(None, (_trimmed(text, *piece) for piece in pieces)):
        # Signs alone, such as a line of dashes or an emoji, belong to what they follow.
        if ranges and not _has_word(text, start, end):
            ranges[-1] = ranges[-1][0], end
        elif len(ranges) == 1 and not _has_word(text, *ranges[0]):
            ranges[0] = ranges[0][0], end
        else:
            ranges.append((start, end))
    return ranges


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space between them."""
    return [text[start:end] for start, end in sentence_ranges(text)]


def marked_sentences(text: str, sentences: Sequence[Range], marks: Iterable[Range]) -> list[bool]:
    """Return for each sentence whether a mark covers a part of it that is not white space."""
    covered = [_trimmed(text, *mark) for mark in marks]
    return [
        any(mark is not None and mark[0] < end and start < mark[1] for mark in covered)
        for start, end in sentences
    ]


def range_problem(text: str, ranges: Sequence[Range]) -> str | None:
    """Return why ranges cannot be marks of a text: they must be in it, in order, not overlapping.

    Returns
    -------
    str or None
        None: they can.
    """
    last = 0
    for start, end in ranges:
        if not 0 <= start < end <= len(text):
            return f"{start} to {end} is not a part of the text, which has {len(text)} characters"
        if start < last:
            return f"{start} to {end} overlaps what is before it, or is not in order"
        last = end
    return None


def _blocks(text: str) -> Iterable[Range]:
    """Yield ranges that no sentence crosses: paragraphs, items, blocks of code."""
    start = place = 0
    fence = ""
    before = ""
    for line in text.splitlines(keepends=True):
        opened = _FENCE.match(line)
        if fence:
            place += len(line)
            if opened and opened[1] == fence:
                yield start, place
                start, fence, before = place, "", ""
            continue
        if opened or (start < place and _begins(before, line)):
            yield start, place
            start = place
        fence = opened[1] if opened else ""
        place += len(line)
        before = line
    yield start, place


def _begins(before: str, line: str) -> bool:
    """Whether a line begins something new rather than continuing the line before it."""
    first = line.lstrip()[:1]
    ended = not before.strip() or before.lstrip().startswith("#")
    return ended or not first.islower() or bool(_ITEM.match(line))


def _split(text: str, start: int, end: int) -> Iterable[Range]:
    if _FENCE.match(text[start:end]):
        yield start, end
        return
    begin = start
    for match in _ENDS.finditer(text, start, end):
        if _ends_sentence(text, begin, match, end):
            yield begin, match.end()
            begin = match.end()
    yield begin, end


def _ends_sentence(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    if match[0][0] in _UNSPACED:
        return True
    following = _NEXT.match(text, match.end(), end)
    word = following[1] if following and following[1] else ""
    if word[:1].islower():
        return False
    return match[0] != "." or not _is_in_a_word(text[begin : match.start()], word)


def _is_in_a_word(before: str, following: str) -> bool:
    """Whether a full stop belongs to an abbreviation, an initial, a date or an item's number."""
    if _ITEM.fullmatch(f"{before}.") or _INITIAL.search(before):
        return True
    last = _WORD.search(before)
    if last is None:
        return False
    if _DAY.fullmatch(last[0]):
        return bool(_MONTH.fullmatch(following))
    abbreviation = _NUMBERED if following[:1].isdigit() else _ANY_ABBREVIATION
    return bool(abbreviation.fullmatch(last[0]))


def _trimmed(text: str, start: int, end: int) -> Range | None:
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    end -= len(part) - len(part.rstrip())
    return (start, end) if start < end else None


def _has_word(text: str, start: int, end: int) -> bool:
    return any(character.isalnum() for character in text[start:end])
