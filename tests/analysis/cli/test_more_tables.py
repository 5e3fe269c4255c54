"""Further tables as people have them, each through `ccrs report FILE --text`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from ccrs_study import evaluate
from study.cli.root import cli

pytestmark = pytest.mark.usefixtures("without_drawing")

HUMAN = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 2, 4]
LLM = [2, 2, 3, 5, 5, 4, 4, 2, 1, 1, 3, 4]
RATERS = ["anna", "ben", "cara"]


def report(folder: Path, frame: pd.DataFrame, *options: str) -> Result:
    path = folder / "t.csv"
    frame.to_csv(path, index=False)
    return CliRunner().invoke(cli, ["report", str(path), "--text", *options])


def table(**columns: Sequence[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def rows_of_raters(
    raters: Sequence[object] = tuple(RATERS), names: Sequence[str] = (), **more: Any
) -> pd.DataFrame:
    """A row for each response and rater, with the judge's score in each."""
    rows = [
        (f"r{n}", rater, min(5, HUMAN[n] + (place == 1 and n % 3 == 0)), LLM[n])
        for n in range(12)
        for place, rater in enumerate(raters)
    ]
    frame = pd.DataFrame(rows, columns=list(names or ("item", "annotator", "human_score", "judge")))
    return frame.assign(**more)


@pytest.mark.parametrize(
    "names",
    [
        ("item", "annotator", "human_score", "judge_score"),
        ("id", "annotator", "score", "judge"),
        ("response_id", "rater", "rating", "gpt-4o"),
        ("doc", "reviewer_name", "human", "llm"),
        ("question", "rater_id", "human_rating", "llm_rating"),
        ("sample", "labeler", "human_label", "judge_label"),
    ],
)
@pytest.mark.parametrize("raters", [tuple(RATERS), (1, 2, 3), (7, 12, 104)])
def test_rows_of_raters_are_one_response(
    tmp_path: Path, names: tuple[str, ...], raters: tuple[object, ...]
) -> None:
    result = report(tmp_path, rows_of_raters(raters, names))
    assert result.exit_code == 0, result.output
    assert "12 responses" in result.stdout
    assert "3 raters" in result.stdout
    assert f"rows of the raters in '{names[1]}' read as 12 responses" in result.stderr
    assert "Nothing says whose" not in result.stderr


def test_raters_of_some_responses_and_blank_repetitions(tmp_path: Path) -> None:
    frame = rows_of_raters()
    frame = frame[~((frame["annotator"] == "cara") & (frame["item"] > "r5"))]
    frame["judge"] = frame["judge"].where(~frame["item"].duplicated())
    result = report(tmp_path, frame)
    assert "3 raters (anna, ben and cara): 12 responses" in result.stdout, result.output


def test_a_judge_that_differs_within_a_response_is_named_by_row(tmp_path: Path) -> None:
    frame = rows_of_raters()
    frame.loc[13, "judge"] = 1
    result = report(tmp_path, frame)
    assert result.exit_code == 2
    assert "row 15, column judge: the judge's score of 'r4' is 1 here, and 5 in row 14" in (
        result.stderr
    )


def test_items_of_which_each_row_is_another_response_are_left_apart(tmp_path: Path) -> None:
    frame = rows_of_raters()
    frame["judge"] = [1 + n * 7 % 5 for n in range(36)]
    result = report(tmp_path, frame)
    assert "1 rater" in result.output or "human_score: 36 responses" in result.stdout, result.output


def test_rows_of_raters_on_several_systems_and_constructs(tmp_path: Path) -> None:
    frame = rows_of_raters(system="a")
    other = frame.assign(system="b", judge=6 - frame["judge"])
    both = report(tmp_path, pd.concat([frame, other]))
    assert "24 responses" in both.stdout, both.output
    by_construct = pd.concat([frame.assign(construct="QR"), frame.assign(construct="CC")])
    result = report(tmp_path, by_construct.drop(columns="system"))
    assert "12 responses, 2 constructs" in result.stdout, result.output
    assert "read as 12 responses" in result.stderr


