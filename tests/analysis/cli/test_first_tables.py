"""Tables as people have them before they know this package: what is read, and what is said."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from study.cli.root import cli

N = 40
_SEED = random.Random(5)
PEOPLE = [_SEED.randint(1, 5) for _ in range(N)]
JUDGE = [min(5, max(1, value + _SEED.choice([0, 0, 1, -1]))) for value in PEOPLE]
IDS = [f"u{place:03}" for place in range(N)]
RATERS = ["ann", "bob"] * (N // 2)
QUESTIONS = [f"What is {place}?" for place in range(N)]


def report(folder: Path, *arguments: str) -> Result:
    words = [str(folder / word) if word.endswith((".csv", ".xlsx")) else word for word in arguments]
    return CliRunner().invoke(cli, ["report", *words, "--text"])


def written(folder: Path, name: str, /, **columns: Sequence[object]) -> None:
    pd.DataFrame(columns).to_csv(folder / name, index=False)


def long(
    folder: Path,
    name: str = "t.csv",
    of_people: str = "human",
    *,
    item: str = "item_id",
    raters: Sequence[str] = RATERS,
    **further: Sequence[object],
) -> None:
    """A table with a row for each score; the judge's rows come second."""
    frame = pd.DataFrame(
        {
            item: IDS * 2,
            "rater": [*raters, *["gpt-4o"] * N],
            "rater_type": [of_people] * N + ["AI"] * N,
            "score": [*PEOPLE, *JUDGE],
            **further,
        }
    )
    frame.to_csv(folder / name, index=False)


