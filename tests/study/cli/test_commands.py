"""The commands as a person runs them: what they print, and how they exit."""

import contextlib
import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from study.cli import root
from tests.ccrs_command import Done, in_process

RESPONSES = [
    {
        "response_id": f"r{n}{system}",
        "query_id": f"q{n}",
        "query": f"Question {n}?",
        "system": system,
        "response": f"Answer {n} of {system}.",
        "passages": ["A passage."],
        "references": ["The answer."],
    }
    for n in range(3)
    for system in "AB"
]
SCORES = "response_id,construct,scorer,scorer_kind,value\n" + "".join(
    f"{row['response_id']},AC,anna,human,{10 * n}\n" for n, row in enumerate(RESPONSES)
)


def ccrs(*words: str, cwd: Path) -> Done:
    """Run the program in this process, in the folder `cwd`."""
    with contextlib.chdir(cwd):
        return in_process(*words)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = "\n".join(json.dumps(row) for row in RESPONSES)
    (tmp_path / "responses.jsonl").write_text(lines + "\n")
    (tmp_path / "scores.csv").write_text(SCORES)
    return tmp_path


def test_from_nothing_to_a_study_each_command_names_the_next(folder: Path) -> None:
    made = ccrs("init", "s", cwd=folder)
    assert made.returncode == 0, made.stderr
    assert "Next: ccrs import s RESPONSES" in made.stdout
    brought = ccrs("import", "s", "responses.jsonl", cwd=folder)
    assert brought.returncode == 0, brought.stderr
    assert "6 responses" in brought.stdout
    assert "Next: ccrs judge s --base-url URL --model NAME" in brought.stdout
    assert "or ccrs import" in brought.stdout
    scored = ccrs("import", "s", "scores.csv", cwd=folder)
    assert scored.returncode == 0, scored.stderr
    assert "6 scores" in scored.stdout
    assert "Next: ccrs report s" in scored.stdout
    shown = ccrs("status", "s", cwd=folder)
    assert "3 queries, 6 responses, 1 passage, 2 systems" in shown.stdout
    assert max(len(line) for line in shown.stdout.splitlines()) <= 80
    again = ccrs("import", "s", "scores.csv", cwd=folder)
    assert again.returncode == 0
    assert "nothing was changed" in again.stdout
    written = ccrs("export", "s", cwd=folder)
    assert written.returncode == 0, written.stderr
    assert (folder / "s" / "export" / "scores.csv").exists()
    twice = ccrs("export", "s", cwd=folder)
    assert twice.returncode == 2
    assert "--overwrite" in twice.stderr


