"""Figures of Kamalloo et al. 2023, from the study that is made of their data."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select

from study import Study
from study.datasets.dataset_study import FetchSummary, fetch
from study.datasets.openqa_nq301 import (
    LIST,
    NO_SYSTEM,
    NORMALIZED,
    NUMBER,
    PLAIN,
    TWICE,
    leading_verdict,
    openqa_table1,
)
from study.schema.tables import assignments, queries, raters, ratings as rating_table, responses
from tests.study.datasets.conftest import published_files


@pytest.fixture(scope="module")
def source() -> Path:
    return published_files("openqa_nq301")


@pytest.fixture(scope="module")
def fetched(source: Path, tmp_path_factory: pytest.TempPathFactory) -> FetchSummary:
    return fetch("openqa-nq301", tmp_path_factory.mktemp("openqa") / "study", source=source)


@pytest.fixture(scope="module")
def study(fetched: FetchSummary) -> Iterator[Study]:
    opened = Study.open(fetched.folder)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def by_response(study: Study) -> pd.DataFrame:
    """Return values with a row for each response and a column for each scorer."""
    once = study.score_table().drop_duplicates(["response_id", "scorer"])
    # pivot_table would average what stands twice.
    return once.pivot(index="response_id", columns="scorer", values="value")  # noqa: PD010


def test_every_answer_and_every_output_is_there(fetched: FetchSummary, study: Study) -> None:
    # 301 questions x 12 systems; 1,490 rated answers and 37 outputs that nobody rated.
    assert fetched.added == {
        "queries": 301,
        "responses": 1490 + 37,
        "outputs": 301 * 12,
        # EM and F1 of every response; six verdicts on each rated one.
        "scores": 2 * 1527 + 6 * 1490,
        "tie-breaking ratings": 223,
    }
    scores = study.score_table()
    systems = scores[scores["scorer"] == "EM"].groupby("system").size()
    assert len(systems) == 12
    assert (systems == 301).all()


def test_every_output_is_accounted_for(fetched: FetchSummary) -> None:
    rules = fetched.rules
    unrated = {rule: n for rule, n in rules.items() if "match no rated answer" in rule}
    assert {rule.split(" that ")[0]: n for rule, n in unrated.items()} == {
        "outputs of DPR": 10,
        "outputs of EMDR2": 27,
    }
    assert (rules[PLAIN], rules[NORMALIZED], rules[NUMBER]) == (2838, 726, 11)
    assert 2838 + 726 + 11 + 10 + 27 == 301 * 12
    assert (rules[LIST], rules[TWICE], rules[NO_SYSTEM]) == (16, 1, 76)


def test_two_raters_disagree_as_published(by_response: pd.DataFrame) -> None:
    rated = by_response.dropna(subset=["Acceptable?"])
    first, second = rated["annotator1"], rated["annotator2"]
    assert len(rated) == 1490
    assert (first.isna() | second.isna()).sum() == 7
    # A comparison with a blank is a disagreement too: the published 202.
    assert (first != second).sum() == 202
    twice = rated.dropna(subset=["annotator1", "annotator2"])
    assert len(twice) == 1483
    assert (twice["annotator1"] != twice["annotator2"]).sum() == 195


def test_alpha_of_the_two_raters_is_known(by_response: pd.DataFrame) -> None:
    pairs = by_response[["annotator1", "annotator2"]].dropna().to_numpy()
    # Krippendorff 2011, binary data without missing values: with n values, n1 of them 1 and o
    # ordered pairs of unequal values, alpha = 1 - (n - 1) o / (2 n0 n1).
    ones, n = pairs.sum(), pairs.size
    unequal = 2 * (pairs[:, 0] != pairs[:, 1]).sum()
    alpha = 1 - (n - 1) * unequal / (2 * (n - ones) * ones)
    assert alpha == pytest.approx(0.7347, abs=5e-5)


def test_blanks_and_replies_without_a_verdict_are_missing_with_a_reason(study: Study) -> None:
    scores = study.score_table().drop_duplicates(["response_id", "scorer"])
    missing = scores[scores["value"].isna()]
    counts = Counter(zip(missing["scorer"], missing["missing_reason"], strict=True))
    assert counts == {("annotator2", "blank"): 7, ("gpt-4", "unparsed"): 10}


def test_kinds_and_scales_are_declared(study: Study) -> None:
    scores = study.score_table()
    kinds = dict(zip(scores["scorer"], scores["scorer_kind"], strict=True))
    assert kinds == {
        "annotator1": "human",
        "annotator2": "human",
        "Acceptable?": "adjudicated",
        "gpt-4": "judge",
        "text-davinci-003": "judge",
        "BEM": "metric",
        "EM": "metric",
        "F1": "metric",
    }
    assert study.config.analysis.reference == "adjudicated"
    for scorer, level in {"EM": "nominal", "F1": "ratio", "BEM": "interval"}.items():
        scale = study.config.scale("AC", scorer)
        assert scale is not None
        assert (scale.min, scale.max, scale.level) == (0, 1, level)


def test_bem_is_the_probability_whose_half_is_the_published_verdict(
    source: Path, by_response: pd.DataFrame
) -> None:
    published = pd.read_csv(source / "NQ301_BEM.tsv", sep="\t")
    bem = by_response["BEM"].dropna()
    assert list(bem.index) == [f"a{i:04d}" for i in published["id"]]
    assert ((bem >= 0.5).to_numpy() == (published["Acceptable?"] == "Yes").to_numpy()).all()


@pytest.mark.parametrize(("scorer", "file"), [("gpt-4", "gpt-4"), ("text-davinci-003",) * 2])
def test_judges_say_what_their_replies_begin_with(
    source: Path, by_response: pd.DataFrame, scorer: str, file: str
) -> None:
    lines = (source / f"NQ301_{file}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    published = [line.split("\t")[-2] for line in lines]
    stored = by_response[scorer].reindex([f"a{i:04d}" for i in range(1, 1491)])
    differing = [
        (verdict, value)
        for verdict, value in zip(published, stored, strict=True)
        if not np.isnan(value) and {"Yes": 1.0, "No": 0.0}.get(verdict) != value
    ]
    # One reply of gpt-4 begins with No and stands as Yes in its table.
    assert differing == ([("Yes", 0.0)] if scorer == "gpt-4" else [])


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Yes, it is.", 1.0),
        ("no.", 0.0),
        (" NO", 0.0),
        ("Nothing is known.", None),
        ("The candidate is partially correct.", None),
        ("", None),
    ],
)
def test_a_verdict_leads_its_reply(reply: str, verdict: float | None) -> None:
    assert leading_verdict(reply) == verdict


def test_the_third_annotator_is_kept_but_is_no_reference(
    study: Study, by_response: pd.DataFrame
) -> None:
    with study.read() as connection:
        rows = connection.execute(
            select(responses.c.key, rating_table.c.value)
            .join_from(rating_table, assignments, rating_table.c.assignment_id == assignments.c.id)
            .join(raters, assignments.c.rater_id == raters.c.id)
            .join(responses, assignments.c.response_id == responses.c.id)
            .where(raters.c.code == "annotator3", assignments.c.purpose == "adjudication")
        ).all()
    third = pd.Series({row.key: row.value for row in rows})
    ratings = by_response.loc[third.index]
    agreed = ratings["annotator1"] == ratings["annotator2"]
    assert len(third) == 223
    assert agreed.sum() == 21
    assert (third != ratings["Acceptable?"]).sum() == 18
    assert (third[~agreed] == ratings["Acceptable?"][~agreed]).all()
    assert "annotator3" not in by_response


def test_queries_have_their_references(study: Study) -> None:
    with study.read() as connection:
        rows = connection.execute(
            select(queries.c.key, queries.c.references).order_by(queries.c.key)
        ).all()
    references = {row.key: row.references for row in rows}
    assert set(references["q001"]) == {
        "FedExField in Landover, Maryland",
        "the Washington metropolitan area",
    }
    assert all(references.values())


def test_quotation_marks_of_answers_are_kept(study: Study) -> None:
    with study.read() as connection:
        texts = set(connection.execute(select(responses.c.text)).scalars())
    assert '"The Instincts" (Season 3, Episode 4)' in texts
    assert {"1991", "1991."} <= texts


def test_table_1_is_reproduced(source: Path, study: Study) -> None:
    published = json.loads((source / "published.json").read_text())["paper_Table1_rows_seen"]
    order = published.pop("order")
    computed = openqa_table1(study)
    assert len(computed) == 12
    assert list(computed.columns) == order
    for system, figures in published.items():
        assert computed.loc[system].to_numpy() == pytest.approx(figures, abs=0.1), system


def test_em_and_f1_of_table_1_are_means_of_the_score_table(study: Study) -> None:
    scores = study.score_table()
    computed = openqa_table1(study)
    for scorer in ("EM", "F1"):
        means = scores[scores["scorer"] == scorer].groupby("system")["value"].mean()
        assert np.allclose(computed[scorer], 100 * means[computed.index])
