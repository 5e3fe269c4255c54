"""Whether a composed AC in the table counts a match in the unit of the judge's part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from analysis.core.construct_data import BoolArray, ConstructData, FloatArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.scales import Scale
from analysis.statistics.answer_correctness import (
    TOLERANCE,
    UnitCheck,
    unit_check,
    unit_check_with_parts,
)


def ac_unit_check(context: Context, construct: str, match: str) -> Iterator[Estimate]:
    """`ac_unit_check` of every judge or metric on AC that looks composed.

    With the parts in the table, that is one that equals (1 - lambda) times a judge where nothing
    matches; without them, one on the grid of a composed column, with values that are no whole
    points. In a table of AC alone every column with such values is named.
    """
    data, weight = context.whole[construct], context.options.ac_lambda
    for name, values in data.scorers.items():
        scale = context.scores.scale(construct, name)
        if name == match or not _in_points(scale) or not np.isfinite(values).any():
            continue
        parts: tuple[str, ...] = ()
        found: UnitCheck | None = None
        em = data.scorers.get(match)
        judge = None if em is None else part_of(data, name, em, weight)
        if em is not None and judge is not None:
            parts = (judge, match)
            found = unit_check_with_parts(values, data.scorers[judge], _matched(em), weight)
        elif _between_points(values):
            found = unit_check(values, weight)
            if found.off_grid and len(context.scores.constructs) > 1:
                continue
        if found is not None:
            present = np.isfinite(values)
            yield Estimate(
                "ac_unit_check",
                (construct,),
                (name, *parts),
                value=found.value,
                n_responses=int(present.sum()),
                n_queries=int(np.unique(data.query[present]).size),
                n_dropped=int((~present).sum()),
                reason=found.reason,
                params=_params(weight, parts),
            )


def _params(weight: float, parts: tuple[str, ...]) -> dict[str, Any]:
    return {"lambda": weight, "from": "parts" if parts else "values"}


def _in_points(scale: Scale | None) -> bool:
    return scale is None or (scale.min, scale.max) == (0, 100)


def _between_points(values: FloatArray) -> bool:
    present = values[np.isfinite(values)]
    return bool((np.abs(present - np.round(present)) > TOLERANCE).any())


def _matched(em: FloatArray) -> BoolArray:
    """Where there is a match, whichever of 1 and 100 it is written as."""
    present = em[np.isfinite(em)]
    return np.asarray(em == present.max()) if present.size and present.max() > 0 else em > 0


def part_of(data: ConstructData, name: str, em: FloatArray, weight: float) -> str | None:
    """The judge that a scorer is composed of, by its values without a match; None if of none."""
    whole, without = data.scorers[name], np.isfinite(em) & ~_matched(em)
    for judge, part in data.scorers.items():
        if judge == name or data.kinds[judge] != "judge":
            continue
        both = without & np.isfinite(whole) & np.isfinite(part)
        apart = np.abs(whole - (1 - weight) * part)[both]
        if np.unique(part[both]).size > 1 and (apart <= TOLERANCE).all():
            return judge
    return None
