"""Everything held about one person, in one file that they can read."""

import json
import stat
from pathlib import Path

import pytest

from study import StudyError
from study.lifecycle.personal_data import count_rows, person
from study.lifecycle.rater_export import export_rater
from tests.study.lifecycle.conftest import CODE, OTHER, SECRETS, Planted


def test_everything_is_in_it_and_nobody_else(planted: Planted, tmp_path: Path) -> None:
    out = tmp_path / "hers.json"
    counts = export_rater(planted.study, CODE, out)
    with planted.study.read() as connection:
        who = person(connection, planted.study, CODE)
        assert counts == count_rows(connection, who)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    text = out.read_text(encoding="utf-8")
    for name, word in SECRETS.items():
        assert (word in text) == (name != "password"), name
    assert OTHER not in json.dumps(json.loads(text)["tables"])
    exported = json.loads(text)
    assert set(exported["mentioned_in"]) == {"interim_analysis", "imported_file", "pause"}
    answers = exported["tables"]["rater_answer"]
    (rating,) = (answer for answer in answers if answer["kind"] == "value")
    assert (rating["value"], rating["comment"]) == (61.0, SECRETS["comment"])
    assert exported["tables"]["enrolment"][0]["link"] == "l"
    assert {response["response"] for response in exported["responses"]} == {"x"}
    assert "token_hash" not in text


def test_where_an_export_of_a_rater_may_lie(planted_sqlite: Planted, tmp_path: Path) -> None:
    study = planted_sqlite.study
    with pytest.raises(StudyError, match="inside the study's folder"):
        export_rater(study, CODE, study.folder / "a.json")
    (tmp_path / "a.json").write_text("mine")
    with pytest.raises(StudyError, match="already exists"):
        export_rater(study, CODE, tmp_path / "a.json")
    with pytest.raises(StudyError, match=r"Did you mean 'zorabel-7'\?"):
        export_rater(study, "zorabel", tmp_path / "b.json")
    assert not (tmp_path / "b.json").exists()