def test_rows_of_raters_without_an_id_are_refused(tmp_path: Path) -> None:
    frame = rows_of_raters((1, 2, 3), ("item", "annotator", "score", "judge")).drop(columns="item")
    result = report(tmp_path, frame)
    assert result.exit_code == 2
    assert "no column identifies the response. Add its id to each row" in result.stderr
    assert "OTHER_FILE" not in result.stderr


def test_the_id_of_rows_of_raters_is_named_by_an_option(tmp_path: Path) -> None:
    frame = rows_of_raters().rename(columns={"item": "ticket"})
    result = report(tmp_path, frame)
    assert result.exit_code == 2
    assert "--judge judge --human human_score --id COLUMN" in result.stderr
    again = report(tmp_path, frame, "--id", "ticket")
    assert "3 raters (anna, ben and cara): 12 responses" in again.stdout, again.output


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        ([f"Score: {n}" for n in LLM], ()),
        ([f"score={n}.0" for n in LLM], ()),
        ([f"Final rating: {n}" for n in LLM], ()),
        ([f"Level {n}" for n in LLM], ()),
        ([f"**Score:** {n}" for n in LLM], ()),
        ([f"Score: {n} out of 5" for n in LLM], ("--scale", "1:5")),
        ([f"Rating: {n}/5" for n in LLM], ("--scale", "1:5")),
    ],
)
def test_a_number_behind_its_name_is_read(
    tmp_path: Path, cells: list[str], options: tuple[str, ...]
) -> None:
    result = report(tmp_path, table(human=HUMAN, judge=cells), *options)
    assert "scale 1 to 5" in result.stdout, result.output
    assert "and a number read as the number, the highest as best (12)" in result.stderr


def test_numbers_behind_names_may_be_many_and_are_no_names_of_things(tmp_path: Path) -> None:
    scores = [f"Score: {10 * n + place}" for place, n in enumerate(LLM)]
    many = report(tmp_path, table(human=[10 * n for n in HUMAN], judge=scores))
    assert many.exit_code == 0, many.output
    topics = [f"Topic {n}" for n in LLM]
    result = report(tmp_path, table(human=[f"Topic {n}" for n in HUMAN], judge=topics))
    assert "names without an order" in result.stderr


def test_a_ratio_in_words_names_the_scale_that_is_missing(tmp_path: Path) -> None:
    result = report(tmp_path, table(human=HUMAN, judge=[f"Rating: {n}/5" for n in LLM]))
    assert result.exit_code == 2
    assert "row 2, column judge: '2/5' is not a number" in result.stderr
    assert "--scale 0:5" in result.stderr


def test_sentences_in_the_column_of_the_judge_are_named(tmp_path: Path) -> None:
    cells = [f"Score: {n}, since the answer says it {place}" for place, n in enumerate(LLM)]
    result = report(tmp_path, table(human=HUMAN, judge=cells))
    assert result.exit_code == 2
    assert "'judge' contains texts, such as 'Score: 2, since" in result.stderr
    remedy = result.stderr.split("in Python: ")[1].split(", with the ends")[0]
    frame = table(human=HUMAN, judge=cells)
    exec(remedy.replace("MIN", "1").replace("MAX", "5"), {"frame": frame})
    assert frame["judge_score"].tolist() == LLM
    assert "OTHER_FILE" not in result.stderr


CHOICES = ["A", "B", "tie", "A", "A", "B", "A", "B", "tie", "B", "A", "A"]
OF_JUDGE = ["A", "B", "A", "A", "B", "B", "A", "B", "tie", "A", "A", "tie"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("human_preference", "judge_preference"), {}),
        (("human", "gpt4"), {"tie": "Tie"}),
        (("human_winner", "llm_winner"), {"A": "model_a", "B": "model_b", "tie": "tie (bothbad)"}),
        (("human_preference", "llm_preference"), {"A": "[[A]]", "B": "B>A", "tie": "A=B"}),
        (("human_choice", "judge_choice"), {"A": "Response A", "B": "Response B", "tie": "same"}),
        (
            ("human", "judge"),
            {"A": "Response A is better", "B": "Response B is better", "tie": "About the same"},
        ),
        (("rater", "gpt4"), {"A": "A is much better", "B": "B is slightly better"}),
        (("expert", "judge"), {"A": "Prefer A", "B": "Strongly prefer B", "tie": "No preference"}),
        (("human_label", "llm_label"), {"A": "1", "B": "2"}),
    ],
)
def test_preferences_side_by_side(
    tmp_path: Path, names: tuple[str, str], words: dict[str, str]
) -> None:
    columns = {
        name: [words.get(cell, cell) for cell in cells]
        for name, cells in zip(names, (CHOICES, OF_JUDGE), strict=True)
    }
    result = report(tmp_path, pd.DataFrame(columns))
    line = f"{names[1]} compared with the preferences of {names[0]}: 12 pairs of responses"
    assert line in result.stdout, result.output
    assert "Accuracy: 67%" in result.stdout  # 8 of 12 are equal
    assert "Preferences taken by their names" in result.stderr