def compared(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return next(line for line in result.stdout.splitlines() if " compared with " in line)


@pytest.mark.parametrize(
    "column",
    [
        *("labeler", "labeller", "annotated_by", "rated_by", "reviewer_name", "grader", "worker"),
        *("coder", "user", "assessor"),
    ],
)
@pytest.mark.parametrize("value", ["label", "rating", "score", "grade"])
def test_who_scored_is_not_the_score(tmp_path: Path, column: str, value: str) -> None:
    models = ["gpt-4o"] * N
    written(tmp_path, "judge.csv", trace_id=IDS, judge_model=models, score=JUDGE)
    written(tmp_path, "human.csv", trace_id=IDS, **{column: RATERS, value: PEOPLE})
    result = report(tmp_path, "judge.csv", "human.csv", "--on", "trace_id")
    assert compared(result).startswith("score compared with 2 raters (ann and bob)")
    # The names of the files tell no more than their columns.
    (tmp_path / "judge.csv").rename(tmp_path / "a.csv")
    (tmp_path / "human.csv").rename(tmp_path / "b.csv")
    assert compared(report(tmp_path, "a.csv", "b.csv")).startswith("score compared with 2 raters")


@pytest.mark.parametrize("column", ["reviewer", "reviewer_name", "rated_by", "labeler"])
def test_who_scored_beside_a_judges_column(tmp_path: Path, column: str) -> None:
    written(tmp_path, "t.csv", id=IDS, **{column: RATERS, "rating": PEOPLE, "llm": JUDGE})
    assert compared(report(tmp_path, "t.csv")).startswith("llm compared with rating")


@pytest.mark.parametrize(
    "item",
    [
        *("item", "item id", "Item-ID", "sample", "sample_id", "example", "case", "case_id"),
        *("doc_id", "trace_id", "run_id", "task_id", "unit", "record_id", "id", "uid", "uuid"),
    ],
)
def test_the_id_of_what_was_judged_has_many_names(tmp_path: Path, item: str) -> None:
    long(tmp_path, item=item)
    result = report(tmp_path, "t.csv")
    assert "40 responses" in compared(result)
    assert f"the column {item!r} is read as the response" in result.stderr


def test_an_id_of_rows_is_not_that_of_responses(tmp_path: Path) -> None:
    long(tmp_path, item="sample_id", id=list(range(2 * N)))
    result = report(tmp_path, "t.csv")
    assert "40 responses" in compared(result)
    assert "the column 'sample_id' is read as the response" in result.stderr


def test_a_column_that_may_be_the_id_is_named(tmp_path: Path) -> None:
    long(tmp_path, item="ticket")
    result = report(tmp_path, "t.csv")
    assert result.exit_code == 2
    assert "rename it to response_id; 'ticket' may be it." in result.stderr
    again = report(tmp_path, "t.csv", "--id", "ticket")
    assert "40 responses" in compared(again)


@pytest.mark.parametrize(
    "word",
    [
        *("crowdworker", "crowd", "annotator", "expert", "SME", "rater", "reviewer", "user"),
        *("customer", "volunteer", "student", "doctor", "clinician", "physician", "nurse"),
        *("teacher", "admin", "staff", "manual", "Crowd worker"),
    ],
)
def test_words_for_people_are_kinds(tmp_path: Path, word: str) -> None:
    long(tmp_path, of_people=word)
    assert compared(report(tmp_path, "t.csv")).startswith("gpt-4o compared with 2 raters")


def test_an_unknown_word_for_a_kind_is_one_fault(tmp_path: Path) -> None:
    long(tmp_path, of_people="panelist")
    result = report(tmp_path, "t.csv")
    assert result.exit_code == 2
    assert "t.csv: 1 fault" in result.stderr
    assert "row 2, column rater_type: 'panelist' is not a kind of scorer, and in 39 more rows" in (
        result.stderr
    )
    assert "--kind SCORER=KIND" in result.stderr
    assert "alone" not in result.stderr
    declared = report(tmp_path, "t.csv", "--kind", "ann=human", "--kind", "bob=human")
    assert compared(declared).startswith("gpt-4o compared with 2 raters")


@pytest.mark.parametrize("source", ["API", "EVAL", "eval"])
@pytest.mark.parametrize("with_type", [True, False])
def test_scores_of_langfuse_with_underscores(tmp_path: Path, source: str, with_type: bool) -> None:
    columns = {
        "trace_id": IDS * 2,
        "name": ["helpfulness"] * 2 * N,
        "value": [*PEOPLE, *JUDGE],
        "source": ["ANNOTATION"] * N + [source] * N,
        "timestamp": ["2025-01-01T00:00:00"] * 2 * N,
        "comment": [""] * 2 * N,
    }
    written(
        tmp_path, "t.csv", **columns, **({"data_type": ["NUMERIC"] * 2 * N} if with_type else {})
    )
    result = report(tmp_path, "t.csv")
    assert compared(result).startswith("langfuse:helpfulness compared with langfuse:annotation")
    assert "Left out, not used: timestamp, comment." in result.stderr


def test_a_single_candidate_is_not_asked_for_twice(tmp_path: Path) -> None:
    written(tmp_path, "t.csv", trace_id=IDS, name=["helpfulness"] * N, value=PEOPLE)
    result = report(tmp_path, "t.csv")
    assert result.exit_code == 2
    assert "--judge" not in result.stderr
    assert "scorer_kind (human or judge)" in result.stderr
    assert "OTHER_FILE --on trace_id" in result.stderr


@pytest.mark.parametrize(
    ("judge", "human"),
    [("grader", "human_grader"), ("reviewer", "manual_reviewer"), ("rater", "gold rater")],
)
def test_the_plain_one_of_two_names_is_the_judges(tmp_path: Path, judge: str, human: str) -> None:
    words = [["incorrect", "correct"][value > 2] for value in JUDGE]
    other = [["incorrect", "correct"][value > 2] for value in PEOPLE]
    written(tmp_path, "t.csv", input=QUESTIONS, **{judge: words, human: other})
    assert compared(report(tmp_path, "t.csv")).startswith(f"{judge} compared with {human}")


@pytest.mark.parametrize(
    "cell",
    [
        '```json\n{{"rating": {}}}\n```',
        '```\n{{"score": {}, "reason": "a longer explanation of the grade that was given"}}\n```',
        '{{"score": {}, "reason": "a longer explanation of the grade that was given"}}',
    ],
)
@pytest.mark.parametrize("column", ["judge", "result", "response"])
def test_json_in_a_code_block_is_a_judges_answer(tmp_path: Path, column: str, cell: str) -> None:
    cells = [cell.format(value) for value in JUDGE]
    written(tmp_path, "t.csv", question=QUESTIONS, human=PEOPLE, **{column: cells})
    assert compared(report(tmp_path, "t.csv")).startswith(f"{column} compared with human")


def test_sentences_with_a_score_are_one_fault(tmp_path: Path) -> None:
    texts = [f"Score: {value}/5 because of reason {place}" for place, value in enumerate(JUDGE)]
    written(tmp_path, "t.csv", question=QUESTIONS, judge_output=texts, human=PEOPLE)
    result = report(tmp_path, "t.csv", "--judge", "judge_output", "--human", "human")
    assert result.exit_code == 2
    assert "t.csv: 1 fault" in result.stderr
    assert "column judge_output: has texts and no scores alone" in result.stderr
    assert "judge.parse_answer(text, study.Scale(min=MIN, max=MAX)).value" in result.stderr
    assert "--values" not in result.stderr
    undeclared = report(tmp_path, "t.csv")
    assert "the column 'judge_output' contains texts, such as 'Score: " in undeclared.stderr
    assert "--judge COLUMN" not in undeclared.stderr


def test_a_judge_alone_is_completed_by_the_evident_people(tmp_path: Path) -> None:
    written(tmp_path, "t.csv", question=QUESTIONS, gpt4=JUDGE, alpha=PEOPLE, human=PEOPLE)
    result = report(tmp_path, "t.csv", "--judge", "gpt4")
    assert compared(result).startswith("gpt4 compared with human")
    assert "--judge gpt4 --human human --query question" in result.stderr
    assert compared(report(tmp_path, "t.csv", "--human", "human")).startswith("gpt4 compared")
    typo = report(tmp_path, "t.csv", "--judge", "gpt")
    assert typo.exit_code == 2
    assert "--judge: the column 'gpt' is missing" in typo.stderr
    assert "Did you mean 'gpt4'?" in typo.stderr
    written(tmp_path, "u.csv", question=QUESTIONS, gpt4=JUDGE, alpha=PEOPLE)
    unclear = report(tmp_path, "u.csv", "--judge", "gpt4")
    assert unclear.exit_code == 2
    assert "no column is clearly that of people's scores. Columns that may be: 'alpha'" in (
        unclear.stderr
    )
    assert "--judge gpt4 --human COLUMN --query question" in unclear.stderr


@pytest.mark.parametrize(
    ("encoding", "name"), [("cp1252", "Windows-1252"), ("mac_roman", "Mac Roman")]
)
def test_a_file_in_another_encoding_is_one_fault(tmp_path: Path, encoding: str, name: str) -> None:
    frame = pd.DataFrame({"answer": ["Müller heißt er"] * N, "human": PEOPLE, "llm": JUDGE})
    frame.to_csv(tmp_path / "t.csv", index=False, encoding=encoding)
    result = report(tmp_path, "t.csv")
    assert result.exit_code == 2
    assert "t.csv: 1 fault" in result.stderr
    assert "40 lines are not UTF-8 (the first is line 2:" in result.stderr
    assert "'Müller heißt er," in result.stderr
    assert f"The encoding is probably {name}" in result.stderr
    assert "Save it as UTF-8" in result.stderr


def test_a_file_of_responses_is_named_with_what_may_be_scores(tmp_path: Path) -> None:
    answers = [f"A long answer to the question {place}" for place in range(N)]
    written(
        tmp_path, "mine.csv", question=QUESTIONS, response=answers, model=["a", "b"] * (N // 2),
        who=RATERS, grade=PEOPLE,
    )  # fmt: skip
    result = report(tmp_path, "mine.csv")
    assert result.exit_code == 2
    assert "mine.csv: 1 fault" in result.stderr
    assert "'grade' may have the scores, and 'who' may say who gave them" in result.stderr


def test_a_summary_sheet_is_passed_over(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame({"Metric": ["Mean human", "Mean llm"], "Result": [3.2, 3.4]}).to_excel(
            book, sheet_name="Summary", index=False
        )
        pd.DataFrame({"id": IDS, "human": PEOPLE, "llm": JUDGE}).to_excel(
            book, sheet_name="Ratings", index=False
        )
    result = report(tmp_path, "t.xlsx")
    assert compared(result).startswith("llm compared with human")
    assert "the sheet 'Ratings' is read, the first one with a table of scores" in result.stderr


@pytest.mark.parametrize("sign", [",", ";", "\t"])
@pytest.mark.parametrize(
    "title", ["Evaluation of May{0}{0}", "Evaluation of May", "Our study\nMay\n"]
)
def test_a_title_above_the_header_is_named(tmp_path: Path, sign: str, title: str) -> None:
    lines = [title.format(sign), sign.join(["id", "human", "llm"])]
    lines += [sign.join([IDS[i], str(PEOPLE[i]), str(JUDGE[i])]) for i in range(N)]
    (tmp_path / "t.csv").write_text("\n".join(lines), "utf-8")
    row = title.count("\n") + 2
    result = report(tmp_path, "t.csv")
    assert result.exit_code == 2
    assert f"row {row} looks like the header" in result.stderr
    assert f"Delete the rows above row {row}." in result.stderr


def test_a_title_in_a_workbook_is_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": IDS, "human": PEOPLE, "llm": JUDGE})
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        frame.to_excel(book, index=False, startrow=2)
        book.sheets["Sheet1"].cell(1, 1, "Evaluation of May")
    result = report(tmp_path, "t.xlsx")
    assert result.exit_code == 2
    assert "'Evaluation of May' looks like a title; row 3 looks like the header" in result.stderr


def test_columns_that_are_not_needed_are_in_one_line(tmp_path: Path) -> None:
    written(
        tmp_path, "t.csv", id=IDS, human=PEOPLE, llm=JUDGE, latency_ms=[30] * N, tokens=[9] * N,
        reason=["because"] * N,
    )  # fmt: skip
    result = report(tmp_path, "t.csv")
    assert "Left out, not used: latency_ms, tokens, reason." in result.stderr
    assert "unknown column" not in result.stderr


def test_surplus_ids_of_the_judge_are_no_fault(tmp_path: Path) -> None:
    written(tmp_path, "judge.csv", id=IDS, llm=JUDGE)
    written(tmp_path, "human.csv", id=[*IDS[:20], "x1"], human=[*PEOPLE[:20], 3])
    result = report(tmp_path, "judge.csv", "human.csv")
    assert result.exit_code == 2
    assert "1 of 21 ids of human.csv is not in judge.csv ('x1')" in result.stderr
    assert "ids of judge.csv" not in result.stderr
    allowed = report(tmp_path, "judge.csv", "human.csv", "--allow-unmatched")
    assert allowed.exit_code == 0, allowed.output
    assert "judge.csv: 20 responses are without people's scores." in allowed.stderr


def test_a_word_among_numbers_is_one_fault_with_how_to_leave_it_out(tmp_path: Path) -> None:
    cells = ["ERROR" if place % 10 == 3 else value for place, value in enumerate(JUDGE)]
    written(tmp_path, "t.csv", id=IDS, human=PEOPLE, judge=cells)
    result = report(tmp_path, "t.csv")
    assert result.exit_code == 2
    assert "1 fault" in result.stderr
    assert "'ERROR' is not a number, and 3 more like it" in result.stderr
    assert "--values ERROR= makes it a missing value" in result.stderr
    assert "36 responses" in compared(report(tmp_path, "t.csv", "--values", "ERROR="))
