"""Every complete command that check, plan, judge rank and import print runs on its file."""

import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from study.cli.root import cli
from study.errors import StudyError
from tests.analysis.cli.test_printed_commands import (
    ANSWERS,
    BITS,
    FIVE,
    NEAR,
    SYSTEMS,
    TABLES,
    TEXTS,
    N,
    complete_commands,
    long,
    words,
)

# Few simulations, which is enough to accept a pilot or to refuse it.
_SHORT = ("--queries", "25", "--raters", "2", "--runs", "2")
COMMANDS = {
    "check": ("check", "FILE", "--require", "rank_systems=yes"),
    "plan": ("plan", "FILE", *_SHORT),
    "rank": ("judge", "rank", "FILE"),
    "import": ("import", "my study", "FILE"),
}

FURTHER: dict[str, dict[str, Any] | pd.DataFrame] = {
    "two_raters": {"human_1": FIVE, "human_2": NEAR, "llm": FIVE},
    "two_of_each": {"query": TEXTS, "system": SYSTEMS, "human_1": FIVE, "human_2": NEAR,
                    "gpt": FIVE, "claude": NEAR},
    "two_judges_two_constructs": {"query": TEXTS, "human_qr": FIVE, "human_cc": NEAR,
                                  "gpt_qr": NEAR, "gpt_cc": FIVE, "claude_qr": FIVE,
                                  "claude_cc": FIVE},
    "two_judges_repeated_id": {"id": [i // 2 for i in range(N)], "human_1": FIVE,
                               "human_2": NEAR, "gpt": NEAR, "claude": FIVE},
    "no_judge": {"human_1": FIVE, "human_2": NEAR},
    "preferences": {"response_a": [f"r{i}" for i in range(N)],
                    "response_b": [f"s{i}" for i in range(N)], "scorer": "kim",
                    "scorer_kind": "human", "preference": BITS * 2 - 1},
    "unordered": {"question": TEXTS, "gpt_label": words("billing", "tech", "other"),
                  "human_label": words("tech", "billing", "other")},
    "odd_word": {"human": ["x y", *FIVE[1:]], "llm": NEAR},
    "off_the_scale": {"human": [*FIVE[:-1], 55], "llm": NEAR},
    "constant": {"human": [3] * N, "llm": NEAR},
    "blank": {"human": [None] * N, "llm": NEAR},
    "no_rows": {"human": [], "llm": []},
    "judges_that_pass": {"human": FIVE, "human_2": NEAR, "llm": BITS, "gpt": BITS},
    "judges_in_words": {"id": range(N), "human": FIVE, "gpt score": NEAR, "claude score": FIVE},
    "for_the_study": long("scorer", scorer_kind={"kim": "human", "gpt-4o": "judge"}).assign(
        construct="QR"
    ),
    "values_off_the_construct": pd.DataFrame(
        {"response_id": [f"r{i}" for i in range(N)], "construct": "QR", "scorer": "kim",
         "scorer_kind": "human", "score": 1000}
    ),
    "answers": {"query": TEXTS, "response": ANSWERS, "response_id": [f"r{i}" for i in range(N)],
                "system": SYSTEMS},
}  # fmt: skip


@pytest.fixture
def ccrs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Runs a command as the program does: an error of a study ends with 2."""
    monkeypatch.chdir(tmp_path)

    def run(*typed: str) -> Result:
        # The last one of two options of the same name is used.
        extra = _SHORT if typed[0] == "plan" else ()
        result = CliRunner().invoke(cli, [*typed, *extra])
        if isinstance(result.exception, StudyError):
            result.exit_code = 2
            result.stderr_bytes = (result.stderr + str(result.exception)).encode()
            result.output_bytes += str(result.exception).encode()
            return result
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return run


def commands_of(result: Result) -> Iterator[str]:
    """The parts of the complete commands that were printed."""
    for command in dict.fromkeys(complete_commands(result.output)):
        yield from command.split(" && ")


def typed(name: str, path: Path) -> list[str]:
    return [str(path) if word == "FILE" else word for word in COMMANDS[name]]


@pytest.fixture(scope="module")
def with_answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study with responses, of which copies are used."""
    folder = tmp_path_factory.mktemp("with answers")
    answers = folder / "answers.csv"
    pd.DataFrame(FURTHER["answers"]).to_csv(answers, index=False)
    for begin in (["init", str(folder / "study")], ["import", str(folder / "study"), str(answers)]):
        assert CliRunner().invoke(cli, begin).exit_code == 0
    return folder / "study"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", [*TABLES, *FURTHER])
def test_a_printed_command_runs_on_its_file(
    tmp_path: Path, with_answers: Path, ccrs: Callable[..., Result], name: str, command: str
) -> None:
    path = tmp_path / "a table.csv"
    pd.DataFrame({**TABLES, **FURTHER}[name]).to_csv(path, index=False)
    if command == "import":
        shutil.copytree(with_answers, tmp_path / "my study")
    first = ccrs(*typed(command, path))
    for part in commands_of(first):
        again = ccrs(*shlex.split(part)[1:])
        assert again.exit_code in (0, 1), f"{part}\n{again.output}"
    if first.exit_code == 2:
        assert "The same, declared: " not in first.output


def test_a_declared_command_repeats_what_was_done(
    tmp_path: Path, ccrs: Callable[..., Result]
) -> None:
    path = tmp_path / "a table.csv"
    pd.DataFrame(FURTHER["two_of_each"]).to_csv(path, index=False)
    for command in ("check", "plan", "rank"):
        first = ccrs(*typed(command, path))
        (declared,) = commands_of(first)
        assert "The same, declared: " in first.stderr
        assert ccrs(*shlex.split(declared)[1:]).stdout == first.stdout


def test_a_pilot_that_gives_no_components_has_no_declared_command(
    tmp_path: Path, ccrs: Callable[..., Result]
) -> None:
    path = tmp_path / "a table.csv"
    pd.DataFrame(TABLES["two"]).to_csv(path, index=False)
    result = ccrs(*typed("plan", path), "--claim", "bias=1")
    assert result.exit_code == 2
    assert "Columns taken by their names (judge: llm; people: human" in result.stderr
    assert list(commands_of(result)) == ["ccrs plan --components rater=8,judge=15"]


def test_every_command_on_a_study_runs(tmp_path: Path, ccrs: Callable[..., Result]) -> None:
    """The folder's name has a space, which a shell would take for two words."""
    files = {name: tmp_path / f"{name}.csv" for name in ("answers", "for_the_study")}
    for name, file in files.items():
        pd.DataFrame(FURTHER[name]).to_csv(file, index=False)
    done = [
        ccrs("check", "my study"),
        ccrs("init", "my study"),
        ccrs("import", "my study", str(files["answers"])),
        ccrs("check", "my study"),
        ccrs("plan", "my study"),
        ccrs("judge", "rank", "my study"),
        ccrs("import", "my study", str(files["for_the_study"])),
        ccrs("status", "my study"),
    ]
    assert "Next: ccrs report 'my study'" in done[-2].output
    printed = [part for result in done for part in commands_of(result)]
    assert printed
    for part in printed:
        name, *rest = shlex.split(part.partition("   (")[0])[1:]
        if name == "init":
            assert rest == ["my study"]
        elif name not in ("serve", "label-studio"):
            assert ccrs(name, *rest).exit_code in (0, 1), part


@pytest.mark.parametrize("options", [(), ("--kind", "a judge=judge"), ("--on", "id")])
@pytest.mark.parametrize("people", [("human",), ("human_1", "human_2"), ("human_qr", "human_cc")])
@pytest.mark.parametrize("command", ["check", "plan"])
def test_a_command_that_is_printed_for_two_files_runs(
    tmp_path: Path,
    ccrs: Callable[..., Result],
    command: str,
    people: tuple[str, ...],
    options: tuple[str, ...],
) -> None:
    first, second = tmp_path / "of the judge.csv", tmp_path / "of people.csv"
    ids = [f"r{i}" for i in range(N)]
    pd.DataFrame({"id": ids, "a judge": NEAR}).to_csv(first, index=False)
    pd.DataFrame({"id": ids} | dict.fromkeys(people, FIVE)).to_csv(second, index=False)
    name, file, *rest = typed(command, first)
    result = ccrs(name, file, str(second), *rest, *options)
    printed = list(commands_of(result))
    assert printed
    for part in printed:
        again = ccrs(*shlex.split(part)[1:])
        assert again.exit_code in (0, 1), f"{part}\n{again.output}"
