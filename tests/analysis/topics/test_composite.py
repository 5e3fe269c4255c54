"""The composite in a report: only when asked for, with planted weights found again."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, analyse
from analysis.core.context import Context
from analysis.core.estimates import EstimateList
from analysis.core.tables import ScoreTable
from analysis.render.section import chapter
from analysis.topics.correction import section
from analysis.topics.correction.composite import EQUAL, LEARNED, PEOPLE, composite
from tests.analysis.scores import POINTS, simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")

CONSTRUCTS = ("QR", "CC", "ID")


def with_overall(weights: tuple[float, ...] = (0.6, 0.4, 0.0), seed: int = 0) -> pd.DataFrame:
    """Three constructs, and an overall rating by each rater that weighs their own values."""
    frame = simulated(queries=40, systems=4, constructs=CONSTRUCTS, seed=seed)
    wide = frame.pivot_table(index="response_id", columns=["construct", "scorer"], values="value")
    rng = np.random.default_rng(seed)
    parts = [frame]
    for rater in ("rater-1", "rater-2", "rater-3"):
        changed_frame = frame[(frame["construct"] == "QR") & (frame["scorer"] == rater)].copy()
        rated = sum(w * wide[c][rater] for w, c in zip(weights, CONSTRUCTS, strict=True))
        noisy = np.asarray(rated) + rng.normal(0, 4, len(wide))
        by_response = pd.Series(np.clip(np.round(noisy), 0, 100), wide.index)
        changed_frame["value"] = by_response.reindex(changed_frame["response_id"]).to_numpy()
        parts.append(changed_frame.assign(construct="overall"))
    return pd.concat(parts, ignore_index=True)


def composites(scores: ScoreTable, overall: str | None = "overall") -> EstimateList:
    context = Context(scores, None, Options(resamples=200, overall=overall))
    return EstimateList(tuple(composite(context)))


def test_no_composite_is_made_unasked() -> None:
    assert not composites(table(with_overall()), None).records


def test_planted_weights_are_found() -> None:
    estimates = composites(table(with_overall()))
    weights = {e.constructs[0]: e for e in estimates.select("composite_weight", of=PEOPLE)}
    # In points of the overall rating for a scale's width of 100 points.
    assert weights["QR"].ci_low < 60 < weights["QR"].ci_high
    assert weights["CC"].ci_low < 40 < weights["CC"].ci_high
    assert weights["ID"].value < 5
    assert sum(float(str(e.params["share"])) for e in weights.values()) == pytest.approx(1)
    for of in ("judge", PEOPLE):
        for scope in ("within_query", "pooled"):
            r = {
                e.params["composite"]: e.value
                for e in estimates.select("composite_correlation", scope=scope, of=of)
            }
            assert set(r) == {LEARNED, EQUAL, *CONSTRUCTS}
            gains = estimates.select("composite_correlation_difference", scope=scope, of=of)
            for gain in gains:
                name = gain.params["minus"]
                assert gain.value == pytest.approx(r[LEARNED] - r[name])
                assert gain.has_interval
            assert r[LEARNED] > max(r[name] for name in CONSTRUCTS)


def test_the_scale_of_a_judge_changes_no_correlation_of_the_composite() -> None:
    frame = with_overall()
    other = frame.copy()
    judged = (other["scorer"] == "judge") & (other["construct"] == "CC")
    other.loc[judged, "value"] = 1 + other.loc[judged, "value"] / 25
    scales = dict.fromkeys((*CONSTRUCTS, "overall"), POINTS)
    scores = ScoreTable.from_frame(other, scales, {("judge", "CC"): Scale(1, 5)})
    for e, same in zip(composites(scores), composites(table(frame)), strict=True):
        assert e.value == pytest.approx(same.value, abs=1e-9), e


def test_missing_overall_and_few_constructs() -> None:
    frame = with_overall()
    unknown = composites(table(frame), "quality").records
    assert len(unknown) == 1
    assert "no construct quality" in str(unknown[0].reason)
    unrated = frame[(frame["construct"] != "overall") | (frame["scorer_kind"] == "judge")]
    judged = unrated[unrated["construct"] == "QR"].assign(construct="overall")
    judged = pd.concat([unrated, judged[judged["scorer_kind"] == "judge"]])
    reason = composites(table(judged)).records[0].reason
    assert "no human rating on overall" in str(reason)
    two = frame[frame["construct"].isin(["QR", "overall"])]
    assert not composites(table(two)).records


def test_degenerate_values_have_reasons() -> None:
    frame = with_overall()
    frame.loc[(frame["construct"] == "CC"), "value"] = 50.0
    estimates = composites(table(frame))
    assert len(estimates)
    for e in estimates.select("composite_weight"):
        assert "all equal" in str(e.reason)
    few = composites(table(with_overall()[lambda f: f["query_id"] == "q0"]))
    assert all(e.defined or e.reason for e in few)


def test_measured_coverage_is_with_the_intervals_that_cover_too_little() -> None:
    estimates = composites(table(with_overall()))  # 40 queries, no value more frequent than others
    for scope, covers in (("pooled", 0.91), ("within_query", None)):
        for gain in estimates.select("composite_correlation_difference", scope=scope):
            assert gain.params.get("measured_coverage") == covers
        for r in estimates.select("composite_correlation", scope=scope):
            assert "measured_coverage" not in r.params


def test_the_section_of_the_composite() -> None:
    analysis = analyse(table(with_overall()), options=Options(resamples=100, overall="overall"))
    part = chapter(section.SECTION, analysis)
    assert part is not None
    assert {t.key for t in part.tables} >= {"composite"}
    assert "composite" in {f.key for f in part.figures}
    assert any("learned weights it correlates" in sentence for sentence in part.reading)
