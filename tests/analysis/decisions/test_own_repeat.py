"""The order beside one rater who rated responses twice: the standard is what the rater repeats."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.decisions.answers import decisions
from analysis.decisions.records import UseDecision
from analysis.pipeline.estimation import headline
from analysis.render.decision_words import sentence

POINTS = Scale(0, 100)


def study(
    rater: float, judge: float, queries: int = 60, repeated: int | None = None, seed: int = 0
) -> pd.DataFrame:
    """Four responses a query, of a quality with a standard deviation of 15 within a query.

    Rater, repeat and judge have errors with these standard deviations, drawn apart.
    """
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), 4)
    quality = 50 + 8 * rng.normal(size=queries)[query] + 15 * rng.normal(size=query.size)
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(query.size)],
            "query_id": [f"q{i}" for i in query],
            "construct": "QR",
        }
    )

    def scored(scorer: str, kind: str, error: float, repeat: int = 0) -> pd.DataFrame:
        values = np.clip(np.round(quality + error * rng.normal(size=query.size)), 0, 100)
        return base.assign(scorer=scorer, scorer_kind=kind, value=values, repeat=repeat)

    again = scored("anna", "human", rater, repeat=1)
    again = again[query < (queries if repeated is None else repeated)]
    rows = [scored("judge", "judge", judge), scored("anna", "human", rater), again]
    return pd.concat(rows, ignore_index=True)


def chosen(rows: pd.DataFrame) -> tuple[UseDecision, str]:
    """The answer on choosing between responses, with its line."""
    table = ScoreTable.from_frame(rows, {"QR": POINTS})
    analysis = headline(table, options=Options())
    found = decisions(analysis, [("QR", "judge")], ["choose_between_responses"])
    decision = next(d for d in found if d.construct is None)
    return decision, sentence(analysis, decision)


def test_a_judge_as_good_as_the_repeat_of_a_noisy_rater_may_choose() -> None:
    rows = study(rater=22, judge=14, queries=100)
    decision, line = chosen(rows)
    assert decision.answer == "yes"
    assert "by the rater's own repeat" in line
    first_only, line = chosen(rows[rows["repeat"] == 0])
    assert first_only.answer not in {"yes", "likely"}
    assert "at least 70%" in line


def test_a_judge_far_below_the_repeat_of_a_careful_rater_may_not() -> None:
    rows = study(rater=2, judge=14)
    decision, line = chosen(rows)
    assert decision.answer == "no"
    assert "at least -.10" in line.replace("\N{MINUS SIGN}", "-")
    assert chosen(rows[rows["repeat"] == 0])[0].answer == "yes"


def test_few_repeats_leave_the_absolute_standard() -> None:
    rows = study(rater=22, judge=14, queries=100, repeated=6)
    assert "at least 70%" in chosen(rows)[1]


def test_concordance_and_repeat_shares_are_of_the_responses_that_were_rated_twice() -> None:
    rows = study(rater=10, judge=10, repeated=40)
    table = ScoreTable.from_frame(rows, {"QR": POINTS})
    estimates = headline(table, options=Options()).estimates
    found = estimates.first("concordance_difference", scope="within_query")
    assert found is not None
    wide = rows.pivot_table(index=["query_id", "response_id"], columns=["scorer", "repeat"],
                            values="value").dropna()  # fmt: skip
    alike = {}
    for name in (("judge", 0), ("anna", 1)):
        points = pairs = 0.0
        for _, of in wide.groupby(level="query_id"):
            first, other = of["anna", 0].to_numpy(), of[name].to_numpy()
            for i in range(len(of)):
                for j in range(i):
                    if first[i] != first[j]:
                        sign = np.sign(first[i] - first[j]) * np.sign(other[i] - other[j])
                        points, pairs = points + (sign + 1) / 2, pairs + 1
        alike[name] = points / pairs
    assert found.params["judge"] == pytest.approx(alike["judge", 0])
    assert found.params["repeat"] == pytest.approx(alike["anna", 1])
    assert found.value == pytest.approx(alike["judge", 0] - alike["anna", 1])
