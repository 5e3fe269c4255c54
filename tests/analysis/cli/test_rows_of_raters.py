"""Rows of several raters with the judge's score in each of them."""

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
def test_rows_of_raters_are_read_as_a_row_for_each_response(
    tmp_path: Path, item: str, scorer: str, human: str, judge: str
) -> None:
    rows = [
        {item: f"r{n}", scorer: name, human: 1 + (n + off) % 5, judge: 1 + n % 5}
        for n in range(30)
        for name, off in (("anna_human", 0), ("ben_human", n % 2))
    ]
    path = tmp_path / "t.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    done = CliRunner().invoke(report, [str(path), "--text"])
    assert f"{judge} compared with 2 raters (anna_human and ben_human): 30 responses" in done.stdout
    assert f"rows of the raters in '{scorer}' read as 30 responses" in done.stderr
    declared = ["--judge", judge, "--human", human, "--id", item]
    assert CliRunner().invoke(report, [str(path), "--text", *declared]).stdout == done.stdout
    assert "OTHER_FILE" not in CliRunner().invoke(doctor, [str(path)]).output
