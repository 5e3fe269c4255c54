"""Agreement by slice: equal to the report on the slice alone, and silent where nothing differs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.core.analysis import Analysis
from analysis.core.claims import claims
from analysis.core.context import Context
from analysis.core.errors import TableError
from analysis.core.estimates import Estimate, EstimateList
from analysis.topics.agreement.association import judge_against_humans
from analysis.topics.slices import section
from analysis.topics.slices.estimates import by_slice

POINTS = Scale(0, 100)
DOMAINS = ("law", "medicine", "travel")


def simulated(
    seed: int = 0, queries: int = 60, off: float = 0.0, noise_in_law: float = 8.0
) -> pd.DataFrame:
    """Two systems, two raters and a judge; in law the judge is `off` points from people."""
    rng = np.random.default_rng(seed)
    rows = []
    for query in range(queries):
        domain = DOMAINS[query % 3]
        for system in "ab":
            true = rng.normal(50, 12)
            noise = noise_in_law if domain == "law" else 8.0
            judge = true + rng.normal(0, noise) + (off if domain == "law" else 0.0)
            values = {"anna": true + rng.normal(0, 6), "ben": true + rng.normal(0, 6)}
            for scorer, value in {**values, "judge": judge}.items():
                kind = "judge" if scorer == "judge" else "human"
                rows.append(
                    (f"{query}{system}", f"q{query}", system, "QR", scorer, kind, value, domain)
                )
    names = ["response_id", "query_id", "system", "construct", "scorer", "scorer_kind", "value"]
    frame = pd.DataFrame(rows, columns=[*names, "domain"])
    frame["response_words"] = frame.groupby("response_id").ngroup() % 30 + 1
    return frame.assign(value=np.clip(frame["value"].round(), 0, 100))


def context(frame: pd.DataFrame, scale: Scale = POINTS) -> Context:
    """The tables with few resamples."""
    table = ScoreTable.from_frame(frame, {"QR": scale})
    return Context(table, None, Options(resamples=100))


def sliced(frame: pd.DataFrame, scale: Scale = POINTS) -> EstimateList:
    """All figures of slices."""
    return EstimateList(tuple(by_slice(context(frame, scale))))


def undivided(frame: pd.DataFrame) -> EstimateList:
    """Agreement over all responses."""
    return EstimateList(tuple(judge_against_humans(context(frame), ("kendall_tau_b", "bias"))))


def one(estimates: EstimateList, statistic: str, **where: str) -> Estimate:
    """The only estimate of a statistic there."""
    (e,) = estimates.select(statistic, **where)
    return e


def test_a_slice_is_as_a_report_on_it_alone() -> None:
    frame = simulated()
    whole = sliced(frame)
    words = frame["response_words"]
    parts = {
        ("system", "a"): frame["system"] == "a",
        ("domain", "law"): frame["domain"] == "law",
        ("length", "11 to 20 words"): (words > 10) & (words <= 20),
    }
    for (by, name), chosen in parts.items():
        alone = undivided(frame[chosen])
        for of_slice, statistic in (("slice_tau_b", "kendall_tau_b"), ("slice_bias", "bias")):
            e = one(whole, of_slice, by=by, slice=name)
            same = one(alone, statistic, scope="pooled")
            assert e.value == pytest.approx(same.value), (name, statistic)
            assert e.n_responses == same.n_responses
    law = one(whole, "slice_bias", by="domain", slice="law")
    rest = one(undivided(frame[frame["domain"] != "law"]), "bias", scope="pooled")
    difference = one(whole, "slice_difference", by="domain", slice="law", measure="bias")
    assert difference.value == pytest.approx(law.value - rest.value)


def test_domains_and_lengths_are_compared_and_of_two_one() -> None:
    def named(frame: pd.DataFrame) -> list[str]:
        compared = sliced(frame).select("slice_difference", measure="bias")
        return [str(e.params["slice"]) for e in compared if e.params["by"] != "length"]

    assert named(simulated()) == list(DOMAINS)
    assert named(simulated().query("domain != 'law'")) == ["medicine"]


def test_what_differs_is_stated() -> None:
    def stated(frame: pd.DataFrame) -> str:
        report = Analysis("", context(frame), sliced(frame))
        comparisons = {"slices": section.compared(report)}
        return " ".join(section.reading(replace(report, claims=claims((), comparisons, 0.95))))

    off = stated(simulated(off=25))
    assert "QR: on queries of law judge is" in off
    assert "points more lenient than on all others" in off
    assert stated(simulated()) == ""


@pytest.mark.slow
def test_where_slices_do_not_differ_few_reports_state_a_difference() -> None:
    false = 0
    for seed in range(150):
        report = Analysis(
            "", context(simulated(seed, queries=45)), sliced(simulated(seed, queries=45))
        )
        comparisons = {"slices": section.compared(report)}
        false += bool(list(section.reading(replace(report, claims=claims((), comparisons, 0.95)))))
    # A section alone has half of 5%.
    assert false <= 9


def test_pass_and_fail_by_slice() -> None:
    frame = simulated().assign(value=lambda t: (t["value"] > 45).astype(float))
    frame = frame[frame["scorer"] != "ben"]
    whole = sliced(frame, Scale(0, 1, step=1))
    wide = frame[frame["domain"] == "law"].pivot_table("value", "response_id", "scorer")
    passed = wide[wide["anna"] == 1]
    expected = {
        "true_positive_rate": (passed["judge"] == 1).mean(),
        "true_negative_rate": (wide[wide["anna"] == 0]["judge"] == 0).mean(),
        "accuracy": (wide["judge"] == wide["anna"]).mean(),
    }
    for measure, value in expected.items():
        e = one(whole, "slice_rate", by="domain", slice="law", measure=measure)
        assert e.value == pytest.approx(value)
    assert not whole.select("slice_tau_b")


def test_a_query_has_one_domain() -> None:
    frame = simulated(queries=3)
    frame.loc[0, "domain"] = "sports"
    with pytest.raises(TableError, match=r"query 'q0' has domain 'sports' and in .* 'law'"):
        ScoreTable.from_frame(frame, {"QR": POINTS})


def test_without_domains_and_lengths_systems_are_left() -> None:
    frame = simulated().drop(columns=["domain", "response_words"])
    assert {e.params["by"] for e in sliced(frame)} == {"system"}
    assert not list(sliced(frame[frame["system"] == "a"]))


def test_lengths_that_do_not_differ_make_no_thirds() -> None:
    kinds = {e.params["by"] for e in sliced(simulated().assign(response_words=12.0))}
    assert kinds == {"system", "domain"}
