"""Rows in which a response comes again, once for each judge or run, or twice by mistake."""

from pathlib import Path

import pandas as pd
import pytest

from tests.ccrs_command import program as ccrs


def scored(names: dict[str, list[object]], **columns: list[object]) -> pd.DataFrame:
    """Sixty responses to twenty questions by three systems, with a row for each of the names."""
    (column, values), *_ = names.items()
    return pd.DataFrame(
        {
            "question": f"Question {number // 3}?",
            "system": "abc"[number % 3],
            **{key: cells[number % len(cells)] for key, cells in columns.items()},
            "human_score": 1 + (7 * number) % 5,
            column: value,
            "judge_score": 1 + (7 * number + place * (number % 2)) % 5,
        }
        for number in range(60)
        for place, value in enumerate(values)
    )


TEXTS: list[object] = [f"Answer number {number}" for number in range(60)]
IDS: list[object] = [f"r{number}" for number in range(60)]


@pytest.mark.parametrize(
    ("names", "more"),
    [
        ({"judge_model": ["gpt-4o", "llama"]}, {}),
        ({"judge_model": ["gpt-4o", "llama"]}, {"response_id": IDS}),
        ({"run": [1, 2, 3]}, {"answer": TEXTS}),
        ({"run": [1, 2, 3]}, {"id": IDS}),
        ({"prompt_version": ["v1", "v2"]}, {"answer": TEXTS}),
    ],
)
def test_rows_of_several_judges_are_not_read_as_further_responses(
    tmp_path: Path, names: dict[str, list[object]], more: dict[str, list[object]]
) -> None:
    frame = scored(names, **more)
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    (column, values), *_ = names.items()
    done = ccrs("report", path, "--text")
    assert done.returncode == 2
    told = f"a response has a row for each value of '{column}'"
    assert told in done.stderr
    assert "ccrs report" not in done.stderr
    remedy = done.stderr.partition("in pandas: ")[2].strip()
    eval(remedy, {"frame": frame}).to_csv(path, index=False)
    again = ccrs("report", path, "--text")
    assert again.returncode == 0, again.stderr
    assert f"judge_score {values[0]} compared with human_score: 60 responses" in again.stdout


def test_columns_that_are_declared_are_read_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    scored({"judge_model": ["gpt-4o", "llama"]}).to_csv(path, index=False)
    declared = ["--judge", "judge_score", "--human", "human_score", "--query", "question"]
    done = ccrs("report", path, "--text", *declared)
    assert done.returncode == 0, done.stderr
    assert "a response has a row for each value of 'judge_model'" in done.stderr


@pytest.mark.parametrize("first", ["judge", "people"])
def test_rows_of_several_runs_in_one_of_two_files_are_named_with_the_remedy(
    tmp_path: Path, first: str
) -> None:
    frame = scored({"run": [1, 2]}, response_id=IDS)
    judge = frame[["response_id", "run", "judge_score"]]
    judge.to_csv(tmp_path / "judge.csv", index=False)
    people = frame[["response_id", "human_score"]].drop_duplicates()
    people.to_csv(tmp_path / "people.csv", index=False)
    other = {"judge": "people", "people": "judge"}[first]
    done = ccrs("report", tmp_path / f"{first}.csv", tmp_path / f"{other}.csv", "--text")
    assert done.returncode == 2
    assert "judge.csv: 1 fault; nothing was written." in done.stderr
    assert "a response has a row for each value of 'run' (1, 2); as rows" in done.stderr
    remedy = done.stderr.partition("in pandas: ")[2].strip().removesuffix(".")
    eval(remedy, {"frame": judge}).to_csv(tmp_path / "judge.csv", index=False)
    again = ccrs("report", tmp_path / "judge.csv", tmp_path / "people.csv", "--text")
    assert again.returncode == 0, again.stderr
    assert "judge_score 1 compared with human_score: 60 responses" in again.stdout


