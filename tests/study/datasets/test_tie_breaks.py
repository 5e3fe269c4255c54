from pathlib import Path

import pytest
from sqlalchemy import select

from study import Study
from study.datasets.dataset_source import Dataset, TieBreak
from study.datasets.dataset_study import fetch, store_tie_breaks
from study.schema.tables import assignments, raters, ratings
from tests.study.datasets.test_dataset_study import copy


@pytest.fixture
def made(colors: Dataset, tmp_path: Path) -> Study:
    fetch("colors", tmp_path / "study", source=copy(tmp_path / "files", "flat"))
    return Study.open(tmp_path / "study")


def test_a_tie_breaker_is_kept_and_enters_no_table(made: Study) -> None:
    with made.read() as connection:
        rows = connection.execute(
            select(
                raters.c.code,
                assignments.c.purpose,
                ratings.c.value,
                ratings.c.construct_key,
                ratings.c.channel,
            )
            .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
            .join(raters, assignments.c.rater_id == raters.c.id)
        ).all()
    assert rows == [("cleo", "adjudication", 1.0, "AC", "imported")]
    assert set(made.score_table()["scorer"]) == {"anna"}
    made.close()


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (TieBreak("dora", "blue", "AC", 2.0), ValueError),
        (TieBreak("dora", "blue", "QR", 1.0), KeyError),
        (TieBreak("dora", "pink", "AC", 1.0), KeyError),
    ],
)
def test_what_does_not_fit_is_refused_whole(
    made: Study, value: TieBreak, error: type[Exception]
) -> None:
    with pytest.raises(error):
        store_tie_breaks(made, [TieBreak("dora", "blue", "AC", 1.0), value])
    with made.read() as connection:
        assert connection.execute(select(raters.c.code)).scalars().all() == ["cleo"]
    made.close()
