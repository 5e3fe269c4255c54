"""Raw answers read again: differences are stored as new readings, all or none, and once."""

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import insert, select

from judge import judge_study, reparse_run
from judge.cli.judge_command import judge
from judge.metrics.ccrs import Ccrs
from judge.parsing.parse_answer import PARSER_VERSION, Parsed
from judge.prompts.prompt_versions import prompt_version
from judge.protocol.exchange import CONTENT_FILTER, REJECTED, TRUNCATED_BY_SERVER, Answer
from judge.running.runs import sole_writer
from judge.running.scale_use import stored_values
from study import Study, StudyError
from study.schema import JudgeAnswer, JudgeAnswerBase, JudgeRun, Reading, now, table
from study.schema.tables import judge_answers
from tests.judge.small_studies import Scripted, ScriptedSettings, always, fill, store


def rows(study: Study, noun: type[Any]) -> list[Any]:
    with study.read() as connection:
        return list(connection.execute(select(table(noun)).order_by(table(noun).c.id)))


def generous(
    text: str | None, scale: object, finish_reason: str | None = None, **_: object
) -> Parsed:
    """A later parser, which takes the last word of an answer."""
    return Parsed(float((text or "0").split()[-1]), None, "last_word")


@pytest.fixture
def judged(any_study: Study, scripted: type[Scripted]) -> Study:
    """A run whose answers on QR have no score for the parser, but one for `generous`."""
    fill(any_study)
    scripted.answer = always(Answer("One thinks of 40"))
    judge_study(any_study, ScriptedSettings(name="j", constructs=("QR",)))
    return any_study


def test_reparsing_with_an_unchanged_parser_finds_nothing_to_do(judged: Study) -> None:
    reparsed = reparse_run(judged, "j")
    assert (reparsed.read, reparsed.changed, reparsed.not_read) == (12, 0, 0)
    assert reparsed.parser_version == PARSER_VERSION
    assert not rows(judged, Reading)
    assert reparsed.lines()[-1] == "No reading changed."


