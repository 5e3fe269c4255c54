"""Tables as people and tools write them, each with what a reader would want to see first."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.cli.doctor import doctor
from analysis.cli.report import report
from tests.conftest import SHARED_DATA, absent

TABLES = SHARED_DATA.parent / "cases" / "tables"

#: By file: what the first lines contain.
EXPECTED: dict[str, tuple[str, ...]] = {
    "01_two_columns_1to5.csv": (
        "120 responses; scale 1 to 5", "ordered alike: 86% [82%, 90%]; tau-b .72 [.63, .79]",
        "Same value: 56% [", "Bias: +0.08 points [-0.05, 0.21]", "Order responses: yes.",
    ),
    "02_pass_fail.csv": (
        "passed 83% [70%, 92%]", "failed 87% [74%, 95%]", "Accuracy: 85% [", "kappa .70 [",
        "Choose between two responses: yes.",
    ),
    "05_three_judges_one_human.csv": (
        "gpt4o compared with human", "claude compared with human", "gemini compared with human",
        "by 3 systems",
    ),
    "07_german.csv": (
        "Bewertung_KI compared with Bewertung_Mensch", "Bias: -0.2 points [-0.4, 0.1]",
    ),
    "08_good_ok_bad.csv": (
        "llm_label compared with human_label: 120 responses to 40 queries; scale 0 to 2",
        "Same value: 69% [",
    ),
    "13_judge5_human01.csv": ("pass or fail, the judge's 1 to 5", "passed 93% [", "failed 77% ["),
    "17_yes_no.csv": ("gpt_judge compared with expert", "Accuracy: 85% ["),
    "20_correct_incorrect.csv": ("judge compared with human", "Accuracy: 85% ["),
    "23_reversed_judge400.csv": (
        "tau-b -1.00 [-1.00, -.98]", "every score is people's value on the reversed scale",
        "Order responses: no.", "Report a level: no.",
    ),
    "30_shifted_judge400.csv": (
        "every score is exactly 1 point above people's value", "Order responses: yes.",
        "Report a level: no. Bias 1.0 points [1.0, 1.0]",
    ),
    "33_binary_100_one_wrong.csv": (
        "passed 100% [94%, 100%]", "Accuracy: 99% [", "Order responses: yes.",
        "Report a level: yes.",
    ),
    "34_binary_100_two_wrong.csv": (
        "Accuracy: 98% [", "Order responses: yes.", "Report a level: yes.",
    ),
    "b05_neg_ind_pos.csv": (
        "ai_judge compared with 3 raters (reader_1, reader_2 and reader_3): 5 responses",
        "scale 0 to 2",
    ),
    "b07_geval_ten_times.csv": (
        "every fourth score (13 of 60) is a tenth of what the others are",
        "Report a level: no. Bias -0.14 [-0.21, -0.08], allowed are ±0.05.",
    ),
    "b14_one_rater_each.csv": (
        "gpt-4o compared with 4 raters (ann0, ann1, ann2 and ann3): 40 responses",
        "Order responses: yes.",
    ),
    "good_n150_r1.csv": ("150 responses to 50 queries by 3 systems", "Rank systems: yes."),
    "langsmith_experiment.csv": (
        "feedback.correctness compared with feedback.human_correctness: 40 responses",
        "Accuracy: 78% [",
    ),
    "one_query_dominates.csv": ("98 responses to 20 queries by 2 systems",),
    "one_system_3_raters_100.csv": (
        "llm compared with 3 raters (h0, h1 and h2): 100 responses",
        "Order responses, for these raters and raters like these: yes.",
        "choose between two responses (each query has one rated response)",
    ),
    "opposite_rater.csv": (
        "180 responses to 60 queries by 3 systems",
        "Note: the rater h2 orders responses in the opposite way to the others",
        "a tau-b of -.60",
    ),
    "sparse_overlap.csv": ("80 responses to 40 queries by 4 systems",),
    "two_columns_200.csv": (
        "tau-b .76 [.71, .80]", "Order responses: yes.", "Report a level: yes. Bias 0 points",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def tables() -> Path:
    if not TABLES.is_dir():
        absent("the folder of example tables is not beside the project")
    return TABLES


@pytest.mark.parametrize("name", EXPECTED)
def test_the_first_lines_say_what_a_reader_wants(tables: Path, name: str) -> None:
    done = CliRunner().invoke(report, [str(tables / name), "--text"])
    assert done.exit_code == 0, done.output
    assert "undefined in" not in done.stdout
    missing = [text for text in EXPECTED[name] if text not in done.stdout]
    assert not missing, f"{missing} not in:\n{done.stdout}"


@pytest.mark.parametrize("name", EXPECTED)
def test_doctor_understands_what_report_does(tables: Path, name: str) -> None:
    done = CliRunner().invoke(doctor, [str(tables / name)])
    assert done.exit_code == 0, done.output
    assert "COLUMN" not in done.stdout.partition("Next:")[2]


def test_a_judge_run_and_a_human_queue_are_joined(tables: Path) -> None:
    files = [str(tables / name) for name in ("b11_judge_run.csv", "b11_human_queue.csv")]
    for order in (files, files[::-1]):
        done = CliRunner().invoke(report, [*order, "--on", "session_id", "--text"])
        assert done.exit_code == 0, done.output
        assert "gpt-4o compared with kim: 36 responses; scale 1 to 5." in done.stdout
        assert "ordered alike: 89% [82%, 94%]; tau-b .78 [.63, .88]" in done.stdout
        assert "4 responses are without people's scores" in done.stderr


def test_manual_grades_of_promptfoo_are_those_of_people(tables: Path) -> None:
    done = CliRunner().invoke(report, [str(tables / "b16_promptfoo_human.json"), "--text"])
    assert done.exit_code == 0, done.output
    assert "promptfoo:correct compared with promptfoo:human: 40 responses" in done.stdout
    assert "passed 83% [61%, 96%]" in done.stdout
