"""Agreement on sentences: alpha against another implementation, and what is withheld."""

from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest

from analysis.core.analysis import Analysis
from analysis.core.errors import TableError
from analysis.core.mark_table import MarkTable
from analysis.core.options import Options
from analysis.core.tables import ScoreTable
from analysis.pipeline.estimation import analyse
from analysis.topics.reliability.section import SECTION, reading

QUERIES, SENTENCES, RATERS = 40, 5, 3


def marks(chance: float = 0.3, seed: int = 1, queries: int = QUERIES) -> pd.DataFrame:
    """Raters who are right with probability .8, and leave one in ten responses unanswered."""
    rng = np.random.default_rng(seed)
    rows = []
    for query in range(queries):
        deserved = rng.random(SENTENCES) < chance
        for rater in range(RATERS):
            if rng.random() < 0.1:
                continue
            marked = np.where(rng.random(SENTENCES) < 0.8, deserved, ~deserved).astype(int)
            given = {"response_id": f"r{query}", "query_id": f"q{query}", "construct": "CC"}
            given |= {"scorer": f"rater-{rater}", "scorer_kind": "human"}
            rows += [
                {**given, "repeat": 0, "sentence": number, "marked": int(value)}
                for number, value in enumerate(marked, 1)
            ]
    return pd.DataFrame(rows)


def analysis_of(table: pd.DataFrame | None) -> Analysis:
    scores = pd.DataFrame(
        {
            "response_id": [f"r{query}" for query in range(QUERIES)],
            "query_id": [f"q{query}" for query in range(QUERIES)],
            "construct": "CC",
            "scorer": "rater-0",
            "scorer_kind": "human",
            "value": np.linspace(0, 100, QUERIES).round(),
        }
    )
    given = None if table is None else MarkTable.from_frame(table)
    return analyse(ScoreTable.from_frame(scores), None, Options(resamples=200), marks=given)


def test_alpha_is_that_of_the_krippendorff_package() -> None:
    table = marks()
    analysis = analysis_of(table)
    (alpha,) = analysis.estimates.select("sentence_alpha")
    wide = table.pivot_table("marked", ["response_id", "sentence"], "scorer")
    expected = krippendorff.alpha(wide.to_numpy().T, level_of_measurement="nominal")
    assert alpha.value == pytest.approx(expected, abs=1e-9)
    assert alpha.ci_low < alpha.value < alpha.ci_high
    paired = wide[wide.notna().sum(axis=1) >= 2]
    assert alpha.params["sentences"] == len(paired)
    assert alpha.params["marked_by_any"] == int((paired.max(axis=1) == 1).sum())
    assert alpha.n_responses == paired.index.get_level_values(0).nunique() == alpha.n_queries
    assert alpha.n_raters == RATERS
    shares = {e.scorers[0]: e for e in analysis.estimates.select("sentence_marked_share")}
    for rater, marked in table.groupby("scorer")["marked"]:
        share = shares[str(rater)]
        assert share.value == pytest.approx(marked.mean(), abs=1e-12)
        assert 0 <= share.ci_low < share.value < share.ci_high <= 1
    assert "which sentences to mark" in " ".join(reading(analysis))
    built = {table.key for make in SECTION.tables for table in make(analysis)}
    assert {"sentence-agreement", "sentence-marks-by-rater"} <= built


def test_a_query_counts_as_a_whole() -> None:
    """Three responses to one query are one unit of the interval, not three."""
    table = marks()
    query = table["query_id"].str[1:].astype(int) // 3
    (alone,) = analysis_of(table).estimates.select("sentence_alpha")
    (together,) = analysis_of(table.assign(query_id="q" + query.astype(str))).estimates.select(
        "sentence_alpha"
    )
    assert together.value == pytest.approx(alone.value, abs=1e-12)
    assert together.n_queries == query.nunique()
    assert (together.ci_low, together.ci_high) != (alone.ci_low, alone.ci_high)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"marked": 0}, "no sentence was marked by any rater"),
        ({"marked": 1}, "every sentence was marked by any rater"),
        ({"scorer": "rater-0"}, "two raters"),
    ],
)
def test_undefined_alpha_has_its_reason(change: dict[str, Any], reason: str) -> None:
    table = marks().assign(**change).drop_duplicates(["response_id", "scorer", "sentence"])
    (alpha,) = analysis_of(table).estimates.select("sentence_alpha")
    assert not alpha.defined
    assert reason in str(alpha.reason)


def test_too_few_queries_have_no_interval_and_no_marks_no_figure() -> None:
    (alpha,) = analysis_of(marks(queries=1)).estimates.select("sentence_alpha")
    assert alpha.defined
    assert not alpha.has_interval
    assert alpha.reason
    assert analysis_of(None).estimates.select("sentence_alpha") == []


def test_repeats_and_other_scorers_do_not_count() -> None:
    table = marks()
    again = table.assign(repeat=1, marked=1)
    judged = table[table["scorer"] == "rater-1"].assign(scorer="judge", scorer_kind="judge")
    (alpha,) = analysis_of(table).estimates.select("sentence_alpha")
    more = pd.concat([table, again, judged], ignore_index=True)
    (same,) = analysis_of(more).estimates.select("sentence_alpha")
    assert same.value == alpha.value


@pytest.mark.parametrize(
    ("change", "words"),
    [({"marked": 2}, "use 1 or 0"), ({"sentence": 1}, "occur twice")],
)
def test_a_faulty_table_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(TableError, match=words):
        MarkTable.from_frame(marks().assign(**change))
