"""With what probability each response came to be rated, from the score table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.core.construct_data import ConstructData, FloatArray
from analysis.core.tables import ScoreTable


def inclusion_probabilities(scores: ScoreTable, data: ConstructData) -> FloatArray:
    """Probabilities (n,) of the responses of one construct; 1 for those without a human value.

    Where a response's ratings state several, the largest: it was at least as likely to be rated.
    """
    found = np.ones(len(data.responses))
    rows = scores.frame
    kind = "adjudicated" if data.reference_kind == "adjudicated" else "human"
    own = (rows["construct"] == data.construct) & (rows["scorer_kind"] == kind)
    own &= rows["value"].notna() & (rows["repeat"] == 0)
    if not own.any():
        return found
    rated = rows.loc[own, ["response_id", "inclusion_prob"]]
    largest = rated["inclusion_prob"].groupby(rated["response_id"].astype("object")).max()
    place = pd.Index(data.responses, dtype="object").get_indexer(largest.index)
    known = place >= 0
    found[place[known]] = largest.to_numpy()[known]
    return found
