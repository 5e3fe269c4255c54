"""Calls of `ccrs respond` by tests."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from study import Study
from study.cli.root import cli

SYSTEMS = """
[systems.words]
reader = "stub-judge"
passages = 5

[systems.both]
reader = "stub-judge"
retriever = "fused"
passages = 5
"""


def declare(study: Study, text: str = SYSTEMS) -> Path:
    with (study.folder / "study.toml").open("a") as file:
        file.write(text)
    return study.folder


def ccrs(command: str, *words: object, status: int = 0) -> Any:
    done = CliRunner().invoke(cli, [command, *map(str, words), "--json"])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == status, done.output
    return json.loads(done.output)


def words_of(example: tuple[Path, Path, Path], *more: object) -> list[object]:
    return ["--corpus", example[0], "--queries", example[1], *more]
