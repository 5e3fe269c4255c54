"""Rows of several raters with the judge's score in each of them."""

import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.cli.doctor import doctor
from analysis.cli.report import report


@pytest.mark.parametrize(
    ("item", "scorer", "human", "judge"),
    [
        ("response_id", "annotator", "rating", "judge_score"),
        ("id", "annotator", "human_score", "llm_score"),
        ("item_id", "rater", "score", "gpt-4"),
    ],
)
def test_the_remedy_gives_a_table_that_is_read(
    tmp_path: Path, item: str, scorer: str, human: str, judge: str
) -> None:
    rows = [
        {item: f"r{n}", scorer: name, human: 1 + (n + off) % 5, judge: 1 + n % 5}
        for n in range(30)
        for name, off in (("anna_human", 0), ("ben_human", n % 2))
    ]
    frame = pd.DataFrame(rows)
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    done = CliRunner().invoke(report, [str(path), "--text"])
    assert done.exit_code != 0
    assert "--judge" not in done.stderr
    found = re.search(r"frame\.(pivot\(.*\))\.reset_index\(\)", done.stderr)
    assert found is not None, done.stderr
    assert "OTHER_FILE" not in CliRunner().invoke(doctor, [str(path)]).output
    wide = eval(f"frame.{found[1]}.reset_index()", {"frame": frame})
    assert len(wide) == 30
    wide.to_csv(path, index=False)
    people = ["--human", "anna_human", "--human", "ben_human"]
    again = CliRunner().invoke(report, [str(path), "--text", "--judge", judge, *people])
    assert "2 raters" in again.stdout, again.output
