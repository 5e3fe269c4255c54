"""People's ratings from pages of different layouts, which are never pooled.

Beside the other responses to a query a response is rated otherwise than by itself, so a table
with ratings of both kinds is reported on with one of them.
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
    """Return how many values people gave in each layout; adjudicators among them.

    A response of several systems counts once. What says no layout is not counted.
    """
    frame = scores.frame
    if "layout" not in frame:
        return {}
    given = frame[_people(frame) & frame["value"].notna() & frame["layout"].notna()]
    once = given.drop_duplicates(["response_id", "construct", "scorer", "repeat"])
    counts = once["layout"].astype("object").value_counts()
    return {name: int(counts[name]) for name in LAYOUTS if name in counts}


def of_one_layout(scores: ScoreTable, layout: str | None = None) -> tuple[ScoreTable, str | None]:
    """Return the table with people's values of one layout, and what is said of the other.

    Parameters
    ----------
    layout
        "single" or "side_by_side"; unless given, the one with more values.

    Raises
    ------
    AnalysisError
        No value was given in the layout that is asked for.
    """
    counts = values_by_layout(scores)
    if layout is not None and layout not in counts:
        there = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise AnalysisError(
            f"no value of people was given in the layout {layout!r}; there are "
            f"{there or 'none that say their layout'}"
        )
    if len(counts) < 2:
        return scores, None
    taken = layout or max(counts, key=lambda name: counts[name])
    (other,) = (name for name in counts if name != taken)
    frame = scores.frame
    own = ~(_people(frame) & (frame["layout"].astype("object") == other))
    said = (
        f"People rated in two layouts, which are not pooled: {counts[taken]:,} values with "
        f"{_WORDS[taken]} (layout {taken}) are taken, {counts[other]:,} with {_WORDS[other]} "
        f"(layout {other}) are left out; --layout {other} takes those instead."
    )
    return replace(scores, frame=frame[own].reset_index(drop=True)), said


def _people(frame: pd.DataFrame) -> pd.Series[bool]:
    return frame["scorer_kind"].isin(["human", "adjudicated"])
