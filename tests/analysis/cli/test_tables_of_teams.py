"""Tables as teams have them, in which a column is told by its cells as well as by its name."""

import random
import shlex
from pathlib import Path

import pandas as pd
import pytest

import ccrs_study as ccrs_in_python
from tests.ccrs_command import program as ccrs

N = 60
QUESTIONS: list[object] = [f"How do I reset device {number}?" for number in range(N)]
OF_THREE: list[object] = [QUESTIONS[number // 3] for number in range(N)]


def table(path: Path, **columns: list[object]) -> pd.DataFrame:
    """A table with the columns, a person's grades and a judge's."""
    draw = random.Random(4)
    human = [draw.randint(1, 5) for _ in range(N)]
    judge = [min(5, max(1, value + draw.choice([-1, 0, 0, 1]))) for value in human]
    frame = pd.DataFrame({**columns, "llm_score": judge, "human_score": human})
    frame.to_csv(path, index=False)
    return frame


def of(frame: pd.DataFrame, path: Path, **names: str) -> None:
    """Write the table with other names of the columns of scores."""
    frame.rename(columns=names).to_csv(path, index=False)


def reported(path: Path, said: str, taken: str) -> None:
    """Check what is taken as what, that the printed command says the same, and Python too."""
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert taken in done.stderr
    assert said in done.stdout
    same = next(line for line in done.stderr.splitlines() if line.startswith("The same, declared"))
    again = ccrs(*shlex.split(same.partition(": ccrs ")[2]))
    assert said in again.stdout
    assert said in ccrs_in_python.evaluate(pd.read_csv(path)).verdict


METRICS: list[object] = ["faithfulness", "relevance", "fluency"] * 20


@pytest.mark.parametrize(
    "columns",
    [
        {"question": OF_THREE, "metric": METRICS},
        {"question": OF_THREE, "criterion": METRICS},
        {"id": [f"r{number // 3}" for number in range(N)], "metric": METRICS},
    ],
)
def test_metrics_are_constructs(tmp_path: Path, columns: dict[str, list[object]]) -> None:
    table(tmp_path / "t.csv", **columns)
    reported(tmp_path / "t.csv", "20 responses, 3 constructs", "construct: ")


def test_rows_of_metrics_and_systems_need_an_id_that_pandas_writes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    systems: list[object] = ["a", "b"] * 30
    metrics: list[object] = [METRICS[number // 2 % 3] for number in range(N)]
    questions: list[object] = [QUESTIONS[number // 6] for number in range(N)]
    frame = table(path, question=questions, model=systems, metric=metrics)
    done = ccrs("report", path, "--text")
    assert done.returncode == 2
    assert "no column is its id. Add one, in pandas: " in done.stderr
    eval(done.stderr.partition("in pandas: ")[2], {"frame": frame}).to_csv(path, index=False)
    again = ccrs("report", path, "--text")
    assert "20 responses to 10 queries by 2 systems, 3 constructs" in again.stdout


def test_rows_of_raters_and_metrics_are_read_as_responses(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame(
        {
            "response_id": f"r{number}",
            "metric": metric,
            "annotator": rater,
            "human_score": 1 + (number + len(rater)) % 5,
            "llm_score": 1 + number % 5,
        }
        for number in range(20)
        for metric in ("faithfulness", "relevance")
        for rater in ("ana", "bo", "cyan")
    ).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert "3 raters (ana, bo and cyan): 20 responses, 2 constructs" in done.stdout


def test_metrics_of_a_row_for_each_score_are_constructs(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame(
        {
            "response_id": f"r{number}",
            "evaluator": scorer,
            "metric": metric,
            "score": 1 + (number + (number % 4 == 0) * len(scorer)) % 5,
        }
        for number in range(30)
        for metric in ("faithfulness", "relevance")
        for scorer in ("human", "gpt-4o")
    ).to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert "gpt-4o compared with human: 30 responses, 2 constructs" in done.stdout
    assert "30 responses, 2 constructs" in ccrs_in_python.evaluate(pd.read_csv(path)).verdict


@pytest.mark.parametrize(
    "column", ["conversation_id", "session_id", "dialogue_id", "doc_id", "seg_id", "ticket_id"]
)
def test_rows_of_one_conversation_are_not_independent(tmp_path: Path, column: str) -> None:
    groups: list[object] = [f"c{number // 4}" for number in range(N)]
    table(tmp_path / "t.csv", **{column: groups, "turn": [number % 4 for number in range(N)]})
    reported(tmp_path / "t.csv", "60 responses to 15 queries", f"query: {column}")


def test_ids_of_responses_stand_beside_those_of_their_conversation(tmp_path: Path) -> None:
    groups: list[object] = [number // 4 for number in range(N)]
    ids: list[object] = [f"m{number}" for number in range(N)]
    table(tmp_path / "t.csv", message_id=ids, conversation_id=groups)
    reported(tmp_path / "t.csv", "60 responses to 15 queries", "query: conversation_id")


@pytest.mark.parametrize("column", ["retriever", "pipeline", "config", "version", "method"])
def test_what_differs_in_the_rows_of_a_query_may_be_a_system(tmp_path: Path, column: str) -> None:
    systems: list[object] = ["one", "two", "three"] * 20
    path = tmp_path / "t.csv"
    table(path, question=OF_THREE, **{column: systems})
    reported(path, "20 queries by 3 systems", f"system: {column}")
    # Each question has one row: nothing says that these are systems.
    table(path, question=QUESTIONS, **{column: systems})
    done = ccrs("report", path, "--text")
    assert "system" not in done.stderr.splitlines()[0]


def test_true_values_and_predictions_are_people_and_judge(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = table(path)
    passed = frame.assign(llm_score=frame["llm_score"] > 2, human_score=frame["human_score"] > 2)
    of(passed.astype(int), path, llm_score="y_pred", human_score="y_true")
    reported(path, "y_pred compared with y_true: 60 responses; pass or fail", "judge: y_pred")
    of(frame, path, llm_score="gpt4", human_score="gt")
    reported(path, "gpt4 compared with gt: 60 responses", "people: gt")
    # Answers to questions are no grades, whether numbers or the letters of options.
    for cells in (range(N), ["ABCD"[number % 4] for number in range(N)]):
        answers = frame.assign(llm_score=cells, human_score=cells)
        of(answers, path, llm_score="y_pred", human_score="y_true")
        assert ccrs("report", path, "--text").returncode == 2


def test_initials_in_the_place_of_the_model_are_people(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = table(path, question=QUESTIONS)
    both = frame.assign(other=frame["human_score"])
    of(both, path, llm_score="Score (GPT-4)", human_score="Score (JB)", other="Score (KL)")
    reported(path, "2 raters (Score (JB) and Score (KL))", "initials in the place of Score (GPT-4)")
    # Beside a rater they may be anything, such as criteria.
    of(both, path, llm_score="GPT", human_score="Human", other="FL")
    assert "GPT compared with Human" in ccrs("report", path, "--text").stdout


def test_numbered_participants_are_raters(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = table(path, question=QUESTIONS)
    frame = frame.assign(P2=frame["human_score"], P3=frame["llm_score"])
    of(frame, path, llm_score="llm_judge", human_score="P1")
    reported(path, "llm_judge compared with 3 raters (P1, P2 and P3)", "people: P1, P2, P3")
    # With a rater beside them they may be prompts.
    of(frame, path, human_score="human")
    assert "llm_score compared with human" in ccrs("report", path, "--text").stdout


@pytest.mark.parametrize("texts", [False, True])
def test_scores_of_two_responses_in_a_row_are_refused_with_the_remedy(
    tmp_path: Path, texts: bool
) -> None:
    path = tmp_path / "t.csv"
    one = table(path, question=QUESTIONS)
    frame = pd.DataFrame({"question": QUESTIONS})
    for place, letter in enumerate("AB"):
        if texts:
            frame[f"response_{letter}"] = [f"Answer {letter}{number}" for number in range(N)]
        frame[f"human_{letter}"] = 5 * place + one["human_score"] * (1 - 2 * place) + place
        frame[f"judge_{letter}"] = 5 * place + one["llm_score"] * (1 - 2 * place) + place
    frame.to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 2
    assert "--judge judge_A" not in done.stderr
    remedy = done.stderr.partition("in pandas: ")[2].strip().removesuffix(".")
    eval(remedy, {"frame": frame, "pd": pd}).to_csv(path, index=False)
    again = ccrs("report", path, "--text")
    assert again.returncode == 0, again.stderr
    assert "120 responses to 60 queries by 2 systems" in again.stdout


@pytest.mark.parametrize(
    ("a", "tie", "b", "columns", "named"),
    [
        ("Win", "Tie", "Lose", ("human", "llm_judge"), "A and B"),
        ("loss", "draw", "win", ("human_verdict", "gpt4_verdict"), "A and B"),
        ("gpt4 wins", "tie", "claude wins", ("human", "llm_judge"), "claude and gpt4"),
        ("Ours is better", "Same", "Base is better", ("human", "llm_judge"), "Base and Ours"),
        ("gpt4", "tie", "claude", ("human_winner", "llm_winner"), "claude and gpt4"),
    ],
)
def test_words_for_what_wins_are_preferences(
    tmp_path: Path, a: str, tie: str, b: str, columns: tuple[str, str], named: str
) -> None:
    path = tmp_path / "t.csv"
    people = [(a, tie, b)[number % 3] for number in range(N)]
    judge = [tie if number % 7 == 0 else choice for number, choice in enumerate(people)]
    frame = pd.DataFrame({"question": QUESTIONS, columns[0]: people, columns[1]: judge})
    frame.to_csv(path, index=False)
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    assert f"each row compares two responses, {named}; query: question" in done.stderr
    assert f"preferences of {columns[0]}: 60 pairs of responses" in done.stdout
    # 6 of the 9 judge's ties are no ties of people.
    agreeing = sum(x == y for x, y in zip(people, judge, strict=True))
    assert f"{100 * agreeing / N:.0f}%" in done.stdout


def test_degrees_are_no_names_of_what_wins(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    people = [("much better", "about the same", "slightly better")[n % 3] for n in range(N)]
    pd.DataFrame({"question": QUESTIONS, "human": people, "llm_judge": people}).to_csv(path)
    assert "compares two responses" not in ccrs("report", path, "--text").stderr


def test_what_wins_is_a_or_b_as_the_row_names_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    people = [("gpt4 wins", "tie", "claude wins")[number % 3] for number in range(N)]
    swapped = [number % 2 for number in range(N)]
    pd.DataFrame(
        {
            "question": QUESTIONS,
            "model_a": ["gpt4" if turned else "claude" for turned in swapped],
            "model_b": ["claude" if turned else "gpt4" for turned in swapped],
            "human": people,
            "llm_judge": ["A" if word.startswith("gpt4") == bool(turned) else "B"
                          for word, turned in zip(people, swapped, strict=True)],
        }
    ).to_csv(path, index=False)  # fmt: skip
    done = ccrs("report", path, "--text")
    assert done.returncode == 0, done.stderr
    # All but the 20 ties are chosen alike.
    assert "Its choice is that of the rater in 67%" in done.stdout
