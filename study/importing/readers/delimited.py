"""Delimited text: comma, semicolon or tab, detected from the header."""

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TextIO

from study.errors import Fault, InputError
from study.importing.readers.cells import looks_like_number, title_above
from study.importing.readers.input_file import InputFile, Record, decoding, open_text
from study.text import abbreviate

SEMICOLON = "semicolons as delimiter"
STATED = "a first line that states the delimiter, as Excel has it; row 1 is the header below it"
BLANK_LINES = "blank lines skipped"
COUNTED = (
    "Rows are counted as a spreadsheet counts them: the header is row 1, and a line break inside "
    "quotes starts no new row."
)

_DELIMITERS = ",;\t"
_STATED = re.compile(r'"?sep=([,;\t|])"?[\r\n]*', re.IGNORECASE)
_STATED_LENGTH = 12
# So many lines tell whether the first one is a title.
_LINES_OF_TITLE = 20


def header(source: InputFile) -> tuple[str, ...]:
    """Return the column names.

    Raises
    ------
    InputError
        A name occurs twice, or the header is missing.
    """
    with decoding(source.path), _opened(source) as stream:
        _stated(stream)
        names = _header(source, csv.reader(stream, delimiter=delimiter(source), strict=True))
    if sum(name != f"column {place}" for place, name in enumerate(names, start=1)) == 1:
        _check_title(source)
    return names


def _check_title(source: InputFile) -> None:
    """Refuse a file whose first line is a title; its delimiter may not be in that line."""
    found = []
    for sign in _DELIMITERS:
        with _opened(source) as stream:
            _stated(stream)
            try:
                lines = list(islice(csv.reader(stream, delimiter=sign), _LINES_OF_TITLE))
            except csv.Error:
                continue
        fault = title_above(list(enumerate(lines, start=1)))
        if fault is not None:
            found.append((max(map(len, lines)), fault))
    if found:
        raise InputError(source.path.name, [max(found, key=lambda pair: pair[0])[1]])


def delimiter(source: InputFile) -> str:
    """Return the delimiter: the one that Excel's first line states, or the most frequent one
    outside quotes in the header.
    """
    with decoding(source.path), _opened(source) as stream:
        stated = _stated(stream)
        line = stream.readline()
    if stated is not None:
        return stated
    while line.count('"') % 2:
        # A line break inside a quoted name: rare, and the delimiter shows before it.
        line = line.rpartition('"')[0]
    bare = "".join(part for i, part in enumerate(line.split('"')) if i % 2 == 0)
    counts = {sign: bare.count(sign) for sign in _DELIMITERS}
    return max(counts, key=lambda sign: counts[sign])


def records(source: InputFile) -> Iterator[Record | Fault]:
    """Read the rows after the header."""
    sign = delimiter(source)
    if sign == ";":
        source.report.rules[SEMICOLON] = 1
    with decoding(source.path), _opened(source) as stream:
        if _stated(stream) is not None:
            source.report.rules[STATED] = 1
        reader = csv.reader(stream, delimiter=sign, strict=True)
        columns = _header(source, reader)
        width = len(columns)
        number = 1
        reported = rows = 0
        try:
            for fields in reader:
                number += 1
                # A spreadsheet writes the delimiters of blank rows too.
                blank = not any(fields) and (width > 1 or not fields)
                rows += not blank
                if blank:
                    source.report.rules[BLANK_LINES] += 1
                elif len(fields) == width:
                    yield Record(number, dict(zip(columns, fields, strict=True)))
                else:
                    yield _ragged(number, fields, width, sign)
                if number - reported >= 500:
                    reported = number
                    source.advance(stream.buffer.tell(), source.size)
        except csv.Error as error:
            raise InputError(source.path.name, [_unquoted(number + 1, str(error))]) from None
        if reader.line_num > number and COUNTED not in source.report.notes:
            source.report.notes.append(COUNTED)
    if not rows:
        raise source.refused("the file has a header and no rows.", "Save it again with its rows.")


def _stated(stream: TextIO) -> str | None:
    """Return the delimiter that a first line such as "sep=;" states, and skip that line."""
    line = stream.readline(_STATED_LENGTH)
    match = _STATED.fullmatch(line)
    if match is None:
        stream.seek(0)
    return match and match[1]


def _opened(source: InputFile) -> TextIO:
    # Cells of any length: the standard library stops at 131,072 characters otherwise.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    return open_text(source.path, source.report)


def _header(source: InputFile, reader: Iterator[list[str]]) -> tuple[str, ...]:
    try:
        names = next(reader, [])
    except csv.Error as error:
        raise InputError(source.path.name, [_unquoted(1, str(error))]) from None
    columns = [name.strip() or f"column {place}" for place, name in enumerate(names, start=1)]
    if _without_names(columns):
        raise source.refused(
            f"the first line has values ({', '.join(map(abbreviate, columns[:3]))}) in place of "
            "names of columns.",
            "Add a line with the names above it, such as human,llm.",
            1,
        )
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        second = next(reader, [])
        if _names_below(columns, second):
            raise InputError(source.path.name, [_two_rows_of_names(source.path.name)])
        faults = [
            Fault(
                f"the column {abbreviate(name)} occurs "
                f"{columns.count(name)} times, at places "
                f"{', '.join(str(i) for i, n in enumerate(columns, start=1) if n == name)}.",
                "Rename or remove all but one.",
                1,
            )
            for name in twice
        ]
        raise InputError(source.path.name, faults)
    if not names:
        raise source.refused("the first line is blank; it must name the columns.", "Remove it.", 1)
    return tuple(columns)


def _names_below(columns: Sequence[str], second: Sequence[str]) -> bool:
    """Whether a second row completes names of columns of which some are equal."""
    pairs = list(zip(columns, map(str.strip, second), strict=False))
    texts = all(name and not looks_like_number(name) for _, name in pairs)
    return texts and len(set(pairs)) == len(columns) == len(second)


def _two_rows_of_names(name: str) -> Fault:
    return Fault(
        "the names of the columns are in two rows.",
        f"Write them in one, in pandas: frame = pandas.read_csv({name!r}, header=[0, 1]); "
        "frame.columns = ['_'.join(names) for names in frame.columns]; "
        f"frame.to_csv({name!r}, index=False).",
        1,
    )


def _without_names(columns: list[str]) -> bool:
    """Whether a header has nothing but values; pandas numbers columns 0, 1, 2 and so on."""
    numbered = columns == [str(place) for place in range(len(columns))]
    return bool(columns) and not numbered and all(map(looks_like_number, columns))


def _ragged(number: int, fields: list[str], width: int, sign: str) -> Fault:
    name = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}[sign]
    return Fault(
        f"{len(fields)} cells, but the header names {width} columns.",
        f'Write text that contains a {name} between double quotes ("); give each column a cell.',
        number,
    )


def _unquoted(number: int, message: str) -> Fault:
    problem = "text between double quotes continues after the closing quote"
    if "unexpected end" in message:
        problem = "a double quote is opened here and never closed"
    return Fault(
        f"{problem}.",
        'A double quote inside quoted text is written twice (""); export the file again as CSV.',
        number,
    )
