"""An archive opens as a study, reports the same, and holds no secret in any of its bytes."""

import csv
import tomllib
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from study import Study, StudyError
from study.lifecycle.archive import archive
from study.lifecycle.restore import with_database
from study.schema import ClosingAnswer, InterimAnalysis, Rater, RaterAnswer
from tests.study.lifecycle.conftest import CODE, SECRETS, Planted, plant, rows

SETTINGS = """
# Remark of the owner: pay with xcompletionx.
name = "An archive"
[raters."zorabel-7"]
languages = ["xlanguagex"]
[rating]
instructions = "how.md"
completion_code = "xcompletionx"
completion_url = "https://xrecruiterx.example/{code}"
base_url = "https://xhostx.example"
[scorers."ben"]
kind = "human"
"""
NEVER = [
    SECRETS["closing"],
    SECRETS["external"],
    SECRETS["rating_external"],
    SECRETS["attribute"],
    "xpasswordx",
    "xcompletionx",
    "xrecruiterx",
    "xhostx",
    "xlanguagex",
    "xkeyx",
]
COMMENTS = [SECRETS["comment"], SECRETS["decision"], SECRETS["reason"]]
HASHES = [sha256(word).digest() for word in (b"xtokenx", b"other", b"enrol")]


def unpacked(path: Path, folder: Path) -> Path:
    with zipfile.ZipFile(path) as packed:
        packed.extractall(folder)
    (top,) = folder.iterdir()
    return top


@pytest.fixture
def owned(tmp_path: Path) -> Study:
    study = Study.create(tmp_path / "mine", SETTINGS)
    (study.folder / "how.md").write_text("Your code will be xcompletionx.")
    (study.folder / "prompts" / "own").mkdir(parents=True)
    (study.folder / "prompts" / "own" / "QR.txt").write_text("{response}")
    plant(study)
    return study


@pytest.mark.parametrize("comments", [False, True], ids=["without", "with-comments"])
def test_no_secret_is_in_any_byte(owned: Study, tmp_path: Path, comments: bool) -> None:
    done = archive(owned, tmp_path / "a.zip", comments=comments)
    top = unpacked(done.path, tmp_path / "out")
    assert top.name == "mine"
    content = b"".join(path.read_bytes() for path in top.rglob("*") if path.is_file())
    assert [word for word in NEVER if word.encode() in content] == []
    assert [word for word in HASHES if word in content] == []
    assert [word.encode() in content for word in COMMENTS] == [comments] * 3
    assert CODE.encode() in content
    names = {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}
    assert names >= {"README.md", "study.toml", "study.db", "how.md", "tables/codebook.md"}
    assert "prompts/own/QR.txt" in names
    assert not any(name.endswith(("-wal", "-shm")) for name in names)
    owned.close()


def test_an_archive_opens_as_a_study_with_the_same_scores(planted: Planted, tmp_path: Path) -> None:
    done = archive(planted.study, tmp_path / "a.zip", comments=True)
    assert done.left_out["rows of invitation"] == 2
    top = unpacked(done.path, tmp_path / "out")
    opened = Study.open(top)
    assert opened.score_table().equals(planted.study.score_table())
    assert opened.preference_table().equals(planted.study.preference_table())
    decisions = [row for row in rows(opened, RaterAnswer) if row["kind"] == "choice"]
    assert [row["comment"] for row in decisions] == [SECRETS["decision"]]
    assert [row["comment"] for row in rows(opened, ClosingAnswer)] == [None]
    assert rows(opened, InterimAnalysis) == rows(planted.study, InterimAnalysis)
    assert {row["code"] for row in rows(opened, Rater)} == {CODE, "ben"}
    with pytest.raises(Exception, match="append-only"), opened.write() as connection:
        connection.execute(RaterAnswer.__table__.delete())
    opened.close()
    with (top / "tables" / "scores.csv").open(encoding="utf-8-sig") as stream:
        assert len(list(csv.DictReader(stream))) == len(planted.study.score_table())
    assert "rater_answer" in (top / "README.md").read_text()
    # What was archived stays as it was.
    assert len(rows(planted.study, ClosingAnswer)) == 1


def test_a_file_that_is_there_stays(owned: Study, tmp_path: Path) -> None:
    out = tmp_path / "a.zip"
    out.write_text("mine")
    with pytest.raises(StudyError, match="already exists"):
        archive(owned, out)
    assert out.read_text() == "mine"
    with pytest.raises(StudyError, match="not a folder"):
        archive(owned, tmp_path / "none" / "a.zip")
    with pytest.raises(StudyError, match="inside the study's folder"):
        archive(owned, owned.folder / "a.zip")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    owned.close()


def test_the_settings_of_an_archive_are_the_studys_without_comments(tmp_path: Path) -> None:
    settings = (
        'name = "x \\u007f" # by Anna\ndatabase = "mine.db"\n'
        '# Ben reads German.\n[raters."ben"]\nlanguages = ["de"]\n'
        '[rating]\nlanguage = "de"\ncompletion_code = "C0DE"\n'
        '[juries."a b"]\nof = ["j", "k"]\n'
    )
    study = Study.create(tmp_path / "s", settings)
    archive(study, tmp_path / "a.zip")
    study.close()
    with zipfile.ZipFile(tmp_path / "a.zip") as packed:
        text = packed.read("s/study.toml").decode()
    assert not {"Anna", "Ben", "ben", "C0DE", "#"} & set(text.replace('"', " ").split())
    wanted = tomllib.loads(settings) | {"database": "study.db"}
    del wanted["raters"], wanted["rating"]["completion_code"]
    assert tomllib.loads(text) == wanted


def test_setting_another_database_changes_no_other_setting() -> None:
    content = 'name = "x" # remark\ndatabase = "postgresql://a/b"\n[rating]\nlanguage = "de"\n'
    assert with_database(content, "postgresql://c/d") == content.replace("a/b", "c/d")
    hidden = 'name = """\ndatabase = 1\n"""\n"database" = "postgresql://a/b"  # on our server\n'
    assert with_database(hidden, "postgresql://c/d") == hidden.replace("a/b", "c/d")
