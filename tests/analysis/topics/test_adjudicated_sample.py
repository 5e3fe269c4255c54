"""An adjudicated sample with known probabilities corrects means as it should."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable, analyse


def test_corrected_means_weight_adjudicated_values_by_their_probability() -> None:
    """Two strata: the hard queries adjudicated for certain, a quarter of the easy ones.

    Easy responses are worth 80 and hard ones 20, 40 of each; the adjudicated values, unweighted,
    are 40 hard and 10 easy: their mean would be (40 * 20 + 10 * 80) / 50 = 32. Weighted by 1 and
    by 4 it is 50, that of all.
    """
    draw = np.random.default_rng(3)
    rows = []
    for q in range(80):
        hard = q % 2 == 0
        worth = 20.0 if hard else 80.0
        common = {"response_id": f"r{q}", "query_id": f"q{q}", "system": "A", "construct": "QR"}
        judged = worth + 10 + draw.normal(0, 3)
        rows.append({**common, "scorer": "judge", "scorer_kind": "judge", "value": judged})
        rated = worth + draw.normal(0, 10)
        rows.append({**common, "scorer": "anna", "scorer_kind": "human", "value": rated})
        if hard or q % 8 == 1:
            rows.append(
                {
                    **common,
                    "scorer": "dora (adjudicated)",
                    "scorer_kind": "adjudicated",
                    "value": worth + draw.normal(0, 2),
                    "inclusion_prob": 1.0 if hard else 0.25,
                    "stratum": "widest" if hard else "random",
                    "layout": "single",
                }
            )
    scores = ScoreTable.from_frame(pd.DataFrame(rows), {"QR": Scale(-100, 200)})
    analysis = analyse(scores, options=Options(reference="adjudicated", resamples=200))
    by_name = {entry.statistic: entry for entry in analysis.estimates if entry.scope == "pooled"}
    weighted, corrected = by_name["weighted_human_mean"], by_name["ppi_mean"]
    assert weighted.params["pool"] == 80
    assert weighted.n_responses == 50
    assert weighted.value == pytest.approx(50, abs=2)
    assert corrected.value == pytest.approx(50, abs=2)
    assert corrected.ci_low is not None
    assert corrected.ci_low < 50 < corrected.ci_high
    assert corrected.scorers == ("judge", "dora (adjudicated)")
    bias = analysis.estimates.first("bias", construct="QR", scorer="judge", scope="pooled")
    assert bias is not None
    assert bias.value == pytest.approx(10, abs=1.5)
