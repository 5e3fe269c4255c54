"""Is one judge better than another: estimates, sentences and tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import Options
from analysis.core.analysis import Analysis
from analysis.pipeline.estimation import _analysis, _context
from analysis.pipeline.sections import headings
from analysis.topics.agreement.judge_comparison import judges_compared
from analysis.topics.agreement.judge_comparison_tables import (
    differences_table,
    ranks_table,
    reading,
)
from study.base.scales import Level, Scale
from tests.analysis.claimed import with_claims
from tests.analysis.scores import POINTS, simulated, table


def analysed(frame: pd.DataFrame, scale: Scale = POINTS) -> Analysis:
    context = _context(table(frame, scale), None, Options(resamples=200), None)
    return with_claims(replace(_analysis("judges", context, judges_compared), headings=headings()))


def with_judges(noise: dict[str, float], queries: int = 40) -> pd.DataFrame:
    """Ratings as in `simulated`, with a judge for each standard deviation of its error."""
    frame = simulated(queries=queries, systems=4, constructs=("QR", "CC"))
    people = frame[frame["scorer_kind"] == "human"]
    means = people.groupby(["response_id", "query_id", "system", "construct"], as_index=False)
    truth = means["value"].mean()
    rng = np.random.default_rng(7)
    parts = [people]
    for name, spread in noise.items():
        scored = (truth["value"] + rng.normal(0, spread, len(truth))).clip(0, 100).round()
        parts.append(truth.assign(scorer=name, scorer_kind="judge", value=scored))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def three() -> Analysis:
    return analysed(with_judges({"fine": 8, "as fine": 8, "coarse": 40}))


def test_a_record_for_each_two_judges_and_measure(three: Analysis) -> None:
    records = three.estimates.select("judge_difference", construct="QR")
    assert len(records) == 3 * 8
    of = {
        e.scorers[:2]: e
        for e in records
        if e.scope == "within_query" and e.params["measure"] == "kendall_tau_b"
    }
    apart, alike = of["fine", "coarse"], of["fine", "as fine"]
    assert apart.ci_low > 0
    assert apart.params["permutation_p"] == 0.001
    assert apart.params["holm"] == pytest.approx(0.006)  # of 3 pairs on 2 constructs
    assert alike.ci_low < 0 < alike.ci_high
    assert alike.params["holm"] == 1 or float(str(alike.params["holm"])) > 0.05
    (error,) = [e for e in records if e.scorers[:2] == ("fine", "coarse")
                and e.params["measure"] == "rmse"]  # fmt: skip
    assert error.ci_high < 0
    (soft,) = [e for e in records if e.scorers[:2] == ("fine", "coarse")
               and e.scope == "system_level"]  # fmt: skip
    assert soft.ci_low < soft.value < soft.ci_high


def test_ranks_and_groups(three: Analysis) -> None:
    ranks = {e.scorers[0]: e for e in three.estimates.select("judge_rank", construct="QR")}
    assert ranks["coarse"].value == 3
    assert (ranks["coarse"].ci_low, ranks["coarse"].ci_high) == (3, 3)
    assert (ranks["fine"].ci_low, ranks["fine"].ci_high) == (1, 2)
    assert [ranks[name].params["group"] for name in ("fine", "as fine", "coarse")] == [1, 1, 2]


def test_the_words_and_tables(three: Analysis) -> None:
    sentence = next(reading(three))
    assert sentence == (
        "QR: fine better than coarse and as fine better than coarse in how they order responses "
        "within a query (tau-b); the others cannot be distinguished."
    )
    (ranked,) = ranks_table(three)
    assert [row[1].text for row in ranked.rows][-1] == "coarse"
    (listed,) = differences_table(three)
    assert len(listed.rows) == 2 * 3 * 8


def test_exchangeable_judges_are_not_distinguished() -> None:
    analysis = analysed(with_judges({f"judge {k}": 15 for k in range(4)}))
    for sentence in reading(analysis):
        assert "cannot be distinguished in how they order responses within a query" in sentence


def test_one_judge_has_nothing_to_be_compared_with() -> None:
    alone = analysed(with_judges({"fine": 8}, queries=5))
    assert not len(alone.estimates)
    assert not list(reading(alone))


def test_one_response_a_query_ranks_over_all_responses() -> None:
    frame = with_judges({"fine": 5, "coarse": 40})
    analysis = analysed(frame[frame["system"] == "s0"])
    ranks = analysis.estimates.select("judge_rank", construct="QR")
    assert {e.scope for e in ranks} == {"pooled"}
    (within,) = [
        e
        for e in analysis.estimates.select("judge_difference", construct="QR", scope="within_query")
        if e.params["measure"] == "pairwise_accuracy"
    ]
    assert within.reason == "no query has two responses with both values"


def on_points(frame: pd.DataFrame, level: Level) -> Analysis:
    """The analysis with values as points from 1 to 5."""
    points = frame.assign(value=(frame["value"] / 25).round() + 1)
    return analysed(points, Scale(1, 5, 1, level))


def test_kappas_on_ordinal_steps() -> None:
    analysis = on_points(with_judges({"fine": 5, "coarse": 40}), "ordinal")
    (kappa,) = analysis.estimates.select(
        "judge_difference", construct="QR", measure="cohen_kappa", weights="quadratic"
    )
    assert kappa.ci_low > 0
    assert kappa.params["holm"] == pytest.approx(0.002)


def test_categories_are_compared_by_kappa_alone() -> None:
    analysis = on_points(with_judges({"fine": 5, "as fine": 5, "coarse": 60}), "nominal")
    records = analysis.estimates.select("judge_difference", construct="QR")
    assert {(e.params["measure"], e.params["weights"]) for e in records} == {
        ("cohen_kappa", "none")
    }
    ranks = {e.scorers[0]: e for e in analysis.estimates.select("judge_rank", construct="QR")}
    assert ranks["coarse"].value == 3
    assert next(reading(analysis)) == (
        "QR: fine better than coarse and as fine better than coarse in categories (kappa); "
        "the others cannot be distinguished."
    )


def test_williams_test_beside_the_permutation_where_responses_share_no_query() -> None:
    frame = with_judges({"fine": 8, "coarse": 12})
    alone = analysed(frame[frame["system"] == "s0"])
    tested = [e for e in alone.estimates.select("judge_difference") if "williams_p" in e.params]
    assert {(e.params["measure"], e.scope) for e in tested} == {("pearson", "pooled")}
    for e in tested:
        by_t, by_permutation = e.params["williams_p"], e.params["permutation_p"]
        assert by_t == pytest.approx(by_permutation, abs=0.12)
    (table,) = differences_table(alone)
    assert "Williams' p" in table.columns
    (clustered,) = differences_table(analysed(frame))
    assert "Williams' p" not in clustered.columns
