"""Faults that a whole column has in its cells, each kind reported once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from study.errors import Fault
from study.importing.readers.judgment_cells import IN_COLUMNS

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
