"""People's figures by system where each system has raters of its own, wholly or in part."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import Options
from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.pipeline.estimation import analyse
from analysis.render.sentences import in_words
from analysis.render.verdict_facts import VerdictFacts
from analysis.render.verdict_notes import notes
from analysis.topics.correction.section import corrected_means
from analysis.topics.discrimination.section import differences, reading, systems
from analysis.topics.distribution.people_by_system import CONTAINS_SEVERITY
from study.base.scales import Scale
from tests.analysis.scores import table

QUERIES = 60


def campaign(overlap: float, seed: int = 3, unrated: int = 0) -> Analysis:
    """B and C are equally good. Raters 1 and 2 are severe, and rate B; 3 and 4 rate C.

    `overlap` is the share of queries on which they change places; the judge alone scores `unrated`
    further queries.
    """
    rng = np.random.default_rng(seed)
    severity = np.array([-10.0, -6, 6, 10])
    rows = []
    for query in range(QUERIES + unrated):
        level = rng.normal(0, 9)
        for place, system in enumerate("BC"):
            truth = 50 + level + rng.normal(0, 8)
            response = {"response_id": f"{query}{system}", "query_id": query, "system": system}
            other = query < overlap * QUERIES
            rater = 2 * (place ^ int(other)) + query % 2
            rated = truth + severity[rater] + rng.normal(0, 5)
            judged = truth + rng.normal(0, 5)
            rows.append(response | {"scorer": "judge", "scorer_kind": "judge", "value": judged})
            if query < QUERIES:
                name = f"rater {rater + 1}"
                rows.append(response | {"scorer": name, "scorer_kind": "human", "value": rated})
    frame = pd.DataFrame(rows).astype({"query_id": str}).assign(construct="QR")
    frame["value"] = frame["value"].clip(0, 100)
    return analyse(table(frame), options=Options(resamples=200))


@pytest.fixture(scope="module")
def linked() -> Analysis:
    return campaign(0.1)


@pytest.fixture(scope="module")
def apart() -> Analysis:
    return campaign(0)


def people(analysis: Analysis, statistic: str) -> Estimate:
    chosen = [e for e in analysis.estimates.select(statistic) if e.n_raters]
    return chosen[0]


def test_a_difference_between_raters_is_no_difference_between_systems(linked: Analysis) -> None:
    """It was -14.9 [-18.4, -11.3] for two systems that are equally good."""
    difference = people(linked, "system_difference")
    assert difference.params["adjusted"] == "rater severity"
    assert difference.params["unadjusted"] == pytest.approx(-15.5, abs=0.1)
    assert difference.params["imbalance"] == pytest.approx(0.8)
    assert difference.target == "raters_like_these"
    assert difference.method == "kenward_roger"
    assert difference.ci_low < 0 < difference.ci_high
    assert abs(difference.value) < 6


def test_means_are_adjusted_as_well(linked: Analysis) -> None:
    means = [e for e in linked.estimates.select("mean", of="mean_of_raters") if e.systems]
    difference = people(linked, "system_difference").value
    assert means[0].value - means[1].value == pytest.approx(difference)
    assert {e.target for e in means} == {"raters_like_these"}
    assert all("unadjusted" in e.params for e in means)
    (shown,) = systems(linked)
    assert "adjusted for raters' severity" in shown.caption


def test_permutations_that_would_mix_raters_are_withheld(linked: Analysis) -> None:
    for statistic in ("randomized_tukey_hsd_p", "discriminative_power"):
        result = people(linked, statistic)
        assert not result.defined
        assert result.reason is not None
        assert "not rated by the same raters" in result.reason


def test_decisions_of_people_are_adjusted(linked: Analysis) -> None:
    decision = people(linked, "decision")
    assert decision.params["decision"] in {"neither", "judge_only"}
    assert people(linked, "soft_pairwise_accuracy").value > 0.6


def test_the_words_state_the_adjustment(linked: Analysis) -> None:
    text = " ".join(reading(linked))
    assert "QR: the systems were not rated by the same raters to the same extent." in text
    assert "differ significantly for 0 of 1 pair of systems" in text
    of_people = list(differences(linked))[-1]
    assert "On QR the systems were not rated by the same raters" in of_people.caption
    assert any("adjusted for raters' severity" in note for note in notes_of(linked))


def test_systems_that_no_rater_links_are_not_compared(apart: Analysis) -> None:
    difference = people(apart, "system_difference")
    assert not difference.defined
    reason = "no rater links B and C, also not over other systems"
    assert str(difference.reason).startswith(reason)
    assert people(apart, "decision").params["decision"] == "undecided"
    assert not people(apart, "soft_pairwise_accuracy").defined
    text = " ".join(reading(apart))
    assert f"People's difference is withheld for 1 pair: {reason}" in text
    assert any(reason in note for note in notes_of(apart))


def notes_of(analysis: Analysis) -> list[str]:
    return list(map(in_words, notes(VerdictFacts(analysis, "QR", "judge"))))


def test_one_rater_leaves_nothing_to_adjust() -> None:
    frame = campaign(0).scores.frame.astype({"scorer": str})
    frame.loc[frame["scorer_kind"] == "human", "scorer"] = "ann"
    alone = analyse(table(frame), options=Options(resamples=200))
    (difference,) = [e for e in alone.estimates.select("system_difference") if "ann" in e.scorers]
    assert "adjusted" not in difference.params
    assert difference.has_interval


def test_a_fair_judge_favors_no_system_for_its_raters(linked: Analysis, apart: Analysis) -> None:
    for analysis in (linked, apart):
        errors = analysis.estimates.select("error_by_system_given_human")
        assert len(errors) == 2
        for error in errors:
            assert not error.defined
            assert "raters' severity" in str(error.reason)


@pytest.mark.parametrize(
    ("overlap", "reason"),
    [(0.1, "so that it contains raters' severity"), (0.0, "no rater links the systems B and C")],
)
def test_no_figure_of_people_by_system_contains_severity(overlap: float, reason: str) -> None:
    """The corrected means were 15 points apart, and the judge's bias as much."""
    analysis = campaign(overlap, unrated=20)
    by_system = [
        e
        for statistic in (
            "weighted_human_mean", "ppi_mean", "ppi_difference",
            "labels_saved", "labels_needed", "bias", "mae",
        )
        for e in analysis.estimates.select(statistic)
        if e.scope.startswith("system:") or statistic == "ppi_difference"
    ]  # fmt: skip
    assert {e.statistic for e in by_system} >= {"weighted_human_mean", "ppi_difference", "bias"}
    for e in by_system:
        assert not e.defined, e
        assert reason in str(e.reason)
        assert e.params.get("human_mean") is None
        assert e.params.get("human_difference") is None
    whole = analysis.estimates.first("ppi_mean", scope="pooled")
    assert whole is not None
    assert whole.has_interval
    (means,) = (made for made in corrected_means(analysis) if made.key == "corrected-means")
    assert any(reason in footnote for _, footnote in means.footnotes)


