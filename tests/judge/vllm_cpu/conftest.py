"""The tiny model and the example study as the engine `vllm` judges it, for all tests here."""

from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from study.example import build_example
from tests.judge.vllm_cpu.judged_example import stored_judgments
from tests.judge.vllm_cpu.process import SETTINGS, judge, tiny as tiny_model


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tiny model."""
    return tiny_model(tmp_path_factory.mktemp("model") / "tiny-random")


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the example study with the engine's arguments, which tests copy."""
    folder = tmp_path_factory.mktemp("example") / "study"
    build_example(folder).close()
    settings = folder / "study.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + SETTINGS, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def judged(example: Path, model: Path) -> Path:
    """Return the folder of a study that was judged without interruption."""
    folder = copytree(example, example.with_name("judged"))
    done = judge(folder, model, "--name", "tiny", "--drift", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Drift, round 1: 5 prompts were asked." in done.stdout
    assert "the least possible for these prompts in blocks of 32" in done.stdout
    return folder


@pytest.fixture(scope="session")
def tiny(judged: Path) -> list[tuple[Any, ...]]:
    """Return the judgments of that run."""
    return stored_judgments(judged)


@pytest.fixture(scope="session")
def uncached(example: Path) -> Path:
    """Return the folder of the example study without a cache of beginnings, which tests copy.

    The last bits of an answer depend on what was found there, and so on the order of the prompts.
    """
    folder = copytree(example, example.with_name("uncached"))
    with (folder / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write("enable_prefix_caching = false\n")
    return folder


@pytest.fixture(scope="session")
def expected(uncached: Path, model: Path) -> list[tuple[Any, ...]]:
    """Return the judgments of the engine `vllm` on that study."""
    folder = copytree(uncached, uncached.with_name("uncached-judged"))
    done = judge(folder, model, "--name", "tiny")
    assert done.returncode == 0, done.stdout + done.stderr
    return stored_judgments(folder)
