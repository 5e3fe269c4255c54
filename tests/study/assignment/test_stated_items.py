"""`ccrs assign --items FILE`: stated items to stated people."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

from study import Study, StudyError
from study.cli.root import cli
from study.schema.tables import assignments, raters, responses
from tests.annotate_ui.rated_campaign import fill


def run(study: Study, file: Path, *words: str) -> Result:
    result = CliRunner().invoke(cli, ["assign", str(study.folder), "--items", str(file), *words])
    if isinstance(result.exception, StudyError):
        raise result.exception
    return result


def stored(study: Study) -> list[tuple[str, str]]:
    with study.read() as connection:
        rows = connection.execute(
            select(raters.c.code, responses.c.key)
            .join_from(assignments, raters, raters.c.id == assignments.c.rater_id)
            .join(responses, responses.c.id == assignments.c.response_id)
            .order_by(raters.c.code, responses.c.key)
        )
        return [(row.code, row.key) for row in rows]


def write(folder: Path, text: str) -> Path:
    file = folder / "items.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_each_person_is_given_the_stated_items(study: Study, tmp_path: Path) -> None:
    fill(study, queries=2, systems=2)
    keys = sorted(key for key in all_keys(study) if key.startswith("q0/"))
    file = write(tmp_path, f"rater,response_id\nanna,{keys[0]}\nben,{keys[0]}\nben,{keys[1]}\n")
    done = run(study, file)
    assert done.exit_code == 0, done.output
    assert stored(study) == [("anna", keys[0]), ("ben", keys[0]), ("ben", keys[1])]
    assert "Stored 3 assignments" in done.output
    assert "Stored" not in run(study, file).output
    whole = write(tmp_path, "rater,query_id\ncara,q1\n")
    assert run(study, whole).exit_code == 0
    assert [key.split("/")[0] for code, key in stored(study) if code == "cara"] == ["q1", "q1"]


def all_keys(study: Study) -> list[str]:
    with study.read() as connection:
        return list(connection.execute(select(responses.c.key)).scalars())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rater,query_id\nanna,q0\nben,q9\n", "line 3: the study has no query 'q9'"),
        ("rater,response_id\nanna,zz\n", "line 2: The study has no response 'zz'"),
        ("rater,query_id\nanna,\n", "line 2: query_id is empty"),
        ("rater,query_id\nanna,q0\nAnna,q1\n", "'Anna' differs from rater 'anna' only in capital"),
        ("rater,item\nanna,q0\n", "the columns are rater, item. Name them rater and response_id"),
        ("rater,query_id\n", "has no rows"),
    ],
)
def test_a_row_that_cannot_be_assigned_is_named_and_nothing_is_stored(
    study: Study, tmp_path: Path, text: str, message: str
) -> None:
    fill(study, queries=2, systems=2)
    with pytest.raises(StudyError, match=message):
        run(study, write(tmp_path, text))
    assert stored(study) == []


def test_options_of_a_plan_are_refused(study: Study, tmp_path: Path) -> None:
    fill(study)
    file = write(tmp_path, "rater,query_id\nanna,q0\n")
    assert "--items says it" in run(study, file, "--per-item", "2").output
    with pytest.raises(StudyError, match="leave --raters and --open out"):
        run(study, file, "--raters", "anna")
