"""The number that a judge wrote and the mean of its distribution, on the same responses."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, pearsonr

from analysis import Options, analyse
from analysis.core.construct_data import EXPECTED, judge_of_expected
from analysis.core.context import Context
from analysis.core.estimates import Estimate, EstimateList
from analysis.pipeline.estimation import Analysis, headline
from analysis.render.section import chapter
from analysis.render.verdicts import verdicts
from analysis.topics.expected_score.estimates import expected_scores
from analysis.topics.expected_score.section import SECTION, expected_gain, written_and_expected
from tests.analysis.claimed import with_claims, with_normal_p
from tests.analysis.scores import simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")

QUICK = Options(resamples=200)


def with_means(frame: pd.DataFrame, step: float = 20.0) -> pd.DataFrame:
    """The frame with its judge's scores as means of distributions, and coarse ones as written."""
    judged = frame["scorer"] == "judge"
    means = frame[judged].assign(scorer="judge" + EXPECTED)
    written = frame[judged].assign(value=(frame.loc[judged, "value"] / step).round() * step)
    return pd.concat([frame[~judged], written, means], ignore_index=True)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    frame = with_means(simulated(queries=40, systems=4, seed=3))
    lost = (frame["scorer"] == "judge" + EXPECTED) & frame["response_id"].isin(["r1", "r2"])
    frame.loc[lost, "value"] = np.nan
    frame["missing_reason"] = np.where(lost, "distribution_incomplete", None)
    return analyse(table(frame), options=QUICK)


def test_a_mean_belongs_to_the_number_of_its_judge() -> None:
    assert judge_of_expected("j (expected)", ["j", "j (expected)"]) == "j"
    assert judge_of_expected("j", ["j"]) is None
    assert judge_of_expected("k (expected)", ["j", "k (expected)"]) is None


def test_written_and_expected_scores_are_compared_on_the_responses_that_have_both(
    analysis: Analysis,
) -> None:
    data = analysis.rated["QR"]
    both = np.isfinite(data.scorers["judge" + EXPECTED])
    assert both.sum() == 158
    for measure, by_scipy in (("pearson", pearsonr), ("kendall_tau_b", kendalltau)):
        by_name = {
            e.scorers[0]: e
            for e in analysis.estimates.select(
                "agreement_where_both", scope="pooled", measure=measure
            )
        }
        expected = {
            name: float(by_scipy(data.scorers[name][both], data.reference[both])[0])
            for name in ("judge", "judge" + EXPECTED)
        }
        assert {name: e.value for name, e in by_name.items()} == pytest.approx(expected)
        assert {e.n_responses for e in by_name.values()} == {158}
        gain = analysis.estimates.first("expected_gain", scope="pooled", measure=measure)
        assert gain is not None
        assert gain.scorers[:2] == ("judge" + EXPECTED, "judge")
        assert gain.value == pytest.approx(expected["judge" + EXPECTED] - expected["judge"])
        assert gain.ci_low < gain.value < gain.ci_high


def test_pairs_are_counted_as_by_hand() -> None:
    # People order three responses 10 < 20 < 30; the numbers tie two of them, the means do not.
    frame = pd.DataFrame(
        [
            {"response_id": f"{q}{i}", "query_id": q, "construct": "QR", "scorer": scorer,
             "scorer_kind": kind, "value": value}
            for q in ("a", "b", "c")
            for scorer, kind, values in (
                ("ann", "human", (10, 20, 30)),
                ("j", "judge", (50, 50, 60)),
                ("j" + EXPECTED, "judge", (50.1, 50.2, 60)),
            )
            for i, value in enumerate(values)
        ]
    )  # fmt: skip
    gains = {
        (e.statistic, e.scorers[0]): e.value
        for e in expected_scores(
            Context(table(frame), None, QUICK), ("pairwise_accuracy",), ("within_query",)
        )
    }
    assert gains == {
        ("agreement_where_both", "j"): pytest.approx(2 / 3),
        ("agreement_where_both", "j" + EXPECTED): pytest.approx(1),
        ("expected_gain", "j" + EXPECTED): pytest.approx(1 / 3),
    }


def test_the_number_leads_the_verdict_and_the_mean_is_one_sentence_beside_it(
    analysis: Analysis,
) -> None:
    (verdict,) = verdicts(analysis)
    assert verdict.scorer == "judge"
    assert EXPECTED not in verdict.sentence
    (text,) = [note for note in verdict.notes if "mean of its distribution" in note]
    gain = analysis.estimates.first("expected_gain", scope="within_query", measure="pearson")
    assert gain is not None
    assert f"(difference {gain.value:.2f}".replace("0.", ".") in text
    # Of a headline too, which is what the command prints first.
    (first,) = verdicts(headline(analysis.scores, options=QUICK))
    assert text in first.notes


