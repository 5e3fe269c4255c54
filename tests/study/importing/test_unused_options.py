"""Options of `ccrs import` that name nothing of the file are refused, and nothing is stored."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from study import Study
from study.cli.root import cli
from study.errors import InputError, StudyError
from study.importing.file_import import import_file

SCORES = "query_id,system,construct,scorer,scorer_kind,value\nq1,a,QR,anna,human,50\n"
RESPONSES = "query_id,query,system,response\nq1,When?,a,At eight.\n"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "responses.csv", tmp_path / "scores.csv"]
    for path, text in zip(paths, (RESPONSES, SCORES), strict=True):
        path.write_text(text)
    return paths


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"controls": {"stars": "QR"}}, "--control"),
        ({"ranges": {"stars": (1.0, 5.0)}}, "--scale"),
        ({"raters": {"5": "anna"}}, "--rater"),
        ({"rater_prefix": "x-"}, "--rater-prefix"),
        ({"columns": {"model": "system"}}, "--column"),
        ({"annotations": {"prefilled": "ratings"}}, "--annotations"),
    ],
)
def test_what_a_format_does_not_read_is_refused(
    study: Study, files: list[Path], given: dict[str, object], option: str
) -> None:
    import_file(study, files[0])
    with pytest.raises(StudyError, match=f"no effect.*{option} names"):
        import_file(study, files[1], **given)  # type: ignore[arg-type]  # one option of any type


def test_a_kind_of_a_scorer_that_the_file_lacks_is_refused(study: Study, files: list[Path]) -> None:
    import_file(study, files[0])
    with pytest.raises(InputError, match=r"no row has the scorer 'ann'.*'anna'"):
        import_file(study, files[1], kinds={"ann": "human"})
    assert import_file(study, files[1], kinds={"anna": "human"}).added["scores"] == 1


def test_a_kind_may_be_of_any_of_several_files(study: Study, files: list[Path]) -> None:
    folder = str(study.folder)
    words = ["import", folder, *map(str, files)]
    done = CliRunner().invoke(cli, [*words, "--kind", "anna=human"])
    assert done.exit_code == 0, done.output
    wrong = CliRunner().invoke(cli, [*words, "--kind", "nobody=human"])
    assert wrong.exit_code != 0
    assert "none of the files has the scorer 'nobody'" in str(wrong.exception or wrong.output)
