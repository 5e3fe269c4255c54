"""Files of a batch are submitted, followed and fetched; a local server imitates each provider."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judge import judge_study
from judge.engines.engine_settings import FilesSettings
from judge.engines.files.service.batch_folder import BatchFolder
from judge.engines.files.service.fetching import fetch, status
from judge.engines.files.service.folder_state import FolderState
from judge.engines.files.service.submission_plan import submission_plan
from judge.engines.files.service.submitting import submit
from study import Study, StudyError
from tests.ccrs_command import Done, in_process
from tests.judge.small_studies import fill
from tests.judge.stub.batch_services import KEY, BatchServices, running_services

SCRIPT = Path(sys.executable).with_name("ccrs")
Command = Callable[..., Done]
FORMS = ("openai", "anthropic", "gemini")
MODEL = {"openai": "gpt", "anthropic": "claude", "gemini": "gemini-0"}
VARIABLE = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
START = {
    "openai": "POST /v1/batches",
    "anthropic": "POST /v1/messages/batches",
    "gemini": "POST /v1beta/models",
}


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServices]:
    monkeypatch.setattr("judge.engines.openai.endpoint.FIRST_WAIT", 0.01)
    for variable in VARIABLE.values():
        monkeypatch.setenv(variable, KEY)
    with running_services() as running:
        yield running


def written(folder: Path, form: str, monkeypatch: pytest.MonkeyPatch, each: int = 20) -> Path:
    """Write the 57 prompts of a small study into files of at most `each`."""
    from judge.engines.files.file_formats import FORMATS

    with Study.create(folder / "study") as study, monkeypatch.context() as patch:
        patch.setattr(type(FORMATS[form]), "most_requests", each)
        fill(study)
        settings: Any = {"format": form, "requests": folder / "requests"}
        judge_study(study, FilesSettings(model=MODEL[form], **settings))
    return folder / "requests"


def submitted(
    folder: Path, services: BatchServices, form: str, *, again: bool = False
) -> FolderState:
    files = BatchFolder(folder)
    model = MODEL[form] if form == "gemini" else None
    plan = submission_plan(files, base_url=services.address(form), model=model, again=again)
    return asyncio.run(submit(files, plan, lambda _: None, model=model, again=again))


def fetched(folder: Path) -> FolderState:
    return asyncio.run(fetch(BatchFolder(folder), lambda _: None))


def asked(folder: Path) -> FolderState:
    return asyncio.run(status(BatchFolder(folder)))


def ccrs(*words: object, code: int = 0) -> str:
    """Run a command; return what it printed."""
    done = in_process(*words)
    output = done.stdout + done.stderr
    assert done.returncode == code, output
    assert "Traceback" not in output
    assert KEY not in output
    return output


@pytest.mark.parametrize("form", FORMS)
def test_the_whole_way_with_a_kill_between_upload_and_start(
    services: BatchServices, tmp_path: Path, form: str
) -> None:
    study, folder = tmp_path / "study", tmp_path / "requests"
    with Study.create(study) as made:
        fill(made)
    judge = ["judge", study, "--engine", "files", "--model", MODEL[form], "--format", form]
    assert "57 prompts" in ccrs(*judge, "--requests", folder)
    words = ["judge", "batch", "submit", folder, "--base-url", services.address(form)]
    words += ["--model", "gemini-0"] if form == "gemini" else []
    dry = ccrs(*words, "--price", "1000", "1000", "--dry-run")
    assert "judge-001" in dry
    assert "To submit: 57 prompts" in dry
    assert "Answer tokens: at most 912" in dry
    assert "Cost: about " in dry
    assert "Nothing was sent" in dry
    assert services.log == []
    assert asked(folder).files[0].lines() == [
        f"{asked(folder).files[0].file}: 57 prompts, not submitted"
    ]

    # The start of the batch arrives, and the machine is lost before the answer does.
    services.fail(START[form], "hold")
    with subprocess.Popen([SCRIPT, *map(str, words)], stdout=subprocess.DEVNULL) as process:
        assert services.held.wait(60)
        process.kill()
    services.released.set()
    recorded = (folder / "batches.json").read_text()
    assert KEY not in recorded
    (file,) = json.loads(recorded)["files"].values()
    assert (file["state"], file["batch"]) == ("starting", None)

    again = ccrs(*words)
    (batch,) = services.batches
    assert f"batch {batch.id}" in again
    assert len(services.files) == (0 if form == "anthropic" else 1)
    assert submitted(folder, services, form).files[0].batch == batch.id
    assert len(services.batches) == 1
    shown = ccrs("judge", "batch", "status", folder)
    assert f"0 of 57 prompts answered, 0 failed ({batch.id})" in shown
    assert "Later: ccrs judge batch status" in shown
    assert fetched(folder).files[0].state == "running"

    services.finish(batch)
    assert asked(folder).lines()[-1].startswith("Next: ccrs judge batch fetch")
    lines = ccrs("judge", "batch", "fetch", folder).splitlines()
    assert lines[0].endswith(": results-001.jsonl")
    assert "fetched, 57 of 57 prompts answered, 0 failed" in lines[1]
    command = lines[-1].removeprefix("Next: ccrs ").partition(", with")[0]
    before = len(services.log)
    fetched(folder)
    assert len(services.log) == before

    read = ccrs(*command.replace("STUDY", str(study)).split())
    assert "57" in read
    with Study.open(study) as opened:
        scores = opened.score_table()
        assert scores.loc[scores["scorer"] == MODEL[form], "value"].notna().sum() == 60


@pytest.mark.parametrize("form", FORMS)
def test_a_kill_before_the_start_arrived_starts_the_batch_once(
    services: BatchServices, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, form, monkeypatch)
    services.fail(START[form], "hold", before=True)
    words = [SCRIPT, "judge", "batch", "submit", folder, "--base-url", services.address(form)]
    words += ["--model", "gemini-0"] if form == "gemini" else []
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        assert services.held.wait(60)
        process.kill()
    services.released.set()
    assert services.batches == []
    state = submitted(folder, services, form)
    assert [file.state for file in state.files] == ["running"] * 3
    assert [len(batch.requests) for batch in services.batches] == [20, 20, 17]
    # The upload of before the kill was used.
    assert len(services.files) == (0 if form == "anthropic" else 3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("action", ["429", "500", "cut"])
@pytest.mark.parametrize("before", [True, False])
def test_failures_that_pass_are_tried_again_and_start_no_second_batch(
    services: BatchServices,
    tmp_path: Path,
    form: str,
    action: str,
    before: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = written(tmp_path, form, monkeypatch, 100)
    services.fail(START[form], action, before=before)
    services.fail("GET ", action)
    services.fail("POST /v1/files", action)
    services.fail("POST /upload", action)
    submitted(folder, services, form)
    assert len(services.batches) == 1
    services.finish(services.batches[0])
    services.fail("GET ", action, times=2)
    assert [file.state for file in fetched(folder).files] == ["fetched"]


def test_lasting_failures_end_with_the_remedy_and_the_next_call_continues(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, "openai", monkeypatch)
    services.fail("POST /v1/batches", "503", before=True, times=5)
    with pytest.raises(StudyError, match=r"judge-001\.jsonl: 127.*503: stub 503\. Run the command"):
        submitted(folder, services, "openai")
    assert services.batches == []
    # A reply without an id, though the batch has started.
    services.fail("POST /v1/batches", "200")
    with pytest.raises(StudyError, match="reply has no id of the batch"):
        submitted(folder, services, "openai")
    submitted(folder, services, "openai")
    assert [len(batch.requests) for batch in services.batches] == [20, 20, 17]


def test_a_refused_key_is_named_by_its_variable_and_never_shown(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, "openai", monkeypatch)
    wrong = "sk-wrong-key-of-somebody-12345"
    words = ("judge", "batch", "submit", folder, "--base-url", services.address("openai"))
    monkeypatch.setenv("MINE", wrong)
    output = ccrs(*words, "--api-key-env", "MINE", code=2)
    assert "judge-001.jsonl: 127.0.0.1" in output
    assert "Incorrect API key provided in Authorization: [key]. Check the key" in output
    assert "MINE" in output
    assert wrong not in output + (folder / "batches.json").read_text()
    # The wrong address or key of a call does not bind the next one.
    assert [file.state for file in submitted(folder, services, "openai").files] == ["running"] * 3
    assert "Leave --base-url out" in ccrs(*words[:-1], "http://127.0.0.1:9/v1", code=2)
    monkeypatch.delenv("OPENAI_API_KEY")
    ours = ccrs("judge", "batch", "submit", written(tmp_path / "b", "openai", monkeypatch), code=2)
    assert "The environment variable OPENAI_API_KEY has no key" in ours


@pytest.mark.parametrize("form", FORMS)
def test_what_expired_is_read_as_such_and_written_again(
    services: BatchServices, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, form, monkeypatch, 100)
    submitted(folder, services, form)
    services.finish(services.batches[0], answered=50)
    state = fetched(folder)
    assert [(file.answered, file.failed) for file in state.files] == [(50, 7)]
    answers = tuple(folder / name for name in state.files[0].results)
    assert len(answers) == (2 if form == "openai" else 1)
    with Study.open(tmp_path / "study") as study:
        settings: Any = {"format": form, "requests": folder, "answers": answers}
        done = judge_study(study, FilesSettings(model=MODEL[form], **settings))
        assert done.answered == 50
        assert [file.state for file in asked(folder).files] == ["fetched", "new"]
        submitted(folder, services, form)
        assert [len(batch.requests) for batch in services.batches] == [57, 7]
        services.finish(services.batches[1])
        results = tuple(folder / name for file in fetched(folder).files for name in file.results)
        settings["answers"] = results
        last = judge_study(study, FilesSettings(model=MODEL[form], **settings))
        assert (last.answered, last.remaining, last.failed) == (7, 0, {})
        assert [file.state for file in asked(folder).files] == ["fetched", "fetched"]


@pytest.mark.parametrize(
    ("form", "word", "shown"),
    [
        ("openai", "failed", "failed, 0 of 57 prompts answered, 0 failed (batch_1): line 3: Bad"),
        ("gemini", "BATCH_STATE_FAILED", "failed, 0 of 57 prompts answered, 0 failed (batches/b1)"),
    ],
)
def test_a_batch_that_failed_is_said_with_its_message_and_submitted_again_on_request(
    services: BatchServices,
    tmp_path: Path,
    form: str,
    word: str,
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = written(tmp_path, form, monkeypatch, 100)
    submitted(folder, services, form)
    batch = services.batches[0]
    batch.word, batch.message = word, f"Bad model for {KEY}"
    output = ccrs("judge", "batch", "fetch", folder, code=1)
    assert shown in output
    assert "Bad model for [key]" in output
    assert "--again" in output
    submitted(folder, services, form)
    assert len(services.batches) == 1
    submitted(folder, services, form, again=True)
    assert len(services.batches) == 2
    services.finish(services.batches[1])
    assert fetched(folder).files[0].results == ("results-001-2.jsonl",)
    with pytest.raises(StudyError, match="--again has no effect here"):
        submitted(folder, services, form, again=True)


@pytest.mark.parametrize("form", FORMS)
def test_a_partial_download_never_looks_finished(
    services: BatchServices, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, form, monkeypatch, 100)
    submitted(folder, services, form)
    services.finish(services.batches[0])
    where = {"openai": "/v1/files/", "gemini": "/download/"}
    place = where.get(form, f"/v1/messages/batches/{services.batches[0].id}/results")
    services.fail(f"GET {place}", "half", times=5)
    with pytest.raises(StudyError, match=r"judge-001\.json.*: its results could not be fetched"):
        fetched(folder)
    assert [path.name for path in folder.iterdir() if path.name.startswith("results")] == []
    services.fail(f"GET {place}", "half", times=2)
    assert fetched(folder).files[0].state == "fetched"
    lines = (folder / "results-001.jsonl").read_text().splitlines()
    assert len(lines) == 57
    # A lost file of results is fetched again.
    (folder / "results-001.jsonl").unlink()
    assert fetched(folder).files[0].state == "fetched"
    assert len((folder / "results-001.jsonl").read_text().splitlines()) == 57


@pytest.mark.parametrize("form", ["openai", "gemini"])
def test_the_batches_of_a_lost_machine_are_found_by_the_same_files(
    services: BatchServices, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "one", form, monkeypatch)
    submitted(folder, services, form)
    other = written(tmp_path / "two", form, monkeypatch)
    state = submitted(other, services, form)
    assert [file.batch for file in state.files] == [batch.id for batch in services.batches]
    assert len(services.batches) == 3


def test_a_server_without_marks_knows_a_batch_by_its_upload(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, "openai", monkeypatch)
    services.keeps_marks = False
    services.fail("POST /v1/batches", "cut", times=1)
    submitted(folder, services, "openai")
    assert len(services.batches) == 3


def test_a_server_without_a_list_of_batches_starts_none_on_a_guess(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, "openai", monkeypatch)
    services.lists = False
    # Of what was refused, there is nothing to look up.
    services.fail("POST /v1/batches", "429", before=True)
    services.fail("POST /v1/batches", "cut")
    with pytest.raises(StudyError, match=r"its batch may have started.*--again"):
        submitted(folder, services, "openai")
    assert len(services.batches) == 1
    assert asked(folder).files[0].lines() == ["judge-001.jsonl: 20 prompts, start not confirmed"]
    submitted(folder, services, "openai", again=True)
    assert len(services.batches) == 4


def test_a_batch_of_others_is_not_taken_for_ours(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, "anthropic", monkeypatch, 100)
    services.fail(START["anthropic"], "hold")
    words = [
        SCRIPT,
        "judge",
        "batch",
        "submit",
        folder,
        "--base-url",
        services.address("anthropic"),
    ]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        assert services.held.wait(60)
        process.kill()
    services.released.set()
    ours = services.batches[0]
    strange = [{**request, "custom_id": f"x{n}"} for n, request in enumerate(ours.requests)]
    foreign = services.new_batch("anthropic", strange, None, "in_progress")
    with pytest.raises(StudyError, match=r"msgbatch_2, msgbatch_1 have as many prompts"):
        submitted(folder, services, "anthropic")
    services.batches.remove(ours)
    submitted(folder, services, "anthropic")
    services.finish(foreign)
    (file,) = fetched(folder).files
    assert (file.state, file.message) == (
        "failed",
        "the results of msgbatch_2 are not of this file",
    )
    assert not list(folder.glob("results*"))


def test_results_are_fetched_from_the_providers_host_alone(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, "anthropic", monkeypatch, 100)
    submitted(folder, services, "anthropic")
    services.finish(services.batches[0])
    services.batches[0].message = "http://example.org/results"
    with pytest.raises(StudyError, match=r"another host, example\.org; the key is not sent"):
        fetched(folder)


def test_what_does_not_fit_the_folder_is_refused(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "a", "openai", monkeypatch)
    gemini = written(tmp_path / "b", "gemini", monkeypatch)
    with pytest.raises(StudyError, match="Name the model with --model"):
        submission_plan(BatchFolder(gemini))
    with pytest.raises(StudyError, match="--model m has no effect here: the files name"):
        submission_plan(BatchFolder(folder), model="m")
    with pytest.raises(StudyError, match="--base-url: write it as"):
        submission_plan(BatchFolder(folder), base_url="localhost")
    files = BatchFolder(folder)
    plan = submission_plan(files, base_url="http://example.org/v1")
    with pytest.raises(StudyError, match=r"would go to example\.org unencrypted"):
        asyncio.run(submit(files, plan, lambda _: None))
    (tmp_path / "empty").mkdir()
    with pytest.raises(StudyError, match="has no files of requests"):
        BatchFolder(tmp_path / "empty")
    submitted(folder, services, "openai")
    with pytest.raises(StudyError, match="Leave --base-url out"):
        submission_plan(BatchFolder(folder), base_url="http://127.0.0.1:9/v1")
    with (folder / "judge-001.jsonl").open("a") as stream:
        stream.write("\n")
    with pytest.raises(StudyError, match=r"judge-001\.jsonl has changed since it was submitted"):
        submission_plan(BatchFolder(folder))
    (folder / "batches.json").write_text("{")
    with pytest.raises(StudyError, match=r"batches\.json is damaged"):
        BatchFolder(folder)
    (gemini / "judge-001.jsonl").rename(folder / "judge-009.jsonl")


def test_an_upload_that_its_provider_has_deleted_is_repeated(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, "gemini", monkeypatch, 100)
    services.fail(START["gemini"], "500", before=True, times=5)
    with pytest.raises(StudyError, match="stub 500"):
        submitted(folder, services, "gemini")
    record = json.loads((folder / "batches.json").read_text())
    record["files"]["judge-001.jsonl"]["since"] -= 48 * 3600
    (folder / "batches.json").write_text(json.dumps(record))
    submitted(folder, services, "gemini")
    assert len(services.files) == 2
    assert len(services.batches) == 1


def test_results_that_do_not_fit_on_the_disk_are_not_a_failure_of_the_provider(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, "openai", monkeypatch, 100)
    submitted(folder, services, "openai")
    services.finish(services.batches[0])
    before = len(services.log)
    (folder / "results-001.jsonl.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        fetched(folder)
    assert len(services.log) == before + 2
    assert not list(folder.glob("results*"))
    assert fetched(folder).files[0].state == "fetched"


def test_programs_read_json(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, "openai", monkeypatch)
    words = ("judge", "batch", "submit", folder, "--base-url", services.address("openai"))
    plan = json.loads(ccrs(*words, "--price", "0", "1e6", "--dry-run", "--json"))
    assert (plan["cost"], sum(plan["prompts"].values())) == (57 * 16, 57)
    done = json.loads(ccrs(*words, "--json"))
    assert [file["batch"] for file in done["files"]] == [batch.id for batch in services.batches]


def test_two_calls_do_not_submit_at_once(
    services: BatchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, "openai", monkeypatch, 100)
    services.fail("POST /v1/files", "hold")
    words = [SCRIPT, "judge", "batch", "submit", folder, "--base-url", services.address("openai")]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        assert services.held.wait(60)
        with pytest.raises(StudyError, match="Another call submits or fetches"):
            submitted(folder, services, "openai")
        services.released.set()
        assert process.wait(60) == 0
    assert len(services.batches) == 1
