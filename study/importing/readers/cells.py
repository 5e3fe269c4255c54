"""Cells as values: numbers, keys, texts and lists, each read by a documented rule or refused."""

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from io import StringIO
from itertools import pairwise
from typing import Any

from study.errors import Fault
from study.importing.import_report import ImportReport
from study.importing.readers.json_text import DuplicateNameError, loaded
from study.text import abbreviate, shorten

BLANKS = "blank cells read as missing"
WORDS_FOR_MISSING = "cells with NaN, NA, null or none read as missing"
NUMBER_AS_TEXT = "numbers written as text"
DECIMAL_COMMA = "decimal commas read as decimal points"
KEY_AS_NUMBER = "ids written as numbers taken as text"

_AS_JSON = 'Write it as a JSON array: ["one", "two"].'

NO_VALUE = frozenset({"nan", "na", "n/a", "null", "none", "<na>"})
"""Words for no value, which are counted together."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_RATIO = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*(?:/|\b(?:out\s+of|of|von|sur|de|su)\b)\s*(\d+(?:[.,]\d+)?)",
    re.ASCII | re.IGNORECASE,
)
_PERCENTAGE = re.compile(r"(\d+(?:[.,]\d+)?)\s*(%)", re.ASCII)
# A comma between groups of three may separate thousands; none follows a leading zero.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
# The beginning of every printed list of texts or objects, and of hardly any text.
_LIST_BEGUN = re.compile(r"""\[\s*["'{]|array\(\s*\[""")


class CellError(ValueError):
    """A cell that cannot be read, with the problem and the remedy."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


def number(cell: Any, report: ImportReport, *, typed: bool, decimal_comma: bool) -> float | None:
    """Read a number; None when it is missing.

    `typed`: the file format has a type for numbers, so that a number written as text is counted.
    """
    if cell is None:
        report.rules[BLANKS] += 1
        return None
    if isinstance(cell, bool):
        raise CellError(f"{abbreviate(cell)} is not a number.", "Write 0 or 1 if that is meant.")
    if isinstance(cell, int | float | Decimal):
        value = _float(cell)
        if math.isnan(value):
            report.rules[WORDS_FOR_MISSING] += 1
            return None
        return _finite(value, cell)
    if not isinstance(cell, str):
        raise CellError(f"{abbreviate(cell)} is not a number.", "Give one number a cell.")
    return _number_of(cell, report, typed=typed, decimal_comma=decimal_comma)


def _number_of(
    cell: str, report: ImportReport, *, typed: bool, decimal_comma: bool
) -> float | None:
    text = cell.strip()
    if not text or text.casefold() in NO_VALUE:
        report.rules[WORDS_FOR_MISSING if text else BLANKS] += 1
        return None
    if _NUMBER.fullmatch(text):
        if typed:
            report.rules[NUMBER_AS_TEXT] += 1
        return _finite(float(text), cell)
    remedy = "Write a bare number, such as 85, or leave the cell empty if the score is missing."
    if _COMMA_NUMBER.fullmatch(text):
        decimal, thousands = shorten(text.replace(",", ".")), shorten(text.replace(",", ""))
        if decimal_comma:
            if _THOUSANDS.fullmatch(text):
                problem = f"{abbreviate(cell)} may be {thousands} or {decimal}."
                raise CellError(problem, "Write the one that is meant.")
            report.rules[DECIMAL_COMMA] += 1
            return _finite(float(text.replace(",", ".")), cell)
        remedy = f"Write {decimal} if a decimal number is meant."
    elif (parts := ratio_or_percentage(text)) is not None:
        scored, rest = parts
        end = "100" if rest == "%" else rest
        remedy = f"Write {scored} alone, in the whole column; the scale then ends at {end}."
    elif text.casefold().lstrip("+-") in {"inf", "infinity"}:
        return _finite(math.inf, cell)
    raise CellError(f"{abbreviate(cell)} is not a number.", remedy)


def ratio_or_percentage(text: str) -> tuple[str, str] | None:
    """Return "4" and "5" of the text 4/5 or 4 out of 5, "80" and "%" of 80%; None for another text.

    Neither is read as a number: the end of the scale is not a part of a score.
    """
    match = _RATIO.fullmatch(text.strip()) or _PERCENTAGE.fullmatch(text.strip())
    return None if match is None else (match[1], match[2])


def is_number(text: str) -> bool:
    """Whether a text is a number, as `number` reads it from text with decimal commas."""
    text = text.strip()
    return looks_like_number(text) or text.casefold().lstrip("+-") in {"inf", "infinity"}


def looks_like_number(text: str) -> bool:
    """Whether a text is a number with a decimal point or comma."""
    return bool(_NUMBER.fullmatch(text.strip()) or _COMMA_NUMBER.fullmatch(text.strip()))


def whole(value: float | None) -> int | None:
    """Return a number that must be whole."""
    if value is None:
        return None
    if not value.is_integer():
        raise CellError(f"{value:g} is not a whole number.", "Count repeats 0, 1, 2 and so on.")
    return int(value)


def key(cell: Any, report: ImportReport) -> str | None:
    """Read a name or id; None when it is missing."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, int) and not isinstance(cell, bool):
        report.rules[KEY_AS_NUMBER] += 1
        return str(cell)
    if isinstance(cell, float) and math.isnan(cell):
        return None
    if not isinstance(cell, str):
        raise CellError(f"{abbreviate(cell)} is not an id.", "Write ids as text.")
    return cell


def blank(cell: Any) -> bool:
    """Whether a cell is empty; NaN counts as empty."""
    return cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell))


