"""Cells with a judgment in another form than a number or word: JSON of a judge, 4/5, 80%."""

import re
from collections.abc import Mapping
from typing import Any, Protocol

from study.importing.readers.cells import CellError, ratio_or_percentage
from study.importing.readers.json_text import DuplicateNameError, loaded
from study.text import abbreviate

#: The members of a judge's JSON object of which one has the judgment.
JUDGMENT_KEYS = ("score", "rating", "value", "grade", "verdict", "label", "result", "answer")

FROM_JSON = "cells with a JSON object read as the judgment in it"

# As judges write it around JSON.
_FENCE = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL | re.IGNORECASE)
_REMEDY = f"Give the object one of {', '.join(JUDGMENT_KEYS)}, or write the judgment alone."


class Ranged(Protocol):
    """A scale, as far as its ends."""

    @property
    def min(self) -> float:
        """Smallest value."""

    @property
    def max(self) -> float:
        """Largest value."""


def is_object(cell: Any) -> bool:
    """Whether a cell has a JSON object, or what looks like one."""
    if isinstance(cell, str):
        return cell.lstrip()[:1] == "{" or cell.lstrip().startswith("```")
    return isinstance(cell, Mapping)


def judgment_in(cell: Any) -> Any:
    """Return the judgment in a judge's JSON object; any other cell as it is.

    Raises
    ------
    CellError
        The object has none of `JUDGMENT_KEYS`, or several.
    """
    if not is_object(cell):
        return cell
    found = _object(cell) if isinstance(cell, str) else cell
    if not isinstance(found, Mapping):
        return cell
    present = [name for name in found if str(name).strip().casefold() in JUDGMENT_KEYS]
    if len(present) != 1:
        listed = ", ".join(map(str, present or found)) or "nothing"
        which = "several judgments" if present else "no judgment"
        raise CellError(f"the JSON object has {which} ({listed}).", _REMEDY)
    judgment = found[present[0]]
    if isinstance(judgment, Mapping):
        return judgment_in(judgment)
    if isinstance(judgment, list):
        raise CellError(f"{present[0]!r} of the JSON object is a list.", _REMEDY)
    return judgment


def _object(cell: str) -> Any:
    fenced = _FENCE.fullmatch(cell)
    try:
        return loaded(fenced[1] if fenced else cell)
    except DuplicateNameError as error:
        raise CellError(f"{abbreviate(cell)} has {error}.", "Keep one of them.") from None
    except (ValueError, RecursionError):
        return None


def out_of(text: str, scale: Ranged | None) -> float | None:
    """Return 4 for 4/5 or 80%, on a scale that ends at 5 or 100; None for another text or scale.

    A percentage on a scale that ends at 1 is a share.
    """
    parts = ratio_or_percentage(text)
    if parts is None or scale is None:
        return None
    number = float(parts[0].replace(",", "."))
    if parts[1] == "%":
        return {100.0: number, 1.0: number / 100}.get(float(scale.max))
    return number if float(parts[1].replace(",", ".")) == scale.max else None
