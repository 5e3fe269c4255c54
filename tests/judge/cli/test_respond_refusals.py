"""What `ccrs respond` refuses, before it asks a prompt."""

import json
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from study import Study, StudyError
from tests.judge.responding.respond_calls import SYSTEMS, ccrs, declare, words_of
from tests.judge.small_studies import Scripted

SHORT = 'name = "short-v1"\n[steps.answer]\nprompt = "{passages} {question}"\n'


def test_other_responses_of_a_system_are_replaced_only_on_request(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    folder = declare(study)
    words = words_of(example, "--systems", "words", "--engine", "scripted")
    ccrs("respond", folder, *words, "--limit", 3)
    (folder / "short.toml").write_text(SHORT)
    words += ["--prompt", "short.toml"]
    with pytest.raises(StudyError, match=r"responses to 3 of the queries already.*--revise"):
        ccrs("respond", folder, *words, status=2)
    assert len(scripted.asked) == 3
    made = ccrs("respond", folder, *words, "--revise")
    assert made["systems"]["words"]["added"] == 27
    with Study.open(folder) as opened, opened.read() as connection:
        text = "select count(*) from output where revision = 2"
        assert connection.exec_driver_sql(text).scalar() == 3
    # What is current stays so without the option.
    assert ccrs("respond", folder, *words)["prompts"] == 0
    # The answers before are known, and are no longer its responses.
    for more in ([], ["--dry-run"]):
        with pytest.raises(StudyError, match=r"responses to 30 of the queries already.*--revise"):
            ccrs("respond", folder, *words[:-2], *more)
    assert len(scripted.asked) == 33


def test_other_responses_of_any_system_are_found_before_the_first_prompt(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    words = words_of(example, "--engine", "scripted")
    ccrs("respond", study.folder, *words, "--systems", "C")
    shutil.rmtree(study.folder / "respond")
    scripted.asked.clear()
    message = "system C has responses to 30 of .*--revise.*backup, copy the folder respond"
    for more in ([], ["--dry-run"]):
        with pytest.raises(StudyError, match=message):
            ccrs("respond", study.folder, *words, "--systems", "A,C", *more)
    assert scripted.asked == []
    assert ccrs("respond", study.folder, *words, "--systems", "C", "--revise")["answered"] == 30


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"text": "Another?"}, "the study has the query {key} with another text"),
        ({"references": ["Another."]}, "the study has the query {key} with other references"),
        ({"text": "a\u0000b"}, "row 1: the query {key} can't be stored: "),
    ],
)
def test_queries_that_the_study_has_otherwise_are_refused_before_the_first_prompt(
    study: Study,
    example: tuple[Path, Path, Path],
    scripted: type[Scripted],
    changed: dict[str, Any],
    message: str,
) -> None:
    words = words_of(example, "--engine", "scripted")
    ccrs("respond", study.folder, *words, "--systems", "A")
    first, *others = example[1].read_text().splitlines(keepends=True)
    example[1].write_text("".join([f"{json.dumps(json.loads(first) | changed)}\n", *others]))
    scripted.asked.clear()
    message = message.format(key=repr(json.loads(first)["_id"]))
    for more in ([], ["--dry-run"], ["--revise"]):
        with pytest.raises(StudyError, match=rf"^queries\.jsonl: 1 fault.*\n.*{message}"):
            ccrs("respond", study.folder, *words, "--systems", "C", *more)
    assert scripted.asked == []


def test_the_file_of_responses_is_written_after_their_import(
    study: Study,
    example: tuple[Path, Path, Path],
    scripted: type[Scripted],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del scripted
    words = words_of(example, "--systems", "A", "--engine", "scripted")
    refused = Mock(side_effect=StudyError("full"))
    with monkeypatch.context() as patched:
        patched.setattr("judge.responding.imported_responses.import_rows", refused)
        with pytest.raises(StudyError, match="full"):
            ccrs("respond", study.folder, *words)
    path = study.folder / "respond" / "responses-A.jsonl"
    assert not path.exists()
    assert ccrs("respond", study.folder, *words)["systems"]["A"]["added"] == 30
    assert path.read_text().count("\n") == 30


def test_files_are_those_of_one_reader_and_prompt(
    study: Study, example: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    requests = ["--engine", "files", "--requests", tmp_path / "requests"]
    recorded = ["--engine", "files", "--answers", example[1]]
    message = r"have 2 \(mistralai/\S+: A; meta-llama/\S+: C\).*--systems A, each with "
    for engine, files in ((requests, "a --requests folder and files"), (recorded, "files")):
        for more in ([], ["--dry-run"]):
            words = words_of(example, "--systems", "A,C", *engine, *more)
            with pytest.raises(StudyError, match=f"{message}{files} of --answers of its own"):
                ccrs("respond", study.folder, *words)
    (study.folder / "short.toml").write_text(SHORT)
    folder = declare(study, f'{SYSTEMS}prompt = "short.toml"\n'.replace('"fused"', '"bm25"'))
    with pytest.raises(StudyError, match=r"have 2 \(stub-judge: words; stub-judge: both\)"):
        ccrs("respond", folder, *words_of(example, *requests))
    assert not (tmp_path / "requests").exists()
    assert not (study.folder / "respond").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--systems", "both"], "needs an encoder"),
        (["--systems", "words", "--encoder", "e5"], "leave them out"),
        (["--systems", "none"], "Unknown system 'none'"),
        (["--systems", "words", "--tokenizer", "nowhere/x"], "--tokenizer"),
    ],
)
def test_what_cannot_be_done_is_refused(
    study: Study,
    example: tuple[Path, Path, Path],
    scripted: type[Scripted],
    more: list[str],
    message: str,
) -> None:
    folder = declare(study)
    with pytest.raises(StudyError, match=message):
        ccrs("respond", folder, *words_of(example, "--engine", "scripted", *more), status=2)
    assert scripted.asked == []


def test_changed_files_are_refused_with_the_remedy(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    folder = declare(study)
    words = words_of(example, "--systems", "words", "--engine", "scripted")
    system = ccrs("respond", folder, *words)["systems"]["words"]
    for name, message in ((system["answers"], "row 2.*is not an answer"),
                          (system["ranking"], "Delete it")):  # fmt: skip
        before = (folder / name).read_text()
        lines = before.splitlines(keepends=True)
        (folder / name).write_text("".join([lines[0], "{}\n", *lines[2:]]))
        with pytest.raises(StudyError, match=message):
            ccrs("respond", folder, *words, status=2)
        (folder / name).write_text(before)
