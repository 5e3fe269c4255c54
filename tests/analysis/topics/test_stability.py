"""Records of judge stability from a table of scores, and the sentences on them."""

import itertools
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from analysis.core.analysis import Analysis
from analysis.core.errors import AnalysisError
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.options import Options
from analysis.core.tables import ScoreTable
from analysis.pipeline.estimation import analyse
from analysis.render.section import chapter
from analysis.statistics.stability.run_components import RUN_COMPONENTS
from analysis.topics.stability.estimates import stability
from analysis.topics.stability.section import SECTION, run_variance
from study.base.scales import Scale

MADE = {"model": "m", "prompts": "p"}
RUNS = {name: MADE | {"seed": str(seed)} for seed, name in enumerate(("one", "two", "big"))}
SAME = Options(resamples=200, runs=RUNS)
NOISE = {"one": 3.0, "two": 3.0, "big": 12.0}


def frame(queries: int = 20, repeats: int = 2, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for construct, q, system in itertools.product(("QR", "CC"), range(queries), "ABC"):
        level = 60 + 5 * "ABC".index(system) + rng.normal(0, 8)
        for run, noise in NOISE.items():
            for repeat in range(repeats if run == "one" else 1):
                value = float(np.clip(round(level + rng.normal(0, noise)), 0, 100))
                rows.append((f"q{q}{system}", f"q{q}", system, construct, run, repeat, value))
    columns = ["response_id", "query_id", "system", "construct", "scorer", "repeat", "value"]
    return pd.DataFrame(rows, columns=columns).assign(scorer_kind="judge")


def analysed(rows: pd.DataFrame, **options: object) -> Analysis:
    scales = {key: Scale(0, 100) for key in ("QR", "CC")}
    chosen = Options(resamples=200, **{"runs": RUNS, **options})
    return analyse(ScoreTable.from_frame(rows, scales), options=chosen)


@pytest.fixture(scope="module")
def campaign() -> Analysis:
    return analysed(frame())


def only_estimate(analysis: Analysis, statistic: str, **where: object) -> Estimate:
    (record,) = analysis.estimates.select(statistic, **where)
    return record


def test_each_two_runs_are_compared(campaign: Analysis) -> None:
    records = campaign.estimates.select("run_agreement", construct="QR", measure="share_equal")
    assert [e.scorers for e in records] == [("one", "two"), ("one", "big"), ("two", "big")]
    assert all(e.has_interval for e in records)
    near, far, _ = (
        e.value
        for e in campaign.estimates.select(
            "run_agreement", construct="QR", measure="mean_absolute_difference"
        )
    )
    assert near < far


def test_shares_add_up_and_have_their_variance(campaign: Analysis) -> None:
    records = campaign.estimates.select("run_variance_share", construct="QR")
    assert len(records) == 6
    assert sum(e.value for e in records) == pytest.approx(1)
    assert all(e.has_interval or e.reason for e in records)
    repeat = only_estimate(campaign, "run_variance_share", construct="QR", component="repeat")
    assert float(str(repeat.params["variance"])) == pytest.approx(9, rel=0.5)


def test_scores_move_with_what_differs(campaign: Analysis) -> None:
    records = campaign.estimates.select("variance_between_runs", construct="QR")
    by = {str(e.params["differ"]): e for e in records}
    assert list(by) == ["nothing (repeats)", "seed"]
    assert by["nothing (repeats)"].value == pytest.approx(9, rel=0.5)
    assert by["seed"].value > 3 * by["nothing (repeats)"].value
    assert by["seed"].scorers == ("one", "two", "big")


def test_flips_of_each_pair_and_their_means(campaign: Analysis) -> None:
    pairs = [
        e
        for e in campaign.estimates.select("flip_rate", construct="QR", between="runs")
        if "pairs" not in e.params and len(e.constructs) == 1
    ]
    assert [e.systems for e in pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert [e.params["compared"] for e in pairs] == [3, 3, 3]
    mean = next(
        e
        for e in campaign.estimates.select("flip_rate", construct="QR", between="runs")
        if "pairs" in e.params and len(e.constructs) == 1
    )
    assert mean.value == pytest.approx(np.mean([e.value for e in pairs]))
    assert mean.ci_high == pytest.approx(np.mean([e.ci_high for e in pairs]))
    whole = [
        e for e in campaign.estimates.select("flip_rate", between="runs") if len(e.constructs) > 1
    ]
    assert len(whole) == 1
    assert whole[0].constructs == ("QR", "CC")
    # Repeats are those of one run; queries accompany each.
    assert {e.scorers for e in campaign.estimates.select("flip_rate", between="repeats")} == {
        ("one",)
    }
    assert {e.scorers for e in campaign.estimates.select("flip_rate", between="queries")} == {
        ("one",), ("two",), ("big",)
    }  # fmt: skip


@pytest.mark.usefixtures("without_drawing")
def test_the_section_has_its_tables_and_its_figure(campaign: Analysis) -> None:
    made = chapter(SECTION, campaign)
    assert made is not None
    assert [table.key for table in made.tables][:4] == [
        "run-variance", "between-runs", "run-agreement", "flip-rates",
    ]  # fmt: skip
    assert [figure.key for figure in made.figures] == ["run-variance"]
    assert len(made.figures[0].drawings) == 2
    assert (
        "Another run like one, two and big would put two systems in another order"
        in made.reading[1]
    )


def test_derived_scorers_are_no_runs() -> None:
    rows = frame(repeats=1)
    jury = rows[rows["scorer"] == "one"].assign(scorer="jury")
    analysis = analysed(pd.concat([rows, jury]), derived_from={"jury": ("one", "two", "big")})
    for name in ("run_agreement", "run_variance_share", "variance_between_runs", "flip_rate"):
        assert not [e for e in analysis.estimates.select(name) if "jury" in e.scorers]


@pytest.mark.usefixtures("without_drawing")
def test_one_run_scored_once_says_nothing_and_with_repeats_what_it_can() -> None:
    rows = frame(repeats=1)
    alone = analysed(rows[rows["scorer"] == "one"])
    assert not list(stability(alone.context))
    assert chapter(SECTION, alone) is None
    again = frame(repeats=2)
    analysis = analysed(again[again["scorer"] == "one"])
    run = only_estimate(analysis, "run_variance_share", construct="QR", component="run")
    assert not run.defined
    assert run.reason is not None
    assert run.reason.startswith("there is one run")
    assert analysis.estimates.select("flip_rate", between="repeats")
    assert not analysis.estimates.select("flip_rate", between="runs")


def test_identical_runs_never_flip() -> None:
    rows = frame(repeats=1)
    of_scorer = rows[rows["scorer"] == "one"]
    analysis = analysed(pd.concat([of_scorer, of_scorer.assign(scorer="two")]))
    assert {e.value for e in analysis.estimates.select("flip_rate", between="runs")} == {0.0}
    for component in ("run", "query:run", "response:run"):
        share = only_estimate(analysis, "run_variance_share", construct="QR", component=component)
        assert share.value == 0
    assert (
        only_estimate(analysis, "run_agreement", construct="CC", measure="share_equal").value == 1
    )


def test_judges_of_unknown_make_are_no_runs_of_one() -> None:
    analysis = analysed(frame(), runs={})
    records = analysis.estimates.select("variance_between_runs", construct="QR")
    assert [e.params["differ"] for e in records] == ["nothing (repeats)"]
    assert not analysis.estimates.select("run_agreement")
    assert not analysis.estimates.select("flip_rate", between="runs")


def test_runs_that_were_declared_to_be_of_one_judge_are_compared() -> None:
    alike = {"one": {"judge": "mine"}, "two": {"judge": "mine"}}
    analysis = analysed(frame(repeats=1), runs=alike)
    records = analysis.estimates.select("variance_between_runs", construct="QR")
    assert {str(e.params["differ"]): e.params["pairs"] for e in records} == {"run": 1}
    assert {e.scorers for e in analysis.estimates.select("run_agreement")} == {("one", "two")}


def test_runs_on_another_scale_are_not_subtracted() -> None:
    rows = frame(repeats=1)
    small = rows["scorer"] == "big"
    rows.loc[small, "value"] /= 100
    by_name = {("big", key): Scale(0, 1) for key in ("QR", "CC")}
    scales = {key: Scale(0, 100) for key in ("QR", "CC")}
    analysis = analyse(ScoreTable.from_frame(rows, scales, by_name), options=SAME)
    assert {e.scorers for e in analysis.estimates.select("run_agreement")} == {("one", "two")}
    assert only_estimate(
        analysis, "run_variance_share", construct="QR", component="run"
    ).scorers == (
        "one",
        "two",
    )


def between_runs(analysis: Analysis) -> dict[tuple[str, ...], float]:
    return {
        (*e.constructs, *e.systems): e.value
        for e in analysis.estimates.select("flip_rate", between="runs")
    }


def test_flips_between_runs_are_of_those_on_one_scale() -> None:
    rows = frame(repeats=1)
    alone = between_runs(analysed(rows[rows["scorer"] != "big"]))
    rows.loc[rows["scorer"] == "big", "value"] /= 100
    by_name = {("big", key): Scale(0, 1) for key in ("QR", "CC")}
    scales = {key: Scale(0, 100) for key in ("QR", "CC")}
    analysis = analyse(ScoreTable.from_frame(rows, scales, by_name), options=SAME)
    assert between_runs(analysis) == pytest.approx(alone)
    records = analysis.estimates.select("flip_rate", between="runs")
    assert {(e.scorers, e.params["excluded"]) for e in records} == {
        (("one", "two"), "big: another scale")
    }
    made = chapter(SECTION, analysis)
    assert made is not None
    shown = {table.key: table for table in made.tables}
    assert any(
        "one and two (without big: another scale)" in cell.text
        for row in shown["flip-rates"].rows
        for cell in row
    )


def test_nominal_constructs_have_no_figures_at_all() -> None:
    scales = {"QR": Scale(0, 100), "CC": Scale(0, 100, 100, "nominal")}
    rows = frame()
    marks = rows["construct"] == "CC"
    rows.loc[marks, "value"] = 100 * (rows.loc[marks, "value"] > 65)
    analysis = analyse(ScoreTable.from_frame(rows, scales), options=SAME)
    for name in ("run_agreement", "run_variance_share", "variance_between_runs", "flip_rate"):
        assert {e.constructs for e in analysis.estimates.select(name)} == {("QR",)}


@pytest.mark.usefixtures("without_drawing")
def test_an_unfinished_run_leaves_the_shares_of_the_others_as_they_are() -> None:
    rows = frame()
    whole = analysed(rows[rows["scorer"] != "big"])
    begun = (rows["scorer"] != "big") | (rows["response_id"] == "q0A")
    analysis = analysed(rows[begun])
    for statistic in ("run_variance_share", "flip_rate"):
        without = {"between": "runs"} if statistic == "flip_rate" else {}
        records = analysis.estimates.select(statistic, **without)
        same = whole.estimates.select(statistic, **without)
        assert [e.value for e in records] == pytest.approx([e.value for e in same], nan_ok=True)
        assert any(e.defined for e in records)
        assert {e.scorers for e in records} == {("one", "two")}
        assert {e.params["excluded"] for e in records} == {"big: too few scores"}
        assert {e.params["excluded"] for e in same} == {None}
    made = chapter(SECTION, analysis)
    assert made is not None
    assert made.tables[0].rows[0][1].text == "one and two (without big: too few scores)"


@pytest.mark.parametrize(
    ("share", "text"),
    [(1.01, "all of it"), (-0.02, "none of it"), (0.3, "30%"), (0.999, "over 99%")],
    ids=["above", "below", "some", "nearly"],
)
def test_a_part_of_the_variance_is_never_more_than_all_of_it(share: float, text: str) -> None:
    record = Estimate(
        "run_variance_share", ("QR",), ("one",), value=share, params={"component": "repeat"}
    )
    analysis = analysed(frame(queries=6))
    only = replace(analysis, estimates=EstimateList((record,)))
    assert f"Of the variance of one score, the judge itself contributes {text} on QR." in list(
        SECTION.reading(only)
    )


@pytest.mark.parametrize("gaps", ["one query", "no common", "equal", "no systems"])
def test_degenerate_tables_have_reasons_and_no_warnings(gaps: str) -> None:
    rows = frame(repeats=1)
    if gaps == "one query":
        rows = rows[rows["query_id"] == "q0"]
    elif gaps == "no common":
        even = rows["query_id"].str[1:].astype(int) % 2 == 0
        rows = rows[((rows["scorer"] == "one") & even) | ((rows["scorer"] == "two") & ~even)]
    elif gaps == "equal":
        rows = rows.assign(value=70.0)
    else:
        rows = rows.drop(columns="system")
    try:
        analysis = analysed(rows)
    except AnalysisError:
        pytest.fail("the table is one that can be analyzed")
    names = ("run_agreement", "run_variance_share", "variance_between_runs", "flip_rate")
    records = [e for name in names for e in analysis.estimates.select(name)]
    assert records
    assert all(e.defined or e.reason for e in records)
    assert all(e.has_interval or e.reason for e in records)
    chapter(SECTION, analysis)


def test_the_judges_share_of_the_variance_is_drawn_filled_and_that_of_responses_open(
    campaign: Analysis,
) -> None:
    (figure,) = run_variance(campaign)
    marks = sorted(
        (float(use.attrib["y"]), use.attrib["style"])
        for use in ElementTree.fromstring(figure.drawings[0].svg).iter(
            "{http://www.w3.org/2000/svg}use"
        )
        if "--page" in use.attrib["style"] or "--accent" in use.attrib["style"]
    )
    assert len(marks) == len(RUN_COMPONENTS)
    for (_, style), component in zip(marks, RUN_COMPONENTS, strict=True):
        of_responses = component in {"query", "response"}
        fill, stroke = ("page", "ink") if of_responses else ("accent", "accent")
        assert f"fill:var(--{fill})" in style, component
        assert f"stroke:var(--{stroke})" in style, component
    assert "Open: queries and responses" in figure.caption