def test_json_is_all_that_is_printed_when_asked_for(folder: Path) -> None:
    for words in (
        ("init", "s"),
        ("import", "s", "responses.jsonl"),
        ("status", "s"),
        ("export", "s"),
        ("upgrade", "s"),
    ):
        done = ccrs(*words, "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        json.loads(done.stdout)


def test_a_faulty_file_exits_2_lists_its_faults_and_changes_nothing(folder: Path) -> None:
    ccrs("init", "s", cwd=folder)
    ccrs("import", "s", "responses.jsonl", cwd=folder)
    (folder / "bad.csv").write_text(SCORES + "r0A,IR,anna,human,85/10\nr0B,IR,anna,human,250\n")
    done = ccrs("import", "s", "bad.csv", cwd=folder)
    assert done.returncode == 2
    assert "bad.csv: 2 faults; nothing was written." in done.stderr
    assert "row 8" in done.stderr
    assert "85/10" in done.stderr
    assert "row 9" in done.stderr
    assert "0 to 100" in done.stderr
    status = json.loads(ccrs("status", "s", "--json", cwd=folder).stdout)
    assert status["scorers"] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("status", "nowhere"), "ccrs init"),
        (("imprt",), "Did you mean 'import'?"),
        (("import", "s"), "Missing argument"),
        (("import", "s", "f.csv", "--kind", "anna"), "SCORER=KIND"),
        (("init", "s", "--settings", "missing.toml"), "does not exist"),
        (("fetch", "no-such-data"), "openqa-nq301"),
    ],
)
def test_what_could_not_run_exits_2_with_the_remedy(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = ccrs(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_help_lists_the_commands_under_headings_in_the_order_of_a_campaign() -> None:
    text = CliRunner().invoke(root.cli, ["--help"]).output
    marks = [
        mark
        for title, names in root.SECTIONS.items()
        for mark in (f"\n{title}:\n", *(f"\n  {name} " for name in names))
    ]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    assert "Other commands" not in text


def test_every_summary_in_the_help_is_one_whole_line_of_80_columns() -> None:
    text = CliRunner().invoke(root.cli, ["--help"], terminal_width=80).output
    commands = text[text.index("\nStart:\n") :]
    lines = [line for line in commands.splitlines() if line.startswith("  ")]
    names = [name for section in root.SECTIONS.values() for name in section]
    assert [line.split()[0] for line in lines] == names
    assert all(len(line) <= 80 and line.endswith(".") and "..." not in line for line in lines)


def test_every_command_calls_a_study_and_its_output_alike() -> None:
    for name in root.cli.list_commands(click.Context(root.cli)):
        command = root.cli.get_command(click.Context(root.cli), name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Argument) and parameter.name == "folder":
                assert parameter.make_metavar(click.Context(command)).strip("[]") == "STUDY", name
            assert "--to" not in parameter.opts, name
            assert "--output" not in parameter.opts, name


def test_a_broken_plug_in_is_one_line_in_the_help(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("shiny", "no_such_package.cli:shiny", root.GROUP)
    working = EntryPoint("status", "study.cli.commands:status", root.GROUP)
    monkeypatch.setattr(root, "entry_points", lambda group: [broken, working])  # noqa: ARG005
    text = CliRunner().invoke(root.cli, ["--help"], terminal_width=100).output
    assert "shiny" in text
    assert "Broken plug-in" in text
    assert "status" in text
    result = CliRunner().invoke(root.cli, ["shiny", "x", "--y"])
    assert isinstance(result.exception, SystemExit)
    assert "no_such_package" in result.output


def test_a_plug_in_that_is_no_command_is_said_to_be_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = EntryPoint("shiny", "json:dumps", root.GROUP)
    monkeypatch.setattr(root, "entry_points", lambda group: [wrong])  # noqa: ARG005
    command = root.cli.get_command(click.Context(root.cli), "shiny")
    assert command is not None
    assert "not a click command" in (command.short_help or "")


def test_a_folder_that_hides_one_of_our_packages_is_named(tmp_path: Path) -> None:
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / "__init__.py").write_text("")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
        "from study.cli.root import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--version"],
        capture_output=True,
        text=True,
        cwd=Path(root.__file__).parents[2],
        check=False,
    )
    assert "hides ccrs-study's own package 'analysis'" in done.stderr
    assert done.returncode == 0


@pytest.mark.slow
def test_a_full_disk_or_a_closed_pipe_ends_in_words(folder: Path) -> None:
    ccrs("init", "s", cwd=folder)
    command = f"{sys.executable} -c 'from study.cli.root import main; main()' status s > /dev/full"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_name_that_the_terminal_cannot_show_does_not_stop_a_command(folder: Path) -> None:
    ccrs("init", "s", cwd=folder)
    path = folder / "s" / "study.toml"
    path.write_text('name = "Jürgens Studie"\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "from study.cli.root import main; main()", "status", "s"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "J\\xfcrgens" in done.stdout


def test_json_says_what_came_in_before_a_faulty_file(folder: Path) -> None:
    ccrs("init", "s", cwd=folder)
    (folder / "bad.csv").write_text(SCORES + "r0A,IR,anna,human,250\n")
    done = ccrs("import", "s", "responses.jsonl", "bad.csv", "--json", cwd=folder)
    assert done.returncode == 2
    first, second = json.loads(done.stdout)
    assert first["added"]["responses"] == 6
    assert second["source"] == "bad.csv"
    assert second["faults"][0]["row"] == 8


def test_options_say_what_a_file_leaves_out(folder: Path) -> None:
    ccrs("init", "s", cwd=folder)
    ccrs("import", "s", "responses.jsonl", cwd=folder)
    (folder / "bare.csv").write_text("response_id,value\nr0A,90\nr0B,\n")
    words = ("--construct", "QR", "--scorer", "anna", "--kind", "anna=human")
    done = ccrs("import", "s", "bare.csv", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "2 scores added" in done.stdout
