"""What a file of answers is: recognized from its content, and refused where it does not fit."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge import FilesSettings, judge_study
from judge.engines.files.file_formats import results_format
from study import InputError, Study, StudyError
from tests.ccrs_command import in_process, program
from tests.judge.engines.files.provider_files import failed, result, results, sent

ROW = {"query_id": "q1", "system": "A", "construct": "AC", "answer": "85"}
ANSWER = {"text": "85"}
MESSAGE = {"content": [{"type": "text", **ANSWER}], "model": "m", "stop_reason": "end_turn"}
CANDIDATE = {"content": {"parts": [ANSWER]}, "finishReason": "STOP"}


def settings(*files: Path, **more: Any) -> FilesSettings:
    return FilesSettings(model="m", answers=files, **more)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return results(tmp_path / "table.jsonl", [ROW])


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ({"custom_id": "x", "response": {"body": {}}, "error": None}, "openai"),
        ({"custom_id": "x", "response": None, "error": {"code": "expired"}}, "openai"),
        ({"custom_id": "x", "result": {"type": "expired"}}, "anthropic"),
        ({"key": "x", "response": {"candidates": []}}, "gemini"),
        ({"key": "x", "status": {"code": 4}}, "gemini"),
        # A table whose rows are numbered, with a text.
        ({"key": "x", "response": "85"}, None),
        (ROW, None),
        (5, None),
    ],
)
def test_a_provider_is_known_by_its_lines(tmp_path: Path, line: Any, name: str | None) -> None:
    path = tmp_path / "answers"
    path.write_text(f"\n{{broken\n{json.dumps(line)}\n")
    form = results_format([path])
    assert (form and form.name) == name


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_tables_in_every_format_are_recognized_as_tables(tmp_path: Path, ending: str) -> None:
    import pandas as pd

    path = tmp_path / f"a.{ending}"
    frame = pd.DataFrame([ROW])
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_excel(path, index=False)
    assert results_format([path]) is None


def test_results_are_read_without_the_name_of_their_format(campaign: Study, tmp_path: Path) -> None:
    folder = tmp_path / "requests"
    for form in ("anthropic", "gemini"):
        options: dict[str, Any] = {"model": form, "requests": folder / form}
        judge_study(campaign, FilesSettings(**options, format=form))
        (file,) = (folder / form).iterdir()
        lines = [line.rstrip(",") for line in file.read_text().splitlines()]
        requests = [json.loads(line) for line in lines if line.endswith("}}")]
        answers = [
            {"custom_id": request["custom_id"], "result": {"type": "succeeded", "message": MESSAGE}}
            if form == "anthropic"
            else {"key": request["key"], "response": {"candidates": [CANDIDATE]}}
            for request in requests
        ]
        path = results(tmp_path / f"{form}.jsonl", answers)
        for other in ({"answers": (path,)}, {"requests": folder / form}):
            with pytest.raises(StudyError, match=f"one format; here --format openai, .* {form}"):
                judge_study(campaign, FilesSettings(**{"model": form, **other, "format": "openai"}))
        waiting = judge_study(campaign, FilesSettings(**options))
        assert any(note.startswith("57 prompts wait for results") for note in waiting.notes)
        done = judge_study(campaign, FilesSettings(**options, answers=(path,)))
        assert (done.judged, done.failed, done.begun) == (60, {}, False)


def test_files_of_several_kinds_are_refused(campaign: Study, tmp_path: Path, table: Path) -> None:
    judge_study(campaign, FilesSettings(model="m", requests=tmp_path / "requests"))
    lines = sent(tmp_path / "requests")
    got = results(tmp_path / "r.jsonl", map(result, lines))
    with pytest.raises(StudyError, match=r"table.jsonl: a table; r.jsonl: results of openai"):
        judge_study(campaign, settings(table, got))
    # An empty file of errors says nothing.
    (tmp_path / "errors.jsonl").touch()
    assert judge_study(campaign, settings(tmp_path / "errors.jsonl", got)).judged == 60
    with pytest.raises(InputError, match=r"errors.jsonl: 1 fault.*\n.*the file is empty"):
        judge_study(campaign, settings(tmp_path / "errors.jsonl"))


def test_requests_given_as_answers_are_refused(campaign: Study, tmp_path: Path) -> None:
    judge_study(campaign, FilesSettings(model="m", requests=tmp_path))
    with pytest.raises(InputError, match="neither a response nor an error"):
        judge_study(campaign, settings(tmp_path / "judge-001.jsonl"))


@pytest.mark.parametrize(
    "more",
    [
        {"temperature": 0.5},
        {"max_tokens": 5},
        {"seed": 1},
        {"window": 1000},
        {"skip_too_long": True},
        {"retry_unparsed": True},
        {"format": "openai"},
        {"body": {"top_p": 1}},
        {"reasoning_tokens": 10},
        {"omit_temperature": True},
        {"logprobs": "on"},
        {"answer_schema": "on"},
    ],
)
def test_a_table_does_not_say_how_prompts_are_asked(
    campaign: Study, table: Path, more: dict[str, Any]
) -> None:
    option = next(iter(more)).replace("_", "-")
    with pytest.raises(StudyError, match=f"--{option}: the files of --answers are tables"):
        judge_study(campaign, settings(table, **more))


def test_a_table_belongs_to_another_run_than_requests(
    campaign: Study, table: Path, tmp_path: Path
) -> None:
    with pytest.raises(StudyError, match="Leave --requests out, or give a provider's results"):
        judge_study(campaign, settings(table, requests=tmp_path / "requests"))
    assert not (tmp_path / "requests").exists()
    judge_study(campaign, settings(table, name="one"))
    with pytest.raises(StudyError, match="other conditions"):
        judge_study(campaign, FilesSettings(model="m", name="one", requests=tmp_path / "requests"))


@pytest.mark.parametrize("place", [0, 57])
def test_a_failure_before_or_after_an_answer_does_not_replace_it(
    campaign: Study, tmp_path: Path, place: int
) -> None:
    judge_study(campaign, FilesSettings(model="m", requests=tmp_path / "requests"))
    lines = sent(tmp_path / "requests")
    answers = list(map(result, lines))
    answers.insert(place, failed(lines[0]))
    done = judge_study(campaign, settings(results(tmp_path / "r", answers)))
    assert (done.judged, done.failed) == (60, {})


def test_the_program_reads_a_table_and_names_the_engine(campaign: Study, table: Path) -> None:
    words = ["judge", campaign.folder, "--model", "elsewhere", "--answers", table]
    done = in_process(*words, "--engine", "recorded")
    assert done.returncode == 2
    assert "The engine of requests and answers in files is 'files'" in done.stderr
    done = program(*words, "--engine", "files", "--constructs", "AC")
    assert done.returncode == 1
    assert "no_answer" in done.stdout + done.stderr
    assert "11 prompts have no answer in these files" in done.stdout + done.stderr
    done = in_process(*words, "--engine", "files", "--seed", 3, "--dry-run")
    assert done.returncode == 2
    assert "--seed: the files of --answers are tables of answers" in done.stderr
