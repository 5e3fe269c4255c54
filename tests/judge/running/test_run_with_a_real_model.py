"""Half the example study judged by a real model, tiny and random: real tokens, weights and answers.

The model runs in a separate environment (tests/judge/tiny_model/requirements.txt), whose Python
is named by CCRS_TEST_MODEL_PYTHON.
"""

import html
import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from judge.engines.engine import Ready, TokenCount
from judge.inspect.show import show_run
from judge.metrics.ccrs import Ccrs
from judge.prompts.prompt_versions import prompt_version
from judge.prompts.template import PAPER
from judge.protocol.conditions import Conditions
from judge.protocol.logprob_distribution import ScoreTokens
from judge.running.pages import places
from judge.running.plan import CallPlan
from judge.running.scope import Scope, select_constructs
from study import Study
from study.base.scales import Scale
from tests.ccrs_command import in_process
from tests.judge.short_example import EMPTY, WHOLE, build_short_example
from tests.judge.stub.completions import digest
from tests.judge.tiny_model.judged_study import (
    CONCURRENCY,
    FIRST_REFERENCE,
    answers,
    ask,
    command,
    count,
    judge,
    judgments,
)
from tests.judge.tiny_model.process import MODEL, TinyModel, build, model_python, running

pytestmark = pytest.mark.model

NOTE = "A tiny model of random weights: the numbers of this judge mean nothing & prove nothing."


@dataclass(frozen=True)
class Killed:
    """A run that was killed half-way and gone on with."""

    folder: Path
    committed: set[str]
    """Prompts whose judgments were on disk after the kill, by digest."""
    before: list[str]
    """Prompts of the study that were asked before the kill."""
    after: list[str]
    """Prompts of the study that were asked afterwards."""
    resumed: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the model."""
    model_python()
    return build(tmp_path_factory.mktemp("model") / "tiny-random")


@pytest.fixture(scope="module")
def endpoint(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyModel]:
    """Return a running endpoint."""
    with running(model, tmp_path_factory.mktemp("endpoint") / "calls.jsonl") as started:
        yield started


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of half the example study, which tests copy."""
    folder = tmp_path_factory.mktemp("example") / "study"
    build_short_example(folder)
    return folder


@pytest.fixture(scope="module")
def prompts(example: Path) -> dict[tuple[int, str], str]:
    """Return the digest of the prompt of each response (database key) on each construct."""
    study = Study.open(example)
    metric = Ccrs(prompt_version(PAPER))
    constructs = select_constructs(study, metric, ())
    with study.read() as connection:
        versions = study.construct_versions(connection)
    scope = Scope(metric, constructs, versions, 1)
    unbounded = Ready(Conditions("openai", "tiny-random"), TokenCount())
    digests = {
        (response, request.construct_key): digest(request.prompt)
        for request in CallPlan(study, scope, places(study, ()), 0).requests(unbounded)
        for response in request.response_ids
    }
    study.close()
    return digests


@pytest.fixture(scope="module")
def judged(example: Path, endpoint: TinyModel) -> Path:
    """Return the folder of a study that was judged without interruption."""
    folder = copytree(example, example.with_name("judged"))
    done = judge(folder, endpoint)
    assert (done.returncode, done.stderr) == (0, FIRST_REFERENCE)
    return folder


