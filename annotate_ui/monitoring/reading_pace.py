"""Whether a rater takes the time that reading takes."""

from collections.abc import Iterable
from typing import Any

import pandas as pd
from sqlalchemy import Connection

from annotate_ui.monitoring.signal import Signal, too_few
from study.settings.study_toml import StudyConfig

#: With fewer queries of known time, no signal is computed.
LEAST_TIMED = 5

#: Nobody who reads all of it takes less than this share of the reading time.
_SHARE = 1 / 3

#: Share of queries below that from which a rater is flagged, and the least number of them.
_FLAGGED, _LEAST_FAST = 0.25, 3


def reading_shares(
    connection: Connection, config: StudyConfig, values: pd.DataFrame
) -> dict[str, list[float]]:
    """Return for each rater, query by query, active seconds as a share of the reading time.

    Question, reference and shared passages are read once for all responses of a query, so time is
    compared by query. Only the first pass counts: a second one need not be read again. Values
    without a time (from other places) do not enter.
    """
    from study.assignment.reading_time import WordCounts

    timed = values[
        values["purpose"].isin(["main", "calibration"])
        & (values["repeat"] == 0)
        & (values["active_seconds"] > 0)
    ]
    if timed.empty:
        return {}
    first = timed.groupby(["rater", "query"])["round"].transform("min")
    timed = timed[timed["round"] == first]
    reading = WordCounts(connection, config.constructs)
    found: dict[str, list[float]] = {}
    passes: Any = timed.groupby(["rater", "query"], sort=False)
    for (rater, query), rows in passes:
        shown: dict[int, set[str]] = {}
        for response, construct in zip(rows["response"], rows["construct"], strict=True):
            shown.setdefault(response, set()).add(construct)
        keys = {response: frozenset(constructs) for response, constructs in shown.items()}
        minutes = reading.words(query, keys) / config.rating.words_per_minute
        if minutes > 0:
            share = float(rows["active_seconds"].sum()) / (60 * minutes)
            found.setdefault(str(rater), []).append(share)
    return found


def too_fast(shares: Iterable[float]) -> Signal:
    """Return whether many of a rater's queries took less than a third of the reading time."""
    known = pd.Series(list(shares), dtype="float64")
    if len(known) < LEAST_TIMED:
        return too_few("too_fast", None, len(known), "queries with a time")
    fast = int((known < _SHARE).sum())
    share = fast / len(known)
    flagged = share >= _FLAGGED and fast >= _LEAST_FAST
    return Signal(
        "too_fast",
        None,
        "flagged" if flagged else "fine",
        share,
        float(known.median()),
        len(known),
        f"{fast} of {len(known)} queries in less than a third of the time that reading takes; "
        f"half of them in {known.median():.0%} of it or less",
    )
