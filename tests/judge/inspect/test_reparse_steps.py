"""A metric in steps, read again by a later version: from stored answers, and nothing invented."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from judge import judge_metrics, judge_study, reparse_run, show_response
from judge.cli.judge_command import judge
from judge.protocol.exchange import TOO_LONG, Answer
from study import Study, StudyError
from study.schema import JudgeAnswer, Reading, StepAnswer
from tests.judge.inspect.test_reparse import rows
from tests.judge.metrics.test_ragchecker import scripted_answer
from tests.judge.small_studies import Scripted, ScriptedSettings, fill, store

SOURCE = Path(__file__).parents[1] / "metrics"
LINES = "The first claim. And more.\nThe second claim.\n\nThe third claim."


def answer(prompt: str) -> Answer:
    if "List each" in prompt:
        return Answer(LINES)
    return Answer("maybe" if "And more" in prompt else "yes" if "second" in prompt else "No")


class Later:
    """The metric of `faithfulness.py` as a file, and its changes to a later version."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "faithfulness.py"
        self.file.write_text((SOURCE / "faithfulness.py").read_text())
        (folder / "faithfulness.toml").write_text((SOURCE / "faithfulness.toml").read_text())
        self.settings = ScriptedSettings(metric=str(self.file), name="f")

    def change(self, version: str, *pairs: tuple[str, str]) -> None:
        text = self.file.read_text()
        for before, after in (
            *pairs,
            ("    steps = 2", f'    version = "{version}"\n    steps = 2'),
        ):
            assert before in text
            text = text.replace(before, after)
        self.file.write_text(text)

    def reparsed(self, study: Study, **options: Any) -> Any:
        return reparse_run(study, "f", metric_file=str(self.file), **options)


MAYBE = ('<= {"yes", "no"}', '<= {"yes", "no", "maybe"}')
SENTENCES = (
    '(answer.text or "").splitlines()',
    "(answer.text or \"\").replace('. ', '\\n').splitlines()",
)


@pytest.fixture
def later(tmp_path: Path) -> Later:
    return Later(tmp_path)


@pytest.fixture
def judged(any_study: Study, scripted: type[Scripted], later: Later) -> Study:
    """A run whose verdicts the first version can't read."""
    fill(any_study, queries=2)
    scripted.answer = staticmethod(answer)
    assert judge_study(any_study, later.settings).missing == {"no_verdict": 8}
    scripted.asked.clear()
    return any_study


def response(study: Study) -> str:
    return str(study.score_table()["response_id"].iloc[0])


def values(study: Study) -> list[float]:
    table = study.score_table()
    return [round(value, 6) for value in table[table["scorer"] == "f"]["value"]]


def test_a_later_version_reads_stored_answers(
    judged: Study, scripted: type[Scripted], later: Later
) -> None:
    before = rows(judged, JudgeAnswer), rows(judged, StepAnswer)
    assert (later.reparsed(judged).changed, rows(judged, Reading)) == (0, [])
    later.change("2", MAYBE)
    with pytest.raises(StudyError, match="--accept-low-scores has no effect here"):
        later.reparsed(judged, accept_low_scores=True)
    tried = later.reparsed(judged, dry_run=True)
    assert (tried.read, tried.changed, tried.values_changed, tried.waiting) == (8, 8, 8, 0)
    assert tried.changes == {"no_verdict to faithfulness": 8}
    assert not rows(judged, Reading)
    later.reparsed(judged)
    readings = rows(judged, Reading)
    assert {(r.revision, r.parser_version, r.rule) for r in readings} == {(1, "2", "faithfulness")}
    assert {tuple(r.parts.items()) for r in readings} == {(("statements", 3.0),)}
    assert set(values(judged)) == {round(100 / 3, 6)}
    assert later.reparsed(judged).changed == 0
    assert not scripted.asked
    assert (rows(judged, JudgeAnswer), rows(judged, StepAnswer)) == before
    shown = show_response(judged, "f", response(judged), metric_file=str(later.file)).constructs[0]
    assert shown.judgments[0]["parts"] == {"statements": 3.0}
    assert shown.judgments[0]["earlier"][0]["missing_reason"] == "no_verdict"


