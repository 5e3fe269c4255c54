"""The benchmark's study, at a small size: what its tables take in memory."""

from pathlib import Path

import pytest

from study import Study, study_status
from study.facts.score_table import compact_score_table
from tests.benchmarks.million_judgments import RATED, RATERS, make_study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("benchmark") / "study"
    make_study(folder, 2_400, runs=2, distributions=True)
    return folder


def test_a_row_of_the_compact_table_takes_few_bytes(study: Path) -> None:
    with Study.open(study) as opened, opened.read() as connection:
        table = compact_score_table(connection, opened.construct_versions(connection))
    # A value has up to 8 bytes, a text of 40 queries with 6 responses or their length 1 or 2.
    texts = table.select_dtypes("category")
    codes = sum(texts[name].cat.codes.nbytes for name in texts)
    numbers = table.select_dtypes("number").memory_usage(index=False).sum()
    assert (codes + numbers) / len(table) < 30


def test_the_status_counts_each_judgment(study: Path) -> None:
    with Study.open(study) as opened:
        status = study_status(opened)
    scorers = {(s.scorer, s.construct): (s.values, s.missing) for s in status.scorers}
    # One answer in a thousand can't be read; its distribution is missing as well.
    assert scorers["judge-0", "CC"] == (239, {"no_score": 1})
    assert scorers["judge-1 (expected)", "QR"] == (239, {"no_score": 1})
    assert scorers["rater-0", "CC"] == (RATED, {})
    assert len(scorers) == 5 * (2 * 2 + RATERS)
