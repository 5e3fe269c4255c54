"""Correlations averaged over queries and systems, against scipy group by group."""

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from analysis import Options, analyse
from tests.analysis.scores import simulated, table


def test_averages_equal_those_of_the_groups() -> None:
    frame = simulated(queries=10, systems=4)
    # To one query people give every response the same value.
    equal = (frame["query_id"] == "q3") & (frame["scorer_kind"] == "human")
    frame.loc[equal, "value"] = 50.0
    estimates = analyse(table(frame), options=Options(resamples=100)).estimates
    of = frame[frame["scorer"] == "judge"].set_index("response_id")
    people = frame[frame["scorer_kind"] == "human"].groupby("response_id")["value"].mean()
    of = of.assign(people=people)
    for measure, computed in (("pearson", pearsonr), ("kendall_tau_b", kendalltau)):
        for scope, column, undefined in (("within_query", "query_id", 1), ("pooled", "system", 0)):
            each = [
                computed(group["value"], group["people"])[0]
                for _, group in of.groupby(column)
                if group["people"].nunique() > 1
            ]
            e = estimates.first("average_correlation", measure=measure, scope=scope)
            assert e is not None
            assert e.value == pytest.approx(np.mean(each))
            assert e.params["undefined"] == undefined
            assert e.params["groups"] == len(each) + undefined
            assert e.has_interval
            assert e.ci_low < e.value < e.ci_high
