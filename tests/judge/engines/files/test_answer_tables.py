"""Answers obtained elsewhere: taken as they are, refused as a whole with every fault."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from judge import export_run, judge_study
from judge.engines.engine_settings import FilesSettings
from judge.protocol.exchange import Answer
from study import InputError, Study, StudyError
from study.schema.tables import judgments as judgment_table
from tests.judge.small_studies import Scripted, ScriptedSettings, fill


def settings(*files: Path, **more: Any) -> FilesSettings:
    return FilesSettings(model="elsewhere", answers=files, **more)


def rows(system: str = "A", construct: str = "AC", **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "query_id": f"q{q}",
            "system": system,
            "construct": construct,
            "answer": str(80 + q),
            **more,
        }
        for q in (1, 2, 3)
    ]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def written(*lines: dict[str, Any], name: str = "answers.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
        return path

    return written


def values(study: Study, scorer: str = "elsewhere") -> dict[tuple[str, str, str], Any]:
    scores = study.score_table()
    mine = scores[scores["scorer"] == scorer].set_index(["query_id", "system", "construct"])
    return mine["value"].to_dict()


def test_answers_become_judgments(any_study: Study, write: Callable[..., Path]) -> None:
    fill(any_study)
    outcome = judge_study(any_study, settings(write(*rows()), constructs=("AC",)))
    assert (outcome.run, outcome.judged) == ("elsewhere", 3)
    assert outcome.failed == {"no_answer": 9}
    assert outcome.falls_short
    assert values(any_study) == {(f"q{q}", "A", "AC"): 80 + q for q in (1, 2, 3)}
    again = judge_study(any_study, settings(write(*rows("B"), name="b.jsonl"), constructs=("AC",)))
    assert (again.begun, again.judged) == (False, 3)


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_an_export_comes_back_as_it_was(
    study: Study, scripted: type[Scripted], tmp_path: Path, form: str, monkeypatch: Any
) -> None:
    fill(study)
    odd = ["", '=1+1, "quoted"', "-5", "'85", "I can't.", "**85**", "a\nb", "85\n\nGood."]
    many = iter(odd * 20)
    scripted.answer = staticmethod(
        lambda prompt: Answer(next(many), "stop", "m", "fp", len(prompt), 1, milliseconds=2.5)
    )
    judge_study(study, ScriptedSettings(model="first"))
    export_run(study, "first", tmp_path / f"run.{form}")
    monkeypatch.undo()
    copy = Study.create(tmp_path / "copy")
    fill(copy)
    outcome = judge_study(copy, settings(tmp_path / f"run.{form}"))
    assert (outcome.judged, outcome.failed) == (60, {})
    key = ["query_id", "system", "construct"]
    both = []
    for judged, scorer in ((study, "first"), (copy, "elsewhere")):
        scores = judged.score_table()
        mine = scores[scores["scorer"] == scorer].set_index(key).sort_index()
        both.append(mine[["value", "missing_reason", "rule"]])
    assert both[0].equals(both[1])
    copy.close()


def test_a_number_is_the_answer_as_it_is_written(
    campaign: Study, write: Callable[..., Path]
) -> None:
    lines = [{**row, "answer": answer} for row, answer in zip(rows(), (85, 85.5, "x"), strict=True)]
    judge_study(campaign, settings(write(*lines)))
    points = values(campaign)
    assert points["q1", "A", "AC"] == 85
    assert points["q2", "A", "AC"] == 85.5


def test_an_answer_that_is_null_never_came(campaign: Study, write: Callable[..., Path]) -> None:
    first, second, third = rows()
    lines = [{**first, "answer": None}, {**second, "answer": ""}, third]
    outcome = judge_study(campaign, settings(write(*lines), systems=("A",), constructs=("AC",)))
    assert outcome.missing == {"empty_answer": 1}
    assert outcome.failed == {"no_answer": 1}
    assert "Not used: 1 rows without an answer." in outcome.notes


def test_the_first_attempt_at_a_whole_prompt_is_the_score(
    campaign: Study, write: Callable[..., Path]
) -> None:
    first, second, _ = rows()
    lines = [
        {**first, "attempt": 2, "answer": "90"},
        {**first, "attempt": 1, "answer": "no idea"},
        {**second, "attempt": 1, "answer": "10", "missing_reason": "truncated_by_server"},
        {**second, "attempt": 2, "answer": "70"},
    ]
    judge_study(campaign, settings(write(*lines)))
    points = values(campaign)
    assert str(points["q1", "A", "AC"]) == "nan"
    assert points["q2", "A", "AC"] == 70


def test_one_prompt_with_two_answers_keeps_each(
    campaign: Study, write: Callable[..., Path]
) -> None:
    lines = [*rows("B", "QR", answer="10"), *rows("D", "QR", answer="20")]
    judge_study(campaign, settings(write(*lines), constructs=("QR",)))
    points = values(campaign)
    assert (points["q1", "B", "QR"], points["q1", "D", "QR"]) == (10, 20)


def test_one_answer_is_enough_for_one_prompt(campaign: Study, write: Callable[..., Path]) -> None:
    judge_study(campaign, settings(write(*rows("B", "QR", answer="10")), constructs=("QR",)))
    points = values(campaign)
    assert (points["q1", "B", "QR"], points["q1", "D", "QR"]) == (10, 10)


FIRST = rows()[0]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{**FIRST, "system": "Z"}], r"row 1, column system: 'q1/Z' is not in the study"),
        ([{"response_id": "qx", "construct": "AC", "answer": "1"}], r"'qx' is not in the study"),
        ([{**FIRST, "response_id": "q2/A"}], r"'q2/A' answers query 'q2', not 'q1'"),
        ([{**FIRST, "response_id": "q1/C"}], r"'q1/C' is not the response of system 'A'"),
        ([{**FIRST, "construct": "QX"}], r"no construct 'QX'"),
        ([{"query_id": "q1", "system": "A", "construct": "AC"}], r"'answer'.* is missing"),
        ([{"construct": "AC", "answer": "1"}], r"names no response"),
        ([{"query_id": "q1", "system": "A", "construct": "AC", "answer": [1]}], r"is not a text"),
        ([{**FIRST, "answer": True}], r"is not a text"),
        ([{**FIRST, "prompt_tokens": -1}], r"-1 is not a number of tokens"),
        ([{**FIRST, "prompt_tokens": 1.5}], r"1.5 is not a number of tokens"),
        ([{**FIRST, "prompt_tokens": 10**12}], r"1e\+12 is not a number of tokens"),
        ([{**FIRST, "milliseconds": -1}], r"-1 is negative"),
        ([{**FIRST, "attempt": 0}], r"0 is not a valid attempt"),
        ([{**FIRST, "repeat": -1}], r"-1 is not a valid repeat"),
        ([FIRST, {**FIRST, "answer": "3"}], r"row 2.*the answer is '3', but '81' in .*row 1"),
    ],
)
def test_faults_are_reported_with_their_rows_and_nothing_is_stored(
    campaign: Study, write: Callable[..., Path], lines: list[dict[str, Any]], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        judge_study(campaign, settings(write(*rows("C"), name="ok.jsonl"), write(*lines)))
    assert values(campaign) == {}


def test_a_repeated_answer_is_counted_and_not_used(
    campaign: Study, write: Callable[..., Path]
) -> None:
    outcome = judge_study(campaign, settings(write(FIRST, FIRST)))
    assert outcome.judged == 1
    assert "Not used: 1 repeated answers." in outcome.notes


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "m"}, "--answers"),
        ({"answers": (Path(__file__),)}, "--model"),
        ({"answers": (Path("x"),)}, "x does not exist"),
    ],
)
def test_missing_settings_are_asked_for(
    campaign: Study, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(StudyError, match=words):
        judge_study(campaign, FilesSettings.checked(**settings))


def test_a_file_without_the_columns_is_refused(campaign: Study, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("response_id,construct,reply\nr,AC,85\n")
    with pytest.raises(InputError, match="answer"):
        judge_study(campaign, settings(path))


def judgments(study: Study) -> list[tuple[Any, ...]]:
    with study.read() as connection:
        rows = connection.execute(
            select(
                judgment_table.c.attempt,
                judgment_table.c.raw_answer,
                judgment_table.c.missing_reason,
            )
        )
        return [tuple(row) for row in rows]


def test_a_prompt_that_was_cut_is_stored_once(campaign: Study, write: Callable[..., Path]) -> None:
    path = write({**FIRST, "missing_reason": "truncated_by_server"})
    for failed in ({}, {"truncated_by_server": 1}):
        outcome = judge_study(campaign, settings(path, constructs=("AC",), systems=("A",)))
        assert outcome.failed == {**failed, "no_answer": 2}
    assert judgments(campaign) == [(1, "81", "truncated_by_server")]
    # The whole prompt was answered by then.
    judge_study(campaign, settings(write(FIRST), constructs=("AC",)))
    assert values(campaign)["q1", "A", "AC"] == 81


def test_what_no_database_holds_is_kept_escaped(
    any_study: Study, write: Callable[..., Path]
) -> None:
    fill(any_study)
    judge_study(any_study, settings(write({**FIRST, "answer": "8\x005 \ud83d"})))
    assert [row[1] for row in judgments(any_study)] == ["8\\u00005 \\ud83d"]


def test_a_filtered_answer_is_not_an_empty_answer(
    campaign: Study, write: Callable[..., Path]
) -> None:
    path = write({**FIRST, "answer": "", "finish_reason": "content_filter"})
    assert judge_study(campaign, settings(path)).missing == {"content_filter": 1}


def test_finish_reasons_of_other_servers_count_in_tables(
    campaign: Study, write: Callable[..., Path]
) -> None:
    first, second, third = rows()
    path = write(
        {**first, "answer": "8", "finish_reason": "MAX_TOKENS"},
        {**second, "answer": "8", "finish_reason": "SAFETY"},
        {**third, "answer": "8", "finish_reason": "error"},
    )
    outcome = judge_study(campaign, settings(path, constructs=("AC",)))
    assert outcome.missing == {"truncated": 1, "content_filter": 1}
    assert outcome.judged == 2


def test_nothing_is_left_out_without_a_word(campaign: Study, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = ["Query_ID;System;Construct;Answer;Repeat;Mood", "q1;A;AC;85;0;fine", "q1;A;AC;86;1;"]
    path.write_text("\n".join([*lines, "q1;B;AC;86;0;", ""]), encoding="utf-8-sig")
    outcome = judge_study(campaign, settings(path, systems=("A",)))
    assert outcome.judged == 1
    notes = "\n".join(outcome.notes)
    for words in (
        "Recorded answers: 3.",
        "Beyond --repeats 1: 1 answer; the files have 2.",
        "not selected now, or have changed since: 1 answer.",
        "a.csv: Left out, not used: Mood.",
        "semicolons",
    ):
        assert words in notes


def test_probabilities_of_scores_come_as_such_or_as_tokens(
    campaign: Study, write: Callable[..., Path], tmp_path: Path
) -> None:
    tokens = {
        "content": [
            {
                "token": "83",
                "logprob": -0.1,
                "top_logprobs": [
                    {"token": "83", "logprob": -0.105360516},
                    {"token": " 90", "logprob": -2.302585093},
                ],
            }
        ]
    }
    first, second, third = rows()
    path = write(
        {**first, "distribution": {"81": 0.6, "91": 0.4}}, {**second}, {**third, "logprobs": tokens}
    )
    judge_study(campaign, settings(path, constructs=("AC",)))
    points = values(campaign, "elsewhere (expected)")
    assert points["q1", "A", "AC"] == pytest.approx(85)
    assert points["q3", "A", "AC"] == pytest.approx(0.9 * 83 + 0.1 * 90)
    scores = campaign.score_table().query("scorer == 'elsewhere (expected)' and query_id == 'q2'")
    assert list(scores["missing_reason"]) == ["no_distribution"]
    # What is exported in any form is read back as it was.
    for ending in ("csv", "jsonl", "parquet"):
        exported = tmp_path / f"run.{ending}"
        export_run(campaign, "elsewhere", exported)
        again = Study.create(tmp_path / ending)
        fill(again)
        judge_study(again, settings(exported, constructs=("AC",)))
        reread = values(again, "elsewhere (expected)")
        assert {key: reread[key] for key in points} == pytest.approx(points, nan_ok=True)
        again.close()


@pytest.mark.parametrize(
    ("distribution", "problem"),
    [
        ({"81": 0.9, "90": 0.2}, "add up to 1.1"),
        ({"101": 1.0}, "101 is outside the scale 0 to 100"),
        ({"high": 1.0}, "'high' is not a score"),
        ({"81": "most"}, "'most' is not a probability of 81"),
        ({"81": -0.5}, "-0.5 is not a probability of 81"),
        ({"81": 0.0}, "add up to 0"),
        ([0.5, 0.5], "is not a JSON object"),
    ],
    ids=["beyond-1", "beyond-the-scale", "name", "word", "negative", "nothing", "list"],
)
def test_an_invalid_distribution_is_a_fault_of_its_row(
    campaign: Study, write: Callable[..., Path], distribution: Any, problem: str
) -> None:
    first, *others = rows()
    path = write({**first, "distribution": distribution}, *others)
    with pytest.raises(InputError, match=problem):
        judge_study(campaign, settings(path, constructs=("AC",)))
