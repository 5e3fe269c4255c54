"""Whether the raters of a construct can be compared at all."""

from __future__ import annotations

import numpy as np

from analysis.core.construct_data import ConstructData
from analysis.statistics.reliability.two_way import rater_groups

#: Raters named of each part.
_NAMED = 4


def unconnected(data: ConstructData) -> str | None:
    """Which raters share no response with which, also not over others; None where all do."""
    groups = rater_groups(data.ratings)
    if groups.max(initial=-1) < 1:
        return None
    parts = []
    for group in range(int(groups.max()) + 1):
        names = [data.raters[place] for place in np.flatnonzero(groups == group)]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        parts.append(", ".join(names[:_NAMED]) + more)
    shown = "; ".join(parts[:_NAMED]) + ("; ..." if len(parts) > _NAMED else "")
    return (
        f"raters fall into {len(parts)} groups that share no response ({shown}): differences "
        "between the groups' raters and responses cannot be told apart"
    )