def test_a_prompt_that_was_never_asked_is_counted_and_can_be_asked(
    judged: Study, scripted: type[Scripted], later: Later
) -> None:
    later.change("2", SENTENCES)
    reparsed = later.reparsed(judged)
    # "The first claim" and "And more." by each of two contexts of two queries.
    assert (reparsed.changed, reparsed.waiting, reparsed.unasked) == (0, 8, 8)
    assert any("--for-reparse" in line for line in reparsed.lines())
    assert not rows(judged, Reading)
    assert judge_study(judged, later.settings).answered == 0
    asking = later.settings.model_copy(update={"for_reparse": True})
    assert judge_study(judged, asking).answered == 8
    assert set(Counter(request.prompt for request in scripted.asked).values()) == {1}
    assert len(rows(judged, JudgeAnswer)) == 8
    assert judge_study(judged, asking).answered == 0
    later.change("3", MAYBE)
    done = later.reparsed(judged)
    assert (done.changed, done.waiting, done.unasked) == (8, 0, 0)
    # One of four statements: "The second claim."
    assert set(values(judged)) == {25}
    shown = show_response(judged, "f", response(judged), metric_file=str(later.file)).constructs[0]
    assert all(step.answer for step in shown.steps)
    assert len(shown.steps) == 5


def test_one_score_is_reported_in_the_singular_with_the_file_of_its_metric(
    any_study: Study, scripted: type[Scripted], later: Later
) -> None:
    row = {"query_id": "q", "query": "?", "system": "A", "response": "It is.", "passages": ["So."]}
    store(any_study, row)
    scripted.answer = staticmethod(lambda _: Answer("maybe"))
    judge_study(any_study, later.settings)
    later.change("2", MAYBE)
    first, changed = later.reparsed(any_study).lines()[:2]
    assert first == "1 score of the run 'f' was read by the metric faithfulness, version 2."
    assert changed == "1 reading changed, 1 of them in value:"
    later.change("3", ("statement=statement)", "statement=statement.upper())"))
    assert later.reparsed(any_study).lines()[1:] == [
        "1 score cannot be computed yet and keeps its last reading: 1 prompt that this version "
        "needs was never asked. The answers may lead to further prompts.",
        "Ask them with the options of the run, then read again: ccrs judge STUDY ... "
        f"--metric {later.file} --for-reparse",
        "No reading changed.",
    ]


def test_a_further_attempt_is_not_taken_for_the_score(
    judged: Study, scripted: type[Scripted], later: Later
) -> None:
    scripted.answer = staticmethod(lambda prompt: Answer(LINES if "List" in prompt else "yes"))
    judge_study(judged, later.settings.model_copy(update={"retry_unparsed": True}))
    later.change("2", MAYBE)
    later.reparsed(judged)
    assert set(values(judged)) == {round(100 / 3, 6)}


def test_a_prompt_that_did_not_arrive_stays_missing(
    any_study: Study, scripted: type[Scripted], later: Later
) -> None:
    fill(any_study, queries=1)
    scripted.answer = staticmethod(lambda _: Answer(None, missing=TOO_LONG))
    judge_study(any_study, later.settings)
    reparsed = later.reparsed(any_study)
    assert (reparsed.read, reparsed.not_read, reparsed.changed) == (0, 4, 0)


def test_a_suite_is_read_as_it_was(study: Study, scripted: type[Scripted]) -> None:
    fill(study, queries=2)
    scripted.answer = staticmethod(scripted_answer)
    settings = ScriptedSettings(metric="ragchecker", repeats=2)
    runs = [outcome.run for outcome in judge_metrics(study, settings)]
    asked = len(scripted.asked)
    results = [reparse_run(study, run) for run in runs]
    assert (len(runs), sum(result.changed + result.waiting for result in results)) == (11, 0)
    assert sum(result.read for result in results) == len(rows(study, JudgeAnswer))
    assert len(scripted.asked) == asked


def test_the_command_names_what_it_needs(judged: Study, later: Later) -> None:
    with pytest.raises(StudyError, match=r"by faithfulness, are neither .* with --metric"):
        reparse_run(judged, "f")
    words = ["reparse", str(judged.folder), "f", "--metric", str(later.file)]
    result = CliRunner().invoke(judge, words)
    assert result.output.startswith("8 scores of the run 'f' were read by the metric faithf")
