"""Lengths of responses, from the score table."""

from __future__ import annotations

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.tables import ScoreTable


def response_words(scores: ScoreTable, data: ConstructData) -> FloatArray:
    """Words (n,) of each response, NaN where the table has none."""
    frame = scores.frame
    if "response_words" not in frame:
        return np.full(len(data.responses), np.nan)
    rows = frame[frame["response_words"].notna()].drop_duplicates("response_id")
    by_response = rows.set_index(rows["response_id"].astype("object"))["response_words"]
    return by_response.reindex(list(data.responses)).to_numpy(dtype=np.float64)
