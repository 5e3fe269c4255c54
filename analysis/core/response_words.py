"""Lengths of responses, from the score table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.table_checks import codes_of
from analysis.core.tables import ScoreTable


def response_words(scores: ScoreTable, data: ConstructData) -> FloatArray:
    """Words (n,) of each response, NaN where the table has none."""
    frame = scores.frame
    if "response_words" not in frame:
        return np.full(len(data.responses), np.nan)
    words, responses = frame["response_words"].cat, frame["response_id"].cat
    codes = codes_of(frame["response_words"])
    # A response has one length in all of its rows; the last element is for one that has none.
    response_codes = np.full(len(responses.categories) + 1, -1, dtype=codes.dtype)
    response_codes[codes_of(frame["response_id"])[codes >= 0]] = codes[codes >= 0]
    place = responses.categories.get_indexer(pd.Index(data.responses, dtype="object"))
    return np.append(words.categories, np.nan)[response_codes[place]]
