"""Tables of choices between two responses, as people have them."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from ccrs_study import evaluate
from study.cli.root import cli

pytestmark = pytest.mark.usefixtures("without_drawing")

N = 24
CHOICES = [(0, 1, 2, 0, 1)[row % 5] for row in range(N)]
JUDGED = [(choice + (row % 6 == 0)) % 2 if choice < 2 else 2 for row, choice in enumerate(CHOICES)]


def run(folder: Path, frame: pd.DataFrame, *arguments: str) -> Result:
    path = folder / "t.csv"
    frame.to_csv(path, index=False)
    command, *options = arguments or ("report", "--text")
    return CliRunner().invoke(cli, [command, str(path), *options])


def choices(words: Sequence[object], human: str, judge: str, **more: object) -> pd.DataFrame:
    ids = {"pair_id": [f"p{row}" for row in range(N)]}
    return pd.DataFrame(
        {
            **(more or ids),
            human: [words[min(c, len(words) - 1)] for c in CHOICES],
            judge: [words[min(c, len(words) - 1)] for c in JUDGED],
        }
    )


QUESTIONS = [f"What is {row}?" for row in range(N)]
ARENA = {
    "question_id": range(N),
    "model_a": ["llama", "vicuna"] * 12,
    "model_b": ["koala", "alpaca"] * 12,
}


@pytest.mark.parametrize(
    "frame",
    [
        choices(["model_a", "model_b", "tie"], "winner", "gpt4_winner", **ARENA),
        choices(["model_a", "model_b", "tie (bothbad)"], "winner", "gpt4_winner", **ARENA),
        choices(["model_a", "model_b", "bothbad"], "human_winner", "winner", **ARENA),
        choices(["A", "B"], "human", "judge"),
        choices(["A", "B", "both_bad"], "human", "judge", item=range(N)),
        choices(["Response 1", "Response 2", "About the same"], "human", "gpt", prompt=QUESTIONS),
        choices(["Assistant A", "Assistant B"], "human", "gpt", prompt=QUESTIONS),
        choices([1, 2], "human_preference", "judge_preference"),
        choices([1, 2, "tie"], "human_choice", "llm_choice", prompt=QUESTIONS),
    ],
)
def test_choices_are_read_as_preferences(tmp_path: Path, frame: pd.DataFrame) -> None:
    result = run(tmp_path, frame)
    assert result.exit_code == 0, result.output
    assert "24 pairs of responses" in result.stdout
    same = sum(a == b for a, b in zip(*(list(frame[c]) for c in frame.columns[-2:]), strict=True))
    assert f"Accuracy: {same / N:.0%}" in result.stdout
    assert "Preferences taken by their names" in result.output


def test_a_row_for_each_choice_is_refused_with_the_way(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "question_id": [row // 2 for row in range(2 * N)],
            "judge": ["human", "gpt4"] * N,
            "winner": [("model_a", "model_b", "tie")[row % 3] for row in range(2 * N)],
        }
    )
    result = run(tmp_path, frame)
    assert result.exit_code == 2
    assert "'winner' has choices between two responses (model_a, model_b, tie)" in result.output
    assert "columns='judge', values='winner'" in result.output
    with pytest.raises(ValueError, match="'winner' has choices between two responses"):
        evaluate(frame)
    wide = pd.DataFrame({who: list(rows["winner"]) for who, rows in frame.groupby("judge")})
    assert "24 pairs of responses" in run(tmp_path, wide).output


def test_a_table_of_scores_may_have_a_winner_too(tmp_path: Path) -> None:
    rows = [
        (f"r{row}", who, kind, row % 5 + 1, ("model_a", "model_b")[row % 2])
        for row in range(N)
        for who, kind in (("anna", "human"), ("gpt-4", "judge"))
    ]
    frame = pd.DataFrame(rows, columns=["response_id", "scorer", "scorer_kind", "score", "winner"])
    result = run(tmp_path, frame)
    assert result.exit_code == 0, result.output
    assert "gpt-4 compared with anna: 24 responses" in result.stdout


def test_numbers_that_may_be_choices_are_named(tmp_path: Path) -> None:
    frame = choices([1, 2], "r1", "judge").assign(r2=[1, 2] * 12, r3=[2, 1, 1] * 8)
    frame = frame.rename(columns={"pair_id": "pair"})
    result = run(tmp_path, frame)
    assert result.exit_code == 0, result.output
    assert "Warning: 1, 2 may be choices between two responses." in result.output
    assert "human_preference and judge_preference, with A, B and tie" in result.output
    named = {f"r{n}": f"human_{n}_preference" for n in (1, 2, 3)} | {"judge": "judge_preference"}
    renamed = run(tmp_path, frame.rename(columns=named))
    assert "compared with the preferences of 3 raters" in renamed.stdout


def test_letters_without_further_evidence_are_named(tmp_path: Path) -> None:
    result = run(tmp_path, choices(["A", "B"], "human", "judge", item=range(N)))
    assert result.exit_code == 0, result.output
    assert "A, B may be choices between two responses." in result.output


def test_preferences_in_other_words_are_named(tmp_path: Path) -> None:
    # Without a tie nothing says that these are responses.
    frame = choices(["llama", "koala"], "human_winner", "gpt4_winner", item=range(N))
    result = run(tmp_path, frame)
    assert "koala, llama may be choices between two responses." in result.output


@pytest.mark.parametrize("words", [["good", "bad"], [1, 5], [4, 3]])
def test_values_that_are_no_choices_are_not_questioned(tmp_path: Path, words: list[object]) -> None:
    result = run(tmp_path, choices(words, "human", "judge", item=range(N)))
    assert result.exit_code == 0, result.output
    assert "choices" not in result.output


def both_orders() -> pd.DataFrame:
    """Each pair in both orders; the judge keeps its choice in 18 of 24 and else takes the first."""
    turned = {"A": "B", "B": "A"}
    rows = []
    for row in range(N):
        choice = "AB"[row % 2]
        rows.append((row, f"one {row}", f"two {row}", choice, "A" if row % 4 == 1 else choice))
        second = "A" if row % 4 == 1 else turned[choice]
        rows.append((row, f"two {row}", f"one {row}", turned[choice], second))
    names = ["question_id", "response_a", "response_b", "human_preference", "judge_preference"]
    return pd.DataFrame(rows, columns=names)


def test_pairs_in_both_orders_are_one_comparison(tmp_path: Path) -> None:
    result = run(tmp_path, both_orders())
    assert result.exit_code == 0, result.output
    assert "24 pairs of responses" in result.stdout
    assert "Same choice in both orders: 75%" in result.stdout
    assert "prefers what is shown first by +25%" in result.stdout
    assert "pairs in both orders read as one comparison of the judge (24)" in result.output


def test_pairs_in_several_rows_without_their_order_are_named(tmp_path: Path) -> None:
    frame = both_orders().drop(columns=["response_a", "response_b"])
    result = run(tmp_path, frame.rename(columns={"question_id": "pair_id"}))
    assert result.exit_code == 0, result.output
    assert "'pair_id' has several rows with one pair" in result.output
    assert "add columns response_a and response_b" in result.output


def test_check_reads_what_report_reads(tmp_path: Path) -> None:
    frame = choices(["A", "B", "tie"], "human_preference", "judge_preference")
    result = run(tmp_path, frame, "check", "--require", "choose_between_responses=likely")
    assert result.exit_code in (0, 1), result.output
    assert "choose_between_responses=likely (judge_preference)" in result.output


def test_python_reads_preferences_from_a_file(tmp_path: Path) -> None:
    frame = choices(["A", "B", "tie"], "human_preference", "judge_preference")
    path = tmp_path / "pairs.csv"
    frame.to_csv(path, index=False)
    assert "24 pairs of responses" in evaluate(path).verdict
    for data in (frame, both_orders()):
        with pytest.raises(ValueError, match=r"compares two responses, which is read from a file"):
            evaluate(data)
