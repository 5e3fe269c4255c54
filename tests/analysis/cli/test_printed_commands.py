"""Every complete command that is printed for a file runs on that file."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from analysis.cli.report import print_text
from analysis.cli.report_input import ReportInput
from study.cli.root import cli

N = 24
RNG = np.random.default_rng(5)
FIVE = RNG.integers(1, 6, N)
NEAR = np.clip(FIVE + RNG.integers(-1, 2, N), 1, 5)
CENT = RNG.integers(0, 21, N) * 5.0
TENTHS = np.round(RNG.random(N), 2)
BITS = (FIVE > 2).astype(int)
TEXTS = [f"What is it {i // 2}?" for i in range(N)]
ANSWERS = [f"A long answer to the question, number {i}." for i in range(N)]
SYSTEMS = ["a", "b"] * (N // 2)


def words(*names: str) -> list[str]:
    """A word for each value of FIVE."""
    return [names[min(int(v - 1) * len(names) // 5, len(names) - 1)] for v in FIVE]


def long(scorer: str, **kinds: Any) -> pd.DataFrame:
    parts = [
        pd.DataFrame({"response_id": [f"r{i}" for i in range(N)], scorer: name, "score": values})
        for name, values in (("kim", FIVE), ("gpt-4o", NEAR))
    ]
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(**{key: frame[scorer].map(value) for key, value in kinds.items()})


TABLES: dict[str, dict[str, Any] | pd.DataFrame] = {
    "two": {"human": FIVE, "llm": NEAR},
    "hundred": {"human": CENT, "llm": CENT[::-1]},
    "tenths": {"input": TEXTS, "geval_score": TENTHS, "human_score": TENTHS[::-1]},
    "pass_fail": {"id": range(N), "judge_verdict": words("FAIL", "PASS"),
                  "human_verdict": words("Fail", "Pass")[::-1], "reason": ["x"] * N},
    "three_judges": {"prompt": TEXTS, "model": SYSTEMS, "gpt4o": FIVE, "claude": NEAR,
                     "gemini": FIVE, "human": NEAR},
    "german": {"Frage": TEXTS, "System": SYSTEMS, "Bewertung_KI": FIVE, "Bewertung_Mensch": NEAR},
    "three_words": {"question": TEXTS, "answer": ANSWERS, "llm_label": words("bad", "ok", "good"),
                    "human_label": words("bad", "ok", "good")[::-1]},
    "judge_of_five": {"question": TEXTS, "llm_score": FIVE, "human_label": BITS},
    "judge_of_two": {"question": TEXTS, "llm_score": BITS, "human_label": FIVE},
    "letters": {"question": TEXTS, "gpt_judge": words("N", "Y"), "expert": words("N", "Y")[::-1]},
    "readers": {"scan": range(N), "reader_1": words("neg", "ind", "pos"),
                "reader_2": words("neg", "ind", "pos"), "ai_judge": words("neg", "ind", "pos")},
    "numbered": {"h0": CENT, "h1": CENT[::-1], "h2": CENT, "llm": CENT},
    "numbered_rows": {"q": np.arange(N) // 2, "sys": SYSTEMS, "h0": CENT, "h1": CENT, "llm": CENT},
    "langsmith": {"inputs.question": TEXTS, "outputs.answer": ANSWERS,
                  "feedback.correctness": BITS, "feedback.human_correctness": BITS[::-1],
                  "execution_time": TENTHS, "id": [f"run{i}" for i in range(N)]},
    "kinds": long("rater", rater_type={"kim": "human", "gpt-4o": "llm"}),
    "annotators": long("annotator"),
    "scorers": long("scorer"),
    "only_judge": long("evaluator").iloc[N:],
    "unclear": {"question": TEXTS, "anna": FIVE, "ben": NEAR},
    "one_side": {"question": TEXTS, "llm": FIVE, "rating": NEAR},
    "two_constructs": {"human_qr": FIVE, "human_cc": NEAR, "llm_qr": NEAR, "llm_cc": FIVE},
    "own_scales": {"human_aa": FIVE, "llm_aa": NEAR, "human_bb": TENTHS, "llm_bb": TENTHS},
    "repeated_id": {"id": np.arange(N) // 2, "human": FIVE, "llm": NEAR},
    "constructs": {"id": np.arange(N) // 2, "construct": ["x", "y"] * (N // 2), "human": FIVE,
                   "llm": NEAR},
    "responses": {"query": TEXTS, "response": ANSWERS, "system": SYSTEMS},
    "odd_names": {"a question?": TEXTS, "llm score": FIVE, "human's score": NEAR, "note": SYSTEMS},
}  # fmt: skip

# What a user has to fill in.
_OPEN = re.compile(
    r"\b(COLUMN|KIND|NUMBER|SCORES|CONSTRUCT|KEY|MIN:MAX|VALUE|NAME|FILE|OTHER_FILE|RESPONSES|URL|N"
    r"|STUDY|MODEL)\b"
)
_COMMAND = re.compile(
    r"\bccrs (?:report|doctor|check|plan|init|import|judge|status|assign|upgrade) .*"
)


def written(folder: Path, name: str) -> Path:
    path = folder / "a table.csv"
    pd.DataFrame(TABLES[name]).to_csv(path, index=False)
    return path


def complete_commands(printed: str) -> Iterator[str]:
    """The commands in a text that have nothing left to fill in."""
    for line in printed.splitlines():
        for text in _COMMAND.findall(line):
            command = text.partition("`")[0].removesuffix(".")
            if not _OPEN.search(command):
                yield command


@pytest.fixture
def ccrs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Runs a command; of a report the answers are computed, and nothing is written."""

    def answers(inputs: ReportInput, title: str, *_: object, **given: Any) -> None:
        print_text(inputs, title, given["given"])

    monkeypatch.setattr("analysis.cli.report.write", answers)
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(cli, [str(word) for word in words])


