"""Suites of metrics that ask a model, as a user starts them, up to the report."""

import csv
import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ccrs_command import in_process, program
from tests.judge.stub.process import Stub, running_stub

pytestmark = pytest.mark.usefixtures("without_drawing")

TEXTS = {
    "a": "Fact {q} holds [1]. It is old [2][1].",
    "b": "Fact {q} may hold [1, 3].",
    "c": "No idea.",
}
MEANS = {"a": 85, "b": 50, "c": 15}

#: Options of a report whose page and figures are read, not its intervals.
QUICK = ("--no-verify", "--resamples", "100")


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with running_stub() as started:
        started.behave("follows_schema")
        yield started


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """Return a study of three systems whose responses cite passages, with two raters."""
    responses, ratings = [], [("response_id", "construct", "scorer", "scorer_kind", "value")]
    for q in range(12):
        for system, text in TEXTS.items():
            name = f"q{q}-{system}"
            responses.append(
                {
                    "response_id": name,
                    "query_id": f"q{q}",
                    "query": f"Question {q}?",
                    "references": [f"Fact {q} holds. It is old."],
                    "system": system,
                    "response": text.format(q=q),
                    "passages": [
                        {"text": f"Passage {n} of {q}.", "document": f"{q}-{n}{system}"}
                        for n in (1, 2, 3)
                    ],
                }
            )
            for number, construct in enumerate(("AC", "CC", "IR")):
                for r in (1, 2):
                    value = MEANS[system] + (q * 7 + number * 3 + r) % 13
                    ratings.append((name, construct, f"r{r}", "human", str(value)))
    lines = "".join(f"{json.dumps(response)}\n" for response in responses)
    (tmp_path / "responses.jsonl").write_text(lines, encoding="utf-8")
    with (tmp_path / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(ratings)
    study = tmp_path / "study"
    for words in (
        ("init", study),
        ("import", study, tmp_path / "responses.jsonl", tmp_path / "ratings.csv"),
    ):
        done = in_process(*words)
        assert done.returncode == 0, done.stderr
    return study


@pytest.mark.usefixtures("without_drawing")
def test_nuggets_and_citations_up_to_the_report(rated: Path, stub: Stub) -> None:
    words = ("--base-url", stub.base_url, "--model", "stub-judge", "--answer-schema", "auto")
    judged = program("judge", rated, *words, "--metric", "nuggets,citations", "--max-missing", 1)
    assert judged.returncode == 0, judged.stderr
    assert program("judge", rated, *words).returncode == 0
    shown = program("measure", "show", rated, "q1-a").stdout
    assert "citation-precision   CC" in shown
    assert "nuggets of the reference:" in shown
    # A system that cites nothing has a recall and a precision of 0, not a missing value.
    uncited = program("measure", "show", rated, "q1-c", "--metrics", "citations").stdout
    assert "stub-judge citation-recall     CC  0  (0 of 1, cited 0)" in uncited
    assert "stub-judge citation-precision  CC  0" in uncited
    report = rated.parent / "report"
    made = in_process("report", rated, "--out", report, *QUICK)
    assert made.returncode == 0, made.stderr
    page = (report / "report.html").read_text(encoding="utf-8")
    for metric in ("nugget-vital-strict", "nugget-all-strict", "citation-recall"):
        assert f"stub-judge {metric}" in page


def test_a_preview_says_why_a_judgment_needs_no_prompt(rated: Path, stub: Stub) -> None:
    words = ("--base-url", stub.base_url, "--model", "stub-judge", "--answer-schema", "auto")
    words += ("--metric", "nuggets,citations")
    planned = program("judge", rated, *words, "--dry-run")
    # A response without a citation has a precision of 0, whatever the judge says.
    assert "  Without a prompt: 12 judgments (value 0)\n" in planned.stdout
    assert "12 citation" not in planned.stdout


def test_a_suite_prints_one_block(rated: Path, stub: Stub, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(rated, other)
    words = ("--base-url", stub.base_url, "--model", "stub-judge", "--answer-schema", "auto")
    words += ("--metric", "ragchecker", "--max-missing", "0.01")
    told = program("judge", rated, *words)
    runs = json.loads(in_process("judge", other, *words, "--json").stdout)["runs"]
    assert told.returncode == 1
    lines = told.stdout.splitlines()
    assert lines[0].startswith(f"{36 * 12} judgments of 11 runs were stored; ")
    assert f" {sum(run['answered'] for run in runs):,} prompts were answered in " in lines[0]
    assert [line[2:].split("  ")[0] for line in lines[1:12]] == [run["run"] for run in runs]
    assert sum(line.startswith("Tokens: ") for line in lines) == 1
    tokens = sum(run["tokens"].get("prompt", 0) for run in runs)
    assert f"Tokens: {tokens:,} prompt, " in told.stdout
    # The reasons are explained once, with their number over all runs.
    number = sum(run["missing"].get("no_claims_in_context", 0) for run in runs)
    assert f"Missing: {number} no_claims_in_context (" in told.stdout
    [short] = [line for line in lines if line.startswith("Missing of the whole run, more than")]
    assert all(run["run"] in short for run in runs if run["falls_short"])
    assert sum(run["falls_short"] for run in runs) == short.count("%") - 1
    assert len(lines) < 25


@pytest.mark.usefixtures("without_drawing")
def test_the_report_says_which_low_ratings_are_the_retrievers(rated: Path) -> None:
    # Of the 12 responses of c, which people rate low, those to 3 queries had a relevant passage.
    relevant = [f"{q} 0 {q}-1{system} 1" for q in map("q{}".format, range(12)) for system in "ab"]
    relevant += [f"q{q} 0 {q}-2c 1" for q in (0, 4, 7)]
    relevant = [line.replace(" 0 q", " 0 ") for line in relevant]
    qrels = rated.parent / "qrels.txt"
    qrels.write_text("\n".join(relevant), encoding="utf-8")
    done = in_process("measure", rated, "--metrics", "hit,NDCG@1", "--qrels", qrels)
    assert done.returncode == 0, done.stderr
    report = rated.parent / "report"
    assert in_process("report", rated, "--out", report, *QUICK).returncode == 0
    estimates = json.loads((report / "report.json").read_text(encoding="utf-8"))["estimates"]
    found = {
        tuple(e["constructs"]): e["params"]
        for e in estimates
        if e["statistic"] == "low_without_relevant"
    }
    assert found["CC",]["count"] == 9
    assert found["CC",]["of"] == 12
    assert found["CC",]["others_count"] == 0
    page = (report / "report.html").read_text(encoding="utf-8")
    words = html.unescape(re.sub(r"<[^>]+>", "", page))
    assert "The retriever's part: " in words
    assert "9 of 12 on CC (0 of 24 other responses)" in words
