"""A provider's batch: files to send, results to read, each for the prompt it was asked with."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from judge import judge_study
from judge.engines.engine_settings import FilesSettings
from study import InputError, Study, StudyError
from study.schema.tables import judgments
from tests.ccrs_command import in_process, program
from tests.judge.engines.files.provider_files import result, results, sent
from tests.judge.small_studies import fill


def writing(folder: Path, **more: Any) -> FilesSettings:
    return FilesSettings(model="gpt", requests=folder, **more)


def reading(*files: Path, **more: Any) -> FilesSettings:
    return FilesSettings(model="gpt", answers=files, **more)


def stored(study: Study) -> list[tuple[Any, ...]]:
    with study.read() as connection:
        rows = connection.execute(
            select(judgments.c.attempt, judgments.c.value, judgments.c.missing_reason)
        )
        return [tuple(row) for row in rows]


def test_written_sent_and_read(any_study: Study, tmp_path: Path) -> None:
    fill(any_study)
    folder = tmp_path / "batch"
    wrote = judge_study(any_study, writing(folder))
    assert (wrote.judged, wrote.remaining, wrote.failed, wrote.falls_short) == (0, 60, {}, False)
    assert any("judge-001.jsonl (57 prompts)" in note for note in wrote.notes)
    assert "run the command again" not in " ".join(wrote.lines())
    lines = sent(folder)
    assert len(lines) == len({line["custom_id"] for line in lines}) == 57
    assert all(len(line["custom_id"]) == 64 for line in lines)
    first = lines[0]
    assert (first["method"], first["url"]) == ("POST", "/v1/chat/completions")
    assert {k: v for k, v in first["body"].items() if k != "messages"} == {
        "model": "gpt",
        "max_tokens": 16,
        "temperature": 0.0,
    }
    # Results come in any order, in several files.
    answers = [result(line) for line in reversed(lines)]
    first_file = results(tmp_path / "one.jsonl", answers[:30])
    other = results(tmp_path / "other.jsonl", answers[30:])
    done = judge_study(any_study, reading(first_file, other))
    assert (done.judged, done.answered, done.remaining, done.failed) == (60, 57, 0, {})
    assert done.served == {"gpt-0": 57 + done.flags["shared_prompt"]}
    scores = any_study.score_table()
    assert scores.loc[scores["scorer"] == "gpt", "value"].notna().all()


def test_a_batch_of_shuffled_passages_belongs_to_that_run(campaign: Study, tmp_path: Path) -> None:
    judge_study(campaign, writing(tmp_path / "batch", shuffle_passages=1))
    answers = results(tmp_path / "r.jsonl", map(result, sent(tmp_path / "batch")))
    with pytest.raises(StudyError):
        judge_study(campaign, reading(answers))
    done = judge_study(campaign, reading(answers, shuffle_passages=1))
    assert (done.answered, done.remaining, done.failed) == (57, 0, {})


def test_what_a_batch_did_not_bring_goes_into_the_next(campaign: Study, tmp_path: Path) -> None:
    judge_study(campaign, writing(tmp_path / "one"))
    lines = sent(tmp_path / "one")
    expired = {"custom_id": lines[0]["custom_id"], "response": None,
               "error": {"code": "batch_expired", "message": "too late"}}  # fmt: skip
    refused = {"status_code": 429, "body": {"error": {"message": "rate"}}}
    limited = {"custom_id": lines[1]["custom_id"], "error": None, "response": refused}
    got = results(tmp_path / "r.jsonl", [expired, limited, *map(result, lines[2:50])])
    done = judge_study(campaign, reading(got))
    assert done.failed == {"batch_expired": 1, "http_429": 1}
    # Of the whole run 9 prompts are open, of which 7 are awaited.
    assert done.missing_share == pytest.approx(2 / (done.run_judgments + 2))
    judge_study(campaign, writing(tmp_path / "two"))
    again = sent(tmp_path / "two")
    assert {line["custom_id"] for line in again} == {
        line["custom_id"] for line in (*lines[:2], *lines[50:])
    }
    rest = results(tmp_path / "s.jsonl", map(result, again))
    # The first file may be given again: what is judged is judged.
    last = judge_study(campaign, reading(got, rest))
    assert (last.answered, last.failed, last.run_missing) == (9, {}, {})
    assert any("have changed since: 48 answers." in note for note in last.notes)


def test_a_dry_run_counts_what_the_files_answer(campaign: Study, tmp_path: Path) -> None:
    words: tuple[object, ...] = ("judge", campaign.folder, "--engine", "files", "--model", "gpt")
    words += ("--constructs", "AC")
    assert in_process(*words, "--requests", tmp_path / "one").returncode == 0
    lines = sent(tmp_path / "one")
    got = results(tmp_path / "r.jsonl", map(result, lines[:5]))
    words += ("--answers", got, "--dry-run")
    planned = program(*words)
    assert planned.returncode == 0, planned.stderr
    assert "Prompts to ask: 7 (AC 7)\nAnswered by the files: 5 prompts\n" in planned.stdout
    assert stored(campaign) == []
    limited = in_process(*words, "--limit", 8).stdout
    assert "Prompts to ask: 3 (AC 3)\nAnswered by the files: 5 prompts\n" in limited
    assert "Postponed by --limit: 4 prompts\n" in limited
    pairs = in_process("judge", "pairs", *words[1:])
    assert "The files of --answers were not looked at" in pairs.stdout, pairs.stderr


def test_awaited_results_are_not_missing(campaign: Study, tmp_path: Path) -> None:
    words: tuple[object, ...] = ("judge", campaign.folder, "--engine", "files", "--model", "gpt")
    assert program(*words, "--requests", tmp_path / "one").returncode == 0
    lines = sent(tmp_path / "one")
    got = results(tmp_path / "r.jsonl", map(result, lines[:38]))
    for more in ((), ("--requests", tmp_path / "one")):
        read = in_process(*words, *more, "--answers", got)
        assert read.returncode == 0, read.stdout
        assert "of the run is missing" not in read.stdout
        assert "22 judgments are still to be made: give further files of answers" in read.stdout
        assert "run the command again" not in read.stdout
    rest = results(tmp_path / "s.jsonl", map(result, lines[38:]))
    assert "still to be made" not in in_process(*words, "--answers", rest).stdout


def test_results_of_another_run_are_refused(campaign: Study, tmp_path: Path) -> None:
    judge_study(campaign, writing(tmp_path / "batch", temperature=1.0))
    got = results(tmp_path / "r.jsonl", map(result, sent(tmp_path / "batch")))
    with pytest.raises(InputError, match=r"row 1: .* belongs to another run"):
        judge_study(campaign, reading(got))
    assert judge_study(campaign, reading(got, temperature=1.0)).judged == 60


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nothing", "row 2: The line is not valid JSON"),
        ("[1]", "no custom_id"),
        ('{"custom_id": 3}', "no custom_id"),
        ('{"custom_id": "x"}', "belongs to another run"),
        ("\x80", "not valid JSON"),
    ],
)
def test_invalid_result_lines_are_reported_with_their_number(
    campaign: Study, tmp_path: Path, line: str, words: str
) -> None:
    judge_study(campaign, writing(tmp_path / "batch", limit=1))
    path = results(tmp_path / "r.jsonl", [result(sent(tmp_path / "batch")[0])])
    with path.open("a", encoding="latin-1") as stream:
        stream.write(line + "\n")
    with pytest.raises(InputError, match=words):
        judge_study(campaign, reading(path))
    scores = campaign.score_table()
    assert not (scores["scorer"] == "gpt").any()


def test_files_are_split_at_the_providers_limits(
    campaign: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.engines.files.openai_format.OpenAIFormat.most_requests", 20)
    judge_study(campaign, writing(tmp_path / "a"))
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["judge-001.jsonl", "judge-002.jsonl", "judge-003.jsonl"]
    monkeypatch.setattr("judge.engines.files.openai_format.OpenAIFormat.most_bytes", 9000)
    judge_study(campaign, writing(tmp_path / "b"))
    assert all(path.stat().st_size <= 9000 for path in (tmp_path / "b").iterdir())
    assert len(sent(tmp_path / "b")) == len(sent(tmp_path / "a")) == 57


def test_what_a_file_contains_is_not_written_again(campaign: Study, tmp_path: Path) -> None:
    folder = tmp_path / "batch"
    judge_study(campaign, writing(folder, limit=3))
    # As an interrupted call leaves it.
    (folder / "judge-002.jsonl.part").write_text("{", encoding="utf-8")
    second = judge_study(campaign, writing(folder))
    assert any("judge-002.jsonl (54 prompts)" in note for note in second.notes)
    assert any(note.startswith("3 prompts wait for results") for note in second.notes)
    assert sorted(path.name for path in folder.iterdir()) == ["judge-001.jsonl", "judge-002.jsonl"]
    names = [line["custom_id"] for line in sent(folder)]
    assert len(names) == len(set(names)) == 57
    third = judge_study(campaign, writing(folder))
    assert any(note.startswith("57 prompts wait for results") for note in third.notes)
    assert len(sent(folder)) == 57
    with pytest.raises(StudyError, match="written with other options"):
        judge_study(campaign, writing(folder, temperature=1.0))
    (folder / "judge-003.jsonl").write_text("mine\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 1: The line is not a request"):
        judge_study(campaign, writing(folder))


def test_a_reasoning_model_gets_what_the_settings_say(campaign: Study, tmp_path: Path) -> None:
    more: dict[str, Any] = {
        "reasoning_tokens": 4096,
        "omit_temperature": True,
        "seed": 7,
        "repeats": 3,
    }
    judge_study(campaign, writing(tmp_path / "batch", **more))
    bodies = [line["body"] for line in sent(tmp_path / "batch")]
    assert {body["max_completion_tokens"] for body in bodies} == {4096 + 16}
    assert not any("temperature" in body or "max_tokens" in body for body in bodies)
    assert Counter(body["seed"] for body in bodies) == dict.fromkeys((7, 8, 9), len(bodies) / 3)


def test_retry_unparsed_writes_what_held_no_score(campaign: Study, tmp_path: Path) -> None:
    judge_study(campaign, writing(tmp_path / "one", constructs=("CC",)))
    lines = sent(tmp_path / "one")
    got = results(tmp_path / "r.jsonl", [result(line, "no idea") for line in lines])
    judge_study(campaign, reading(got, constructs=("CC",)))
    judge_study(campaign, writing(tmp_path / "two", constructs=("CC",), retry_unparsed=True))
    again = sent(tmp_path / "two")
    assert len(again) == 12
    # An answer is taken for the attempt that it was asked for, and once.
    more = results(tmp_path / "s.jsonl", [result(line, "70") for line in again])
    for _ in range(2):
        judge_study(campaign, reading(got, more, constructs=("CC",), retry_unparsed=True))
    assert Counter(stored(campaign)) == {(1, None, "no_score"): 12, (2, 70.0, None): 12}


def refusal(line: dict[str, Any], message: str) -> dict[str, Any]:
    response = {"status_code": 400, "body": {"error": {"message": message}}}
    return {"custom_id": line["custom_id"], "response": response, "error": None}


def test_a_prompt_that_was_too_long_is_so_once(campaign: Study, tmp_path: Path) -> None:
    judge_study(campaign, writing(tmp_path / "one", constructs=("CC",)))
    lines = [refusal(line, "maximum context length is 10") for line in sent(tmp_path / "one")]
    # As vLLM returns it: the message is next to the response.
    lines[0] = {**lines[0], "response": {"status_code": 400, "body": None},
                "error": {"message": "maximum context length is 10"}}  # fmt: skip
    got = results(tmp_path / "r.jsonl", lines)
    for _ in range(2):
        judge_study(campaign, reading(got, constructs=("CC",)))
    assert Counter(stored(campaign)) == {(1, None, "too_long"): 12}


def test_refusals_of_nearly_all_prompts_are_not_their_end(campaign: Study, tmp_path: Path) -> None:
    judge_study(campaign, writing(tmp_path / "one"))
    lines = sent(tmp_path / "one")
    refused = [refusal(line, "Invalid request") for line in lines]
    done = judge_study(campaign, reading(results(tmp_path / "r.jsonl", refused)))
    assert (done.failed, done.judged) == ({"rejected": 57}, 0)
    some = [*map(result, lines[:40]), *refused[40:]]
    # 17 prompts, three of which judge two responses.
    done = judge_study(campaign, reading(results(tmp_path / "s.jsonl", some)))
    assert (done.failed, done.run_missing) == ({}, {"rejected": 20})


def test_a_missing_or_invalid_file_is_reported(campaign: Study, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        judge_study(campaign, reading(tmp_path))
    with pytest.raises(InputError, match="does not exist"):
        judge_study(campaign, reading(tmp_path / "none.jsonl"))
    (tmp_path / "file").touch()
    with pytest.raises(StudyError, match="is not a folder"):
        judge_study(campaign, writing(tmp_path / "file"))


def test_the_engine_needs_a_folder_for_requests_or_results(campaign: Study) -> None:
    with pytest.raises(StudyError, match="--requests FOLDER"):
        judge_study(campaign, FilesSettings(model="m"))


def test_writing_requests_needs_a_model(campaign: Study, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="--model"):
        judge_study(campaign, FilesSettings(requests=tmp_path / "x"))


def test_probabilities_are_asked_for_on_demand_and_read(campaign: Study, tmp_path: Path) -> None:
    judge_study(campaign, writing(tmp_path / "batch", logprobs="on", constructs=("AC",)))
    lines = sent(tmp_path / "batch")
    assert {(line["body"]["logprobs"], line["body"]["top_logprobs"]) for line in lines} == {
        (True, 20)
    }
    answers = []
    for line in lines:
        answer = result(line, "80")
        offered = [{"token": "80", "logprob": -0.2231436}, {"token": "90", "logprob": -1.6094379}]
        content = [{**offered[0], "top_logprobs": offered}]
        answer["response"]["body"]["choices"][0]["logprobs"] = {"content": content}
        answers.append(answer)
    path = results(tmp_path / "results.jsonl", answers)
    judge_study(campaign, reading(path, logprobs="on", constructs=("AC",)))
    scores = campaign.score_table().query("construct == 'AC'").set_index("scorer")["value"]
    assert set(scores["gpt"]) == {80.0}
    assert list(scores["gpt (expected)"]) == pytest.approx([82.0] * 12)


def test_probabilities_of_a_model_that_reasons_are_refused(study: Study, tmp_path: Path) -> None:
    fill(study)
    more = {"logprobs": "on", "reasoning_tokens": 100}
    with pytest.raises(StudyError, match="a reason comes first"):
        judge_study(study, writing(tmp_path / "batch", **more))
