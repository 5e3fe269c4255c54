"""Studies without effects: a small simulation, and what the committed table must show."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import Options, PreferenceTable, analyse
from tests.analysis.scores import simulated, table
from tests.coverage.null_kinds import KINDS
from tests.coverage.null_studies import analysed, counted, read, share

#: Kinds of which fewer studies are simulated so far.
NEW = tuple(KINDS)[8:]

PAGE = Path(__file__).parents[2] / "data/manual/reference/claims.md"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_few_studies_have_a_false_claim(kind: str) -> None:
    # Of 10 studies at .05, 4 have one once in a thousand runs.
    assert counted(kind, first=5000, studies=10)["false"] < 4


def test_committed_table_of_null_studies() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = read()
    assert tuple(rows) == tuple(KINDS)
    for kind, row in rows.items():
        of, error = share(row["false"], row["studies"])
        assert row["studies"] >= (150 if kind in NEW else 1000)
        assert of <= 0.05 + 2 * error, kind
        alone, _ = share(row["uncorrected"], row["studies"])
        shares = " | ".join(f"{value:.3f}".removeprefix("0") for value in (of, error, alone))
        assert f"| {row['studies']:,} | {shares} |" in page, kind


def test_each_kind_compares_what_it_is_for() -> None:
    compared = {
        "categories": {"kappa_difference", "judge_difference"},
        "five points": {"system_difference"},
        "altered prompts": {
            "probe_shift", "drift_shift", "error_by_layout", "error_by_support", "self_preference",
            "error_by_length",
        },
    }  # fmt: skip
    for kind, statistics in compared.items():
        analysis = analysed(kind, 5000)
        assert statistics <= {record["statistic"] for record in analysis.claims.records()}
    adjusted = analysis_of_people("five points")
    assert adjusted == {"rater severity"}


def analysis_of_people(kind: str) -> set[str]:
    """How people's differences between systems are adjusted."""
    differences = analysed(kind, 5000).estimates.select("system_difference", on="rated")
    return {str(e.params.get("adjusted")) for e in differences}


def test_preferences_are_stated_and_not_compared() -> None:
    rng = np.random.default_rng(3)
    scores = simulated(queries=12)
    responses = scores[["query_id", "response_id"]].drop_duplicates().groupby("query_id").head(2)
    pairs = responses.groupby("query_id")["response_id"].agg(["first", "last"]).reset_index()
    rows = [
        pairs.rename(columns={"first": "response_a", "last": "response_b"}).assign(
            construct="P", scorer=name, scorer_kind="human", value=rng.integers(-2, 3, len(pairs))
        )
        for name in ("anna", "ben")
    ]
    preferences = PreferenceTable.from_frame(pd.concat(rows, ignore_index=True))
    analysis = analyse(table(scores), preferences, Options(resamples=100))
    assert analysis.estimates.select("pearson", on="preferences")
    assert all("P" not in record["constructs"] for record in analysis.claims.records())
