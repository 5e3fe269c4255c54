"""A run as a file: every judgment, whole or not at all, the same in each format."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyarrow import parquet

from judge import export_run, judge_study
from judge.cli.judge_command import judge
from judge.inspect.export import COLUMNS
from judge.protocol.exchange import TRUNCATED_BY_SERVER, Answer
from study import Study, StudyError, import_file
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.text import MARK, unescape_formula
from tests.judge.small_studies import Scripted, ScriptedSettings, always, fill, scored

FORMULA = '=HYPERLINK("http://x")'


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
        return [{**row, "created_at": row["created_at"].isoformat()} for row in rows]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def judged(any_study: Study, scripted: type[Scripted]) -> Study:
    """Twelve responses on CC; q2's answers are formulas, one of q3 was given to a cut prompt."""
    fill(any_study)
    cut: list[str] = []

    def answered(prompt: str) -> Answer:
        if "Answer 2 of" in prompt:
            return Answer(FORMULA)
        if "Answer 3 of A" in prompt and not cut:
            cut.append(prompt)
            return Answer("7", missing=TRUNCATED_BY_SERVER)
        return Answer(scored(prompt).text, "stop", "served", "fp", 100, 2, 0, 60, 1.5)

    scripted.answer = staticmethod(answered)
    for _ in range(2):
        judge_study(any_study, ScriptedSettings(name="j", constructs=("CC",)))
    return any_study


def test_every_format_has_the_same_rows(judged: Study, tmp_path: Path) -> None:
    paths = [tmp_path / "new" / f"run.{ending}" for ending in ("jsonl", "parquet", "csv")]
    for path in paths:
        done = export_run(judged, "j", path)
        assert (done.rows, done.left_out) == (13, {})
    lines, table, cells = map(read, paths)
    assert tuple(lines[0]) == COLUMNS
    assert table == lines
    assert [name for name in cells[0] if name != MARK] == list(COLUMNS)
    for line, row in zip(lines, cells, strict=True):
        for name, cell in line.items():
            text = cell if isinstance(cell, str) else json.dumps(cell).removesuffix(".0")
            assert unescape_formula(row[name]) == ("" if cell in (None, []) else text)


def test_rows_say_what_was_judged_and_how_often(judged: Study, tmp_path: Path) -> None:
    export_run(judged, "j", tmp_path / "run.jsonl")
    rows = read(tmp_path / "run.jsonl")
    ids = {(row["query_id"], *row["systems"]): row["response_id"] for row in rows}
    scores = judged.score_table().drop_duplicates("response_id")
    for score in scores.itertuples():
        assert ids[score.query_id, score.system] == score.response_id
    again = [row for row in rows if row["response_id"] == ids["q3", "A"]]
    assert [(row["attempt"], row["missing_reason"]) for row in again] == [
        (1, TRUNCATED_BY_SERVER),
        (2, None),
    ]
    assert again[1]["prompt_tokens"] == 100
    assert {row["answer"] for row in rows if row["query_id"] == "q2"} == {FORMULA}


def test_a_spreadsheet_runs_nothing(judged: Study, tmp_path: Path) -> None:
    export_run(judged, "j", tmp_path / "run.csv")
    answers = {row["answer"] for row in read(tmp_path / "run.csv")}
    assert f"'{FORMULA}" in answers
    assert FORMULA not in answers


