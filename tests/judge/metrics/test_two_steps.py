"""A metric of two steps, written as its author would: resumed exactly, no prompt asked twice."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from judge import (
    RunStoppedError,
    judge_study,
    preview,
    show_response,
    show_run,
)
from judge.engines.engine_settings import OpenAISettings
from judge.metrics.metric import Metric
from judge.metrics.registry import load_metric
from judge.protocol.exchange import Answer
from study import Study, StudyError
from study.schema.tables import judgments, responses, step_answers as step_answer_table
from tests.judge.faults.conftest import _running_stub, _small_study, small_study, stub
from tests.judge.faults.faulty_run import SHORT_WAITS, until
from tests.judge.small_studies import Scripted, ScriptedSettings, fill, store
from tests.judge.stub.completions import digest
from tests.judge.stub.process import ROOT, Stub

__all__ = ["_running_stub", "_small_study", "small_study", "stub"]

FILE = Path(__file__).with_name("faithfulness.py")
STATEMENTS = "The first claim.\nThe second claim.\nThe third claim."
YES = 0.6
RULES: list[dict[str, Any]] = [
    {"behaviour": "slow", "delay": 0.03},
    {"behaviour": "answers", "text": STATEMENTS, "when": {"containing": "List each"}},
    {"behaviour": "answers", "text": "No", "when": {"containing": "Statement:"}},
    {"behaviour": "answers", "text": "yes", "when": {"containing": "Statement:", "share": YES}},
]
# Of 12 responses; systems A and B have one context and so one verdict prompt for a statement.
FIRST, SECOND = 12, 4 * 2 * 3


def answer_of(prompt: str) -> Answer:
    """Answer as the endpoint does under `RULES`."""
    if "List each" in prompt:
        return Answer(STATEMENTS, prompt_tokens=100, completion_tokens=20)
    yes = int(digest(prompt)[8:16], 16) < YES * 2**32
    return Answer("yes" if yes else "No", prompt_tokens=50, completion_tokens=1)


def results(study: Study) -> dict[str, tuple[Any, ...]]:
    """Return what each response got."""
    columns = (
        responses.c.key,
        judgments.c.value,
        judgments.c.missing_reason,
        judgments.c.rule,
        judgments.c.parts,
        judgments.c.parser_version,
    )
    with study.read() as connection:
        rows = connection.execute(
            select(*columns).join_from(
                judgments, responses, judgments.c.response_id == responses.c.id
            )
        ).all()
    assert len({row.key for row in rows}) == len(rows)
    return {row.key: tuple(row[1:]) for row in rows}


def step_answers(study: Study) -> list[Any]:
    with study.read() as connection:
        return list(connection.execute(select(step_answer_table).order_by(step_answer_table.c.id)))


def settings(**more: Any) -> ScriptedSettings:
    return ScriptedSettings(metric=str(FILE), name="faithful", **more)


def test_a_metric_of_two_steps_is_one_module_and_its_prompts(
    any_study: Study, scripted: type[Scripted]
) -> None:
    fill(any_study, queries=2)
    scripted.answer = staticmethod(answer_of)
    outcome = judge_study(any_study, settings())
    # B and D give one text in other contexts, and systems with one context share verdicts.
    prompts = Counter(request.prompt for request in scripted.asked)
    assert max(prompts.values()) == 1
    steps = Counter("List each" in prompt for prompt in prompts)
    assert steps == {True: 2 * 3, False: 2 * 2 * 3}
    assert (outcome.judged, outcome.answered, outcome.remaining) == (8, 18, 0)
    assert outcome.tokens == {"prompt": 6 * 100 + 12 * 50, "completion": 6 * 20 + 12}
    assert not outcome.missing
    scores = any_study.score_table()
    mine = scores[scores["scorer"] == "faithful"]
    assert set(mine["construct"]) == {"CC"}
    verdicts = {
        request.prompt: answer_of(request.prompt).text
        for request in scripted.asked
        if "Statement:" in request.prompt
    }
    for query, passage in (("q1", "A passage. (1)"), ("q2", "A third passage. (2)")):
        yes = [text == "yes" for prompt, text in verdicts.items() if f": {passage}" in prompt]
        system = "A" if passage.startswith("A passage") else "C"
        row = mine[(mine["query_id"] == query) & (mine["system"] == system)]
        assert row["value"].item() == pytest.approx(100 * sum(yes) / 3)
    # Limits of tokens are those of the step, or of the prompt set.
    limits = {"List each" in request.prompt: request.max_tokens for request in scripted.asked}
    assert limits == {True: 200, False: None}
    details = show_run(any_study, "faithful")
    assert details.tokens == {"prompt": 1200, "completion": 132}
    assert judge_study(any_study, settings()).answered == 0


@pytest.mark.parametrize("stop", [*range(1, 18, 4), 17])
def test_an_interrupted_run_resumes_at_any_answer(
    campaign: Study, scripted: type[Scripted], stop: int
) -> None:
    scripted.answer = staticmethod(answer_of)
    scripted.stop_after = stop
    with pytest.raises(RunStoppedError, match="Interrupted"):
        judge_study(campaign, settings())
    scripted.stop_after = None
    outcome = judge_study(campaign, settings())
    assert outcome.remaining == 0
    prompts = Counter(request.prompt for request in scripted.asked)
    assert set(prompts.values()) == {1}
    assert len(prompts) == 3 * 3 + 3 * 2 * 3
    resumed = results(campaign)
    other = Study.create(campaign.folder.with_name(f"other{stop}"))
    fill(other)
    judge_study(other, settings())
    assert results(other) == resumed
    other.close()


@pytest.mark.parametrize("stored", [5, FIRST + 7])
def test_a_killed_run_resumes_with_identical_results(
    small_study: Study, stub: Stub, tmp_path: Path, stored: int
) -> None:
    options = {**SHORT_WAITS, "base_url": stub.base_url, "concurrency": 2, "metric": FILE}
    words = [w for name, v in options.items() for w in (f"--{name.replace('_', '-')}", str(v))]
    command = ["judge", str(small_study.folder), *words, "--name", "faithful", "--json"]
    main = [sys.executable, "-c", "from study.cli.root import main; main()"]
    stub.behave(*RULES)
    killed = subprocess.Popen([*main, *command], cwd=ROOT, stdout=subprocess.PIPE)
    until(lambda: len(step_answers(small_study)) >= stored)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    on_disk = step_answers(small_study)
    assert stored <= len(on_disk) < FIRST + SECOND
    stub.forget()
    done = subprocess.run(
        [*main, *command], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    # No prompt with an answer on disk is asked again: the endpoint got the prompts that were left
    # and the questions of the probe, and no others.
    outcome = json.loads(done.stdout)
    assert outcome["answered"] == FIRST + SECOND - len(on_disk)
    assert outcome["remaining"] == 0
    assert not outcome["retries"]
    assert stub.log().asked == outcome["answered"] + outcome["overhead"]["calls"]
    rows = step_answers(small_study)
    assert len(rows) == FIRST + SECOND == len({row.prompt_hash for row in rows})
    assert Counter(row.step for row in rows) == {"statements": FIRST, "verdict": SECOND}
    resumed_results = results(small_study)
    assert len(resumed_results) == 12
    assert len({value for value, *_ in resumed_results.values()}) > 1
    # A run that was never interrupted gives the same.
    straight = Study.create(tmp_path / "straight")
    from study import import_file

    import_file(straight, small_study.folder / "responses.jsonl")
    stub.forget()
    stub_settings = {**SHORT_WAITS, "metric": str(FILE), "base_url": stub.base_url}
    judge_study(straight, OpenAISettings(**stub_settings, name="faithful"))
    assert results(straight) == resumed_results
    kept = {(row.prompt_hash, row.raw_answer, row.step, row.number) for row in rows}
    assert {
        (row.prompt_hash, row.raw_answer, row.step, row.number) for row in step_answers(straight)
    } == kept
    straight.close()


def test_reasons_of_runner_and_metric_are_stored(campaign: Study, scripted: type[Scripted]) -> None:
    answers = {"q1": Answer(""), "q2": Answer("x", missing="content_filter"), "q3": Answer("One.")}

    def answered(prompt: str) -> Answer:
        if "List each" not in prompt:
            return Answer("perhaps")
        return next(answer for key, answer in answers.items() if f"Answer {key[1]} of" in prompt)

    scripted.answer = staticmethod(answered)
    outcome = judge_study(campaign, settings())
    assert outcome.missing == {"no_statements": 4, "content_filter": 4, "no_verdict": 4}
    lines = "\n".join(outcome.lines())
    assert "4 no_statements (the response makes no statement)" in lines
    assert "4 content_filter (the provider's content filter stopped the answer)" in lines
    # What has no value is asked again on demand only: the whole evaluation, as a further attempt.
    asked = len(scripted.asked)
    assert judge_study(campaign, settings()).answered == 0
    scripted.answer = staticmethod(answer_of)
    again = judge_study(campaign, settings(retry_unparsed=True))
    assert again.remaining == 0
    assert len(scripted.asked) - asked == 3 * 3 + 3 * 2 * 3
    scores = campaign.score_table()
    assert scores.loc[scores["scorer"] == "faithful", "value"].isna().all()


def test_a_prompt_that_was_cut_is_asked_again_and_nothing_else_is(
    campaign: Study, scripted: type[Scripted]
) -> None:
    def cut(prompt: str) -> Answer:
        whole = "Statement: The third" not in prompt
        return answer_of(prompt) if whole else Answer("yes", missing="truncated_by_server")

    scripted.answer = staticmethod(cut)
    assert judge_study(campaign, settings()).missing == {"truncated_by_server": 12}
    scripted.asked.clear()
    scripted.answer = staticmethod(answer_of)
    assert judge_study(campaign, settings()).judged == 12
    assert len(scripted.asked) == 6
    assert all("Statement: The third" in request.prompt for request in scripted.asked)


def test_a_limit_counts_prompts_of_all_steps(campaign: Study, scripted: type[Scripted]) -> None:
    scripted.answer = staticmethod(answer_of)
    asked = 0
    while True:
        outcome = judge_study(campaign, settings(limit=5))
        asked += outcome.answered
        assert outcome.answered <= 5
        if not outcome.remaining:
            break
    assert asked == len(scripted.asked) == len({request.prompt for request in scripted.asked}) == 27


def test_what_the_prompts_lack_in_the_data_is_missing_with_its_reason(
    study: Study, scripted: type[Scripted]
) -> None:
    row = {"query_id": "q", "query": "?", "references": ["r"], "response": "x", "system": "A"}
    store(study, row)
    outcome = judge_study(study, settings())
    assert outcome.missing == {"no_passages": 1}
    assert not scripted.asked


def test_a_dry_run_counts_what_can_be_asked_now(campaign: Study, scripted: type[Scripted]) -> None:
    shown = preview(campaign, settings(model="m"))
    assert shown.prompts == {"CC": 9}
    assert any("up to 2 steps" in line for line in shown.lines())
    assert shown.example is not None
    assert "List each statement" in shown.example
    assert not scripted.asked


def test_an_estimate_asks_all_steps_of_a_sample_of_queries(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = staticmethod(answer_of)
    sample = judge_study(campaign, settings(estimate=2))
    assert (sample.answered, sample.judged, sample.remaining) == (18, 8, 4)
    assert sample.by_step is not None
    assert sample.by_step.answers == 18
    assert sample.by_step.steps[0].calls == sample.by_step.steps[0].known == 3
    # All texts get the same statements here, in place of statements of their own.
    assert sample.by_step.steps[1].calls >= 6
    assert any("all steps of 2 queries" in line for line in sample.lines())
    assert judge_study(campaign, settings()).remaining == 0
    prompts = Counter(request.prompt for request in scripted.asked)
    assert (len(prompts), set(prompts.values())) == (27, {1})
    calls = show_run(campaign, "faithful").calls
    assert [(call.kind, call.answered) for call in calls] == [("estimate", 18), ("run", 9)]


def response_ids(study: Study) -> dict[tuple[str, str], str]:
    scores = study.score_table()
    rows = scores[scores["scorer"] == "faithful"]
    keys = zip(rows["query_id"], rows["system"], strict=True)
    return dict(zip(keys, rows["response_id"], strict=True))


def test_a_response_is_shown_with_the_prompts_and_answers_of_every_step(
    any_study: Study, scripted: type[Scripted]
) -> None:
    fill(any_study, queries=2)
    scripted.answer = staticmethod(answer_of)
    judge_study(any_study, settings())
    asked = {request.prompt for request in scripted.asked}
    ids = response_ids(any_study)
    # The prompt of the first step was asked for another response with the same text.
    for system, passage in (("B", "A passage. (2)"), ("D", "A third passage. (2)")):
        (shown,) = show_response(
            any_study, "faithful", ids["q2", system], metric_file=str(FILE)
        ).constructs
        assert [step.step for step in shown.steps] == ["statements"] + ["verdict"] * 3
        assert {step.prompt for step in shown.steps} <= asked
        assert [s.answer and s.answer["text"] for s in shown.steps] == [
            answer_of(step.prompt).text for step in shown.steps
        ]
        assert all(passage in step.prompt for step in shown.steps[1:])
        assert (shown.prompt, shown.judgments[0]["parts"]) == (None, {"statements": 3})
    details = show_response(any_study, "faithful", ids["q2", "D"], metric_file=str(FILE))
    lines = details.lines()
    assert lines.count("  prompt of the step verdict (passage 1):") == 3
    assert any(line.startswith("  judgment: ") for line in lines)
    record = details.as_json()
    assert json.loads(json.dumps(record))["constructs"] == record["constructs"]


def test_each_attempt_is_shown_with_the_answers_of_its_time(
    campaign: Study, scripted: type[Scripted]
) -> None:
    def cut(prompt: str) -> Answer:
        whole = "Statement: The third" not in prompt
        return answer_of(prompt) if whole else Answer("yes", missing="truncated_by_server")

    scripted.answer = staticmethod(cut)
    scripted.stop_after = 8
    with pytest.raises(RunStoppedError):
        judge_study(campaign, settings())
    scripted.stop_after = None
    judge_study(campaign, settings(limit=1))
    (begun,) = show_response(
        campaign, "faithful", first_response(campaign), metric_file=str(FILE)
    ).constructs
    assert begun.judgments == []
    assert [step.answer is None for step in begun.steps] == [False, False, True, True]
    assert "  not judged yet" in begun.lines()
    judge_study(campaign, settings())
    scripted.answer = staticmethod(answer_of)
    judge_study(campaign, settings())
    response = response_ids(campaign)["q1", "A"]
    (shown,) = show_response(campaign, "faithful", response, metric_file=str(FILE)).constructs
    reasons = [judgment["missing_reason"] for judgment in shown.judgments]
    assert reasons == ["truncated_by_server", None]
    by_attempt = {n: [s.answer for s in shown.steps if s.attempt == n] for n in (1, 2)}
    assert [len(answers) for answers in by_attempt.values()] == [4, 4]
    last = [answers[-1] for answers in by_attempt.values()]
    assert [answer and answer["missing"] for answer in last] == ["truncated_by_server", None]


def first_response(study: Study) -> str:
    with study.read() as connection:
        key = connection.execute(select(responses.c.id).order_by(responses.c.id)).scalars().first()
        from study.importing.existing_content import ExistingContent

        return ExistingContent(connection).id_of(int(key or 0))


def test_another_metric_is_another_run(campaign: Study, scripted: type[Scripted]) -> None:
    scripted.answer = staticmethod(answer_of)
    judge_study(campaign, settings(limit=1))
    with pytest.raises(StudyError, match="metric 'faithfulness' there"):
        judge_study(campaign, ScriptedSettings(name="faithful", limit=1))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("", "must define exactly one metric; it defines none"),
        ("import nothing_of_this_name", "can't be loaded"),
    ],
)
def test_a_file_without_a_metric_is_refused(tmp_path: Path, code: str, words: str) -> None:
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    with pytest.raises(StudyError, match=words):
        load_metric(str(tmp_path / "mine.py"))
    with pytest.raises(StudyError, match="is not a Python file"):
        load_metric(str(tmp_path / "yours.py"))


def test_a_metric_must_keep_the_rules(campaign: Study, scripted: type[Scripted]) -> None:
    def of(change: str, to: str) -> str:
        folder = campaign.folder / "metrics"
        folder.mkdir(exist_ok=True)
        source = FILE.read_text(encoding="utf-8")
        assert change in source
        (folder / "faithfulness.py").write_text(source.replace(change, to), encoding="utf-8")
        words = FILE.with_suffix(".toml").read_text(encoding="utf-8")
        (folder / "faithfulness.toml").write_text(words, encoding="utf-8")
        return str(folder / "faithfulness.py")

    scripted.answer = staticmethod(answer_of)
    for change, to, words in (
        ("steps = 2", "steps = 1", "yields more than 1 lists of prompts"),
        ('("context", "response")', '("response",)', "reads the field 'context'"),
        ('"statements", answer', '"statement", answer', "no step 'statement'"),
        ("answer=response.response", "reply=response.response", "has the fields answer"),
        ("supported = words", "supported = word", "NameError"),
        ("return MetricValue(100 * supported / len(words), ", "return dict(", "returned {'parts'"),
    ):
        with pytest.raises((StudyError, RunStoppedError), match=words):
            judge_study(campaign, ScriptedSettings(metric=of(change, to)))
    beyond = of("100 * supported", "1000 + supported")
    outcome = judge_study(campaign, ScriptedSettings(metric=beyond))
    assert outcome.missing == {"out_of_range": 12}


def test_metrics_of_packages_are_entry_points() -> None:
    metrics = [load_metric(name) for name in ("ccrs", "EM", "EM-normalized", "F1")]
    assert all(isinstance(metric, Metric) for metric in metrics)
    assert [metric.steps for metric in metrics] == [1, 0, 0, 0]
    with pytest.raises(StudyError, match=r"Unknown metric 'ccr'\. Did you mean 'ccrs'"):
        load_metric("ccr")
    with pytest.raises(StudyError, match="no prompt version 'mine'; it sends no prompts"):
        load_metric("EM", "mine")