@pytest.fixture(scope="module")
def killed(example: Path, endpoint: TinyModel, prompts: dict[tuple[int, str], str]) -> Killed:
    """Return a run that was killed when half of it was on disk, and then gone on with."""
    folder = copytree(example, example.with_name("killed"))
    start = len(endpoint.calls_when_quiet())
    with subprocess.Popen(
        command(folder, endpoint), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            until = time.monotonic() + 120
            while count(folder) < WHOLE // 2:
                assert process.poll() is None, "it ended before it was killed"
                assert time.monotonic() < until, "half of the judgments did not come in time"
                time.sleep(0.01)
        finally:
            process.kill()
    # What the killed process had sent is answered all the same.
    middle = len(calls := endpoint.calls_when_quiet())
    committed = {
        prompts[row["response_id"], row["construct_key"]]
        for row in judgments(folder)
        if row["raw_answer"] is not None
    }
    resumed = judge(folder, endpoint)
    studied = set(prompts.values())
    before, after = calls[start:middle], endpoint.calls_when_quiet()[middle:]
    return Killed(
        folder,
        committed,
        [call.prompt for call in before if call.prompt in studied],
        [call.prompt for call in after if call.prompt in studied],
        resumed,
    )


def test_the_model_is_the_same_in_every_build(model: Path, tmp_path: Path) -> None:
    first, second = (
        {file.name: sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}
        for folder in (model, build(tmp_path / "again"))
    )
    assert first == second


def test_the_endpoint_answers_and_refuses_as_others_do(endpoint: TinyModel) -> None:
    root = endpoint.base_url.removesuffix("/v1")
    assert ask(f"{root}/health") == (200, {"status": "ok"})
    status, listed = ask(f"{root}/v1/models")
    assert (status, [(m["id"], m["max_model_len"]) for m in listed["data"]]) == (
        200,
        [(MODEL, 8192)],
    )

    url = f"{root}/v1/chat/completions"
    plain: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": "A score?"}]}
    status, answer = ask(url, {**plain, "temperature": 0, "max_tokens": 16})
    assert (status, answer["choices"][0]["finish_reason"]) == (200, "stop")
    # The number, and the end of the turn.
    assert answer["usage"]["completion_tokens"] == 2
    assert 0 <= int(answer["choices"][0]["message"]["content"]) <= 100
    status, cut = ask(url, {**plain, "temperature": 0, "max_tokens": 1})
    assert cut["choices"][0]["finish_reason"] == "length"
    assert cut["choices"][0]["message"] == answer["choices"][0]["message"]

    seeded = [
        ask(url, {**plain, "temperature": 2, "seed": seed})[1]["choices"][0]["message"]["content"]
        for seed in [*range(10), *range(10)]
    ]
    assert seeded[:10] == seeded[10:]
    assert len(set(seeded)) > 1

    status, error = ask(url, {**plain, "model": "another"})
    assert (status, error["error"]["code"]) == (404, "model_not_found")
    long = [{"role": "user", "content": "word " * 9000}]
    status, error = ask(url, {**plain, "messages": long})
    assert (status, error["error"]["code"]) == (400, "context_length_exceeded")
    status, error = ask(url, {**plain, "logprobs": True, "top_logprobs": 21})
    assert (status, error["error"]["param"]) == (400, "top_logprobs")


def test_answers_of_a_real_model_are_scores(judged: Path) -> None:
    rows = judgments(judged)
    assert len(rows) == WHOLE
    asked = [row for row in rows if row["rule"] != "empty_response"]
    assert len(asked) == WHOLE - EMPTY
    values = [row["value"] for row in asked if row["value"] is not None]
    assert len(values) >= 0.95 * len(asked)
    assert len(set(values)) >= 5
    assert all(row["served_model"] == MODEL and row["finish_reason"] == "stop" for row in asked)


def test_a_killed_run_goes_on_to_the_same_end(judged: Path, killed: Killed) -> None:
    assert (killed.resumed.returncode, killed.resumed.stderr) == (0, FIRST_REFERENCE)
    assert 0 < len(killed.committed) < len(set(killed.before + killed.after))
    # Each judgment once, and each as if nothing had happened.
    assert answers(killed.folder) == answers(judged)
    assert {row["attempt"] for row in judgments(killed.folder)} == {1}


def test_only_what_was_under_way_is_asked_again(
    killed: Killed, prompts: dict[tuple[int, str], str]
) -> None:
    studied = set(prompts.values())
    assert max(Counter(killed.before).values()) == 1
    # All that is asked afterwards is what has no judgment, each prompt once.
    assert Counter(killed.after) == Counter(studied - killed.committed)
    under_way = set(killed.before) - killed.committed
    assert set(killed.before) & set(killed.after) == under_way
    assert 1 <= len(under_way) <= CONCURRENCY


def test_a_run_that_is_done_asks_nothing(judged: Path, endpoint: TinyModel, prompts: Any) -> None:
    start = len(endpoint.calls_when_quiet())
    assert judge(judged, endpoint).returncode == 0
    calls = endpoint.calls_when_quiet()[start:]
    assert not {call.prompt for call in calls} & set(prompts.values())


def test_a_dry_run_makes_no_call(example: Path, endpoint: TinyModel, tmp_path: Path) -> None:
    folder = copytree(example, tmp_path / "study")
    seen = endpoint.calls_when_quiet()
    done = judge(folder, endpoint, "--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Prompts to ask: {WHOLE - EMPTY}" in done.stdout
    assert endpoint.calls_when_quiet() == seen
    assert judgments(folder) == []


@pytest.mark.usefixtures("without_drawing")
def test_the_report_compares_the_judge_with_people(judged: Path, tmp_path: Path) -> None:
    folder, out = copytree(judged, tmp_path / "study"), tmp_path / "report"
    settings = folder / "study.toml"
    scorer_settings = f'\n[scorers."{MODEL}"]\nnote = "{NOTE}"\n'
    settings.write_text(settings.read_text(encoding="utf-8") + scorer_settings, encoding="utf-8")
    quick = ["--resamples", "200", "--no-verify"]
    done = in_process("report", folder, "--out", out, *quick)
    assert (done.returncode, done.stderr) == (0, "")
    written = (out / "report.json").read_text(encoding="utf-8")
    compared = {
        scorer for estimate in json.loads(written)["estimates"] for scorer in estimate["scorers"]
    }
    assert {MODEL, "simulated-judge"} <= compared
    assert json.dumps(NOTE, ensure_ascii=False) in written
    assert html.escape(NOTE) in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("like_vllm", [False, True], ids=["likeliest-tokens", "tokens-of-scores"])
def test_probabilities_of_a_real_model_make_a_second_scorer(
    like_vllm: bool, model: Path, example: Path, tmp_path: Path
) -> None:
    folder = copytree(example, tmp_path / "study")
    more = ["--like-vllm"] if like_vllm else []
    with running(model, tmp_path / "calls.jsonl", *more) as server:
        done = judge(folder, server, "--limit", "60")
        assert (done.returncode, done.stderr) == (0, FIRST_REFERENCE)
    study = Study.open(folder)
    try:
        scores = study.score_table().set_index("scorer")
        details = show_run(study, MODEL)
    finally:
        study.close()
    assert details.observed["logprobs"] == "given"
    way = "tokens of the scores" if like_vllm else "top 20"
    assert details.decoding["logprobs"] == way
    whole = 0
    for row in judgments(folder):
        if row["distribution"] in (None, "null"):
            continue
        shares = json.loads(row["distribution"])
        mass = sum(shares.values())
        # At temperature 0 the number that is written is the most probable one.
        assert float(max(shares, key=shares.__getitem__)) == row["value"]
        whole += mass >= 0.95
        if like_vllm:
            assert mass > 0.95
    assert whole > 30
    expected = scores.loc[f"{MODEL} (expected)", "value"].dropna()
    parsed = scores.loc[MODEL, "value"].dropna()
    assert expected.nunique() > parsed.nunique()


def test_plain_and_vllm_requests_give_the_same_probabilities(model: Path, tmp_path: Path) -> None:
    plain: dict[str, Any] = {
        "model": MODEL,
        "messages": [{"role": "user", "content": "A score?"}],
        "temperature": 0,
        "logprobs": True,
    }
    with running(model, tmp_path / "calls.jsonl", "--like-vllm") as server:
        url = f"{server.base_url}/chat/completions"
        _, tokens = ask(f"{server.base_url.removesuffix('/v1')}/tokenize", {"prompt": "85\n7"})
        assert len(tokens["tokens"]) == 3
        numbers = "\n".join(map(str, range(101)))
        _, named = ask(f"{server.base_url.removesuffix('/v1')}/tokenize", {"prompt": numbers})
        ids = dict(zip(named["tokens"][::2], range(101), strict=True))
        _, likeliest = ask(url, {**plain, "top_logprobs": 20})
        asked = {"logprob_token_ids": list(ids), "return_tokens_as_token_ids": True}
        _, chosen = ask(url, {**plain, **asked})
    scale = Scale(min=0, max=100)
    first = ScoreTokens(scale).distribution(likeliest["choices"][0]["logprobs"])
    known = {f"token_id:{token}": score for token, score in ids.items()}
    second = ScoreTokens(scale, known).distribution(chosen["choices"][0]["logprobs"])
    assert first
    assert second
    assert {score: second[score] for score in first} == pytest.approx(first)
