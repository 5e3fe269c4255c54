"""Prompt versions of a study's own: found, checked, and never changed under a run's name."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from judge import RunStoppedError, judge_study, list_versions, show_run
from judge.prompts.prompt_versions import copy_version, prompt_version
from judge.protocol.exchange import Answer
from study import Study, StudyError
from study.cli.root import cli
from study.schema.tables import judgments as judgment_table
from tests.judge.small_studies import Scripted, ScriptedSettings, always


def judgments(study: Study) -> list[Any]:
    with study.read() as connection:
        return list(connection.execute(select(judgment_table)))


BARE = "scale = [0, 100]\n"


def write_version(study: Study, name: str, settings: str = BARE, **templates: str) -> Path:
    """Write a prompt version of the study's own."""
    folder = study.folder / "prompts" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "version.toml").write_text(settings)
    for key, text in templates.items():
        (folder / f"{key}.txt").write_text(f"{text}\n")
    return folder


def test_a_study_is_judged_with_words_of_its_own(campaign: Study, scripted: type[Scripted]) -> None:
    write_version(campaign, "german-v1", QR="Frage: {question}\nAntwort: {response}\nNur die Zahl:")
    scripted.answer = always(Answer("70"))
    judge_study(campaign, ScriptedSettings(name="j", prompts="german-v1"))
    details = show_run(campaign, "j")
    assert details.prompt_version == "german-v1"
    assert details.has_prompts
    assert [figure.construct for figure in details.constructs] == ["QR"]
    assert {row.value for row in judgments(campaign)} == {70.0}


