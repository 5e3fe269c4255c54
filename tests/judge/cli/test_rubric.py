"""A rubric of one sentence, as a user starts it: stored, judged, and compared with CCRS."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge import prompt_version, store_rubric
from study import Study
from tests.ccrs_command import Done, in_process, program
from tests.judge.cli.test_suites_as_typed import QUICK, rated
from tests.judge.stub.process import Stub, running_stub

__all__ = ["rated"]

SENTENCE = 'The response states  a fact\nand says "where" it is from.'


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with running_stub() as started:
        started.behave("follows_schema")
        yield started


@pytest.mark.usefixtures("without_drawing")
def test_a_rubric_is_a_judge_beside_ccrs(rated: Path, stub: Stub) -> None:
    words = ("judge", rated, "--base-url", stub.base_url, "--model", "stub-judge")
    planned = program(*words, "--rubric", SENTENCE, "--construct", "AC", "--dry-run")
    assert planned.returncode == 0, planned.stderr
    assert not (rated / "prompts").exists() or not list((rated / "prompts").iterdir())
    judged = program(*words, "--rubric", SENTENCE, "--construct", "AC")
    assert judged.returncode == 0, judged.stderr
    [folder] = (rated / "prompts").iterdir()
    assert folder.name.startswith("rubric-AC-")
    assert f"36 judgments of the run 'stub-judge {folder.name}' were stored" in judged.stdout
    prompt = (folder / "AC.txt").read_text(encoding="utf-8")
    assert 'rubric: The response states a fact and says "where" it is from.\n' in prompt
    assert "Score from 0 to 100" in prompt
    assert '"score", a number from 0 to 100' in prompt
    # Once more nothing is asked, and the version is the same one.
    again = program(*words, "--rubric", SENTENCE, "--construct", "AC", "--json")
    assert json.loads(again.stdout)["answered"] == 0
    assert program(*words).returncode == 0
    report = rated.parent / "report"
    assert in_process("report", rated, "--out", report, *QUICK).returncode == 0
    page = (report / "report.html").read_text(encoding="utf-8")
    estimates = json.loads((report / "report.json").read_text(encoding="utf-8"))["estimates"]
    both = {"stub-judge", f"stub-judge {folder.name}"}
    assert any(both <= {*e["scorers"]} and e["constructs"] == ["AC"] for e in estimates)
    assert f"stub-judge {folder.name}" in page


def test_a_version_may_have_a_name(rated: Path, stub: Stub) -> None:
    words = ("judge", rated, "--base-url", stub.base_url, "--model", "stub-judge")
    words += ("--construct", "IR", "--prompts", "brief-v1", "--limit", "2")
    assert in_process(*words, "--rubric", "The response is brief.").returncode == 0
    version = prompt_version("brief-v1", rated)
    assert tuple(version.templates) == ("IR",)
    assert version.structured
    changed = in_process(*words, "--rubric", "The response is short.")
    assert changed.returncode == 2
    assert "brief-v1 has other words than this rubric" in changed.stderr
    assert "Choose another name with --prompts" in changed.stderr


def test_other_files_in_the_folder_of_a_version_are_no_words(rated: Path, stub: Stub) -> None:
    words = ("judge", rated, "--base-url", stub.base_url, "--model", "stub-judge", "--limit", "1")
    words += ("--construct", "AC", "--prompts", "brief-v1", "--rubric", "The response is brief.")
    assert in_process(*words).returncode == 0
    folder = rated / "prompts" / "brief-v1"
    (folder / "picture.bin").write_bytes(b"\xff\x00")
    (folder / "older").mkdir()
    assert in_process(*words).returncode == 0


@pytest.mark.parametrize("kind", ["binary", "folder", "file", "no prompt"])
def test_what_is_no_prompt_version_is_named(rated: Path, kind: str) -> None:
    folder = rated / "prompts" / "brief-v1"
    named = folder / "AC.txt"
    folder.mkdir(parents=True)
    if kind == "binary":
        named.write_bytes(b"\xff\xfe\x00")
    elif kind == "folder":
        named.mkdir()
    elif kind == "no prompt":
        (folder / "picture.bin").write_bytes(b"\xff")
    else:
        folder.rmdir()
        folder.write_text("A note.", encoding="utf-8")
    words = ("judge", rated, "--base-url", "http://localhost:9/v1", "--model", "m")
    words += ("--construct", "AC", "--prompts", "brief-v1", "--rubric", "The response is brief.")
    done = in_process(*words)
    assert done.returncode == 2
    assert str(folder) in done.stderr
    assert ("is a file" if kind == "file" else "AC.txt") in done.stderr
    assert "Choose another name with --prompts" in done.stderr
    assert folder.exists()


def test_a_folder_in_place_of_a_prompt_is_named(rated: Path) -> None:
    folder = rated / "prompts" / "mine"
    assert in_process("judge", "prompts", rated, "--new", "mine").returncode == 0
    (folder / "AC.txt").unlink()
    (folder / "AC.txt").mkdir()
    done = in_process("judge", rated, "--model", "m", "--prompts", "mine", "--dry-run")
    assert done.returncode == 2
    assert f"{folder / 'AC.txt'} is a folder" in done.stderr


def test_a_version_stays_where_its_run_was_begun(rated: Path, stub: Stub) -> None:
    words: tuple[object, ...] = ("judge", rated, "--model", "stub-judge", "--construct", "AC")
    words += ("--rubric", "The response is brief.")
    here = ("--base-url", stub.base_url)
    assert in_process(*words, *here, "--name", "EM").returncode == 2
    refused = program(*words, "--base-url", "http://127.0.0.1:9/v1", "--timeout", "1")
    assert refused.returncode == 2, refused.stderr
    assert not list(rated.glob("prompts/*"))
    assert in_process(*words, *here, "--limit", "1").returncode == 0
    [folder] = rated.glob("prompts/*")
    # A later call that is refused leaves the version of a run.
    assert in_process(*words, *here, "--name", "EM").returncode == 2
    assert folder.is_dir()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("Brief.",), "one construct, and these are several: QR, CC, ID, AC, IR"),
        (("Brief.", "--constructs", "AC,IR"), "one construct, and these are several: AC, IR"),
        (("Brief.", "--construct", "ac"), "no construct 'ac'. Did you mean 'AC'?"),
        ((" \n", "--construct", "AC"), "The rubric is empty"),
        (("Fits {question}.", "--construct", "AC"), "has {question}, which a prompt takes"),
        (("Brief.", "--construct", "AC", "--prompts", "a/b"), "not a valid name"),
        (("Brief.", "--construct", "AC", "--prompts", "ccrs-json-v1"), "ccrs-json-v1"),
        (("Brief.", "--metric", "ragchecker"), "the metric has prompts of its own"),
        (("Brief.", "--prompts", "ccrs-paper-v1"), "the words are those of --rubric"),
    ],
)
def test_what_is_no_rubric_is_refused(rated: Path, words: tuple[str, ...], message: str) -> None:
    done: Done = in_process(
        "judge", rated, "--base-url", "http://localhost:9/v1", "--model", "m", "--rubric", *words
    )
    assert done.returncode != 0
    assert message in done.stderr
    assert not list(rated.glob("prompts/*"))


def test_the_only_construct_of_a_study_needs_no_name(tmp_path: Path) -> None:
    settings = """
        name = "Tone"
        [[constructs]]
        key = "tone"
        name = "Tone"
        question = "Is it friendly?"
        scale = { min = 1, max = 5, step = 1 }
        sees = ["question", "response"]
    """
    with Study.create(tmp_path / "study", settings) as study:
        name = store_rubric(study, "It is friendly.")
        version = prompt_version(name, study.folder)
        assert version.templates["tone"].fields == ("question", "response")
        assert (version.answer.scale.min, version.answer.scale.max) == (1, 5)
