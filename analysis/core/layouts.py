"""People's ratings from pages of different layouts, which are never pooled.

A response that is shown next to the other responses to its query is rated differently from one that
is shown alone. A report on a table with ratings of both kinds uses one of them.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from analysis.core.errors import AnalysisError
from analysis.core.table_columns import LAYOUTS
from analysis.core.tables import ScoreTable

_WORDS = {
    "single": "one response a page",
    "side_by_side": "responses to a query side by side",
}


def values_by_layout(scores: ScoreTable) -> dict[str, int]:
    """Return how many values people, adjudicators included, gave in each layout.

    A response of several systems counts once. Values without a layout are not counted.
    """
    frame = scores.frame
    if "layout" not in frame:
        return {}
    ratings = frame[_people(frame) & frame["value"].notna() & frame["layout"].notna()]
    once = ratings.drop_duplicates(["response_id", "construct", "scorer", "repeat"])
    counts = once["layout"].astype("object").value_counts()
    return {name: int(counts[name]) for name in LAYOUTS if name in counts}


def select_layout(scores: ScoreTable, layout: str | None = None) -> tuple[ScoreTable, str | None]:
    """Return the table with people's values of one layout, and a warning about the other.

    Parameters
    ----------
    layout
        "single" or "side_by_side"; by default the one with more values.

    Raises
    ------
    AnalysisError
        No value has the requested layout.
    """
    counts = values_by_layout(scores)
    if layout is not None and layout not in counts:
        listed = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise AnalysisError(
            f"--layout {layout}: no value of people has the layout {layout!r}; there are "
            f"{listed or 'no values with a layout'}"
        )
    if len(counts) < 2:
        return scores, None
    used = layout or max(counts, key=lambda name: counts[name])
    (other,) = (name for name in counts if name != used)
    frame = scores.frame
    rows = ~(_people(frame) & (frame["layout"].astype("object") == other))
    warning = (
        f"People rated in two layouts, which are not pooled: {counts[used]:,} values with "
        f"{_WORDS[used]} (layout {used}) are used, {counts[other]:,} with {_WORDS[other]} "
        f"(layout {other}) are left out; --layout {other} uses those instead."
    )
    return replace(scores, frame=frame[rows].reset_index(drop=True)), warning


def _people(frame: pd.DataFrame) -> pd.Series[bool]:
    return frame["scorer_kind"].isin(["human", "adjudicated"])
