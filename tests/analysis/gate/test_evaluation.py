"""What a gate lets through, what it stops, and what it can't say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import Options, ScoreTable, analyse, write_report
from analysis.core.analysis import Analysis
from analysis.core.errors import AnalysisError
from analysis.gate.evaluation import check, key_of, noise_floors, read_baseline
from analysis.gate.thresholds import Threshold, picked
from study.base.scales import Scale
from tests.analysis.scores import simulated

WITHIN = {"construct": "QR", "scorer": "judge", "scope": "within_query"}


def analysed(frame: pd.DataFrame) -> Analysis:
    scales = dict.fromkeys(frame["construct"].unique(), Scale())
    return analyse(ScoreTable.from_frame(frame, scales), options=Options(resamples=100))


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analysed(simulated())


@pytest.mark.parametrize(
    ("bounds", "holds"),
    [
        ({"minimum": -1}, True),
        ({"minimum": 0.999}, False),
        ({"maximum": 1}, True),
        ({"maximum": -0.5}, False),
        ({"minimum": -1, "on": "ci_low"}, True),
        ({"maximum": -1, "on": "ci_high"}, False),
    ],
)
def test_bounds_of_a_threshold_hold_or_fail(
    analysis: Analysis, bounds: dict[str, float], holds: bool
) -> None:
    (result,) = check(analysis, [Threshold("pearson", **WITHIN, **bounds)])
    assert result.holds is holds
    assert bool(result.shortfalls) is not holds
    assert result.as_json()["holds"] is holds


def test_a_demand_without_a_construct_means_each(analysis: Analysis) -> None:
    results = check(analysis, [Threshold("pearson", scorer="judge", scope="pooled", minimum=-1)])
    assert [r.estimate.constructs for r in results] == [(c,) for c in analysis.rated]


@pytest.mark.parametrize(
    ("threshold", "says"),
    [
        (Threshold("pearsn", minimum=0), "Did you mean 'pearson'"),
        (Threshold("pearson", construct="XX", minimum=0), "construct is one of"),
        (Threshold("pearson", construct="QR", scorer="judge", minimum=0), "scope \\("),
        (Threshold("krippendorff_alpha", construct="QR", minimum=0), "params.level"),
        (Threshold("bias", **WITHIN, minimum=0), "scope is one of"),
        (Threshold("pearson", **WITHIN, allowed_drop=0.1), "--baseline"),
    ],
)
def test_what_cannot_be_said_is_an_error(
    analysis: Analysis, threshold: Threshold, says: str
) -> None:
    with pytest.raises(AnalysisError, match=says):
        check(analysis, [threshold])


def test_how_well_a_figure_is_known_does_not_distinguish_it(analysis: Analysis) -> None:
    first = next(e for e in analysis.estimates if e.statistic == "pearson")
    known = replace(first, params={**first.params, "measured_coverage": 0.92})
    other = replace(first, scope="pooled" if first.scope != "pooled" else "within_query")
    with pytest.raises(AnalysisError, match=r"name scope \(pooled, within_query\)$"):
        picked(Threshold("pearson", minimum=0), [known, other])


def test_an_undefined_figure_never_passes() -> None:
    frame = simulated()
    frame.loc[frame["scorer"] == "judge", "value"] = 50.0
    with pytest.raises(AnalysisError, match="is undefined: "):
        check(analysed(frame), [Threshold("pearson", **WITHIN, minimum=-1)])


@pytest.mark.parametrize(
    ("demands", "says"),
    [
        ({}, "has no bound"),
        ({"minimum": 2, "maximum": 1}, "above maximum"),
        ({"allowed_drop": -1}, "0 or more"),
        ({"minimum": 1, "on": "p"}, "use one of"),
    ],
)
def test_a_senseless_demand_is_refused(demands: dict[str, float], says: str) -> None:
    with pytest.raises(AnalysisError, match=says):
        Threshold("pearson", **demands)


def test_nothing_to_check_is_an_error(analysis: Analysis) -> None:
    with pytest.raises(AnalysisError, match="there are no checks"):
        check(analysis, [])


@pytest.mark.usefixtures("without_drawing")
def test_a_baseline_is_found_again_and_compared(analysis: Analysis, tmp_path: Path) -> None:
    write_report(analysis, tmp_path / "report")
    path = tmp_path / "report" / "report.json"
    drop = Threshold("pearson", **WITHIN, allowed_drop=0.05)
    (same,) = check(analysis, [drop], read_baseline(path))
    assert same.holds
    assert same.before == pytest.approx(same.estimate.value)
    content = json.loads(path.read_text())
    for record in content["estimates"]:
        if record["statistic"] == "pearson":
            record["value"] = 0.999
    path.write_text(json.dumps(content))
    (fallen,) = check(analysis, [drop], read_baseline(path))
    assert not fallen.holds
    rise = Threshold("pearson", **WITHIN, allowed_rise=0.05)
    assert check(analysis, [rise], read_baseline(path))[0].holds
    content["estimates"] = []
    path.write_text(json.dumps(content))
    with pytest.raises(AnalysisError, match="baseline has no value"):
        check(analysis, [drop], read_baseline(path))


@pytest.mark.parametrize("text", ["{", "[]", '{"estimates": [1]}'])
def test_a_baseline_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(AnalysisError, match="give the one that"):
        read_baseline(path)


def test_repeats_of_a_judge_make_a_noise_floor(analysis: Analysis) -> None:
    assert noise_floors(analysis) == {}
    frame = simulated()
    of_scorer = frame[frame["scorer"] == "judge"]
    again = of_scorer.assign(
        repeat=1,
        value=(of_scorer["value"] + 7)
        .clip(upper=100)
        .where(of_scorer.index % 2 == 0, of_scorer["value"]),
    )
    both = analysed(pd.concat([frame.assign(repeat=0), again], ignore_index=True))
    floors = noise_floors(both)
    alone = analysed(
        pd.concat([frame[frame["scorer"] != "judge"], again.assign(repeat=0)], ignore_index=True)
    )
    single, other = (a.estimates.first("pearson", **WITHIN) for a in (both, alone))
    assert single is not None
    assert other is not None
    assert floors[key_of(single)] == pytest.approx(abs(single.value - other.value))
    # A change no larger than that is no regression.
    baseline = {key_of(single): single.value + floors[key_of(single)] / 2}
    drop = Threshold("pearson", **WITHIN, allowed_drop=0.0)
    (result,) = check(both, [drop], baseline)
    assert result.holds
    assert result.noise == pytest.approx(floors[key_of(single)])


def difference(**fields: Any) -> Threshold:
    return Threshold(
        "judge_difference",
        **{"construct": "QR", "scope": "within_query", "params": {"measure": "kendall_tau_b"},
           "on": "ci_low", "minimum": -0.05, **fields},
    )  # fmt: skip


def test_a_threshold_on_one_judge_against_another() -> None:
    frame = simulated()
    other = frame[frame["scorer"] == "judge"]
    rng = np.random.default_rng(0)
    other = other.assign(scorer="other", value=rng.permutation(other["value"].to_numpy()))
    analysis = analysed(pd.concat([frame, other], ignore_index=True))
    (better,) = check(analysis, [difference(scorer="judge", against="other")])
    (worse,) = check(analysis, [difference(scorer="other", against="judge")])
    assert better.holds
    assert not worse.holds
    assert worse.estimate.value == -better.estimate.value
    assert (worse.estimate.ci_low, worse.estimate.ci_high) == (
        -better.estimate.ci_high,
        -better.estimate.ci_low,
    )
    assert worse.estimate.scorers[:2] == ("other", "judge")
    with pytest.raises(AnalysisError, match="no figure matches judge_difference"):
        check(analysis, [difference(scorer="judge", against="third")])


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"statistic": "pearson", "scorer": "judge"}, "it goes with statistic"),
        ({"statistic": "judge_difference"}, "it goes with statistic"),
        (
            {"statistic": "judge_difference", "scorer": "judge", "allowed_drop": 0.1},
            "give minimum or maximum",
        ),
    ],
)
def test_what_a_second_judge_goes_with(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(AnalysisError, match=says):
        Threshold(against="other", minimum=0, **fields)