def test_the_reason_is_kept_and_the_score_read_from_the_last_line(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = always(Answer("It names the dam.\n85"))
    settings = {"name": "reasoned", "constructs": ("QR",)}
    judge_study(campaign, ScriptedSettings(prompts="ccrs-rationale-v1", **settings))
    stored = judgments(campaign)
    assert {(row.value, row.rule) for row in stored} == {(85.0, "last_line")}
    assert {row.raw_answer for row in stored} == {"It names the dam.\n85"}


def test_changed_words_do_not_go_on_under_the_name_of_the_earlier_ones(
    campaign: Study, scripted: type[Scripted]
) -> None:
    folder = write_version(campaign, "mine", QR="{question} {response}")
    judge_study(campaign, ScriptedSettings(name="first", prompts="mine", limit=1))
    write_version(campaign, "mine", QR="{question} {response} Only the score.")
    for name in (None, "first", "second"):
        with pytest.raises(StudyError, match="have changed since the run 'first'"):
            judge_study(campaign, ScriptedSettings(name=name, prompts="mine"))
    folder.rename(folder.with_name("mine-v2"))
    judge_study(campaign, ScriptedSettings(name="second", prompts="mine-v2", limit=1))
    assert not show_run(campaign, "first").has_prompts


def test_words_that_nothing_was_judged_with_may_change_under_their_name(
    campaign: Study, scripted: type[Scripted]
) -> None:
    write_version(campaign, "mine", QR="{question} {response}")
    scripted.stop_after = 0
    with pytest.raises(RunStoppedError):
        judge_study(campaign, ScriptedSettings(name="first", prompts="mine"))
    assert judgments(campaign) == []
    scripted.stop_after = None
    write_version(campaign, "mine", QR="{question} {response} Only the score.")
    assert judge_study(campaign, ScriptedSettings(name="second", prompts="mine")).judged == 12


@pytest.mark.parametrize(
    ("settings", "template", "message"),
    [
        ("scale = [0, 100", "{response}", "version.toml is not valid TOML"),
        ("scale = [100, 0]", "{response}", "write the lowest and the highest score"),
        ("", "{response}", "scale: Field required"),
        (f"{BARE}max_token = 3", "{response}", r"max_token = 3: unknown setting. Did you mean"),
        (f"{BARE}max_tokens = 0", "{response}", "max_tokens = 0: .*greater than or equal to 1"),
        (f"{BARE}empty_response = true", "{response}", "empty_response"),
        ("scale = [-inf, inf]", "{response}", "scale"),
        (f"{BARE}empty_response = 101", "{response}", "empty_response: is outside the scale"),
        (f'{BARE}form = "score first"', "{response}", "form = 'score first'"),
        (BARE, "{responses}", r"QR.txt: unknown field \{responses\}. Did you mean 'response'"),
        (BARE, "Only the score.", r"QR.txt does not show the judged response: write \{response\}"),
    ],
    ids=[
        *("toml", "scale", "no scale", "unknown", "tokens", "true", "endless", "empty", "form"),
        *("field", "response"),
    ],
)
def test_a_fault_is_named_with_its_file(
    study: Study, settings: str, template: str, message: str
) -> None:
    write_version(study, "mine", settings, QR=template)
    with pytest.raises(StudyError, match=message):
        prompt_version("mine", study.folder)


def test_a_version_without_a_prompt_or_in_another_encoding_is_refused(study: Study) -> None:
    folder = write_version(study, "mine")
    with pytest.raises(StudyError, match="contains no prompt"):
        prompt_version("mine", study.folder)
    (folder / "QR.txt").write_bytes("Größe {response}".encode("latin-1"))
    with pytest.raises(StudyError, match=r"QR\.txt is not in UTF-8"):
        prompt_version("mine", study.folder)


def test_braces_that_name_nothing_are_text(study: Study) -> None:
    write_version(study, "mine", QR='{response}\nAnswer as {"score": N} or {}.')
    template = prompt_version("mine", study.folder).templates["QR"]
    values = {"response": "r", "question": "", "context": "", "ground_truth": ""}
    assert template.fill(values) == 'r\nAnswer as {"score": N} or {}.'


def test_the_name_of_a_published_version_is_not_taken(study: Study) -> None:
    write_version(study, "ccrs-paper-v1", QR="{response}")
    with pytest.raises(StudyError, match="Rename the folder"):
        prompt_version("ccrs-paper-v1", study.folder)


def test_a_folder_with_an_invalid_name_is_ignored(study: Study) -> None:
    write_version(study, ".ipynb_checkpoints", QR="{response}")
    write_version(study, "with space", QR="{response}")
    write_version(study, "ccrs-rationale-v1", QR="{response}")
    write_version(study, "mine", QR="{response}")
    assert prompt_version("mine", study.folder).name == "mine"
    assert prompt_version("ccrs-paper-v1", study.folder).templates.keys() >= {"QR", "CC"}
    with pytest.raises(StudyError, match=r"Versions: ccrs-context-first-v1.*, mine"):
        prompt_version("with space", study.folder)


def test_a_field_that_is_shown_twice_counts_twice(study: Study) -> None:
    write_version(study, "mine", QR="{response} and again {response}: {question}")
    template = prompt_version("mine", study.folder).templates["QR"]
    assert template.fields == ("response", "question")
    assert template.shown == ("response", "response", "question")


def test_a_run_that_has_judged_nothing_holds_no_words(
    campaign: Study, scripted: type[Scripted]
) -> None:
    write_version(campaign, "mine", "scale = [0, 5]\n", QR="{question} {response}")
    with pytest.raises(StudyError, match="The prompts ask for"):
        judge_study(campaign, ScriptedSettings(name="j", prompts="mine"))
    write_version(campaign, "mine", BARE, QR="{question} {response}")
    judge_study(campaign, ScriptedSettings(name="k", prompts="mine", limit=1))
    assert show_run(campaign, "k").has_prompts


def test_a_copy_is_the_same_words_until_they_are_changed(study: Study) -> None:
    folder = copy_version(study.folder, "mine", "ccrs-rationale-v1")
    assert folder == study.folder / "prompts" / "mine"
    assert prompt_version("mine", study.folder).hash == prompt_version("ccrs-rationale-v1").hash
    (mine,) = (version for version in list_versions(study.folder) if version.in_study)
    assert mine.constructs == ("AC", "CC", "ID", "IR", "QR")
    for name in ("mine", "ccrs-paper-v1"):
        with pytest.raises(StudyError, match="already"):
            copy_version(study.folder, name)
    for name in ("../mine", " ", ""):
        with pytest.raises(StudyError):
            copy_version(study.folder, name)
    assert sorted(path.name for path in study.folder.parent.glob("mine*")) == []


def test_the_command_lists_versions_and_begins_one(study: Study) -> None:
    def run(*words: str) -> str:
        done = CliRunner().invoke(cli, ["judge", "prompts", str(study.folder), *words])
        assert done.exit_code == 0, done.output
        return done.output

    assert "ccrs-context-first-v1  (AC, CC, ID, IR, QR; eb3b16d3513a)" in run()
    assert "as a copy of ccrs-paper-v1" in run("--new", "mine")
    assert "mine  (AC, CC, ID, IR, QR; 38e5b203406a; of this study)" in run()
    done = CliRunner().invoke(cli, ["judge", "prompts", str(study.folder), "--of", "mine"])
    assert done.exit_code == 2
