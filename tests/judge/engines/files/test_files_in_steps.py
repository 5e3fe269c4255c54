"""Metrics in steps through files: each step is a file, and each prompt is sent once."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from judge import Outcome, compare_pairs, judge_metrics, judge_study, probe_study
from judge.engines.engine_settings import FilesSettings
from judge.protocol.exchange import Answer
from study import Study
from tests.judge.engines.files.provider_files import failed, result, results, sent
from tests.judge.metrics.test_ragchecker import scripted_answer
from tests.judge.small_studies import Scripted, ScriptedSettings, fill

PROMPTS = 2 * (6 + 4 + 3 + 6)
"""Different prompts of the suite on two queries, as `test_ragchecker` counts them."""

Answering = Callable[[str], Answer]


def batch(folder: Path, *answers: Path, **more: Any) -> FilesSettings:
    more = {"metric": "ragchecker", **more}
    return FilesSettings(model="gpt", requests=folder, answers=answers, **more)


def prompt_of(line: dict[str, Any]) -> str:
    return str(line["body"]["messages"][0]["content"])


def answered(line: dict[str, Any]) -> dict[str, Any]:
    return result(line, scripted_answer(prompt_of(line)).text)


def values(study: Study) -> dict[tuple[str, ...], float]:
    """Return the scores by metric, construct, query and system."""
    table = study.score_table()
    metrics = table["scorer"].str.split(" ").str[-1]
    kept = table.assign(metric=metrics)[metrics.str.startswith("ragchecker")]
    index = kept.set_index(["metric", "construct", "query_id", "system"])["value"]
    return {tuple(map(str, key)): value for key, value in index.to_dict().items()}


@pytest.fixture
def expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, ...], float]:
    """Return the values of the suite by an engine that answers at once."""
    from tests.judge.small_studies import register

    scripted = register(monkeypatch)
    scripted.answer = staticmethod(scripted_answer)
    with Study.create(tmp_path / "at-once") as other:
        fill(other, queries=2)
        judge_metrics(other, ScriptedSettings(metric="ragchecker"))
        return values(other)


def notes(outcomes: list[Outcome]) -> str:
    return " ".join(note for outcome in outcomes for note in outcome.notes)


def test_each_step_of_a_suite_is_a_file(
    any_study: Study, tmp_path: Path, expected: dict[tuple[str, ...], float]
) -> None:
    fill(any_study, queries=2)
    folder = tmp_path / "batch"
    first = judge_metrics(any_study, batch(folder))
    assert not any(outcome.judged or outcome.failed or outcome.falls_short for outcome in first)
    assert "--metric ragchecker --requests" in notes(first)
    assert notes(first).count("Next") == notes(first).count("Wrote") - 1 == 0
    steps = {"claims": sent(folder)}
    # Each text of a query and its reference answer, whichever metrics list their claims.
    assert len(steps["claims"]) == 2 * 4
    lines = [answered(line) for line in steps["claims"]]
    Random(1).shuffle(lines)
    claims = results(tmp_path / "claims.jsonl", lines)
    second = judge_metrics(any_study, batch(folder, claims))
    assert sum(outcome.answered for outcome in second) == 2 * 4
    assert not any(outcome.failed for outcome in second)
    steps["checks"] = sent(folder)[8:]
    assert len(steps["checks"]) == PROMPTS - 8
    # Some answers have not come yet, and what came is given twice.
    half = [answered(line) for line in steps["checks"][::2]]
    part = results(tmp_path / "part.jsonl", half)
    doubled = results(tmp_path / "doubled.jsonl", [*half, *half[:2]])
    third = judge_metrics(any_study, batch(folder, claims, part, doubled))
    left = len(steps["checks"]) - len(half)
    assert f"{left} prompts wait for results" in notes(third)
    assert "Wrote" not in notes(third)
    rest = results(tmp_path / "rest.jsonl", map(answered, steps["checks"][1::2]))
    last = judge_metrics(any_study, batch(folder, rest))
    assert not any(outcome.remaining or outcome.missing for outcome in last)
    names = [line["custom_id"] for line in sent(folder)]
    assert len(names) == len(set(names)) == PROMPTS
    assert len({prompt_of(line) for line in sent(folder)}) == PROMPTS
    assert values(any_study) == expected


def test_what_failed_is_written_again_and_nothing_else(study: Study, tmp_path: Path) -> None:
    fill(study, queries=1)
    folder = tmp_path / "batch"
    recall = {"metric": "ragchecker-recall"}
    judge_study(study, batch(folder, **recall))
    lines = sent(folder)
    one = results(tmp_path / "one.jsonl", [failed(lines[0]), failed(lines[0], "server_error")])
    again = judge_study(study, batch(folder, one, **recall))
    assert (again.failed, again.missing, again.falls_short) == ({}, {}, False)
    assert "Written again, since they got no answer: 1 server_error." in again.notes
    assert [line["custom_id"] for line in sent(folder)[len(lines) :]] == [lines[0]["custom_id"]]
    # The failure may be given again; the prompt waits in its second file.
    same = judge_study(study, batch(folder, one, **recall))
    assert len(sent(folder)) == len(lines) + 1
    assert "1 prompt waits for results" in " ".join(same.notes)
    got = results(tmp_path / "two.jsonl", map(answered, lines))
    judge_study(study, batch(folder, one, got, **recall))
    checks = sent(folder)[len(lines) + 1 :]
    assert len(checks) == 3
    done = judge_study(
        study,
        batch(folder, one, got, results(tmp_path / "c.jsonl", map(answered, checks)), **recall),
    )
    assert (done.remaining, done.missing) == (0, {})


def test_reading_alone_leaves_later_steps_open(study: Study, tmp_path: Path) -> None:
    fill(study, queries=1)
    judge_metrics(study, batch(tmp_path / "batch"))
    got = results(tmp_path / "r.jsonl", map(answered, sent(tmp_path / "batch")))
    outcomes = judge_metrics(study, FilesSettings(model="gpt", answers=(got,), metric="ragchecker"))
    assert not any(outcome.failed or outcome.falls_short for outcome in outcomes)
    assert f"{PROMPTS // 2 - 4} prompts have no answer in these files" in notes(outcomes)
    assert values(study) == {}


def test_recorded_answers_to_steps_are_found_by_the_prompt(
    any_study: Study, tmp_path: Path, expected: dict[tuple[str, ...], float]
) -> None:
    fill(any_study, queries=2)
    folder = tmp_path / "batch"
    prompts: list[str] = []
    with Study.create(tmp_path / "asked") as other:
        fill(other, queries=2)
        judge_metrics(other, batch(folder))
        got = results(tmp_path / "r.jsonl", map(answered, sent(folder)))
        judge_metrics(other, batch(folder, got))
        prompts = [prompt_of(line) for line in sent(folder)]
    rows = [{"prompt": prompt, "answer": scripted_answer(prompt).text} for prompt in prompts]
    path = tmp_path / "answers.jsonl"

    def read(some: list[dict[str, Any]]) -> list[Outcome]:
        path.write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
        settings = FilesSettings(model="elsewhere", answers=(path,), metric="ragchecker")
        return judge_metrics(any_study, settings)

    partly = read(rows[3:])
    assert any(outcome.failed for outcome in partly)
    assert not any(outcome.run_missing for outcome in partly)
    done = read([{"prompt": "another", "answer": "x"}, *reversed(rows)])
    assert not any(outcome.remaining or outcome.missing for outcome in done)
    assert values(any_study) == expected


def test_pairs_and_probes_go_through_files_as_well(
    study: Study, tmp_path: Path, scripted: type[Scripted]
) -> None:
    fill(study, queries=2)
    one = {"metric": "ccrs", "constructs": ("CC",)}
    folder = tmp_path / "run"
    judge_study(study, batch(folder, **one))
    judge_study(
        study, batch(folder, results(tmp_path / "r.jsonl", map(result, sent(folder))), **one)
    )
    probes = tmp_path / "probes"
    wrote = probe_study(study, batch(probes, **one), ("again", "length"), 2)
    lines = sent(probes)
    assert (wrote.answered, wrote.failed, len(lines)) == (0, {}, wrote.remaining)
    assert any("ccrs judge probe" in note for note in wrote.notes)
    # The same words again are another question.
    assert not {line["custom_id"] for line in lines} & {line["custom_id"] for line in sent(folder)}
    got = results(tmp_path / "p.jsonl", [result(line) for line in lines])
    done = probe_study(study, batch(probes, got, **one), ("again", "length"), 2)
    assert (done.answered, done.remaining) == (len(lines), 0)
    pairs = tmp_path / "pairs"
    options = {**one, "constructs": ("QR",)}
    asked = compare_pairs(study, batch(pairs, **options))
    assert (asked.remaining, asked.answered) == (2 * 2 * 6, 0)
    # Two systems give the same text, so some prompts are equal.
    assert len(sent(pairs)) == 2 * 7
    got = results(tmp_path / "c.jsonl", [result(line, "1") for line in sent(pairs)])
    compared = compare_pairs(study, batch(pairs, got, **options))
    assert (compared.answered, compared.remaining, compared.missing) == (24, 0, {})
    assert Counter(study.preference_table()["value"]) == {0.0: 12}
    rows = [{"prompt": prompt_of(line), "answer": "1"} for line in sent(pairs)]
    path = results(tmp_path / "recorded.jsonl", rows)
    by_words = FilesSettings(model="elsewhere", answers=(path,), constructs=("QR",))
    assert compare_pairs(study, by_words).answered == 24


def test_probes_of_a_metric_in_steps_are_a_file_for_each_step(study: Study, tmp_path: Path) -> None:
    fill(study, queries=2)
    one = {"metric": "ragchecker-precision"}
    run, probes = tmp_path / "run", tmp_path / "probes"
    for number in range(3):
        lines = sent(run) if number else []
        got = results(tmp_path / f"r{number}.jsonl", map(answered, lines))
        outcome = judge_study(study, batch(run, *([got] if lines else []), **one))
    assert outcome.remaining == 0
    wrote = probe_study(study, batch(probes, **one), ("again", "length"), 2)
    assert (wrote.answered, wrote.failed) == (0, {})
    counts = [len(sent(probes))]
    for number in range(2):
        got = results(tmp_path / f"p{number}.jsonl", map(answered, sent(probes)))
        done = probe_study(study, batch(probes, got, **one), ("again", "length"), 2)
        counts.append(len(sent(probes)))
    # Lists of claims, then checks of them.
    assert counts[0] < counts[1] == counts[2]
    assert done.remaining == 0
    assert len({line["custom_id"] for line in sent(probes)}) == counts[-1]