def test_the_section_has_both_side_by_side(analysis: Analysis) -> None:
    part = chapter(SECTION, analysis)
    assert part is not None
    assert any("judge (expected) is the mean of the probabilities" in s for s in part.reading)
    (shown,) = written_and_expected(analysis)
    rows = {row[2].text: [cell.text for cell in row[3:]] for row in shown.rows}
    assert list(rows) == ["r", "tau-b", "Pairwise accuracy", "Ties", "Discriminative power"]
    ties = {
        e.scorers[0]: e.value
        for e in analysis.estimates.select("tie_probability", scope="pooled")
        if len(e.scorers) == 1
    }
    assert rows["Ties"][0] == f"{ties['judge']:.1%}"
    assert rows["Ties"][1] == f"{ties['judge' + EXPECTED]:.1%}"
    assert ties["judge"] > 3 * ties["judge" + EXPECTED]
    assert rows["Discriminative power"][0].endswith("%")
    (figure,) = expected_gain(analysis)
    assert len(figure.drawings) == 1
    assert len(figure.data) == 3


GAINS = {"better": (0.03, 0.07), "worse": (-0.07, -0.03), "open": (-0.01, 0.09)}


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        (("open",), "Within a query no difference from the number that judge wrote can be shown "
         "on open."),
        (("better", "worse", "open"), "Within a query it follows people better on better and "
         "worse on worse than the number that judge wrote; no difference can be shown on open."),
        (("better",), "Within a query it follows people better on better than the number that "
         "judge wrote."),
    ],
    ids=["nothing shown", "all", "better"],
)  # fmt: skip
def test_no_more_is_said_of_the_mean_than_the_intervals_show(
    analysis: Analysis, kinds: tuple[str, ...], text: str
) -> None:
    records = [
        with_normal_p(
            Estimate(
                "expected_gain", (kind,), ("judge" + EXPECTED, "judge"), scope="within_query",
                value=sum(GAINS[kind]) / 2, ci_low=GAINS[kind][0], ci_high=GAINS[kind][1],
                params={"measure": "pearson"},
            )
        )
        for kind in kinds
    ]  # fmt: skip
    estimates = EstimateList(tuple(records))
    (line,) = SECTION.reading(with_claims(replace(analysis, estimates=estimates)))
    assert line == (
        "judge (expected) is the mean of the probabilities that judge gave to the scores. " + text
    )


def test_without_distributions_there_is_no_such_section() -> None:
    assert chapter(SECTION, analyse(table(simulated()), options=QUICK)) is None


def test_a_mean_without_people_has_ties_only() -> None:
    frame = with_means(simulated(queries=6))
    result = analyse(table(frame[frame["scorer_kind"] == "judge"]), options=QUICK)
    (shown,) = written_and_expected(result)
    assert [row[2].text for row in shown.rows] == ["Ties", "Discriminative power"]
    assert not list(expected_gain(result))


def drawn(rng: np.random.Generator, queries: int, each: int = 4) -> pd.DataFrame:
    """Responses whose judge's mean has separate noise, and whose number is cut to steps of 20."""
    query = np.repeat(np.arange(queries), each)
    quality = 60 + 8 * rng.normal(size=queries)[query] + 12 * rng.normal(size=query.size)
    mean = quality + 9 * rng.normal(size=query.size)
    values = {
        ("ann", "human"): quality + 8 * rng.normal(size=query.size),
        ("j" + EXPECTED, "judge"): mean,
        ("j", "judge"): np.round(mean / 20) * 20,
    }
    parts = [
        pd.DataFrame(
            {
                "response_id": np.char.add("r", np.arange(query.size).astype(str)),
                "query_id": np.char.add("q", query.astype(str)),
                "construct": "QR",
                "scorer": scorer,
                "scorer_kind": kind,
                "value": value,
            }
        )
        for (scorer, kind), value in values.items()
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.slow
def test_the_interval_of_the_gain_covers_it() -> None:
    rng = np.random.default_rng(11)
    large = analysis_of(drawn(rng, 5_000))
    inside, trials = 0, 100
    for _ in range(trials):
        gain = analysis_of(drawn(rng, 40))
        inside += gain.ci_low <= large.value <= gain.ci_high
    # .95 of 100, less two standard errors (.022 each).
    assert inside / trials >= 0.906


def analysis_of(frame: pd.DataFrame):
    context = Context(table(frame, None), None, QUICK)
    gains = list(expected_scores(context, ("pearson",), ("within_query",)))
    return gains[-1]