def text(cell: Any) -> str | None:
    """Read a text unchanged; None where it is missing, which differs from an empty text."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, float) and math.isnan(cell):
        return None
    raise CellError(f"{abbreviate(cell)} is not a text.", "Write a text.")


def words(cell: Any) -> str | None:
    """Read a text unchanged, or a number as written; None if it is missing."""
    if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) and not blank(cell):
        return str(cell)
    return text(cell)


def as_list(cell: Any) -> list[Any]:
    """Read a list, or a text with a JSON array; any other text is a list of one text.

    Lists that Python printed ("['a', 'b']") are read as well; pandas writes them into CSV.
    """
    if blank(cell):
        return []
    if isinstance(cell, list | tuple):
        return list(cell)
    if not isinstance(cell, str):
        raise CellError(f"{abbreviate(cell)} is not a list.", "Write a list of texts.")
    start = cell.lstrip()
    if not start.startswith(("[", "array(")):
        return [cell]
    read = _literal(cell)
    if isinstance(read, list):
        return read
    if _LIST_BEGUN.match(start):
        raise CellError(
            f"{abbreviate(cell)} begins as a list and can't be read as one; it may be cut off.",
            _AS_JSON,
        )
    return [cell]


def mapping(cell: Any) -> dict[str, Any]:
    """Read an object, or a text with a JSON object."""
    if blank(cell):
        return {}
    value = cell
    if isinstance(cell, str):
        value = _literal(cell)
    if not isinstance(value, dict):
        raise CellError(f"{abbreviate(cell)} is not a JSON object.", 'Write {"name": "value"}.')
    return value


def _literal(cell: str) -> Any:
    """Read what JSON or Python wrote; None where neither did."""
    try:
        return loaded(cell)
    except DuplicateNameError as error:
        raise CellError(f"{abbreviate(cell)} has {error}.", "Keep one of them.") from None
    except RecursionError:
        raise CellError(f"{abbreviate(cell)} is nested too deeply to be read.", _AS_JSON) from None
    except ValueError:
        pass
    import ast

    try:
        read = ast.literal_eval(cell)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    if _runs_on(cell):
        raise CellError(
            f"{abbreviate(cell)} has texts with no comma between them, as NumPy prints an array.",
            _AS_JSON,
        )
    return read


def _runs_on(literal: str) -> bool:
    """Whether texts follow each other without a comma; Python would draw them together."""
    from tokenize import COMMENT, NEWLINE, NL, STRING, generate_tokens

    kinds = [token.type for token in generate_tokens(StringIO(literal.strip()).readline)]
    kinds = [kind for kind in kinds if kind not in (NL, NEWLINE, COMMENT)]
    return any(pair == (STRING, STRING) for pair in pairwise(kinds))


def _float(cell: float | Decimal) -> float:
    try:
        return float(cell)
    except OverflowError:
        return math.inf


def _finite(value: float, cell: Any) -> float:
    if math.isinf(value):
        problem = f"{shorten(str(cell))} is not a finite number."
        raise CellError(problem, "Leave the cell empty if missing.")
    return value


# So many lines may stand above the header.
_MOST_LINES = 12


def title_above(rows: Sequence[tuple[int, Sequence[Any]]]) -> Fault | None:
    """The fault of a table whose first line is a title: one cell, above a row of several names.

    `rows` are the first rows with their numbers, blank ones too.
    """
    filled = [
        (number, [cell for cell in row if cell is not None and str(cell).strip()])
        for number, row in rows
    ]
    filled = [(number, cells) for number, cells in filled if cells]
    if len(filled) < 3 or len(filled[0][1]) != 1:
        return None
    width = max(len(cells) for _, cells in filled)
    if width < 2:
        return None
    for number, cells in filled[1:_MOST_LINES]:
        if len(cells) != width:
            continue
        names = [str(cell).strip() for cell in cells]
        if any(map(looks_like_number, names)) or len(set(names)) < len(names):
            return None
        line = filled[0][0]
        return Fault(
            f"{abbreviate(str(filled[0][1][0]))} looks like a title; row {number} looks like the "
            f"header: {', '.join(map(abbreviate, names[:5]))}.",
            f"Delete the rows above row {number}.",
            line,
        )
    return None
