"""People's figures on systems where raters are not balanced over systems.

Where each rater has the same weight in every system's mean, severities cancel in differences and
plain means are used. Otherwise the figures of people are adjusted for raters' severity, and systems
that no rater links are not compared.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData, mean_over
from analysis.core.context import Context
from analysis.statistics.reliability.adjusted_systems import AdjustedSystems, adjusted_systems

#: The value of params.adjusted of figures that raters' severity was taken out of.
ADJUSTED = {"adjusted": "rater severity"}

CONTAINS_SEVERITY = (
    "the systems were not rated by the same raters to the same extent, so that it contains raters' "
    "severity; the tables of systems and of their differences have people's means adjusted for it"
)

_FITTED: WeakKeyDictionary[Context, dict[str, AdjustedSystems | None]] = WeakKeyDictionary()


def adjusted_people(context: Context, construct: str) -> AdjustedSystems | None:
    """Systems by people, adjusted for raters' severity; None where nothing is to be adjusted.

    That is where raters are balanced over systems, or people's values are categories, or
    adjudicated.
    """
    fitted = _FITTED.setdefault(context, {})
    if construct not in fitted:
        data = context.rated[construct]
        scale = context.human_scale(construct)
        nominal = scale is not None and scale.level == "nominal"
        plain = data.reference_kind == "adjudicated" or nominal or len(data.raters) < 2
        fitted[construct] = (
            None
            if plain or len(data.systems) < 2
            else adjusted_systems(
                data.ratings, data.query, data.produced, data.n_queries, data.systems
            )
        )
    return fitted[construct]


def reference_by_system(
    context: Context, data: ConstructData
) -> tuple[FloatArray, str | None, dict[str, Any]]:
    """Human reference (n,) that systems are compared by, why there is none, and params.

    The mean of a response's raters, each less the severity that the additive model predicts, where
    raters are not balanced over systems.
    """
    people = adjusted_people(context, data.construct)
    if people is None:
        return data.reference, None, {}
    if not people.balance.connected or people.why_not:
        return data.reference, _unlinked_reason(people), dict(ADJUSTED)
    severity = np.zeros(len(data.raters))
    rated = np.isfinite(data.ratings[data.produced.any(axis=1)]).any(axis=0)
    severity[rated] = people.fits[0].severities
    return mean_over(data.ratings - severity), None, dict(ADJUSTED)


def severity_by_system(context: Context, construct: str) -> str | None:
    """Why a plain figure of people on one system is withheld: raters' severity is in it."""
    people = adjusted_people(context, construct)
    if people is None:
        return None
    if not people.balance.connected or people.why_not:
        return _unlinked_reason(people)
    return CONTAINS_SEVERITY


def _unlinked_reason(people: AdjustedSystems) -> str:
    """Why not all systems can be compared by people."""
    if people.balance.connected:
        return next(iter(people.why_not.values()))
    groups = people.balance.groups
    parts = [
        ", ".join(people.names[place] for place in np.flatnonzero(groups == group))
        for group in range(int(groups.max()) + 1)
    ]
    return (
        f"no rater links the systems {' and '.join(parts)}: differences between them may come from "
        "the raters"
    )
