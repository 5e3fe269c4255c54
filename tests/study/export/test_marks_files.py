"""Marks in exports and tables: the set that counts, by sentence and with its text."""

import json
from pathlib import Path

from annotate_ui.tasks.workflow import open_next
from study import Study
from study.export.study_export import export_study
from study.facts.marks_table import SentenceCount, marked_by_people
from tests.annotate_ui.campaign_with_marks import (
    KEYS,
    SENTENCES,
    TEXT,
    fill,
    mark,
    ranges,
    with_marks,
)
from tests.annotate_ui.rated_campaign import give, rate


def rated(study: Study, rater: str, *marked: str) -> None:
    rater_id = give(study, rater, keys=KEYS)
    assert rater_id is not None
    step = open_next(study, rater_id).step
    assert step is not None
    mark(study, rater_id, step, "QR", ranges(*marked))


def test_marks_are_exported_with_ranges_and_texts(any_study: Study, tmp_path: Path) -> None:
    study = with_marks(any_study)
    fill(study)
    rated(study, "anna", SENTENCES[1], SENTENCES[4])
    rated(study, "ben")
    rater_id = give(study, "cara", keys=KEYS)
    assert rater_id is not None
    step = open_next(study, rater_id).step
    assert step is not None
    # A value without marks, and marks that were taken back: not answered.
    rate(study, rater_id, step, "QR", 50)
    mark(study, rater_id, step, "QR", [])
    mark(study, rater_id, step, "QR", None, base=1)
    summary = export_study(study, tmp_path / "out")
    assert summary.files["marks.jsonl"] == 2
    lines = (tmp_path / "out" / "marks.jsonl").read_text(encoding="utf-8").splitlines()
    first, second = (json.loads(line) for line in lines)
    assert [part["text"] for part in first["marks"]] == [SENTENCES[1], SENTENCES[4]]
    assert all(TEXT[part["start"] : part["end"]] == part["text"] for part in first["marks"])
    assert (second["scorer"], second["marks"]) == ("ben", [])
    (task,) = json.loads((tmp_path / "out" / "marks_label_studio.json").read_text("utf-8"))
    assert task["data"]["response"] == TEXT
    results = [annotation["result"] for annotation in task["annotations"]]
    assert [len(result) for result in results] == [2, 0]
    assert results[0][0]["type"] == "labels"
    assert results[0][0]["value"]["labels"] == ["QR"]
    book = json.loads((tmp_path / "out" / "codebook.json").read_text("utf-8"))
    assert book["marks"]["file"] == "marks.jsonl"
    assert "marks.jsonl" in (tmp_path / "out" / "codebook.md").read_text("utf-8")
    table = study.marks_table()
    assert list(table["marked"]) == [0, 1, 0, 0, 1, *[0] * 5]
    assert list(table["sentence"]) == [*range(1, 6)] * 2
    with study.read() as connection:
        counted = marked_by_people(connection, study.construct_versions(connection), {1})
    assert counted["QR", 1][1] == SentenceCount(SENTENCES[1], 1, 2)
