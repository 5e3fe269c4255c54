"""An engine of another package, with its own option: one module and one entry point."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from judge.cli.engine_options import engine_options
from judge.cli.judge_command import run
from study import Study
from study.cli.root import cli

MODULE = """
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from judge.engines.engine import Delivery, Ready, TokenCount
from judge.protocol.conditions import Conditions, Run
from judge.protocol.exchange import Answer, Request
from judge.run_settings import JudgeSettings
from study.settings import option


class EchoSettings(JudgeSettings):
    engine: Literal["echo"] = "echo"
    echoed: int = Field(
        default=50, ge=0, le=100, description="score that is given", json_schema_extra=option("N")
    )


class EchoEngine:
    settings = EchoSettings

    def __init__(self, settings, study, prompts):
        self._settings = settings

    def start(self, sample: Sequence[str]) -> Ready:
        return Ready(Conditions("echo", "echo"), TokenCount())

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        for request in requests:
            delivery.commit([(request, Answer(str(self._settings.echoed)))])
        return ()

    def close(self) -> None:
        pass
"""


@pytest.fixture
def _echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "site"
    (folder / "echo-1.0.dist-info").mkdir(parents=True)
    (folder / "echo_engine.py").write_text(MODULE, encoding="utf-8")
    (folder / "echo-1.0.dist-info" / "METADATA").write_text("Name: echo\nVersion: 1.0\n")
    (folder / "echo-1.0.dist-info" / "entry_points.txt").write_text(
        "[ccrs.engines]\necho = echo_engine:EchoEngine\n"
    )
    monkeypatch.syspath_prepend(folder)
    engine_options.cache_clear()
    yield
    engine_options.cache_clear()
    sys.modules.pop("echo_engine", None)


@pytest.mark.usefixtures("_echo")
def test_the_option_of_an_own_engine_is_one_of_the_command(campaign: Study) -> None:
    names = {option.name for option in run.get_params(click.Context(run))}
    assert "echoed" in names
    text = CliRunner().invoke(cli, ["judge", "run", "--help"]).output
    assert "Score that is given. Default: 50. [echo]" in " ".join(text.split())
    words = ["judge", str(campaign.folder), "--engine", "echo", "--echoed", "83"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    scores = campaign.score_table()
    assert set(scores[scores["scorer"] == "echo"]["value"]) == {83.0}


@pytest.mark.usefixtures("_echo")
def test_the_option_of_an_own_engine_is_refused_with_another_engine(campaign: Study) -> None:
    words = ["judge", str(campaign.folder), "--base-url", "http://localhost:1/v1"]
    done = CliRunner().invoke(cli, [*words, "--echoed", "83"])
    assert "--echoed: not available with the engine 'openai'" in str(done.exception)
    done = CliRunner().invoke(
        cli, ["judge", str(campaign.folder), "--engine", "echo", "--echoed", "101"]
    )
    assert done.exit_code == 2
    assert "101 is not in the range 0<=x<=100" in done.output
