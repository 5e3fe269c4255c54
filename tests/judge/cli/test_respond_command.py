"""`ccrs respond`, as a user starts it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest
import pytrec_eval
from click.testing import CliRunner
from sqlalchemy import select

from judge import OpenAISettings
from judge.metrics.relevance_judgments import read_relevance
from judge.protocol.exchange import Answer, Request
from study import Study, StudyError
from study.cli.root import cli
from study.schema.tables import imported_files
from tests.ccrs_command import in_process
from tests.judge.responding.example_corpus import ROOT
from tests.judge.responding.respond_calls import ccrs, declare, words_of
from tests.judge.scripted_encoder import ScriptedEncoder
from tests.judge.small_studies import Scripted, always
from tests.judge.stub.process import running_stub


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> ScriptedEncoder:
    made = ScriptedEncoder(size=4000)
    monkeypatch.setattr("judge.responding.respond.load_encoder", lambda _: made)
    return made


def test_responses_come_with_passages_documents_and_prompt(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    scripted.answer = always(Answer("It is so: <answer>Four days.</answer>", prompt_tokens=10))
    folder = declare(study)
    words = words_of(example, "--systems", "words", "--engine", "scripted", "--price", 1, 2)
    planned = ccrs("respond", folder, *words, "--dry-run")
    assert (planned["prompts"], scripted.asked) == (30, [])
    made = ccrs("respond", folder, *words)
    assert (made["prompts"], made["answered"], made["failed"]) == (30, 30, {})
    assert made["prompt_tokens"] == 300
    assert made["cost"] == pytest.approx(300e-6)
    system = made["systems"]["words"]
    assert (system["responses"], system["added"], system["rules"]) == (30, 30, {"tagged": 30})
    with Study.open(folder) as opened, opened.read() as connection:
        text = "select r.text, p.document, t.text from response r join response_passage p on "
        text += "p.response_id = r.id join passage t on t.id = p.passage_id order by r.id, position"
        rows = connection.exec_driver_sql(text).all()
        [options] = connection.execute(select(imported_files.c.options)).scalars()
    assert {row[0] for row in rows} == {"Four days."}
    kept = (folder / system["ranking"]).read_text().splitlines()
    first = json.loads(kept[1])["passages"]
    assert [row[1] for row in rows[:5]] == [each["document"] for each in first]
    # The reader saw the same passages, the best one first.
    prompt = scripted.asked[0].prompt
    places = [prompt.index(row[2]) for row in rows[:5]]
    assert places == sorted(places)
    assert options["system"]["prompt"] == "rag-answer-v1"
    assert options["reader"]["prompt_hash"] == options["system"]["prompt_hash"]
    assert options["ranking"] == system["ranking"]
    again = ccrs("respond", folder, *words)
    assert (again["prompts"], again["systems"]["words"]["added"]) == (0, 0)
    assert len(scripted.asked) == 30


def test_the_files_of_documents_are_named(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    del scripted
    folder = declare(study)
    (example[0] / "corpus.jsonl").rename(example[0] / "docs.jsonl")
    words = words_of(example, "--systems", "words", "--engine", "scripted", "--dry-run")
    planned = ccrs("respond", folder, *words)
    assert (planned["documents"], planned["files"]) == (56, ["docs.jsonl"])
    done = CliRunner().invoke(cli, ["respond", str(folder), *map(str, words)])
    assert "30 queries, 56 documents from docs.jsonl, passages" in done.output


def test_figures_of_the_rankings_are_those_of_pytrec_eval(
    study: Study,
    example: tuple[Path, Path, Path],
    scripted: type[Scripted],
    encoder: ScriptedEncoder,
) -> None:
    del scripted
    folder = declare(study)
    words = words_of(example, "--engine", "scripted", "--encoder", "e5")
    made = ccrs("respond", folder, *words)
    ccrs("measure", folder, "--metrics", "NDCG@5,RR", "--qrels", example[2])
    with Study.open(folder) as opened:
        table = opened.score_table()
    qrels = read_relevance(example[2])
    for name, system in made["systems"].items():
        lines = (folder / system["ranking"]).read_text().splitlines()[1:]
        runs: dict[str, dict[str, float]] = {}
        for line in map(json.loads, lines):
            documents = dict.fromkeys(each["document"] for each in line["passages"])
            ranked = {doc: -float(place) for place, doc in enumerate(documents)}
            runs[line["query_id"]] = ranked
        measures = {"ndcg_cut.5", "recip_rank"}
        expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(runs)
        for metric, key in (("NDCG@5", "ndcg_cut_5"), ("RR", "recip_rank")):
            of_metric = table["scorer"].str.startswith(f"{metric} ") & (table["system"] == name)
            values = table[of_metric].dropna(subset="value").set_index("query_id")["value"]
            assert set(values.index) == set(expected) & set(qrels)
            for query, value in values.items():
                assert value == pytest.approx(expected[str(query)][key], abs=1e-9)


def test_one_model_reads_for_all_systems_of_the_paper(
    study: Study,
    example: tuple[Path, Path, Path],
    scripted: type[Scripted],
    encoder: ScriptedEncoder,
) -> None:
    words = words_of(example, "--systems", "A-F", "--engine", "scripted", "--model", "tiny")
    made = ccrs("respond", study.folder, *words, "--encoder", "e5")
    assert list(made["systems"]) == list("ABCDEF")
    assert any("appendix F" in note for note in made["notes"])
    # A, C and E have the same passages, and so the same prompts, each asked once.
    assert len(scripted.asked) == made["prompts"] == 60
    assert {name: system["added"] for name, system in made["systems"].items()} == dict.fromkeys(
        "ABCDEF", 30
    )
    # Each text is embedded once: 56 passages and 30 queries.
    assert len(encoder.asked) == 86


def test_missing_answers_are_counted_and_never_responses(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    answers = [
        Answer(None, missing="content_filter"),
        Answer("<think>Well, ", "length"),
        Answer("a\x00b"),
        Answer("<answer>cut", "length"),
        Answer(""),
    ]
    scripted.answer = staticmethod(lambda _: answers[len(scripted.asked) % 5])
    folder = declare(study)
    words = words_of(example, "--systems", "words", "--engine", "scripted")
    system = ccrs("respond", folder, *words)["systems"]["words"]
    assert system["missing"] == {"content_filter": 6, "truncated": 6, "unstorable": 6}
    assert (system["responses"], system["cut"], system["open"]) == (12, 6, 0)


def test_prompts_beyond_the_window_are_refused_or_skipped(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    folder = declare(study)
    words = words_of(example, "--systems", "words", "--engine", "scripted", "--window", 550)
    with pytest.raises(StudyError, match=r"prompts and their answers exceed.*--skip-too-long"):
        ccrs("respond", folder, *words, status=2)
    assert scripted.asked == []
    made = ccrs("respond", folder, *words, "--skip-too-long")
    system = made["systems"]["words"]
    assert system["responses"] + system["missing"]["too_long"] == 30
    assert made["answered"] == len(scripted.asked) == system["responses"] > 0


def test_a_limit_and_an_interrupt_are_continued(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    folder = declare(study)
    words = words_of(example, "--systems", "words", "--engine", "scripted")
    made = ccrs("respond", folder, *words, "--limit", 4)
    assert (made["answered"], made["systems"]["words"]["open"]) == (4, 26)
    scripted.stop_after = 5
    stopped = CliRunner().invoke(cli, ["respond", str(folder), *map(str, words)])
    assert "words: 9 responses (5 new)" in stopped.output
    scripted.stop_after = None
    assert ccrs("respond", folder, *words)["answered"] == 21
    prompts = [request.prompt for request in scripted.asked]
    assert len(prompts) == len(set(prompts)) == 30


def test_a_sample_of_prompts_tells_what_the_others_take(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    counts = {"prompt_tokens": 700, "completion_tokens": 20}
    scripted.answer = always(Answer("<answer>Yes.</answer>", **counts))
    folder = declare(study)
    words = words_of(example, "--systems", "words", "--engine", "scripted", "--price", 1, 2)
    made = ccrs("respond", folder, *words, "--estimate", 6)
    assert (made["answered"], made["systems"]["words"]["open"]) == (6, 24)
    (forecast,) = made["forecast"].values()
    assert (forecast["answers"], forecast["prompts"]) == (6, 24)
    assert forecast["tokens"]["completion"]["estimate"] == pytest.approx(24 * 20, rel=0.2)
    cost = (24 * 700 + 2 * 24 * 20) / 1e6
    assert forecast["cost"]["estimate"] == pytest.approx(cost, rel=0.2)
    first = [request.prompt for request in scripted.asked]
    done = CliRunner().invoke(cli, ["respond", str(folder), *map(str, words), "--estimate", "4"])
    assert "Forecast for 20 remaining prompts, from 4 answers:" in done.output
    assert "without --estimate" in done.output
    made = ccrs("respond", folder, *words)
    assert (made["answered"], made["forecast"]) == (20, {})
    prompts = [request.prompt for request in scripted.asked]
    # Drawn at random, not the first ones.
    assert first != prompts[:6] or sorted(first) != sorted(set(prompts))[:6]
    assert len(prompts) == len(set(prompts)) == 30


def test_no_forecast_is_shown_where_nothing_is_left_to_ask(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    scripted.answer = always(Answer("<answer>Yes.</answer>", prompt_tokens=7, completion_tokens=2))
    folder = declare(study)
    words = words_of(example, "--systems", "words", "--engine", "scripted", "--estimate")
    for number, answered in ((1000, 30), (3, 0)):
        done = CliRunner().invoke(cli, ["respond", str(folder), *map(str, words), str(number)])
        assert f"{answered} of {answered} prompts were answered" in done.output
        assert "  No prompt is left to ask, so there is no forecast.\n" in done.output
        assert "remaining" not in done.output
        assert "count of tokens" not in done.output


def test_a_limit_is_that_of_all_readers(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    words = words_of(example, "--systems", "A,C", "--engine", "scripted", "--limit", 40)

    def open_responses(made: dict[str, Any]) -> dict[str, tuple[int, int]]:
        return {name: (each["responses"], each["open"]) for name, each in made["systems"].items()}

    assert ccrs("respond", study.folder, *words, "--dry-run")["prompts"] == 40
    words[-1] = 3
    assert ccrs("respond", study.folder, *words, "--dry-run")["prompts"] == 3
    made = ccrs("respond", study.folder, *words)
    assert (made["prompts"], open_responses(made)) == (3, {"A": (3, 27), "C": (0, 30)})
    done = CliRunner().invoke(cli, ["respond", str(study.folder), *map(str, words)])
    assert "C: 0 responses (0 new) by rag-answer-v1; 30 prompts still to ask." in done.output
    assert "Next: the same command again, for 54 responses still to make\n" in done.output
    assert "ccrs judge" not in done.output
    scripted.stop_after = 2
    stopped = CliRunner().invoke(cli, ["respond", str(study.folder), *map(str, words[:-2])])
    assert "A: 8 responses (2 new)" in stopped.output
    assert "C: 0 responses (0 new) by rag-answer-v1; 30 prompts still to ask." in stopped.output
    scripted.stop_after = None
    # The limit ends with the last prompt of A, and C is still named.
    words[-1] = 22
    assert open_responses(ccrs("respond", study.folder, *words)) == {"A": (30, 0), "C": (0, 30)}
    words[-1] = 30
    assert open_responses(ccrs("respond", study.folder, *words)) == {"A": (30, 0), "C": (30, 0)}
    done = CliRunner().invoke(cli, ["respond", str(study.folder), *map(str, words)])
    assert "Next: ccrs judge" in done.output
    assert len(scripted.asked) == 60


def test_readers_answer_by_files_too(
    study: Study, example: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    folder = declare(study)
    words = words_of(example, "--systems", "words", "--engine", "files")
    made = ccrs("respond", folder, *words, "--requests", tmp_path / "requests")
    assert (made["prompts"], made["systems"]["words"]["open"]) == (30, 30)
    [note] = [note for note in made["notes"] if "RESULTS" in note]
    assert f"`ccrs respond {folder} --engine files --model stub-judge" in note
    [file] = (tmp_path / "requests").glob("*.jsonl")
    requests = [json.loads(line) for line in file.read_text().splitlines()]
    message = {"role": "assistant", "content": "<answer>By batch.</answer>"}
    body = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
    lines = [
        {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}
        for request in requests
    ]
    (tmp_path / "results.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in lines))
    made = ccrs("respond", folder, *words, "--answers", tmp_path / "results.jsonl")
    assert made["systems"]["words"]["rules"] == {"tagged": 30}


def test_recorded_answers_are_found_by_the_words_of_their_prompts(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted], tmp_path: Path
) -> None:
    folder = declare(study)
    words = words_of(example, "--systems", "words", "--model", "m")
    ccrs("respond", folder, *words, "--engine", "scripted", "--limit", 2)
    rows = [{"prompt": request.prompt, "answer": "R"} for request in scripted.asked]
    (tmp_path / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    other = Study.create(tmp_path / "other")
    words += ["--engine", "files", "--answers", tmp_path / "answers.jsonl"]
    planned = CliRunner().invoke(
        cli, ["respond", str(declare(other)), *map(str, words), "--dry-run"]
    )
    assert "Prompts to ask: 28\nAnswered by the files: 2\n" in planned.output
    made = ccrs("respond", other.folder, *words, status=1)
    assert made["systems"]["words"]["responses"] == 2
    assert made["failed"] == {"no_answer": 28}
    other.close()


def test_the_limit_of_the_cost_is_that_of_all_readers(
    study: Study, example: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = []

    class Costly(Scripted):
        # `Scripted` states the narrower types of its own; limits of cost are only of endpoints.
        settings = OpenAISettings  # type: ignore[assignment]
        asked: ClassVar[list[Request]] = []  # type: ignore[misc]
        answer = always(Answer("a", prompt_tokens=1000, completion_tokens=0))

        def __init__(self, settings: Any, *more: Any) -> None:
            limits.append(settings.max_cost)
            super().__init__(settings, *more)

    for module in ("engines.engine", "responding.respond", "responding.asked_reader"):
        monkeypatch.setattr(f"judge.{module}.load_engine", lambda _: Costly)
    words = words_of(example, "--systems", "A,C,E", "--price", 1, 1, "--max-cost", 0.05)
    ccrs("respond", study.folder, *words)
    # 30 prompts of 1,000 tokens cost 0.03 for each reader.
    assert limits == pytest.approx([0.05, 0.02, 0], abs=1e-9)


@pytest.mark.server
def test_the_printed_command_judges_the_responses(
    study: Study, example: tuple[Path, Path, Path], scripted: type[Scripted]
) -> None:
    scripted.answer = always(Answer("<answer>Yes.</answer>"))
    words = words_of(example, "--systems", "words", "--engine", "scripted")
    made = CliRunner().invoke(cli, ["respond", str(declare(study)), *map(str, words)])
    [printed] = [line for line in made.output.splitlines() if line.startswith("Next: ")]
    command = shlex.split(printed.removeprefix("Next: ccrs "))
    with running_stub() as stub:
        values = {"URL": stub.base_url, "NAME": "stub-judge"}
        judged = CliRunner().invoke(cli, [values.get(word, word) for word in command])
    assert judged.exit_code == 0, judged.output
    assert "judgments of the run 'stub-judge' were stored" in judged.output


@pytest.mark.server
@pytest.mark.usefixtures("without_drawing")
def test_the_manual_has_the_paper_in_four_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "data" / "manual" / "repeat_paper.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
    commands = [line for line in "".join(blocks).splitlines() if line.startswith("ccrs ")]
    assert [shlex.split(line)[1] for line in commands] == [
        *("init", "respond", "judge", "measure", "report"),
    ]
    (tmp_path / "data").symlink_to(ROOT / "data")
    with running_stub() as stub:
        for line in commands:
            words = line.replace("http://localhost:8000/v1", stub.base_url)
            words = re.sub("READER|JUDGE", "stub-judge", words)
            done = in_process(*shlex.split(words)[1:])
            assert done.returncode == 0, (line, done.stderr)
    report = json.loads((tmp_path / "paper" / "report" / "report.json").read_text())
    assert "hit@1" in json.dumps(report)
    with Study.open(tmp_path / "paper") as opened:
        table = opened.score_table()
    assert set(table["system"]) == set("ABCDEF")
    hits = table[table["scorer"].str.startswith("hit@1 ")].groupby("system")["value"].mean()
    # That of a plain prototype: a passage that a system of the example was given is relevant.
    assert hits["A"] == hits["C"] == hits["E"] == pytest.approx(0.8)
    assert hits["B"] == hits["D"] == hits["F"]


@pytest.mark.server
def test_a_killed_call_asks_no_answered_prompt_again(
    study: Study, example: tuple[Path, Path, Path]
) -> None:
    folder = declare(study)
    with running_stub({"behaviour": "slow", "delay": 0.05}) as stub:
        command = [
            *(sys.executable, "-c", "from study.cli.root import main; main()", "respond"),
            *map(str, [folder, *words_of(example, "--systems", "words", "--concurrency", 2)]),
            *("--base-url", stub.base_url),
        ]
        for kill in range(3):
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
            until = time.monotonic() + 60
            while _stored(folder) < 5 * (kill + 1) and time.monotonic() < until:
                time.sleep(0.005)
            os.kill(process.pid, signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        # As if the kill had come in the middle of a line.
        [path] = (folder / "respond").glob("answers-*")
        with path.open("a") as file:
            file.write('{"prompt_hash": "half')
        stored = _stored(folder)
        asked = []
        for _ in range(2):
            stub.forget()
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            asked.append(stub.log().asked)
            assert "words: 30 responses" in done.stdout
    # The last call asks nothing but how the endpoint answers.
    assert asked[0] - asked[1] == 30 - stored
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert len({line["prompt_hash"] for line in lines}) == len(lines) == 30


def _stored(folder: Path) -> int:
    return sum(
        max(0, path.read_bytes().count(b"\n") - 1)
        for path in (folder / "respond").glob("answers-*")
    )
