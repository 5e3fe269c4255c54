"""Cells as values: numbers, keys, texts and lists, each by a stated rule or refused."""

import json
import math
import re
from decimal import Decimal
from typing import Any

from study.importing.tally import Tally

BLANKS = "blank cells read as missing"
WORDS_FOR_MISSING = "cells that say NaN, NA, null or none read as missing"
NUMBER_AS_TEXT = "numbers written as text"
DECIMAL_COMMA = "decimal commas read as decimal points"
KEY_AS_NUMBER = "ids written as numbers taken as text"

_MISSING = {"nan", "na", "n/a", "null", "none", "<na>"}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+", re.ASCII)


class CellError(ValueError):
    """A cell can't be read; says what it holds and what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


def number(cell: Any, tally: Tally, *, typed: bool, decimal_comma: bool) -> float | None:
    """Read a number; None when it is missing.

    `typed` says that the file's form has numbers of its own, so that text is worth a count.
    """
    if cell is None:
        tally.rules[BLANKS] += 1
        return None
    if isinstance(cell, bool):
        raise CellError(f"{str(cell).lower()} is no number.", "Write 0 or 1 if that is meant.")
    if isinstance(cell, int | float | Decimal):
        value = _float(cell)
        if math.isnan(value):
            tally.rules[WORDS_FOR_MISSING] += 1
            return None
        return _finite(value, cell)
    if not isinstance(cell, str):
        raise CellError(f"{_shown(cell)} is no number.", "Give one number a cell.")
    return _number_of(cell, tally, typed=typed, decimal_comma=decimal_comma)


def _number_of(cell: str, tally: Tally, *, typed: bool, decimal_comma: bool) -> float | None:
    text = cell.strip()
    if not text or text.casefold() in _MISSING:
        tally.rules[WORDS_FOR_MISSING if text else BLANKS] += 1
        return None
    if _NUMBER.fullmatch(text):
        if typed:
            tally.rules[NUMBER_AS_TEXT] += 1
        return _finite(float(text), cell)
    remedy = (
        "Write a bare number, such as 85, or leave the cell empty and say why in missing_reason."
    )
    if _COMMA_NUMBER.fullmatch(text):
        if decimal_comma:
            tally.rules[DECIMAL_COMMA] += 1
            return _finite(float(text.replace(",", ".")), cell)
        remedy = f"Write {text.replace(',', '.')} if a decimal number is meant."
    elif text.casefold().lstrip("+-") in {"inf", "infinity"}:
        return _finite(math.inf, cell)
    raise CellError(f"{cell!r} is no number.", remedy)


def whole(value: float | None) -> int | None:
    """Return a number that must be whole."""
    if value is None:
        return None
    if not value.is_integer():
        raise CellError(f"{value:g} is no whole number.", "Count repeats 0, 1, 2 and so on.")
    return int(value)


def key(cell: Any, tally: Tally) -> str | None:
    """Read a name or id; None when it is missing."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, int) and not isinstance(cell, bool):
        tally.rules[KEY_AS_NUMBER] += 1
        return str(cell)
    if isinstance(cell, float) and math.isnan(cell):
        return None
    if not isinstance(cell, str):
        raise CellError(f"{_shown(cell)} is no id.", "Write ids as text.")
    return cell


def text(cell: Any) -> str | None:
    """Read a text as it stands; None when there is none, which is not the empty text."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, float) and math.isnan(cell):
        return None
    raise CellError(f"{_shown(cell)} is no text.", "Write a text.")


def listed(cell: Any) -> list[Any]:
    """Read a list: as it is, or written in a cell as a JSON array; a bare text is a list of one.

    Lists that Python printed ("['a', 'b']") are read as well; pandas writes them into CSV.
    """
    if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
        return []
    if isinstance(cell, list | tuple):
        return list(cell)
    if not isinstance(cell, str):
        raise CellError(f"{_shown(cell)} is no list.", "Write a list of texts.")
    if not cell.lstrip().startswith("["):
        return [cell]
    read = _literal(cell)
    return read if isinstance(read, list) else [cell]


def mapping(cell: Any) -> dict[str, Any]:
    """Read an object: as it is, or written in a cell as JSON."""
    if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
        return {}
    value = cell
    if isinstance(cell, str):
        value = _literal(cell)
    if not isinstance(value, dict):
        raise CellError(f"{_shown(cell)} is no JSON object.", 'Write {"domain": "law"}.')
    return value


def _literal(cell: str) -> Any:
    try:
        return json.loads(cell)
    except ValueError:
        pass
    import ast

    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _float(cell: float | Decimal) -> float:
    try:
        return float(cell)
    except OverflowError:
        return math.inf


def _finite(value: float, cell: Any) -> float:
    if math.isinf(value):
        raise CellError(f"{cell} is not a finite number.", "Leave the cell empty if missing.")
    return value


def _shown(cell: Any) -> str:
    shown = repr(cell)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
