"""A role is taken on evidence that can be named, and never on contents alone."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from study.importing.score_columns.named_columns import NamedColumns, Recognized
from study.importing.score_columns.recognition import recognized_rows, recognized_table

FIVE = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 2, 4]
OTHER = [2, 2, 3, 5, 5, 4, 4, 2, 1, 1, 3, 4]
TEXTS = [f"What is it {i // 2}?" for i in range(12)]
WORDS = ["good", "bad", "ok"] * 4


def found(**columns: Sequence[Any]) -> Recognized:
    return of(columns)


def of(columns: Mapping[str, Sequence[Any]]) -> Recognized:
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return recognized_rows(list(columns), rows)


def test_models_are_judges_and_further_columns_are_named() -> None:
    result = found(
        prompt=TEXTS, model=["a", "b"] * 6, gpt4o=FIVE, claude=OTHER, gemini=FIVE, human=OTHER
    )
    assert result.columns == NamedColumns(
        ("gpt4o", "claude", "gemini"), ("human",), query="prompt", system="model"
    )
    assert result.reasons("judge")["gpt4o"] == "'gpt4o' in its name"


def test_people_and_machine_are_told_in_german() -> None:
    result = found(Frage=TEXTS, Bewertung_KI=["5,5"] * 12, Bewertung_Mensch=["3,5", "4"] * 6)
    assert result.columns == NamedColumns(("Bewertung_KI",), ("Bewertung_Mensch",), query="Frage")


def test_numbered_columns_beside_a_judge_are_people() -> None:
    result = found(q=[0, 0, 1, 1] * 3, sys=["x", "y"] * 6, h0=FIVE, h1=OTHER, llm=FIVE)
    assert result.columns == NamedColumns(("llm",), ("h0", "h1"), query="q", system="sys")
    assert "numbered h0, h1" in result.reasons("human")["h0"]
    far = found(h0=[100 * v for v in FIVE], h1=[100 * v for v in OTHER], llm=FIVE)
    assert far.columns is None
    assert found(h0=FIVE, h1=OTHER, h2=FIVE).columns is None


def test_the_name_beside_that_of_people_is_the_judges() -> None:
    result = of(
        {
            "id": [f"run{i}" for i in range(12)],
            "inputs.question": [f"q{i}" for i in range(12)],
            "feedback.correctness": [1.0, 0.0] * 6,
            "feedback.human_correctness": [1.0, 1.0, 0.0] * 4,
            "execution_time": [1.2] * 12,
        }
    )
    assert result.columns == NamedColumns(
        ("feedback.correctness",), ("feedback.human_correctness",), id="id",
        query="inputs.question",
    )  # fmt: skip
    assert "execution_time" in result.reasons("no score")


def test_contents_alone_never_decide() -> None:
    result = found(question=TEXTS, anna=FIVE, ben=OTHER)
    assert (result.form, result.candidates) == ("unclear", ("anna", "ben"))
    assert result.example == NamedColumns(("COLUMN",), ("COLUMN",), query="question")
    one = found(llm=FIVE, anna=OTHER, number=list(range(12)), weight=FIVE)
    assert (one.candidates, one.example.human) == (("anna",), ("COLUMN",))


@pytest.mark.parametrize(
    "column",
    [
        {"scan": list(range(12))}, {"latency": FIVE}, {"run": FIVE}, {"turn": FIVE},
        {"serial": list(range(100, 112))}, {"size_of_file": [v * 1e6 for v in FIVE]},
        {"reason": ["because ..."] * 12}, {"topic": ["a", "b", "c"] * 4},
    ],
)  # fmt: skip
def test_ids_and_measurements_are_neither_scores_nor_candidates(column: dict[str, Any]) -> None:
    result = of({**column, "reader_1": WORDS, "reader_2": WORDS, "ai_judge": WORDS})
    assert result.columns == NamedColumns(("ai_judge",), ("reader_1", "reader_2"))
    assert result.candidates == ()
    alone = of({**column, "reader_1": FIVE, "reader_2": OTHER})
    assert alone.example.judge == ("COLUMN",)
    assert alone.candidates == ()


def test_a_column_of_model_names_is_no_judge() -> None:
    result = found(llm=["gpt-4o", "llama-3"] * 6, judge_score=FIVE, human_score=OTHER)
    assert result.columns == NamedColumns(("judge_score",), ("human_score",))


def test_a_column_of_names_of_people_is_no_rater() -> None:
    result = found(
        annotator=["anna", "ben", "cleo"] * 4, llm_score=FIVE, human_score=OTHER, question=TEXTS
    )
    assert result.columns == NamedColumns(("llm_score",), ("human_score",), query="question")
    numbered = found(rater=[901, 902, 903] * 4, llm_score=FIVE, human_score=OTHER)
    assert numbered.columns == NamedColumns(("llm_score",), ("human_score",))


def test_texts_of_a_judge_and_a_person_are_no_scores() -> None:
    result = found(
        human=[f"The answer is {i}" for i in range(12)],
        llm=[f"It is {i}, I think" for i in range(12)],
    )
    assert result.form in ("none", "responses")


def test_what_may_be_a_further_scorer_is_named_and_not_dropped() -> None:
    result = found(llm=FIVE, human=OTHER, anna=FIVE, human_avg=OTHER, label=WORDS)
    assert result.columns == NamedColumns(("llm",), ("human", "human_avg")[:1])
    assert set(result.candidates) == {"anna", "label"}
    assert "human_avg" in result.reasons("no score")


@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_nested_objects_are_columns(tmp_path: Path, form: str) -> None:
    rows = [
        {
            "question": f"q{i}",
            "answer": "A",
            "judge": {"label": "good" if i % 2 else "bad", "reason": "It says so."},
            "human": {"label": "good"},
        }
        for i in range(8)
    ]
    path = tmp_path / f"t.{form}"
    text = json.dumps(rows) if form == "json" else "\n".join(map(json.dumps, rows))
    path.write_text(text, "utf-8")
    result = recognized_table(path)
    assert result.columns == NamedColumns(("judge.label",), ("human.label",), query="question")


def test_a_judges_json_in_a_cell_is_a_score() -> None:
    cells = [json.dumps({"score": v, "reasoning": "long " * 30}) for v in FIVE]
    assert found(llm=cells, human=OTHER).columns == NamedColumns(("llm",), ("human",))


@pytest.mark.parametrize(
    "column", ["rater_type", "annotator_type", "scorer_type", "source", "type"]
)
def test_a_column_of_kinds_is_recognized_by_its_words(tmp_path: Path, column: str) -> None:
    lines = [f"response_id,rater,{column},score"]
    lines += [
        f"r{i},{'gpt-4o' if i % 2 else 'x1'},{'LLM' if i % 2 else 'human'},3" for i in range(8)
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines), "utf-8")
    result = recognized_table(path)
    assert (result.form, result.unknown_kinds) == ("long", ())
    from study import read_scores

    frame = read_scores(path, kinds=result.kinds, construct="score")
    assert dict(zip(frame["scorer"], frame["scorer_kind"], strict=True)) == {
        "x1": "human", "gpt-4o": "judge"
    }  # fmt: skip


def test_kinds_are_told_by_names_and_never_supposed() -> None:
    table = {"response_id": ["a", "b", "c", "d"], "score": [1, 2, 1, 2]}
    told = of(table | {"annotator": ["kim", "kim", "gpt-4o", "gpt-4o"]})
    assert told.kinds == {"kim": "human", "gpt-4o": "judge"}
    unknown = of(table | {"scorer": ["kim", "kim", "gpt-4o", "expert-1"]})
    assert unknown.kinds == {"gpt-4o": "judge", "expert-1": "human"}
    assert unknown.unknown_kinds == ("kim",)
    assert of(table | {"evaluator": ["gpt-4o"] * 4}).one_side == "judge"


def test_what_a_user_wrote_is_no_scorer() -> None:
    table = {"user": TEXTS, "assistant": TEXTS, "score": FIVE, "gpt_score": OTHER}
    assert of(table).form != "long"
    named = {"id": list("abcdefghijkl"), "user": ["kim", "lee"] * 6, "score": FIVE}
    assert (of(named).form, of(named).one_side) == ("long", "human")


def test_rows_of_one_id_are_not_responses() -> None:
    # They share it, and are not independent.
    assert found(session_id=list("aabbccddeeff"), llm=FIVE, human=OTHER).columns == NamedColumns(
        ("llm",), ("human",), query="session_id"
    )
    clear = found(session_id=list("abcdefghijkl"), llm=FIVE, human=OTHER)
    assert clear.columns == NamedColumns(("llm",), ("human",), id="session_id")


def test_recognition_is_cheap_and_loads_neither_pandas_nor_pydantic(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [
        f"{i},What is {i}?,A long answer number {i},{i % 5},{i % 4},because" for i in range(500)
    ]
    path.write_text("\n".join(["id,question,answer,llm,human,reason", *rows]), "utf-8")
    recognized_table(path)
    start = time.process_time()
    recognized_table(path)
    assert time.process_time() - start < 0.06
    code = (
        "import sys; from study.importing.score_columns.recognition import recognized_table; "
        f"recognized_table({str(path)!r}); "
        "sys.exit(', '.join({'pandas', 'numpy', 'pydantic'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_value_beside_the_name_of_a_rater_is_peoples() -> None:
    result = found(prompt=TEXTS, Annotator=["kim", "lee"] * 6, Rating=FIVE, LLM_Rating=OTHER)
    assert result.columns == NamedColumns(("LLM_Rating",), ("Rating",), query="prompt")
    assert result.reasons("human")["Rating"] == "beside Annotator, which names the rater"


def test_the_other_column_of_a_group_of_scores_is_the_judges() -> None:
    scores = {"scores.Factuality": [0.5, 1.0] * 6, "scores.human_review": [0.5, 0.0] * 6}
    assert of(scores).columns == NamedColumns(("scores.Factuality",), ("scores.human_review",))
    several = of({**scores, "scores.Style": [0.5, 1.0] * 6})
    assert several.columns is None
    assert several.candidates == ("scores.Factuality", "scores.Style")
    assert of({"metrics.a": [0.5, 1.0] * 6, "metrics.human_b": [0.5, 0.0] * 6}).columns is None
