"""Cells with a judgment in another form than a number or word: JSON, Score: 3, 4/5, 80%;
and the faults that many cells of a column share.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from study.errors import Fault
from study.importing.readers.cells import CellError, ratio_or_percentage
from study.importing.readers.json_text import DuplicateNameError, loaded
from study.text import abbreviate

#: The members of a judge's JSON object of which one has the judgment.
JUDGMENT_KEYS = ("score", "rating", "value", "grade", "verdict", "label", "result", "answer")

FROM_JSON = "cells with a JSON object read as the judgment in it"

# What a judgment may be called in its own cell. Topic 3 or Option 2 are names, and not numbers.
_NAMED_NUMBER = re.compile(
    r"(?P<name>(?:(?:final|overall|total|my)\s+)?(?:score|rating|grade|level|lvl|value|points?|mark|"
    r"rank|tier|stage|quality|relevance|bewertung|punkte|stufe|note|niveau|nivel|livello|"
    r"puntuación|puntuacion|punteggio|nota|voto))"
    r"(?:\s+is)?\s*[:=#-]?\s*(?P<number>\d{1,4}(?:[.,]\d+)?)"
    r"(?:\s*(?:/|out of|of|von|sur|de|su)\s*(?P<end>\d{1,4})|\s*(?P<share>%))?\.?",
    re.IGNORECASE,
)
# As promptfoo writes what an assertion said before the output.
_PASS_OR_FAIL = re.compile(r"\s*\[(PASS|FAIL)\](?:\s.*)?", re.DOTALL)
FROM_MARK = "cells that begin with [PASS] or [FAIL] read as that"

_MARKUP = str.maketrans("", "", "*`[]")
_PERHAPS_BEST_FIRST = {"grade", "rank", "note", "tier"}

# As judges write it around JSON.
_FENCE = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL | re.IGNORECASE)
#: The remedy for an object with several judgments.
IN_COLUMNS = (
    "Write each of them into a separate column and name these columns; in pandas: frame = "
    "frame.join(frame[column].map(json.loads).apply(pd.Series).add_prefix(f'{column}_'))."
)
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
    """Return the judgment in a judge's JSON object, in Score: 3 or [PASS] text; others as they are.

    Raises
    ------
    CellError
        The object has none of `JUDGMENT_KEYS`, or several.
    """
    if not is_object(cell):
        marked = _PASS_OR_FAIL.fullmatch(cell) if isinstance(cell, str) else None
        if marked is not None:
            return marked[1]
        named = named_number(cell)
        return cell if named is None else named[1]
    found = _object(cell) if isinstance(cell, str) else cell
    if not isinstance(found, Mapping):
        return cell
    present = [name for name in found if str(name).strip().casefold() in JUDGMENT_KEYS]
    if not present and len(fields := score_fields(found)) > 1:
        listed = ", ".join(fields)
        raise CellError(f"the JSON object has several judgments ({listed}).", IN_COLUMNS)
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


def score_fields(cell: Any) -> list[str]:
    """Return the names of the numbers in an object or its JSON; nothing for another cell."""
    found = _object(cell) if isinstance(cell, str) else cell
    if not isinstance(found, Mapping):
        return []
    return [
        str(name)
        for name, value in found.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]


def named_number(cell: Any) -> tuple[str, str] | None:
    """Return the name and the number of a cell such as Score: 3, Rating: 4/5 or Level 2."""
    if not isinstance(cell, str):
        return None
    match = _NAMED_NUMBER.fullmatch(cell.translate(_MARKUP).strip())
    if match is None:
        return None
    end = f"/{match['end']}" if match["end"] else match["share"] or ""
    return match["name"], f"{match['number']}{end}"


def begins_with_score(text: str) -> bool:
    """Whether a text begins as Score: 3 does."""
    return _NAMED_NUMBER.match(text.translate(_MARKUP).strip()) is not None


def how_read(cell: Any) -> str:
    """Say how a cell was read that is not the judgment alone."""
    if is_object(cell):
        return FROM_JSON
    named = named_number(cell)
    return FROM_MARK if named is None else as_number(named[0])


def as_number(name: str) -> str:
    """Say how the cells that call their number by a name are read."""
    told = f"cells with {name.casefold()!r} and a number read as the number, the highest as best"
    if name.casefold() not in _PERHAPS_BEST_FIRST:
        return told
    return f"{told}; if 1 is the best, write the numbers alone, turned: 6 for 1 to 1 for 6"


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


_COMMA = re.compile(r"Write \S+ if a decimal number is meant\.")


def reported_once(faults: Sequence[Fault], source: str) -> list[Fault]:
    """Return the faults, with one in place of all decimal commas, and one for all JSON objects.

    `source` is the name of the file.
    """
    commas = (
        f"If the comma is the decimal sign, write a point; in pandas: pd.read_csv({source!r}, "
        f"decimal=',').to_csv({source!r}, index=False)."
    )
    rest = list(faults)
    for pattern, remedy in ((_COMMA, commas), (re.compile(re.escape(IN_COLUMNS)), IN_COLUMNS)):
        same = [fault for fault in rest if pattern.fullmatch(fault.remedy)]
        if len(same) > 1:
            problem = f"{same[0].problem} So are {len(same) - 1:,} further cells."
            place = rest.index(same[0])
            rest = [fault for fault in rest if fault not in same]
            rest.insert(place, replace(same[0], problem=problem, remedy=remedy))
    return rest
