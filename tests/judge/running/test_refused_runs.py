"""What stops a run or is refused before it: locks, windows, prompts, scales and names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import func, select

from judge import judge_metrics, judge_study, preview
from judge.running.runs import sole_writer
from study import Study, StudyError
from study.schema.tables import judge_runs
from tests.judge.running.stored_judgments import judgments
from tests.judge.small_studies import Scripted, ScriptedSettings, fill, store


def test_prompts_beyond_the_window_are_refused_before_the_run(
    campaign: Study, scripted: type[Scripted]
) -> None:
    with pytest.raises(StudyError, match="beyond the window of 100 tokens") as refused:
        judge_study(campaign, ScriptedSettings(window=100))
    assert "AC of q1/A: about" in str(refused.value)
    assert not scripted.asked
    assert not judgments(campaign)
    outcome = judge_study(campaign, ScriptedSettings(window=100, skip_too_long=True))
    assert outcome.missing["too_long"] == outcome.judged == 60


def test_a_fault_of_a_later_metric_is_found_before_the_first_is_asked(
    campaign: Study, scripted: type[Scripted]
) -> None:
    names = "ragchecker-hallucination,ragchecker-context-utilization"
    both = ScriptedSettings(metric=names, text_metrics=("novel-words",))
    with pytest.raises(StudyError, match="novel-words measures CC, which is not judged here"):
        judge_metrics(campaign, both)
    assert not scripted.asked
    assert not judgments(campaign)


def test_one_writer_a_run(any_study: Study, scripted: type[Scripted]) -> None:
    fill(any_study)
    judge_study(any_study, ScriptedSettings(limit=1))
    with (
        sole_writer(any_study, 1, "scripted"),
        pytest.raises(StudyError, match="Another process is working on the run 'scripted'"),
    ):
        judge_study(any_study, ScriptedSettings())
    assert judge_study(any_study, ScriptedSettings()).judged == 59


def test_nothing_is_stored_once_the_lock_is_lost(
    campaign: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    confirmed: list[int] = []

    @contextmanager
    def lost(study: Study, run_id: int, name: str) -> Iterator[Callable[[], None]]:
        def confirm() -> None:
            confirmed.append(len(judgments(study)))
            if len(confirmed) > 3:
                raise StudyError("the lock is gone")

        yield confirm

    monkeypatch.setattr("judge.running.session.sole_writer", lost)
    with pytest.raises(StudyError, match="the lock is gone"):
        judge_study(campaign, ScriptedSettings())
    assert confirmed[-1] > 0
    assert len(judgments(campaign)) == confirmed[-1]


def test_what_needs_no_call_is_not_stored_once_the_lock_is_lost(
    study: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"query_id": "q", "query": "?", "references": ["r"], "passages": ["p"], "response": " "}
    store(study, {**row, "system": "A"})

    @contextmanager
    def lost(study: Study, run_id: int, name: str) -> Iterator[Callable[[], None]]:
        def confirm() -> None:
            raise StudyError("the lock is gone")

        yield confirm

    monkeypatch.setattr("judge.running.session.sole_writer", lost)
    with pytest.raises(StudyError, match="the lock is gone"):
        judge_study(study, ScriptedSettings())
    assert judgments(study) == []


def test_prompts_on_another_scale_than_the_studys_are_refused(
    study: Study, scripted: type[Scripted]
) -> None:
    toml = (
        '[[constructs]]\nkey = "QR"\nname = "QR"\nquestion = "?"\nscale = { min = 1, max = 5 }\n'
        'sees = ["question", "response"]\n'
    )
    path = study.folder / "study.toml"
    path.write_text(path.read_text(encoding="utf-8") + toml, encoding="utf-8")
    reopened = Study.open(study.folder)
    fill(reopened, 1)
    with pytest.raises(StudyError, match=r"measured from 1 to 5.*\[scorers\.\"scripted\"\]"):
        judge_study(reopened, ScriptedSettings())
    with path.open("a", encoding="utf-8") as stream:
        stream.write('[scorers."scripted"]\nscale = { min = 0, max = 100 }\n')
    reopened.close()
    declared = Study.open(study.folder)
    assert judge_study(declared, ScriptedSettings()).judged == 4
    declared.close()
    assert len(scripted.asked) == 3


def test_a_prompt_may_not_show_what_the_construct_may_not_see(
    study: Study, scripted: type[Scripted]
) -> None:
    toml = '[[constructs]]\nkey = "CC"\nname = "CC"\nquestion = "?"\nsees = ["response"]\n'
    path = study.folder / "study.toml"
    path.write_text(path.read_text(encoding="utf-8") + toml, encoding="utf-8")
    reopened = Study.open(study.folder)
    fill(reopened, 1)
    with pytest.raises(StudyError, match="prompt for CC shows the context, which"):
        judge_study(reopened, ScriptedSettings())
    reopened.close()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"constructs": ("QX",)}, "no construct 'QX'"),
        ({"systems": ("E",)}, "of the system 'E'"),
        ({"prompts": "ccrs-paper"}, "Did you mean 'ccrs-paper-v1'"),
    ],
)
def test_an_unknown_choice_is_refused_by_name(
    campaign: Study, scripted: type[Scripted], settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(StudyError, match=words):
        judge_study(campaign, ScriptedSettings(**settings))
    assert not scripted.asked


def test_a_study_without_responses_names_the_import_command(
    study: Study, scripted: type[Scripted]
) -> None:
    with pytest.raises(StudyError, match="ccrs import"):
        judge_study(study, ScriptedSettings())


def test_a_run_can_not_take_the_name_of_a_scorer(campaign: Study, scripted: type[Scripted]) -> None:
    judge_study(campaign, ScriptedSettings(limit=1))  # stores EM
    with pytest.raises(StudyError, match="scorer named 'EM'"):
        judge_study(campaign, ScriptedSettings(model="m", name="EM"))
    assert judge_study(campaign, ScriptedSettings(model="EM", limit=1)).run == "EM (2)"


def test_prompts_beyond_the_window_leave_no_run_behind(
    campaign: Study, scripted: type[Scripted]
) -> None:
    with pytest.raises(StudyError, match="beyond the window"):
        judge_study(campaign, ScriptedSettings(window=100))
    with campaign.read() as connection:
        assert connection.execute(select(func.count()).select_from(judge_runs)).scalar() == 0
    assert not scripted.asked


def test_a_construct_without_a_prompt_is_named(study: Study, scripted: type[Scripted]) -> None:
    toml = "".join(
        f'[[constructs]]\nkey = "{key}"\nname = "x"\nquestion = "?"\n' for key in ("QR", "FL")
    )
    path = study.folder / "study.toml"
    path.write_text(path.read_text(encoding="utf-8") + toml, encoding="utf-8")
    reopened = Study.open(study.folder)
    fill(reopened, 1)
    words = "Not judged: FL, for which ccrs-paper-v1 has no prompt."
    assert words in preview(reopened, ScriptedSettings(model="m")).lines()
    assert words in judge_study(reopened, ScriptedSettings()).lines()
    with pytest.raises(StudyError, match="no prompt for the construct 'FL'"):
        judge_study(reopened, ScriptedSettings(constructs=("FL",)))
    reopened.close()
    assert {request.construct_key for request in scripted.asked} == {"QR"}
