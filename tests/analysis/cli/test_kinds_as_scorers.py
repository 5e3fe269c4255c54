"""A long table that has the kind of each scorer and not its name."""

from pathlib import Path

import pandas as pd
import pytest

from tests.ccrs_command import in_process

PEOPLE = [1, 2, 3, 4, 5] * 6
JUDGE = [1, 2, 3, 5, 5] * 6


def table(path: Path, item: str, kind: str, value: str, words: tuple[str, str]) -> Path:
    rows = [
        {item: f"i{number}", kind: word, value: score}
        for number, scores in enumerate(zip(PEOPLE, JUDGE, strict=True))
        for word, score in zip(words, scores, strict=True)
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("item", "kind", "value", "words"),
    [
        ("item_id", "rater_type", "score", ("human", "llm")),
        ("id", "source", "rating", ("human", "LLM")),
        ("trace_id", "evaluator_type", "label", ("expert", "model")),
    ],
)
def test_each_kind_is_a_scorer(
    tmp_path: Path, item: str, kind: str, value: str, words: tuple[str, str]
) -> None:
    path = table(tmp_path / "t.csv", item, kind, value, words)
    for command in (["report", path, "--text"], ["doctor", path]):
        done = in_process(*command)
        assert done.returncode == 0, done.stderr
        if command[0] == "report":
            assert f"{words[1]} compared with {words[0]}: 30 responses" in done.stdout
            assert "Same value: 80%" in done.stdout


def test_a_column_of_other_words_is_no_scorer(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "id", "source", "rating", ("wikipedia", "news"))
    done = in_process("report", path)
    assert done.returncode != 0
    assert "wikipedia compared" not in done.stdout
