"""An option without effect is an error: every option of every command has a row in option_rows."""

import ast
import inspect
import re
import textwrap
from pathlib import Path

import click
import pytest

from judge.engines.engine import registered_settings
from study.assignment.planner import assign
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.option_rows import COMMANDS, ELSEWHERE, OF_ENGINES, TABLE, Unused
from tests.test_every_option import (
    _little_is_computed,
    endpoint,
    made,
    options_of,
    server,
    started,
    words_of,
)

__all__ = ["_little_is_computed", "endpoint", "made", "server"]

CASES = {
    f"{name} {option}": row
    for name, rows in TABLE.items()
    for option, row in rows.items()
    if isinstance(row, Unused)
}


def test_every_option_has_a_row() -> None:
    there = {name: sorted(word for word, _ in options_of(c)) for name, c in COMMANDS.items()}
    assert there.keys() == TABLE.keys() | ELSEWHERE
    assert {name: sorted(rows) for name, rows in TABLE.items()} == {
        name: words for name, words in there.items() if name not in ELSEWHERE
    }


@pytest.fixture(scope="module")
def folder(made: Path) -> Path:
    """The folder of the cases, with a study that compares pairs only, and one with a system."""
    row = '{"query_id": "q1", "query": "Q?", "system": "A", "response": "An answer."}\n'
    (made / "responses.jsonl").write_text(row)
    assert started(["init", "pairs"], made)[0] == 0
    settings = made / "pairs" / "study.toml"
    pairs = "[design]\nratings = false\ncomparisons = 1.0\n"
    settings.write_text(settings.read_text().replace("[design]", pairs))
    assert started(["import", "pairs", "responses.jsonl"], made)[0] == 0
    assert started(["init", "respond"], made)[0] == 0
    with (made / "respond" / "study.toml").open("a") as file:
        file.write('\n[systems.own]\nreader = "stub-judge"\n')
    return made


def refused(words: list[str], folder: Path) -> str:
    code, output = started(words, folder)
    assert code == 2, (words, output)
    return " ".join(output.split())


@pytest.mark.usefixtures("_little_is_computed")
def test_an_option_without_effect_is_refused(folder: Path, endpoint: str) -> None:
    for name, case in CASES.items():
        option = name.rpartition(" ")[2]
        words = case.words.format(stub=endpoint, server=StandIn.url).split()
        assert option in words, name
        output = refused(words, folder)
        assert case.why in output, (name, output)
        field = option.lstrip("-").replace("-", "_")
        named = re.compile(rf"{option}|\b{field}\b", re.IGNORECASE)
        assert named.search(output), (name, output)


def test_an_option_of_another_engine_is_refused(folder: Path) -> None:
    models = registered_settings()
    fields = {name for model in models.values() for name in model.options()}
    tried = set()
    for parameter in COMMANDS["judge run"].get_params(click.Context(COMMANDS["judge run"])):
        lacking = [e for e, model in models.items() if parameter.name not in model.options()]
        if parameter.name not in fields or not lacking:
            continue
        assert isinstance(parameter, click.Option)
        option = parameter.opts[0]
        typed = [word.format(project=1) for word in words_of("judge run", option, parameter)]
        words = ["judge", "run", "study", "--engine", lacking[0], "--model", "m", *typed]
        assert f"{option}: not available with the engine" in refused(words, folder)
        tried.add(option)
    assert tried >= OF_ENGINES.keys()


def test_a_variable_of_the_environment_is_not_an_option_that_was_typed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    words = "judge run study --engine files --model m --requests requests --dry-run"
    code, output = started(words.split(), folder)
    assert code == 0, output


def test_each_parameter_is_read() -> None:
    """A parameter is read in its command; a setting, as an attribute in its package."""
    root = Path(__file__).parents[1]
    attributes = {
        node.attr
        for folder in ("judge", "study/assignment", "study/cli", "annotate_ui/cli")
        for path in (root / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    for name in TABLE:
        callback = COMMANDS[name].callback
        assert callback is not None
        text = textwrap.dedent(inspect.getsource(inspect.unwrap(callback)))
        # `assign` passes what was typed as keywords.
        text += inspect.getsource(assign) if name == "assign" else ""
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
        read = {node.id for node in nodes if isinstance(node.ctx, ast.Load)} | attributes
        dead = {option for option, parameter in options_of(COMMANDS[name])
                if parameter.name not in read}  # fmt: skip
        # The keys of `values`, as which it is read.
        assert dead <= {"--engine"}, (name, dead)


def test_of_several_unused_options_each_is_named(folder: Path) -> None:
    output = refused(["assign", "study", "--open", "--checks", "1", "--repeats", "0.5"], folder)
    assert output.count("has no effect here") == 2
    output = refused(["enrol", "study", "--list", "--quota", "2", "--queries", "3"], folder)
    assert output.count("has no effect here") == 2
