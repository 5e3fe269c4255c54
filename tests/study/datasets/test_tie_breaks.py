from pathlib import Path

import pytest
from sqlalchemy import select

from study import Study
from study.datasets.dataset_source import Dataset, TieBreak
from study.datasets.dataset_study import fetch, store_tie_breaks
from study.schema import Assignment, Rater, Rating, table
from tests.study.datasets.test_dataset_study import copy


@pytest.fixture
def made(colors: Dataset, tmp_path: Path) -> Study:
    fetch("colors", tmp_path / "study", source=copy(tmp_path / "files", "flat"))
    return Study.open(tmp_path / "study")


def test_a_tie_breaker_is_kept_and_enters_no_table(made: Study) -> None:
    g, a, r = table(Rating), table(Assignment), table(Rater)
    with made.read() as connection:
        rows = connection.execute(
            select(r.c.code, a.c.purpose, g.c.value, g.c.construct_key, g.c.channel)
            .join_from(g, a, g.c.assignment_id == a.c.id)
            .join(r, a.c.rater_id == r.c.id)
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
        assert connection.execute(select(table(Rater).c.code)).scalars().all() == ["cleo"]
    made.close()
