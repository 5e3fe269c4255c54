"""Tables whose columns are not clear: what the refusal names, and what is read all the same."""

from pathlib import Path

from tests.analysis.cli.test_names_of_tools import report


def written(folder: Path, header: str, rows: list[str]) -> Path:
    path = folder / "t.csv"
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


def test_numbers_beside_two_responses_name_the_form_that_takes_them(tmp_path: Path) -> None:
    rows = [f"q{n},A text {n},B text {n},{n % 5 - 2},{(n + 1) % 5 - 2}" for n in range(12)]
    result = report(written(tmp_path, "query,response_a,response_b,judge,human", rows))
    assert result.exit_code == 2
    assert "is written in numbers in 'judge', 'human'" in result.output
    assert "positive where response_b is better" in result.output


def test_columns_that_describe_others_are_named_where_no_rater_is_found(tmp_path: Path) -> None:
    rows = [f"r{n},{n},{n},{n + 50}" for n in range(12)]
    result = report(written(tmp_path, "id,judge,human_min,human_max", rows))
    assert result.exit_code == 2
    assert "'human_min', 'human_max' describe other values" in result.output


def test_kinds_in_a_column_with_joined_words_are_the_scorers(tmp_path: Path) -> None:
    rows = [f"r{n},{kind},{n * 5}" for n in range(12) for kind in ("judge", "human")]
    result = report(written(tmp_path, "id,sourceType,score", rows))
    assert result.exit_code == 0, result.output
    assert "judge compared with human: 12 responses" in result.output


def test_the_only_column_named_after_an_evaluation_is_the_judges_beside_people(
    tmp_path: Path,
) -> None:
    rows = [f"What is {n}?,Answer {n},{n % 5 + 1},because,{(n + 1) % 5 + 1}" for n in range(12)]
    names = "answer_correctness/v1/score,answer_correctness/v1/justification,human_score"
    result = report(written(tmp_path, f"inputs,outputs,{names}", rows))
    assert result.exit_code == 0, result.output
    assert "(the name of an evaluation)" in result.output
    assert "query: inputs" in result.output


def test_of_two_columns_named_after_evaluations_none_is_taken(tmp_path: Path) -> None:
    rows = [f"r{n},{n / 12:.2f},{n / 13:.2f},{n % 5 + 1}" for n in range(12)]
    result = report(written(tmp_path, "id,faithfulness,answer_relevancy,human", rows))
    assert result.exit_code == 2
    assert "'faithfulness', 'answer_relevancy'" in result.output


def test_persons_whose_mean_is_called_avg_are_raters(tmp_path: Path) -> None:
    rows = [
        f"{n},r{n},{n / 12:.2f},{n % 5 + 1},{n % 4 + 1},{(n % 5 + n % 4 + 2) / 2}"
        for n in range(12)
    ]
    header = "#,id,LLM score (0-1),Marta (1-5),Ali (1-5),Avg"
    result = report(written(tmp_path, header, rows))
    assert result.exit_code == 0, result.output
    assert "people: Marta (1-5), Ali (1-5) (Avg is the mean of Marta (1-5)" in result.output