def test_preferences_that_name_what_is_better(tmp_path: Path) -> None:
    pairs = [("gpt", "llama"), ("llama", "gpt"), ("llama", "mistral")] * 4
    named = {"A": 0, "B": 1}
    columns = {
        name: [
            cell if cell == "tie" else pair[named[cell]]
            for cell, pair in zip(cells, pairs, strict=True)
        ]
        for name, cells in (("human_winner", CHOICES), ("judge_winner", OF_JUDGE))
    }
    frame = pd.DataFrame({"query": [f"q{n}" for n in range(12)], **columns})
    frame[["model_a", "model_b"]] = pairs
    result = report(tmp_path, frame)
    assert "12 pairs of responses" in result.stdout, result.output
    assert "Accuracy: 67%" in result.stdout


def test_a_long_table_of_preferences_has_words(tmp_path: Path) -> None:
    rows = [
        {"query_id": f"q{n}", "response_a": f"a{n}", "response_b": f"b{n}", "construct": "overall",
         "scorer": scorer, "scorer_kind": kind, "preference": named.get(cells[n], cells[n])}
        for scorer, kind, cells in (("anna", "human", CHOICES), ("gpt-4", "judge", OF_JUDGE))
        for n in range(12)
        for named in ({"A": f"a{n}"},)
    ]  # fmt: skip
    result = report(tmp_path, pd.DataFrame(rows))
    assert "12 pairs" in result.stdout, result.output
    assert "preferences of A, B or neither read as -1, 1 and 0 (24)" in result.stderr


def test_preferences_in_rows_of_raters(tmp_path: Path) -> None:
    rows = [
        {"item": f"q{n}", "annotator": rater, "human_preference": CHOICES[n - place],
         "judge_preference": OF_JUDGE[n]}
        for n in range(12)
        for place, rater in enumerate(("anna", "ben"))
    ]  # fmt: skip
    result = report(tmp_path, pd.DataFrame(rows))
    assert "12 pairs of responses" in result.stdout, result.output
    assert "anna" in result.stdout
    rows[3]["judge_preference"] = "tie"
    again = report(tmp_path, pd.DataFrame(rows))
    assert again.exit_code == 2
    fault = "row 5, column judge_preference: 'tie' is another preference of the judge than in row 4"
    assert fault in again.stderr


def test_preferences_beside_the_texts_that_they_compare(tmp_path: Path) -> None:
    frame = table(
        prompt=[f"q{n}" for n in range(12)],
        response_a=[f"text {n}" for n in range(12)],
        response_b=[f"other {n}" for n in range(12)],
        human_preference=CHOICES,
        judge_preference=OF_JUDGE,
    )
    assert "12 pairs of responses" in report(tmp_path, frame).stdout
    frame.loc[3, "judge_preference"] = "C"
    result = report(tmp_path, frame)
    assert result.exit_code == 2
    assert "row 5, column judge_preference: 'C' is none of A, B and tie" in result.stderr


def test_choices_of_a_and_b_without_a_tie_or_a_name_are_categories(tmp_path: Path) -> None:
    cells = [["AB"[n % 2] for n in values] for values in (HUMAN, LLM)]
    result = report(tmp_path, table(human=cells[0], llm=cells[1]))
    assert "names without an order" in result.stderr
    sides = [[["left", "both", "right"][n % 3] for n in values] for values in (HUMAN, LLM)]
    result = report(tmp_path, table(human=sides[0], llm=sides[1]))
    assert "names without an order" in result.stderr


