from pathlib import Path

import pytest

from tests.judge.responding.example_corpus import write_example


@pytest.fixture
def example(tmp_path: Path) -> tuple[Path, Path, Path]:
    return write_example(tmp_path / "corpus")