def test_systems_with_values_of_their_own_are_no_judges(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = scored({"judge": ["gpt-4o"]}).drop(columns="judge")
    frame.rename(columns={"system": "retriever"}).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert "60 responses to 20 queries" in done.stdout
    assert "a row for each" not in done.stderr


@pytest.mark.parametrize("raters", [["human_score"], ["human_anna", "human_ben"]])
def test_raters_may_score_one_system_for_each_query(tmp_path: Path, raters: list[str]) -> None:
    path = tmp_path / "t.csv"
    frame = scored({"judge": ["gpt-4o"]}).drop(columns="judge")
    values = frame.pop("human_score")
    for place, name in enumerate(raters):
        frame[name] = values.where(frame.index % 3 == (frame.index // 3 + place) % 3)
    frame.to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert f"{20 * len(raters)} responses" in done.stdout


def test_systems_may_pass_the_same_queries(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame(
        {
            "query": f"q{number}",
            "system": system,
            "human_pass": int(number % 4 > 0),
            "judge_pass": int((number + (system == "B")) % 3 > 0),
        }
        for number in range(12)
        for system in "AB"
    ).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert "24 responses to 12 queries by 2 systems" in done.stdout


def test_a_row_that_is_twice_in_a_table_with_ids_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = scored({"judge": ["gpt-4o"]}, response_id=IDS).drop(columns="judge")
    pd.concat([frame, frame[:10]]).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert "60 responses" in done.stdout
    assert "rows that are the same as an earlier one (10)" in done.stderr
    other = frame[:1].assign(judge_score=5 - frame["judge_score"][0])
    pd.concat([frame, other]).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 2
    assert "'r0' is in rows 2 and 62; remove one of these rows" in done.stderr
    assert "ccrs report" not in done.stderr


def test_a_row_that_is_twice_in_a_table_without_ids_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = scored({"judge": ["gpt-4o"]}).drop(columns="judge")
    pd.concat([frame, frame[:10]]).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert "row 62 has the same cells as row 2, and 9 further rows another" in done.stderr
    # Grades alone are the same by chance.
    frame[["human_score", "judge_score"]].to_csv(path, index=False)
    assert "has the same cells" not in ccrs("report", path, "--text").stderr


def test_participants_are_raters(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame(
        {
            "Participant id": f"5f{rater}a0",
            "Status": "APPROVED",
            "item_id": f"i{number}",
            "rating": 1 + (number + rater) % 5,
            "gpt4_score": 1 + number % 5,
        }
        for number in range(30)
        for rater in range(3)
    ).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert "gpt4_score compared with 3 raters" in done.stdout


def test_numbers_of_raters_are_not_offered_as_their_values(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame(
        {
            "id": number,
            "quality": 1 + (number + rater) % 5,
            "annotator": 1 + rater,
            "llm_score": 1 + number % 5,
        }
        for number in range(30)
        for rater in range(2)
    ).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 2
    assert "Columns that may be: 'quality'. " in done.stderr
    assert "--human COLUMN --id id" in done.stderr


@pytest.mark.parametrize(("judge", "human"), [("judge", "human_score"), ("evaluator", "human")])
def test_a_score_beside_the_name_of_its_judge_is_compared_with_people(
    tmp_path: Path, judge: str, human: str
) -> None:
    path = tmp_path / "t.csv"
    frame = scored({judge: ["gpt-4o"]})
    frame.rename(columns={"judge_score": "score", "human_score": human}).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert f"score (beside {judge}, which names the judge)" in done.stderr
    assert f"score compared with {human}: 60 responses" in done.stdout


def test_numbers_of_systems_are_systems_where_the_column_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = scored({"judge": ["gpt-4o"]}).drop(columns="judge")
    frame["system"] = frame["system"].map({"a": 1, "b": 2, "c": 3})
    frame.rename(columns={"system": "system_id"}).to_csv(path, index=False)
    assert "20 queries by 3 systems" in ccrs("report", path, "--text").stdout
    frame["system"] = range(len(frame))
    frame.rename(columns={"system": "system_id"}).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert "Left out, not used: system_id." in done.stderr, "they number the rows"
