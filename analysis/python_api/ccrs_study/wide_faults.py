"""Faults of a table with a column for each judge and rater, named as the user has it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.core.errors import TableError
from study.base.scales import Scale

#: So many faults of one column are listed.
_MOST = 5


def check_values(
    data: pd.DataFrame, rows: int, scales: Mapping[str, Scale], own: Mapping[tuple[str, str], Scale]
) -> None:
    """Check the values of a long table that was made from a wide one with so many rows.

    `scales` are those of constructs, `own` those of (scorer, construct). Rows are counted from 0.

    Raises
    ------
    TableError
        A value is no number, or outside of its scale; with the column and the row.
    """
    faults: dict[str, list[str]] = {}
    listed = zip(data["scorer"], data["construct"], data["value"], strict=True)
    for place, (scorer, construct, value) in enumerate(listed):
        scale = own.get((scorer, construct)) or scales.get(construct)
        problem = _problem(value, scale)
        if problem is not None:
            faults.setdefault(str(scorer), []).append(f"{problem} in row {place % rows}")
    if faults:
        raise TableError(
            "table", [f"{scorer}: {_listed(found)}" for scorer, found in faults.items()]
        )


def _problem(value: Any, scale: Scale | None) -> str | None:
    if value is None or value is pd.NA:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return f"{value!r} is not a number"
    if math.isnan(number):
        return None
    if math.isinf(number):
        return f"{value} is not a finite number"
    if scale is not None and not scale.min <= number <= scale.max:
        return f"{number:g} is outside the scale from {scale}"
    return None


def _listed(found: list[str]) -> str:
    more = f", and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return f"{', '.join(found[:_MOST])}{more}"
