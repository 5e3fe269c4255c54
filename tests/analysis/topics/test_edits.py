"""What raters changed after they had been shown more, and the figures of what counts."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis import Analysis, Options, analyse
from analysis.render.table import Table
from analysis.topics.agreement.edits import edits_made, with_edits
from tests.analysis.scores import simulated, table
from tests.conftest import examples

QUICK = Options(resamples=200)


def both(frame: pd.DataFrame, last: pd.DataFrame, options: Options = QUICK) -> Analysis:
    return analyse(table(frame), options=options, edited=table(last))


def changed(frame: pd.DataFrame, to: dict[tuple[str, str, str], float]) -> pd.DataFrame:
    """The frame with other values, by construct, scorer and response."""
    changed_frame = frame.copy()
    for (construct, scorer, response), value in to.items():
        row = (changed_frame["construct"] == construct) & (changed_frame["scorer"] == scorer)
        changed_frame.loc[row & (changed_frame["response_id"] == response), "value"] = value
    return changed_frame


@pytest.fixture(scope="module")
def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    frame = simulated(constructs=("QR", "CC"))
    first = changed(
        frame,
        {
            ("QR", "rater-1", "r0"): 40.0,
            ("QR", "rater-1", "r1"): 50.0,
            ("QR", "rater-2", "r2"): math.nan,
            ("QR", "rater-2", "r3"): 10.0,
        },
    )
    last = changed(
        first,
        {
            ("QR", "rater-1", "r0"): 60.0,
            ("QR", "rater-1", "r1"): 45.0,
            ("QR", "rater-2", "r2"): 30.0,
            ("QR", "rater-2", "r3"): math.nan,
        },
    )
    return first, last


@pytest.fixture(scope="module")
def analysis(frames: tuple[pd.DataFrame, pd.DataFrame]) -> Analysis:
    return both(*frames)


def test_changes_are_counted_with_their_size(analysis: Analysis) -> None:
    (share,) = analysis.estimates.select("edited_share")
    assert (share.constructs, share.scorers) == (("QR",), ("rater-1", "rater-2"))
    # 36 responses and 3 raters, 4 of them changed.
    assert share.value == 4 / 108
    assert share.params == {"count": 4, "changed": 2, "given_later": 1, "taken_back": 1, "of": 108}
    mean, size = (analysis.estimates.first(n) for n in ("edit_mean", "edit_mean_absolute"))
    assert mean is not None
    assert size is not None
    # One rose by 20 points, one fell by 5.
    assert (mean.value, size.value) == (7.5, 12.5)
    assert (mean.n_responses, mean.n_dropped) == (2, 2)


@pytest.mark.parametrize("scope", ["pooled", "within_query"])
def test_the_figure_beside_is_that_of_a_table_with_the_last_values(
    analysis: Analysis, frames: tuple[pd.DataFrame, pd.DataFrame], scope: str
) -> None:
    where = {"construct": "QR", "scorer": "judge", "scope": scope}
    beside = analysis.estimates.first("pearson", ratings="last", **where)
    alone = analyse(table(frames[1]), options=QUICK).estimates.first("pearson", **where)
    counted = analysis.estimates.first("pearson", **where)
    assert beside is not None
    assert alone is not None
    assert counted is not None
    assert (beside.value, beside.ci_low, beside.ci_high) == (
        alone.value,
        alone.ci_low,
        alone.ci_high,
    )
    assert counted.value != beside.value
    assert "ratings" not in counted.params
    assert not analysis.estimates.select("pearson", ratings="last", construct="CC")


def test_every_other_figure_is_as_without_the_changes(
    analysis: Analysis, frames: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    plain = [e.as_json() for e in analyse(table(frames[0]), options=QUICK).estimates]
    edits = [e for e in analysis.estimates if "edit" in e.statistic or "ratings" in e.params]
    assert [e.as_json() for e in analysis.estimates if e not in edits] == plain
    same = both(frames[0], frames[0])
    assert [e.as_json() for e in same.estimates] == plain


def test_against_an_adjudicated_reference_only_the_changes_are_told(
    frames: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    first, last = (
        pd.concat([f, f[f["scorer"] == "rater-3"].assign(scorer="gold", scorer_kind="adjudicated")])
        for f in frames
    )
    estimates = both(first, last, Options(resamples=200, reference="adjudicated")).estimates
    assert estimates.select("edited_share")
    assert not estimates.select("pearson", ratings="last")


def test_a_change_of_nothing_but_missing_values_has_no_size() -> None:
    frame = simulated(constructs=("QR",))
    last = changed(frame, {("QR", "rater-1", "r0"): math.nan})
    estimate = both(frame, last).estimates.first("edit_mean")
    assert estimate is not None
    assert not estimate.defined
    assert estimate.reason == "no value was changed to another one"


def test_a_response_of_several_systems_counts_once() -> None:
    frame = simulated(constructs=("QR",))
    shared = pd.concat([frame, frame[frame["response_id"] == "r0"].assign(system="s2")])
    last = changed(shared, {("QR", "rater-1", "r0"): 1.0})
    (share,) = both(shared, last).estimates.select("edited_share")
    assert (share.params["count"], share.params["of"]) == (1, 108)


@settings(max_examples=examples(15))
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["rater-1", "rater-2"]), st.integers(0, 5)),
        st.one_of(st.integers(0, 100).map(float), st.just(math.nan)),
    )
)
def test_the_counts_add_up(to: dict[tuple[str, int], float]) -> None:
    frame = simulated(queries=4, constructs=("QR",))
    last = changed(frame, {("QR", who, f"r{n}"): value for (who, n), value in to.items()})
    a, b = frame["value"].to_numpy(), last["value"].to_numpy()
    differing = int(np.count_nonzero(~((a == b) | (np.isnan(a) & np.isnan(b)))))
    shares = both(frame, last).estimates.select("edited_share")
    assert [e.params["count"] for e in shares] == ([differing] if differing else [])
    for e in shares:
        parts = [e.params[name] for name in ("changed", "given_later", "taken_back")]
        assert sum(int(part or 0) for part in parts) == differing


def cells(built: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in built.rows]


def test_the_tables_show_both(analysis: Analysis) -> None:
    (made,) = edits_made(analysis)
    assert cells(made) == [["QR", "108", "4", "7.5", "12.5", "1", "1", "rater-1 and rater-2"]]
    assert made.rows[0][2].parts == ("4%",)
    (beside,) = with_edits(analysis)
    assert [row[:3] for row in cells(beside)] == [
        ["QR", "judge", "within a query"],
        ["QR", "judge", "pooled"],
    ]
    assert all(cell.interval for row in beside.rows for cell in row[3:5])
