"""Without the extra `parquet` everything else works, and what needs it names it."""

import subprocess
import sys
from pathlib import Path

import pandas as pd

WITHOUT = """
import sys
sys.modules["pyarrow"] = None
from study.cli.root import main
main()
"""


def without_pyarrow(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_parquet_file_names_the_extra(tmp_path: Path) -> None:
    table = tmp_path / "scores.parquet"
    pd.DataFrame({"llm": [1.0], "human": [2.0]}).to_parquet(table)
    result = without_pyarrow("report", str(table))
    assert result.returncode == 2
    assert "pip install 'ccrs-study[parquet]'" in result.stderr


def test_an_export_to_parquet_leaves_nothing_behind(tmp_path: Path) -> None:
    assert without_pyarrow("init", str(tmp_path / "study")).returncode == 0
    out = tmp_path / "export"
    words = ("export", str(tmp_path / "study"), "--format", "parquet", "--out", str(out))
    result = without_pyarrow(*words)
    assert result.returncode == 2
    assert "ccrs-study[parquet]" in result.stderr
    assert not out.exists()