def test_every_difference_between_systems_by_people_is_adjusted() -> None:
    """B and C are 15.5 points apart by the raters, and equally good."""
    for e in campaign(0.1, unrated=20).estimates:
        of_people = any(scorer.startswith("rater") for scorer in e.scorers)
        if of_people and len(e.systems) == 2 and e.statistic.endswith("difference"):
            assert not e.defined or (abs(e.value) < 6 and "adjusted" in e.params), e


def test_few_ordered_points_have_the_additive_model_too() -> None:
    frame = campaign(0.2).scores.frame.astype({"scorer": str})
    frame["value"] = pd.cut(frame["value"], [-1, 38, 46, 54, 62, 101], labels=False) + 1.0
    analysis = analyse(table(frame, Scale(1, 5, 1, "ordinal")), options=Options(resamples=200))
    (difference,) = [e for e in analysis.estimates.select("system_difference") if e.n_raters]
    assert difference.ci_low < 0 < difference.ci_high
    assert difference.params["unadjusted"] < -0.5


def test_slices_by_system_have_no_bias_that_contains_severity(linked: Analysis) -> None:
    by_system = linked.estimates.select("slice_bias", by="system")
    assert by_system
    assert all(not e.defined and e.reason == CONTAINS_SEVERITY for e in by_system)
    assert all(e.defined for e in linked.estimates.select("slice_tau_b", by="system"))
