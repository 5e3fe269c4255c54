"""The agreement without ratings that were given before any passage was opened."""

import pandas as pd
import pytest

from analysis import Options, analyse
from analysis.topics.agreement.unopened_passages import without_unopened
from tests.analysis.scores import simulated, table

QUICK = Options(resamples=200, without_unopened=True)


def recorded() -> pd.DataFrame:
    """Ratings on CC with what was opened; rater-3 opened nothing for the first 18 responses."""
    frame = simulated(constructs=("QR", "CC"))
    people = frame["scorer_kind"].eq("human") & frame["construct"].eq("CC")
    frame["passages_opened"] = None
    frame.loc[people, "passages_opened"] = "yes"
    few = sorted(frame["response_id"].unique())[:18]
    folded = people & frame["scorer"].eq("rater-3") & frame["response_id"].isin(few)
    frame.loc[folded, "passages_opened"] = "no"
    return frame


@pytest.mark.parametrize("scope", ["pooled", "within_query"])
def test_declared_beforehand_the_figure_without_them_is_shown(scope: str) -> None:
    frame = recorded()
    analysis = analyse(table(frame), options=QUICK)
    (share,) = analysis.estimates.select("unopened_share")
    assert (share.constructs, share.scorers) == (("CC",), ("rater-3",))
    assert share.params == {"count": 18, "of": 108}
    where = {"construct": "CC", "scorer": "judge", "scope": scope}
    without = analysis.estimates.first("pearson", ratings="passages_opened", **where)
    kept = table(frame[frame["passages_opened"].ne("no")])
    alone = analyse(kept, options=Options(resamples=200)).estimates.first("pearson", **where)
    everything = analysis.estimates.first("pearson", **where)
    assert without is not None
    assert alone is not None
    assert everything is not None
    assert (without.value, without.ci_low) == (alone.value, alone.ci_low)
    assert everything.value != without.value
    assert not analysis.estimates.select("pearson", ratings="passages_opened", construct="QR")
    (shown,) = without_unopened(analysis)
    assert len(shown.rows) == 2


def test_nothing_is_left_out_by_itself() -> None:
    frame = recorded()
    undeclared = analyse(table(frame), options=Options(resamples=200)).estimates
    plain = analyse(
        table(frame.drop(columns="passages_opened")), options=Options(resamples=200)
    ).estimates
    assert [e.as_json() for e in undeclared] == [e.as_json() for e in plain]