def test_a_later_response_with_the_same_prompt_gets_the_current_reading(
    judged: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.prompts.answer_form.parse_answer", generous)
    monkeypatch.setattr("judge.inspect.reparse.PARSER_VERSION", "99")
    reparse_run(judged, "j")
    content = {"query_id": "q1", "query": "Question 1?", "response": "Answer 1 of A."}
    references = ["Reference 1.", "Answer 1 of A."]
    store(judged, {**content, "references": references, "system": "E", "passages": ["Other."]})
    # QR does not show passages, so nothing is asked again.
    scripted.answer = always(Answer("99"))
    judge_study(judged, ScriptedSettings(name="j", constructs=("QR",)))
    *_, first, copy = rows(judged, JudgeAnswer)
    assert first.value is None
    assert (copy.value, copy.rule, copy.parser_version) == (40, "last_word", "99")


def test_differences_are_stored_as_new_readings_and_count_in_the_table(
    judged: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(judged, JudgeAnswer)
    monkeypatch.setattr("judge.prompts.answer_form.parse_answer", generous)
    monkeypatch.setattr("judge.inspect.reparse.PARSER_VERSION", "99")
    tried = reparse_run(judged, "j", dry_run=True)
    assert (tried.changed, tried.values_changed) == (12, 12)
    assert tried.changes == {"no_score to last_word": 12}
    assert len(tried.examples) == 10
    assert tried.examples[0].before == "no_score"
    assert tried.examples[0].after == "40, last_word"
    assert not rows(judged, Reading)
    assert "Nothing was written." in tried.lines()[-1]

    done = reparse_run(judged, "j")
    assert {(r.revision, r.parser_version, r.value, r.rule) for r in rows(judged, Reading)} == {
        (1, "99", 40.0, "last_word")
    }
    assert "the score table uses the newest" in done.lines()[-1]
    assert rows(judged, JudgeAnswer) == before
    scores = judged.score_table()
    assert set(scores[scores["scorer"] == "j"]["value"]) == {40.0}

    assert reparse_run(judged, "j").changed == 0
    monkeypatch.undo()
    back = reparse_run(judged, "j")
    assert back.changes == {"last_word to no_score": 12}
    assert {r.revision for r in rows(judged, Reading)} == {1, 2}
    scores = judged.score_table()
    assert scores[scores["scorer"] == "j"]["value"].isna().all()


def test_scores_on_another_scale_are_not_stored_unless_accepted(
    study: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, queries=13)
    answers = (Answer(f"One thinks of {number % 5 + 1}") for number in itertools.count())
    monkeypatch.setattr(scripted, "answer", staticmethod(lambda _: next(answers)))
    judge_study(study, ScriptedSettings(name="j", constructs=("CC",), max_missing=1))
    monkeypatch.setattr("judge.prompts.answer_form.parse_answer", generous)
    seen = "All 52 scores so far are from 1 to 5, in the lowest tenth of the scale from 0 to 100."
    tried = reparse_run(study, "j", dry_run=True)
    assert (tried.low_scores or "").startswith(seen)
    assert any(line.startswith(seen) for line in tried.lines())
    words = ["reparse", str(study.folder), "j"]
    refused = CliRunner().invoke(judge, words)
    assert isinstance(refused.exception, StudyError)
    assert str(refused.exception).startswith(seen)
    assert not rows(study, Reading)
    done = CliRunner().invoke(judge, [*words, "--accept-low-scores"])
    assert done.exit_code == 0, done.output
    assert len(rows(study, Reading)) == 52
    # A call that continues the run counts the newest readings.
    with study.read() as connection:
        assert sum(stored_values(connection, rows(study, JudgeRun)[0].id)["CC"].values()) == 52


@pytest.mark.parametrize("reason", [TRUNCATED_BY_SERVER, CONTENT_FILTER, REJECTED])
def test_reasons_that_do_not_depend_on_the_text_are_kept(
    any_study: Study,
    scripted: type[Scripted],
    monkeypatch: pytest.MonkeyPatch,
    reason: str,
) -> None:
    row = {"query_id": "q", "query": "?"}
    store(any_study, {**row, "system": "A", "response": "yes", "passages": ["p"]})
    store(any_study, {**row, "system": "B", "response": " ", "passages": ["p"]})
    store(any_study, {**row, "system": "C", "response": "no"})
    scripted.answer = always(Answer("85", missing=reason))
    judge_study(any_study, ScriptedSettings(name="j", constructs=("CC", "AC")))
    monkeypatch.setattr("judge.prompts.answer_form.parse_answer", generous)
    reparsed = reparse_run(any_study, "j")
    assert (reparsed.read, reparsed.changed) == (0, 0)
    assert reparsed.not_read == len(rows(any_study, JudgeAnswer))


def test_what_lies_outside_the_scale_is_missing(
    judged: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    beyond = Parsed(140.0, None, "last_word")
    monkeypatch.setattr("judge.prompts.answer_form.parse_answer", lambda *_, **__: beyond)
    assert reparse_run(judged, "j").changes == {"no_score to out_of_range": 12}


def test_whole_or_not_at_all(judged: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def breaks(text: str | None, scale: object, *_: object, **__: object) -> Parsed:
        seen.append(text)
        if len(seen) == 12:
            raise KeyboardInterrupt
        return generous(text, scale)

    monkeypatch.setattr("judge.prompts.answer_form.parse_answer", breaks)
    with pytest.raises(KeyboardInterrupt):
        reparse_run(judged, "j")
    assert not rows(judged, Reading)


def test_reparsing_is_refused_while_the_run_is_under_way(judged: Study) -> None:
    (run,) = rows(judged, JudgeRun)
    with sole_writer(judged, run.id, "j"):
        with pytest.raises(StudyError, match="Another process is working on the run 'j'"):
            reparse_run(judged, "j")
        assert reparse_run(judged, "j", dry_run=True).read == 12


def test_reparsing_with_other_prompts_is_refused(
    judged: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(prompt_version(), passage_separator=" ")
    monkeypatch.setattr("judge.running.runs.load_metric", lambda *_: Ccrs(other))
    with pytest.raises(StudyError, match="are neither installed nor in the study"):
        reparse_run(judged, "j")


def test_values_stored_before_rules_were(judged: Study) -> None:
    (run,) = rows(judged, JudgeRun)
    answered = {"raw_answer": "7", "value": 7.0, "repeat": 1}
    unkept = {"raw_answer": None, "value": 8.0, "repeat": 2}
    base = {"run_id": run.id, "response_id": 1, "construct_key": "QR", "flags": []}
    with judged.write() as connection:
        for values in (answered, unkept):
            row = {**JudgeAnswerBase(construct_key="QR", value=1.0).model_dump(), **base, **values}
            connection.execute(insert(judge_answers).values(**row, created_at=now()))
    reparsed = reparse_run(judged, "j")
    assert reparsed.changes == {"an unrecorded rule to bare": 1}
    assert (reparsed.changed, reparsed.values_changed, reparsed.not_read) == (1, 0, 1)


def test_the_command_reparses_a_run(
    campaign: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.answer = always(Answer("\x1b[2J 40"))
    judge_study(campaign, ScriptedSettings(name="j", constructs=("QR",)))
    monkeypatch.setattr("judge.prompts.answer_form.parse_answer", generous)
    words = ["reparse", str(campaign.folder), "j"]
    done = CliRunner().invoke(judge, [*words, "--dry-run"])
    assert "12 readings changed" in done.output
    assert "\x1b" not in done.output
    assert json.loads(CliRunner().invoke(judge, [*words, "--json"]).output)["changed"] == 12
    assert json.loads(CliRunner().invoke(judge, [*words, "--json"]).output)["changed"] == 0
