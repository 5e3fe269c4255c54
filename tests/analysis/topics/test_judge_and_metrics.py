"""A judge beside metrics: what is stated where one is better, where neither is, and never more."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import Options, PreferenceTable, Scale, ScoreTable
from analysis.core.analysis import Analysis
from analysis.core.claims import claims
from analysis.core.context import Context
from analysis.core.estimates import EstimateList
from analysis.topics.agreement import judge_and_metrics
from analysis.topics.agreement.association import judge_against_humans
from analysis.topics.agreement.preferences import preferences

POINTS = Scale(0, 100)


def simulated(
    seed: int, judge: float, metrics: dict[str, float], queries: int = 60
) -> pd.DataFrame:
    """Four responses a query and two raters; scorers with errors of these standard deviations."""
    rng = np.random.default_rng(seed)
    true = rng.normal(50, 12, 4 * queries)
    scorers = {"anna": 6.0, "ben": 6.0, "judge": judge, **metrics}
    kinds = {"anna": "human", "ben": "human", "judge": "judge"}
    parts = [
        pd.DataFrame(
            {
                "response_id": [f"r{i}" for i in range(true.size)],
                "query_id": [f"q{i // 4}" for i in range(true.size)],
                "system": [f"s{i % 4}" for i in range(true.size)],
                "construct": "QR",
                "scorer": name,
                "scorer_kind": kinds.get(name, "metric"),
                "value": np.clip(np.round(true + rng.normal(0, error, true.size)), 0, 100)
                / (100 if name in metrics else 1),
            }
        )
        for name, error in scorers.items()
    ]
    return pd.concat(parts, ignore_index=True)


def context(frame: pd.DataFrame) -> Context:
    """The table, metrics on 0 to 1, with few resamples."""
    metrics = frame.loc[frame["scorer_kind"] == "metric", "scorer"].unique()
    own = {(name, "QR"): Scale(0, 1) for name in metrics}
    table = ScoreTable.from_frame(frame, {"QR": POINTS}, own)
    return Context(table, None, Options(resamples=100))


def stated(frame: pd.DataFrame) -> str:
    """The sentences of the section where nothing else is compared."""
    of = context(frame)
    report = Analysis("", of, EstimateList(tuple(judge_and_metrics.judges_minus_metrics(of))))
    joint = {"agreement": judge_and_metrics.joint(report)}
    report = replace(report, claims=claims((), {}, 0.95, joint))
    return " ".join(judge_and_metrics.reading(report))


def test_a_difference_is_that_of_the_two_figures() -> None:
    of = context(simulated(1, 8, {"f1": 10}))
    difference = EstimateList(tuple(judge_and_metrics.judges_minus_metrics(of)))
    alone = EstimateList(tuple(judge_against_humans(of, ("kendall_tau_b", "pearson"))))
    for scope in ("within_query", "pooled"):
        for measure in ("kendall_tau_b", "pearson"):
            e = difference.first("judge_minus_metric", scope=scope, measure=measure)
            judge, metric = (
                alone.first(measure, scorer=name, scope=scope) for name in ("judge", "f1")
            )
            assert e is not None
            assert judge is not None
            assert metric is not None
            assert e.value == pytest.approx(judge.value - metric.value)
    margin = difference.first("metric_within_margin")
    first = difference.first("judge_minus_metric")
    assert margin is not None
    assert first is not None
    assert margin.value == pytest.approx(0.1 - first.value)


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (simulated(2, 4, {"f1": 25}), "judge orders responses within a query better than f1, a me"),
        (simulated(2, 25, {"f1": 4}), "f1, a metric, orders responses within a query better than"),
        (simulated(2, 6, {"f1": 6}, 200), "f1, a metric, orders responses within a query as well"),
        (simulated(3, 8, {"f1": 9}, 12), "judge is not shown to order responses within a query be"),
    ],
)
def test_the_judge_is_stated_to_be_better_or_worse_than_a_metric(
    frame: pd.DataFrame, sentence: str
) -> None:
    assert f"QR: {sentence}" in stated(frame)


def test_the_best_of_several_metrics_is_named() -> None:
    text = stated(simulated(4, 4, {"f1": 25, "rouge": 20, "bleu": 40}))
    assert "better than rouge, the best of 3 metrics (tau-b" in text


def test_better_than_each_of_the_metrics_needs_no_correction_for_their_number() -> None:
    frame = simulated(4, 4, {f"m{number}": 25 for number in range(9)})
    of = context(frame)
    report = Analysis("", of, EstimateList(tuple(judge_and_metrics.judges_minus_metrics(of))))
    differences = [
        replace(e, p=0.02) for e in report.estimates.select("judge_minus_metric", scope="pooled")
    ]
    families = claims((), {}, 0.95, {"agreement": {"all": differences}})
    assert families.joint("all", differences)
    assert not any(families.hold("all", e) for e in differences)
    assert not families.joint("all", [*differences, replace(differences[0], p=0.03)])
    assert not families.joint("all", [*differences, replace(differences[0], value=-0.1)])


def test_a_metric_on_one_construct_weakens_no_claim_on_another() -> None:
    frame = simulated(4, 8, {"f1": 12})
    other = frame.assign(construct="CC")
    both = pd.concat([frame, other], ignore_index=True)
    more = pd.concat(
        [both, *(other[other["scorer"] == "f1"].assign(scorer=f"m{n}") for n in range(5))],
        ignore_index=True,
    )
    held = []
    for table in (both, more):
        metrics = {
            (name, key): Scale(0, 1)
            for name in table.loc[table["scorer_kind"] == "metric", "scorer"].unique()
            for key in ("QR", "CC")
        }
        scores = ScoreTable.from_frame(table, {"QR": POINTS, "CC": POINTS}, metrics)
        of = Context(scores, None, Options(resamples=100))
        report = Analysis("", of, EstimateList(tuple(judge_and_metrics.judges_minus_metrics(of))))
        joint = {"agreement": judge_and_metrics.joint(report)}
        report = replace(report, claims=claims((), {}, 0.95, joint))
        family = report.claims.of("judge and metrics on QR")
        assert family is not None
        held.append((family.alpha, sorted(family.adjusted.values())))
    assert held[0] == held[1]


def test_a_metric_that_is_computed_here_asks_no_model() -> None:
    frame = simulated(2, 25, {"f1": 4})
    assert "asks no model" not in stated(frame)
    own = frame.assign(source=np.where(frame["scorer"] == "f1", "own", "imported"))
    assert "better than judge does, and asks no model (tau-b" in stated(own)


def test_the_sign_of_a_metric_is_turned_where_low_is_good() -> None:
    frame = simulated(1, 8, {"f1": 10, "hallucination": 10})
    turned = frame["scorer"] == "hallucination"
    same = frame["scorer"] == "f1"
    frame.loc[turned, "value"] = 1 - frame.loc[same, "value"].to_numpy()
    of = context(frame)
    of = Context(of.scores, None, replace(of.options, low_is_good=("hallucination",)))
    estimates = EstimateList(tuple(judge_and_metrics.judges_minus_metrics(of)))
    pairs = {
        name: [
            (e.params, e.scope, pytest.approx(e.value, abs=1e-12))
            for e in estimates
            if e.scorers[1] == name
        ]
        for name in ("f1", "hallucination")
    }
    assert pairs["f1"] == [(p, s, v.expected) for p, s, v in pairs["hallucination"]]


def test_on_categories_without_order_nothing_is_compared_and_this_is_said() -> None:
    frame = simulated(1, 8, {"f1": 10})
    people_and_judge = frame["scorer_kind"] != "metric"
    frame.loc[people_and_judge, "value"] = (frame.loc[people_and_judge, "value"] > 50).astype(float)
    metrics = {("f1", "QR"): Scale(0, 1)}
    table = ScoreTable.from_frame(frame, {"QR": Scale(0, 1, level="nominal")}, metrics)
    of = Context(table, None, Options(resamples=100))
    report = Analysis("", of, EstimateList(()))
    [sentence] = judge_and_metrics.reading(report)
    assert sentence == (
        "QR: judges are not compared with metrics, since its categories have no order."
    )


def test_without_metrics_or_judges_nothing_is_compared() -> None:
    frame = simulated(5, 8, {"f1": 9})
    assert stated(frame[frame["scorer"] != "f1"]) == ""
    assert stated(frame[frame["scorer"] != "judge"]) == ""


def preferred(frame: pd.DataFrame, seed: int) -> PreferenceTable:
    """One rater's comparisons of the first two responses to each query, by their first ratings."""
    rng = np.random.default_rng(seed)
    ratings = frame[frame["scorer"] == "anna"].set_index("response_id")["value"]
    pairs = [(query, f"r{4 * query}", f"r{4 * query + 1}") for query in range(len(ratings) // 4)]
    difference = [ratings[b] - ratings[a] + rng.normal(0, 5) for _, a, b in pairs]
    rows = pd.DataFrame(pairs, columns=["query_id", "response_a", "response_b"]).assign(
        query_id=[f"q{query}" for query, _, _ in pairs],
        construct="QR",
        scorer="cara",
        scorer_kind="human",
        value=np.clip(np.round(np.array(difference) / 10), -2, 2),
    )
    return PreferenceTable.from_frame(rows, Scale(-2, 2))


def test_on_preferences_the_correlations_of_differences_are_compared() -> None:
    frame = simulated(6, 4, {"f1": 30}, 150)
    compared = preferred(frame, 6)
    of = replace(context(frame[frame["scorer_kind"] != "human"]), preferences=compared)
    estimates = EstimateList(tuple(judge_and_metrics.judges_minus_metrics(of)))
    alone = EstimateList(tuple(preferences(of)))
    for measure in ("pearson", "spearman"):
        (e,) = estimates.select("judge_minus_metric", measure=measure)
        judge, metric = (alone.first(measure, scorer=name) for name in ("judge", "f1"))
        assert judge is not None
        assert metric is not None
        assert e.value == pytest.approx(judge.value - metric.value)
        assert e.ci_low < e.value < e.ci_high
    report = Analysis("", of, estimates)
    joint = {"agreement": judge_and_metrics.joint(report)}
    report = replace(report, claims=claims((), {}, 0.95, joint))
    assert "judge agrees with people's preferences better than f1, a metric (Spearman's rho" in (
        " ".join(judge_and_metrics.reading(report))
    )


@pytest.mark.slow
def test_a_metric_as_good_as_the_judge_is_seldom_called_better_or_worse() -> None:
    texts = [stated(simulated(seed, 10, {"f1": 10, "bleu": 10}, queries=40)) for seed in range(100)]
    false = sum("better" in text and "not shown" not in text for text in texts)
    # The section has half of 5%.
    assert false <= 7