def test_school_letters_have_a_as_the_best(tmp_path: Path) -> None:
    letters = [["FDCBA"[n - 1] for n in values] for values in (HUMAN, LLM)]
    result = report(tmp_path, table(human=letters[0], llm=letters[1]))
    numbers = report(tmp_path, table(human=HUMAN, llm=LLM))
    assert "school grades, of which A is the best" in result.stderr
    assert "A read as 4, B as 3, C as 2, D as 1 and F as 0 (24)" in result.stderr
    assert "scale 0 to 4" in result.stdout
    ordered = [line for line in numbers.stdout.splitlines() if "Pairs ordered alike" in line]
    assert len(ordered) == 1
    assert ordered[0] in result.stdout


def test_letters_that_may_be_answers_keep_no_order_and_have_the_command(tmp_path: Path) -> None:
    letters = [["DCBA"[min(n, 4) - 1] for n in values] for values in (HUMAN, LLM)]
    frame = table(human=letters[0], llm=letters[1])
    result = report(tmp_path, frame)
    assert "names without an order" in result.stderr
    assert "--values A=4,B=3,C=2,D=1" in result.stderr
    assert "scale 1 to 4" in report(tmp_path, frame, "--values", "A=4,B=3,C=2,D=1").stdout


def test_numbered_grades_are_numbers(tmp_path: Path) -> None:
    frame = table(human=[f"Grade {n}" for n in HUMAN], llm=LLM)
    result = report(tmp_path, frame)
    assert "scale 1 to 5" in result.stdout, result.output
    assert "if 1 is the best" in result.stderr