@pytest.mark.parametrize("name", TABLES)
def test_a_printed_command_runs_on_its_file(
    tmp_path: Path, ccrs: Callable[..., Result], name: str
) -> None:
    path = written(tmp_path, name)
    first = [ccrs("doctor", path), ccrs("report", path, "--no-verify")]
    printed = "\n".join(result.output for result in first)
    assert "Traceback" not in printed
    assert all(r.exception is None or isinstance(r.exception, SystemExit) for r in first), first
    commands = list(dict.fromkeys(complete_commands(printed)))
    for command in commands:
        for part in command.split(" && "):
            again = ccrs(*shlex.split(part)[1:])
            assert again.exit_code == 0, f"{part}\n{again.output}"
    # A table that is not evident has a command to complete, and no other one.
    has_command = bool(commands) or bool(_OPEN.search(printed))
    assert has_command, printed


@pytest.mark.parametrize("name", ["unclear", "one_side", "scorers"])
def test_a_guess_is_no_command(tmp_path: Path, ccrs: Callable[..., Result], name: str) -> None:
    path = written(tmp_path, name)
    for command in ("doctor", "report", "plan"):
        result = ccrs(command, path)
        assert result.exit_code in (1, 2)
        assert not list(complete_commands(result.output))
        assert _OPEN.search(result.output)


def test_people_and_machine_are_not_swapped(tmp_path: Path, ccrs: Callable[..., Result]) -> None:
    output = ccrs("doctor", written(tmp_path, "german")).output
    assert "--judge Bewertung_KI --human Bewertung_Mensch" in output
    assert "value of a judge ('ki' in its name)" in output


def test_a_judge_and_people_on_two_scales_have_options_of_their_own(
    tmp_path: Path, ccrs: Callable[..., Result]
) -> None:
    path = written(tmp_path, "judge_of_five")
    assert json.loads(ccrs("doctor", path, "--json").stdout)["command"].endswith(
        "--scale llm_score:score=1:5:1"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three_words", "judge_of_five", "numbered_rows"])
def test_a_printed_command_runs_in_a_shell(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    script = str(Path(sys.executable).with_name("ccrs"))

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [script, *shlex.split(command)[1:]],
            capture_output=True, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip

    printed = run(f"ccrs doctor {shlex.quote(str(path))}").stdout
    commands = list(complete_commands(printed))
    assert commands
    for command in commands:
        done = run(f"{command} --no-verify")
        assert done.returncode == 0, f"{command}\n{done.stderr}"