ODD = ["85\n", "\r\n 85", "'85'", "-5", '{"score": "85"}', "[85]", "a, b; c\td", "\u202e85", "85\r"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_answers_are_read_back_as_they_were(
    campaign: Study, scripted: type[Scripted], tmp_path: Path, ending: str
) -> None:
    texts = iter(ODD)
    scripted.answer = staticmethod(lambda _: Answer(next(texts)))
    judge_study(campaign, ScriptedSettings(name="j", constructs=("QR",)))
    path = tmp_path / f"run.{ending}"
    export_run(campaign, "j", path)
    records = [record for record in RecordSource(path).records() if isinstance(record, Record)]
    assert len(records) == 12
    undo = unescape_formula if MARK in records[0].cells else str
    # What shares a prompt shares its answer.
    assert {undo(record.cells["answer"]) for record in records} == set(ODD)


def test_what_the_score_table_leaves_out_is_left_out_and_counted(
    campaign: Study, scripted: type[Scripted], tmp_path: Path
) -> None:
    judge_study(campaign, ScriptedSettings(name="j", constructs=("QR",)))
    row = {"query_id": "q1", "query": "Question 1?", "system": "A", "response": "Another one."}
    changed = tmp_path / "changed.jsonl"
    changed.write_text(json.dumps({**row, "references": ["Reference 1.", "Answer 1 of A."]}))
    import_file(campaign, changed, revise=True)
    done = export_run(campaign, "j", tmp_path / "run.csv")
    assert done.rows == 11
    assert done.left_out == {"of a response that a later one replaced": 1}
    assert "Left out: judgments of a response that a later one replaced (1)." in done.lines()


def test_judgments_of_another_construct_version_are_left_out_and_counted(
    campaign: Study, scripted: type[Scripted], tmp_path: Path
) -> None:
    judge_study(campaign, ScriptedSettings(name="j", constructs=("QR", "CC")))
    # Constructs of the study's own take the place of the five that it has by default.
    settings = campaign.folder / "study.toml"
    changed = '[[constructs]]\nkey = "QR"\nname = "QR"\nquestion = "New?"\n'
    settings.write_text(f"{settings.read_text(encoding='utf-8')}\n{changed}", encoding="utf-8")
    edited = Study.open(campaign.folder)
    path = tmp_path / "run.jsonl"
    done = export_run(edited, "j", path)
    assert done.rows == 0
    assert done.left_out == {
        "of an earlier version of a construct": 12,
        "of a construct that study.toml no longer has": 12,
    }
    edited.close()


def full(cell: object) -> str:
    raise OSError(28, "No space left on device")


def test_nothing_is_replaced_unasked_and_no_half_file_stays(
    campaign: Study,
    scripted: type[Scripted],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge_study(campaign, ScriptedSettings(name="j", constructs=("QR",)))
    path = tmp_path / "run.csv"
    path.write_text("mine")
    with pytest.raises(StudyError, match="already exists"):
        export_run(campaign, "j", path)
    with monkeypatch.context() as patched:
        patched.setattr("study.export.table_files._csv_cell", full)
        with pytest.raises(OSError, match="No space"):
            export_run(campaign, "j", path, overwrite=True)
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["run.csv"]
    export_run(campaign, "j", path, overwrite=True)
    assert len(read(path)) == 12


def test_invalid_formats_and_names_are_refused(
    campaign: Study, scripted: type[Scripted], tmp_path: Path
) -> None:
    judge_study(campaign, ScriptedSettings(name="j", constructs=("QR",)))
    with pytest.raises(StudyError, match=r"Unknown export format 'parq'. Did you mean 'parquet'"):
        export_run(campaign, "j", tmp_path / "run.parq")
    with pytest.raises(StudyError, match="has no ending"):
        export_run(campaign, "j", tmp_path / "run")
    with pytest.raises(StudyError, match="is a folder"):
        export_run(campaign, "j", tmp_path, "csv")
    with pytest.raises(StudyError, match="has no run 'k'"):
        export_run(campaign, "k", tmp_path / "run.csv")
    assert export_run(campaign, "j", tmp_path / "run", "jsonl").rows == 12


def test_the_command_exports_a_run(
    campaign: Study, scripted: type[Scripted], tmp_path: Path
) -> None:
    scripted.answer = always(Answer("12"))
    judge_study(campaign, ScriptedSettings(name="j", constructs=("QR",)))
    words = ["export", str(campaign.folder), "j", "--out", str(tmp_path / "run.parquet")]
    done = CliRunner().invoke(judge, words)
    assert done.output == f"Wrote {tmp_path / 'run.parquet'} (12 judgments of the run 'j').\n"
    output = CliRunner().invoke(judge, [*words, "--overwrite", "--json"]).output
    assert json.loads(output)["rows"] == 12
