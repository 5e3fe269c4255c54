"""The first lines of a report: agreement first, then the answers, before the report is computed."""

import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.cli.report import report

pytestmark = pytest.mark.usefixtures("without_drawing")

CCRS = Path(sys.executable).with_name("ccrs")


def written(path: Path, **columns: Sequence[object]) -> Path:
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def grades(path: Path, rows: int = 120) -> Path:
    draw = random.Random(4)
    people = [draw.randint(1, 5) for _ in range(rows)]
    judge = [min(5, max(1, value + draw.choice([-1, 0, 0, 1]))) for value in people]
    return written(path, human=people, llm=judge)


def text_of(path: Path, *options: str) -> str:
    done = CliRunner().invoke(report, [str(path), "--text", *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_agreement_comes_before_the_answers(tmp_path: Path) -> None:
    text = text_of(grades(tmp_path / "grades.csv"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    assert lines[0] == "grades"
    assert lines[1] == "llm compared with human: 120 responses; scale 1 to 5."
    starts = ("Pairs ordered alike: ", "Same value: ", "Bias: ", "Can llm be used to ...")
    assert all(line.startswith(start) for line, start in zip(lines[2:6], starts, strict=True))
    assert lines[6].startswith("Order responses: yes. ")
    assert "scale 1:5:1, which is used" in lines[-1]


def test_verdicts_have_their_rates_and_the_confusion_matrix(tmp_path: Path) -> None:
    human = ["pass"] * 6 + ["fail"] * 4
    judge = ["pass"] * 5 + ["fail"] * 4 + ["pass"]
    lines = text_of(written(tmp_path / "v.csv", human=human, judge=judge)).splitlines()
    assert "Of the responses that people passed, it passed 83% [" in lines[3]
    assert "of those that they failed, it failed 75% [" in lines[3]
    assert lines[4].startswith("  Accuracy: 80% [")
    assert [line.split() for line in lines[5:8]] == [
        ["judge:", "pass", "judge:", "fail"],
        ["people:", "pass", "5", "1"],
        ["people:", "fail", "1", "3"],
    ]


def test_the_report_prints_the_same_first_lines(tmp_path: Path) -> None:
    path = grades(tmp_path / "grades.csv")
    alone = text_of(path)
    whole = CliRunner().invoke(report, [str(path), "--no-verify", "--out", str(tmp_path / "out")])
    assert whole.exit_code == 0, whole.output
    assert whole.stdout.startswith(alone.rstrip())
    assert (tmp_path / "out" / "report.json").exists()


def test_nothing_is_written_and_options_of_a_report_are_refused(tmp_path: Path) -> None:
    path = grades(tmp_path / "grades.csv")
    text_of(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["grades.csv"]
    for option in (["--out", "x"], ["--full"], ["--no-verify"], ["--json"], ["--open"]):
        done = CliRunner().invoke(report, [str(path), "--text", *option])
        assert done.exit_code == 2
        assert "no report is written with --text" in done.output


def test_a_table_with_several_raters_and_systems_has_them_too(tmp_path: Path) -> None:
    draw = random.Random(6)
    rows = [(f"q{n // 3}", "abc"[n % 3], draw.randint(0, 20) * 5) for n in range(180)]
    noisy = [
        [min(100, max(0, value + draw.choice([-10, -5, 0, 5, 10]))) for *_, value in rows]
        for _ in range(4)
    ]
    path = written(
        tmp_path / "t.csv",
        question=[q for q, *_ in rows], system=[s for _, s, _ in rows],
        anna_human=noisy[0], ben_human=noisy[1], cara_human=noisy[2], llm=noisy[3],
    )  # fmt: skip
    text = text_of(path)
    assert "llm compared with 3 raters (" in text
    assert "180 responses to 60 queries by 3 systems; scale 0 to 100." in text
    assert "Pairs to one query ordered alike: " in text
    assert "Choose between two responses, for these raters and raters like these: yes. " in text


def test_preferences_have_accuracy_kappa_and_consistency(tmp_path: Path) -> None:
    draw = random.Random(8)
    rows = []
    for n in range(60):
        truth = draw.choice([-1, 1])
        for scorer, kind, right in (("anna", "human", 0.95), ("gpt", "judge", 0.8)):
            value = truth if draw.random() < right else -truth
            rows.append((f"q{n}", f"a{n}", f"b{n}", "QR", scorer, kind, value))
    names = ("query_id", "response_a", "response_b", "construct", "scorer", "scorer_kind", "value")
    path = tmp_path / "p.csv"
    pd.DataFrame(rows, columns=list(names)).to_csv(path, index=False)
    text = text_of(path)
    assert "gpt compared with the preferences of anna: 60 pairs of responses." in text
    right = sum(a[-1] == b[-1] for a, b in zip(rows[::2], rows[1::2], strict=True))
    assert f"Accuracy: {right / 60:.0%} [" in text
    assert "; kappa ." in text


@pytest.mark.slow
def test_the_first_lines_need_neither_numpy_nor_pandas(tmp_path: Path) -> None:
    path = grades(tmp_path / "grades.csv", rows=500)
    code = (
        "import sys, atexit; atexit.register(lambda: print([m for m in ('numpy', 'pandas', "
        "'scipy', 'pydantic', 'sqlmodel') if m in sys.modules], file=sys.stderr)); "
        f"sys.argv = ['ccrs', 'report', {str(path)!r}, '--text']; "
        "from study.cli.root import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("grades"), done.stderr
    assert done.stderr.strip().endswith("[]")


def test_the_console_script_prints_them(tmp_path: Path) -> None:
    path = grades(tmp_path / "grades.csv")
    done = subprocess.run(
        [CCRS, "report", path, "--text"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Pairs ordered alike: " in done.stdout
