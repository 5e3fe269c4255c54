"""Figures of Ru et al. 2024, from the study that is made of their data."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from study import Study, StudyError
from study.datasets.dataset_study import FetchSummary, fetch
from study.datasets.ragchecker_meta import CONSTRUCTS, contents
from tests.study.datasets.conftest import published_files

# 280 pairs; in 5 of them both systems gave the same response.
ALIKE = 5


@pytest.fixture(scope="module")
def source() -> Path:
    return published_files("ragchecker_meta")


@pytest.fixture(scope="module")
def published(source: Path) -> dict[str, dict[str, list[float]]]:
    figures: dict[str, dict[str, list[float]]] = json.loads(
        (source / "published.json").read_text()
    )["Table5_pearson_spearman_x100"]
    return figures


@pytest.fixture(scope="module")
def fetched(source: Path, tmp_path_factory: pytest.TempPathFactory) -> FetchSummary:
    return fetch("ragchecker-meta", tmp_path_factory.mktemp("ragchecker") / "s", source=source)


@pytest.fixture(scope="module")
def study(fetched: FetchSummary) -> Iterator[Study]:
    opened = Study.open(fetched.folder)
    yield opened
    opened.close()


def two_raters(study: Study, construct: str) -> pd.DataFrame:
    """Return one row for each pair, one column for each rater."""
    rows = study.preference_table()
    rows = rows[rows["construct"] == construct]
    # pivot_table would average what stands twice.
    return rows.pivot(  # noqa: PD010
        index=["query_id", "response_a", "response_b"], columns="scorer", values="value"
    )


def deltas(study: Study, construct: str, pairs: pd.DataFrame) -> NDArray[np.float64]:
    """Return RAGChecker's score of b minus that of a, rounded so that ties stay ties."""
    scores = study.score_table()
    scores = scores[(scores["scorer"] == "ragchecker") & (scores["construct"] == construct)]
    value = scores.drop_duplicates("response_id").set_index("response_id")["value"]
    a = value[pairs.index.get_level_values("response_a")].to_numpy()
    b = value[pairs.index.get_level_values("response_b")].to_numpy()
    return np.round(b - a, 12)


def test_every_pair_and_every_score_is_there(fetched: FetchSummary, study: Study) -> None:
    added = fetched.added
    assert (added["queries"], added["outputs"]) == (280, 560)
    assert added["responses"] == 560 - ALIKE
    assert added["scores"] == 3 * (560 - ALIKE)
    scores = study.score_table()
    systems = scores[scores["construct"] == "overall"].groupby("system").size()
    assert len(systems) == 8
    assert (systems == 70).all()
    assert scores["value"].between(0, 1).all()
    assert scores["query_id"].str.contains("/").all()


def test_what_is_left_out_is_counted(fetched: FetchSummary) -> None:
    assert any("critiques" in what and n == 560 for what, n in fetched.left_out.items())
    assert any("by position" in rule and n == 280 for rule, n in fetched.rules.items())


def test_all_comparisons_are_stored(study: Study) -> None:
    assert len(study.preference_table()) == 280 * 2 * 3


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_the_first_row_of_a_pair_is_that_of_the_first_rater(
    study: Study, source: Path, construct: str
) -> None:
    human = json.loads((source / "human_labeled_data.json").read_bytes())
    values = two_raters(study, construct)
    keys = [
        (query, *(f"{query}/{row[side]['model_name']}" for side in ("model1", "model2")))
        for row in human[::2]
        for query in [f"{row['dataset']}/{row['query_id']}"]
    ]
    # Pairs of one text are stored under the name of one response.
    there = [place for place, key in enumerate(keys) if key in values.index]
    assert len(there) == len(keys) - ALIKE
    for rater, first in (("rater-1", 0), ("rater-2", 1)):
        expected = [human[2 * place + first][f"{construct}_label"] for place in there]
        assert values.loc[[keys[place] for place in there], rater].tolist() == expected
    assert (values["rater-1"] != values["rater-2"]).any()


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_ragchecker_against_preferences_as_published(
    study: Study, published: dict[str, dict[str, list[float]]], construct: str
) -> None:
    pairs = two_raters(study, construct)
    assert pairs.size == 560
    x = np.repeat(deltas(study, construct, pairs), 2)
    y = pairs.to_numpy().ravel()
    computed = [100 * stats.pearsonr(x, y)[0], 100 * stats.spearmanr(x, y)[0]]
    assert computed == pytest.approx(published["ragchecker"][construct], abs=0.03)


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_rater_against_rater_as_published(
    study: Study, published: dict[str, dict[str, list[float]]], construct: str
) -> None:
    pairs = two_raters(study, construct)
    x, y = pairs["rater-1"], pairs["rater-2"]
    computed = [100 * stats.pearsonr(x, y)[0], 100 * stats.spearmanr(x, y)[0]]
    assert computed == pytest.approx(
        published["human_annotator_sanity_check"][construct], abs=0.006
    )


def test_raters_differ_by_one_at_most_as_often_as_published(study: Study, source: Path) -> None:
    figures = json.loads((source / "published.json").read_text())
    near = [
        (pairs["rater-1"] - pairs["rater-2"]).abs() <= 1
        for pairs in (two_raters(study, construct) for construct in CONSTRUCTS)
    ]
    share = 100 * np.concatenate(near).mean()
    assert share == pytest.approx(figures["sec4_2_agreement_absdiff_le1_percent"], abs=0.005)


def test_one_text_with_two_scores_is_refused(source: Path) -> None:
    pairs = json.loads((source / "baseline_ragchecker.json").read_bytes())[:1]
    human = json.loads((source / "human_labeled_data.json").read_bytes())[:2]
    for row in (*pairs, *human):
        row["model2"]["response"] = row["model1"]["response"]
    files = {
        "baseline_ragchecker.json": json.dumps(pairs).encode(),
        "human_labeled_data.json": json.dumps(human).encode(),
    }
    with pytest.raises(StudyError, match="one text with two scores"):
        contents(files)


def test_files_of_different_pairs_are_refused(source: Path) -> None:
    pairs = json.loads((source / "baseline_ragchecker.json").read_bytes())
    human = json.loads((source / "human_labeled_data.json").read_bytes())
    files = {"baseline_ragchecker.json": json.dumps(pairs[:2]).encode()}
    with pytest.raises(StudyError, match="2 rows for 2 pairs"):
        contents({**files, "human_labeled_data.json": json.dumps(human[:2]).encode()})
    with pytest.raises(StudyError, match="row 1: not the pair"):
        contents({**files, "human_labeled_data.json": json.dumps(human[4:8]).encode()})