@pytest.mark.parametrize("name", ["rank", "Ranking", "Note", "Schulnote"])
def test_ranks_may_have_1_as_the_best(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({f"human_{name}": HUMAN, "llm_score": LLM})
    result = report(tmp_path, frame)
    assert f"in a column named 'human_{name}' 1 may be the best: then write 6 minus" in (
        result.stderr
    )
    french = pd.DataFrame({"human_note": [3 * n for n in HUMAN], "llm_note": [3 * n for n in LLM]})
    assert "may be the best" not in report(tmp_path, french).stderr


@pytest.mark.parametrize("name", ["doc", "doc_id", "document", "Document ID", "Doc"])
def test_documents_are_responses(tmp_path: Path, name: str) -> None:
    ids = [f"d{n}" for n in range(12)]
    wide = report(tmp_path, pd.DataFrame({name: ids, "human": HUMAN, "llm": LLM}))
    assert f"response: {name};" in wide.stderr
    long = pd.DataFrame(
        {
            name: ids * 2,
            "scorer": ["human"] * 12 + ["gpt-4o"] * 12,
            "score": HUMAN + LLM,
        }
    )
    assert "12 responses" in report(tmp_path, long).stdout


def test_the_id_of_a_long_table_is_named_by_an_option(tmp_path: Path) -> None:
    long = table(
        thing=[f"t{n}" for n in range(12)] * 2,
        about=[f"q{n // 2}" for n in range(12)] * 2,
        scorer=["human"] * 12 + ["gpt-4o"] * 12,
        score=HUMAN + LLM,
    )
    result = report(tmp_path, long, "--id", "thing", "--query", "about")
    assert "gpt-4o compared with human: 12 responses to 6 queries" in result.stdout, result.output
    typo = report(tmp_path, long, "--id", "thin")
    assert typo.exit_code == 2
    assert "--id: the column 'thin' is missing" in typo.stderr
    assert "Did you mean 'thing'?" in typo.stderr


def test_a_mistyped_column_of_two_files_is_proposed(tmp_path: Path) -> None:
    ids = [f"d{n}" for n in range(12)]
    paths = [str(tmp_path / name) for name in ("judge.csv", "human.csv")]
    table(id=ids, llm_score=LLM).to_csv(paths[0], index=False)
    table(id=ids, human_score=HUMAN).to_csv(paths[1], index=False)
    words = ["report", *paths, "--text", "--judge", "llm_scor", "--human", "human_score"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 2
    assert "Did you mean 'llm_score'?" in result.stderr


def test_python_reads_rows_of_raters_and_other_names() -> None:
    result = evaluate(rows_of_raters((1, 2, 3)))
    assert "3 raters (annotator 1, annotator 2 and annotator 3): 12 responses" in result.verdict
    long = table(item=[*range(12)] * 2, rater=["human"] * 12 + ["llm"] * 12, rating=HUMAN + LLM)
    assert "llm compared with human: 12 responses" in evaluate(long).verdict
    differing = rows_of_raters()
    differing.loc[1, "judge"] = 5
    with pytest.raises(ValueError, match="row 1, column 'judge': the judge's score"):
        evaluate(differing)


def test_python_says_how_two_tables_are_joined() -> None:
    frames = [table(id=[1, 2], llm=[1, 2]), table(id=[1, 2], human=[1, 2])]
    for given in ((frames,), tuple(frames)):
        with pytest.raises(TypeError, match=r"judge\.merge"):
            evaluate(*given, on="id")


def pairs_in_rows(values: Sequence[object], folder: Path) -> Result:
    """A table with a row for each preference, of a judge and of a rater."""
    rows = [
        {"query_id": place // 2, "response_a": f"a{place // 2}", "response_b": f"b{place // 2}",
         "construct": "QR", "scorer": ("gpt-4o", "anna")[place % 2],
         "scorer_kind": ("judge", "human")[place % 2], "value": value}
        for place, value in enumerate(values)
    ]  # fmt: skip
    return report(folder, pd.DataFrame(rows))


def test_one_and_two_beside_a_tie_are_a_and_b(tmp_path: Path) -> None:
    in_numbers = [1, 1, 2, 2, 1, 2, "tie", "tie", 2, 1, 1, "tie"] * 2
    in_words = ["A" if value == 1 else "B" if value == 2 else value for value in in_numbers]
    results = [pairs_in_rows(values, tmp_path) for values in (in_numbers, in_words)]
    assert "preferences of 1 and 2 beside a tie read as A and B" in results[0].stderr
    assert "Accuracy: 50%" in results[0].stdout
    assert results[0].stdout == results[1].stdout


@pytest.mark.parametrize("numbers", [(1,), (0, 1), (1, 2, 3), (0, 2)])
@pytest.mark.parametrize("word", ["tie", "A"])
def test_other_numbers_among_words_for_preferences_are_refused(
    tmp_path: Path, numbers: tuple[int, ...], word: str
) -> None:
    result = pairs_in_rows([*numbers, word] * 6, tmp_path)
    assert result.exit_code == 2
    assert "is a number among words for A, B and a tie" in result.stderr


def test_signed_numbers_and_ties_are_read_together(tmp_path: Path) -> None:
    result = pairs_in_rows([-1, -1, 1, "tie", 1, 1, "tie", "tie"] * 3, tmp_path)
    assert "Accuracy: 75%" in result.stdout, result.output


def test_preferences_of_one_and_two_alone_are_named(tmp_path: Path) -> None:
    assert "If 1 is response_a" in pairs_in_rows([1, 2, 2, 2, 1, 1] * 3, tmp_path).stderr


@pytest.mark.parametrize("names", [("A", "B"), ("1", "2"), ("both", "neither"), ("second", "x")])
@pytest.mark.parametrize("columns", [("system_a", "system_b"), ("model_1", "model_2")])
def test_choices_of_names_that_are_places_are_refused_in_both_orders(
    tmp_path: Path, names: tuple[str, str], columns: tuple[str, str]
) -> None:
    orders = [names[:: 1 if place % 2 else -1] for place in range(12)]
    frame = table(
        question=[f"q{place}" for place in range(12)],
        **{column: [order[place] for order in orders] for place, column in enumerate(columns)},
        judge_preference=[names[place // 2 % 2] for place in range(12)],
        human_preference=[names[place // 3 % 2] for place in range(12)],
    )
    result = report(tmp_path, frame)
    assert result.exit_code == 2
    assert "is ambiguous: it is the name of" in result.stderr, result.output


def test_choices_of_systems_in_one_order_are_read(tmp_path: Path) -> None:
    chosen = ["A", "B", "B", "A"] * 4
    frame = table(
        question=[f"q{place}" for place in range(16)],
        system_a=["A"] * 16,
        system_b=["B"] * 16,
        judge_preference=chosen,
        human_preference=chosen,
    )
    assert "Accuracy: 100%" in report(tmp_path, frame).stdout
