"""The first figures in plain Python, and the same ones of a report."""

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.core.estimates import Estimate
from analysis.decisions.answers import decisions
from analysis.decisions.table_facts import scored_facts
from analysis.pipeline.estimation import headline
from analysis.pipeline.one_rater import OneRaterTable, first_figures
from analysis.render.opening import lines, openings
from analysis.render.verdicts import verdict_subjects
from ccrs_study.named_frames import long_scores

FIGURES = (
    "kendall_tau_b", "concordance", "bias", "exact_agreement", "adjacent_agreement",
    "true_positive_rate", "true_negative_rate", "accuracy", "verdict_kappa", "share_at_max",
    "calibration_error_squared",
)  # fmt: skip


def tables() -> dict[str, tuple[list[float | None], list[float | None], Scale]]:
    """People's values, the judge's, and their scale."""
    rng = np.random.default_rng(5)
    grades = rng.integers(1, 6, 120)
    near = np.clip(grades + rng.choice([-1, 0, 0, 1], 120), 1, 5)
    points = rng.uniform(0, 100, 80).round(1)
    close = np.clip(points + rng.normal(3, 9, 80), 0, 100).round(1)
    verdicts = (rng.random(100) < 0.6).astype(float)
    wrong = np.where(rng.random(100) < 0.1, 1 - verdicts, verdicts)
    one_wrong = verdicts.copy()
    one_wrong[3] = 1 - one_wrong[3]
    gaps: list[float | None] = [None if n % 7 == 0 else float(v) for n, v in enumerate(near)]
    one, five, hundred = Scale(0, 1, 1), Scale(1, 5, 1), Scale(0, 100)
    made: dict[str, tuple[Any, Any, Scale]] = {
        "grades": (grades, near, five),
        "with gaps": (grades, gaps, five),
        "equal": (grades, grades, five),
        "shifted": (np.minimum(grades, 4), np.minimum(grades, 4) + 1, five),
        "reversed": (grades, 6 - grades, five),
        "constant judge": (grades, np.full(120, 3), five),
        "points": (points, close, hundred),
        "verdicts": (verdicts, wrong, one),
        "one wrong": (verdicts, one_wrong, one),
        "all right": (verdicts, verdicts, one),
        "all wrong": (verdicts, 1 - verdicts, one),
        "one fails": (np.r_[0.0, np.ones(59)], np.r_[0.0, 0.0, np.ones(58)], one),
        "five responses": (grades[:5], near[:5], five),
    }
    return {
        name: (
            [None if v is None else float(v) for v in people],
            [None if v is None else float(v) for v in judge],
            scale,
        )
        for name, (people, judge, scale) in made.items()
    }


def comparable(e: Estimate | None) -> tuple[Any, ...]:
    if e is None:
        return ("absent",)
    numbers = (e.value, e.ci_low, e.ci_high)
    return (
        e.n_responses,
        *(None if math.isnan(v) else pytest.approx(v, abs=1e-9) for v in numbers),
    )


@pytest.mark.parametrize("name", tables())
def test_the_first_figures_and_lines_are_those_of_the_report(name: str) -> None:
    people, judge, scale = tables()[name]
    table = OneRaterTable("score", "human", people, {"llm": judge}, scale, {"llm": scale})
    assert not table.left_to_the_report
    first = first_figures(table, Options())
    frame = long_scores(pd.DataFrame({"human": people, "llm": judge}), "llm", "human")
    scores = ScoreTable.from_frame(frame, {"score": scale})
    whole = headline(scores)
    for statistic in FIGURES:
        where: dict[str, Any] = {"construct": "score", "scorer": "llm", "scope": "pooled"}
        if statistic == "bias":
            where["target"] = "these_raters"
        expected = whole.estimates.first(statistic, **where)
        found = first.estimates.first(statistic, **where)
        if expected is None or (found is None and not expected.defined):
            assert found is None or not found.defined, statistic
            continue
        if statistic == "calibration_error_squared" and scale.two_valued:
            continue  # no sentence is made of it
        if statistic in {"share_at_max", "calibration_error_squared"}:
            assert found is not None
            assert found.value == pytest.approx(expected.value, abs=1e-9), statistic
            continue
        assert comparable(found) == pytest.approx(comparable(expected), abs=1e-8), statistic
    about = verdict_subjects(whole)
    facts = [scored_facts(whole, construct, scorer) for construct, scorer in about]
    of_report = openings(whole, whole.estimates, facts, decisions(whole, about))
    of_first = openings(first.described, first.estimates, first.facts, first.decisions)
    assert [list(lines(o)) for o in of_first] == [list(lines(o)) for o in of_report]


def test_numpy_and_pandas_are_not_loaded_for_them() -> None:
    code = (
        "import sys; import analysis.pipeline.one_rater, analysis.render.opening; "
        "print([m for m in ('numpy', 'pandas', 'scipy', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
