"""The response of a system beside the answer that was expected: which column is which."""

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select

from study import InputError, Study, import_file
from study.importing.importers import importer_for
from study.importing.readers.source import RecordSource
from study.schema.tables import passages, queries, response_passages, responses
from study.settings.constructs import CCRS
from tests.study.importing.conftest import Write

GIVEN, GOLD = "It was written by Shakespeare.", "William Shakespeare"
RECORDS: dict[str, dict[str, Any]] = {
    "answers in a list": {"answer": [GOLD], "prediction": GIVEN},
    "answers in the plural": {"answers": [GOLD], "prediction": GIVEN},
    "one answer": {"answer": GOLD, "prediction": GIVEN},
    "generated answer": {"answer": GOLD, "generated_answer": GIVEN},
    "a model's answer": {"answer": GOLD, "llmAnswer": GIVEN},
    "an answer predicted": {"Answer": GOLD, "Predicted answer": GIVEN},
    "a model's output": {"answer": [GOLD], "output": GIVEN},
    "a response of a model": {"correct_answer": GOLD, "llm_response": GIVEN},
    "the best of several": {"best_answer": GOLD, "model_output": GIVEN},
    "a target": {"target": GOLD, "prediction": GIVEN},
    "golden answers": {"golden_answers": [GOLD], "generated_text": GIVEN},
    "as SQuAD has answers": {"answers": {"text": [GOLD], "answer_start": [3]}, "prediction": GIVEN},
    "as TriviaQA has them": {"answer": {"value": GOLD, "aliases": ["Bill"]}, "prediction": GIVEN},
    "no other": {"answer": GIVEN, "reference": GOLD},
    "a response": {"response": GIVEN, "prediction": "x", "reference": GOLD},
}  # fmt: skip


def stored(study: Study) -> list[tuple[list[str], str]]:
    with study.read() as connection:
        found = connection.execute(
            select(queries.c.references, responses.c.text).join_from(
                queries, responses, responses.c.query_id == queries.c.id
            )
        ).all()
    return [(list(row[0]), row[1]) for row in found]


@pytest.mark.parametrize("name", RECORDS)
def test_what_a_system_gave_is_the_response(study: Study, write: Write, name: str) -> None:
    import_file(study, write("r.jsonl", [{"question": "Who wrote Hamlet?", **RECORDS[name]}]))
    assert stored(study) == [([GOLD], GIVEN)]


def test_a_line_says_so(study: Study, write: Write) -> None:
    rows = [{"question": "Who wrote Hamlet?", "answer": GOLD, "prediction": GIVEN}]
    (line,) = import_file(study, write("r.jsonl", rows)).warnings[:1]
    assert line.startswith("the column 'answer' has the expected answers (references), since 'pred")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_so_it_is_in_tables(study: Study, tmp_path: Path, form: str) -> None:
    row = {"question": "Who wrote Hamlet?", "answer": GOLD, "prediction": GIVEN}
    path = tmp_path / f"r.{form}"
    if form == "parquet":
        pd.DataFrame([row]).to_parquet(path)
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            writer.writerow(row)
    import_file(study, path)
    assert stored(study) == [([GOLD], GIVEN)]


def test_an_answer_that_the_system_did_not_give_is_missing(study: Study, write: Write) -> None:
    rows = [{"question": "Who?", "answer": GOLD, "prediction": text} for text in (None, GIVEN)]
    with pytest.raises(InputError, match="row 1, column prediction"):
        import_file(study, write("r.jsonl", rows))
    assert stored(study) == []


@pytest.mark.parametrize(
    "columns",
    [
        {"answer": GOLD, "output": GIVEN},
        {"answer": GOLD, "model_output": GIVEN},
        {"answer": GOLD, "prediction": GIVEN, "reference": "Bill"},
        {"answer": GOLD, "prediction": GIVEN, "output": GIVEN},
    ],
)
def test_where_either_may_be_the_response_the_file_is_refused(
    study: Study, write: Write, columns: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="may each have the response") as refused:
        import_file(study, write("r.jsonl", [{"question": "Who wrote Hamlet?", **columns}]))
    assert "'answer'" in str(refused.value)
    assert "to response" in str(refused.value)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "cells", [{"prediction": 4, "gold": 5}, {"prediction": "correct", "gold": "incorrect"}]
)
def test_judgments_are_no_responses(tmp_path: Path, form: str, cells: dict[str, Any]) -> None:
    frame = pd.DataFrame([{"question": f"Q{number}", **cells} for number in range(3)])
    path = tmp_path / f"t.{form}"
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    with pytest.raises(InputError):
        importer_for(RecordSource(path), tuple(construct.key for construct in CCRS), None)


@pytest.mark.parametrize("texts", [("1945", "1942"), ("yes", "no")])
def test_short_answers_are_responses_beside_short_expected_ones(
    study: Study, write: Write, texts: tuple[str, str]
) -> None:
    row = {"question": "Is it?", "answer": texts[0], "prediction": texts[1]}
    import_file(study, write("r.jsonl", [row]))
    assert stored(study) == [([texts[0]], texts[1])]


def test_judgments_beside_a_response_are_scores(write: Write) -> None:
    row = {"question": "Who?", "response": GIVEN, "llm_response": 4, "human": 5}
    path = write("r.jsonl", [row, {**row, "question": "When?"}])
    chosen, _ = importer_for(RecordSource(path), ("AC",), None)
    assert chosen.name == "judged-responses"


def test_a_first_row_that_looks_like_a_verdict_decides_nothing(study: Study, write: Write) -> None:
    rows = [
        {"question": f"Who wrote part {number}?", "answer": GOLD, "prediction": text}
        for number, text in enumerate(["no", GIVEN])
    ]
    import_file(study, write("r.jsonl", rows))
    assert stored(study) == [([GOLD], "no"), ([GOLD], GIVEN)]


SOLUTION = "Natalia sold 48 / 2 = 24 clips in May. #### 72"
CLOSED = [
    {"question": "Is A?", "answer": ["yes"], "prediction": "yes"},
    {"question": "Is B?", "answer": ["no"], "prediction": "yes"},
]
REFUSED: list[list[dict[str, Any]]] = [
    [{"question": "How many?", "answer": SOLUTION, "output": 72}],
    [{"question": "How many?", "answer": SOLUTION, "prediction": 72}],
    [{"question": "How many?", "answer": SOLUTION, "prediction": "correct"}] * 2,
    [{"question": "Who?", "answer": "He did.", "model_answer": "A solution.", "human_score": 2}],
    [{"question": "Who?", "student_answer": "He did.", "model_answer": "A solution."}],
]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("rows", REFUSED)
def test_an_answer_beside_another_kind_of_text_is_refused(
    study: Study, tmp_path: Path, rows: list[dict[str, Any]], form: str
) -> None:
    path = tmp_path / f"r.{form}"
    frame = pd.DataFrame(rows)
    if form == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)
    with pytest.raises(InputError, match="may each have the response"):
        import_file(study, path, construct="QR")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (CLOSED, [(["yes"], "yes"), (["no"], "yes")]),
        (
            [{"question": "Is A?", "correct_answer": "no", "prediction": "yes"}],
            [(["no"], "yes")],
        ),
        (
            [
                {"question": "When?", "output": "1945"},
                {"question": "Who?", "output": GIVEN},
            ],
            [([], "1945"), ([], GIVEN)],
        ),
        (
            [{"input": "Is it?", "actual_output": "Yes", "expected_output": "yes"}],
            [(["yes"], "Yes")],
        ),
        (
            [
                {"question": "When?", "response": "In 1945.", "correct_answer": "1945"},
                {"question": "Who?", "response": GIVEN, "correct_answer": GOLD},
            ],
            [(["1945"], "In 1945."), ([GOLD], GIVEN)],
        ),
        (
            [
                {"question": "When?", "answer": "In 1945.", "output": "1945"},
                {"question": "Who?", "answer": [GOLD], "output": GIVEN},
            ],
            [(["In 1945."], "1945"), ([GOLD], GIVEN)],
        ),
        ([{"question": "Who?", "gold": GOLD, "prediction": GIVEN}], [([GOLD], GIVEN)]),
        ([{"question": "When?", "gold_answer": "1945", "response": "1942"}], [(["1945"], "1942")]),
        ([{"question": "When?", "answer": "1945", "llm_answer": "1942"}], [(["1945"], "1942")]),
        ([{"question": "Is it?", "reference": "no", "llm_output": "yes"}], [(["no"], "yes")]),
        ([{"question": "Is it?", "target": "no", "model_output": GIVEN}], [(["no"], GIVEN)]),
    ],
)
def test_short_and_mixed_answers(
    study: Study, write: Write, rows: list[dict[str, Any]], expected: list[Any]
) -> None:
    import_file(study, write("r.jsonl", rows))
    assert sorted(stored(study)) == sorted(expected)


@pytest.mark.parametrize(
    "name",
    ["expected_answer", "target", "correct_answer", "correct_answers", "best_answer",
     "gold_answers", "golden_answers", "answers", "expected_response", "ideal_answer", "gold"],
)  # fmt: skip
def test_an_answer_beside_the_expected_one_is_the_response(
    study: Study, write: Write, name: str
) -> None:
    import_file(study, write("r.jsonl", [{"question": "Who?", "answer": GIVEN, name: GOLD}]))
    assert stored(study) == [([GOLD], GIVEN)]


def test_lists_and_objects_are_read_out_of_the_cells_of_a_table(
    study: Study, tmp_path: Path
) -> None:
    path = tmp_path / "r.csv"
    answers = json.dumps({"text": [GOLD], "answer_start": [1]})
    pd.DataFrame([{"question": "Who?", "answers": answers, "output": GIVEN}]).to_csv(path)
    import_file(study, path)
    pd.DataFrame([{"question": "What?", "answer": json.dumps([GOLD]), "output": GIVEN}]).to_csv(
        path
    )
    import_file(study, path)
    assert stored(study) == [([GOLD], GIVEN)] * 2


def test_a_judged_table_with_short_outputs_is_read(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    rows = [{"input": f"Is it {n}?", "output": "yes", "human": n, "llm": 1} for n in (0, 1)]
    pd.DataFrame(rows).to_csv(path, index=False)
    added = import_file(study, path, construct="QR").added
    assert (added["responses"], added["scores"]) == (2, 4)


@pytest.mark.parametrize(
    "header", ["id,target,prediction", "text,label,prediction", "id,gold,prediction"]
)
def test_tables_of_numbers_are_not_called_responses(
    study: Study, write: Write, header: str
) -> None:
    with pytest.raises(InputError, match="no format fits"):
        import_file(study, write("r.csv", f"{header}\n1,2,3\n2,4,5\n"))


def test_rows_that_are_arrays_are_named(study: Study, write: Write) -> None:
    with pytest.raises(InputError, match="row 2: this line is not a JSON object but list"):
        import_file(study, write("r.jsonl", '["Q?", "A."]\n["R?", "B."]\n'))


def test_texts_in_documents_are_passages(study: Study, write: Write) -> None:
    texts = [
        "Hamlet is a play in five acts by Shakespeare.",
        "It is about a prince of Denmark, called so.",
    ]
    import_file(study, write("r.jsonl", [{"question": "?", "response": GIVEN, "documents": texts}]))
    with study.read() as connection:
        shown = connection.execute(
            select(passages.c.text).join_from(response_passages, passages)
        ).scalars()
        assert sorted(shown) == sorted(texts)


@pytest.mark.parametrize("documents", [["d1", "d2"], ["Hamlet", "The life of Shakespeare"],
     ["Who is Afraid of Virginia Woolf?", "Inc."], ["A sentence is here, and so on.", "d2"]],
)  # fmt: skip
def test_identifiers_of_documents_are_no_passages(
    study: Study, write: Write, documents: list[str]
) -> None:
    row = {"question": "?", "response": GIVEN, "documents": documents}
    with pytest.raises(InputError, match="2 documents, but 0 passages"):
        import_file(study, write("r.jsonl", [row]))


def test_an_array_is_read_whatever_the_file_is_called(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps([{"question": "Who wrote Hamlet?", "response": GIVEN}]))
    import_file(study, path)
    assert stored(study) == [([], GIVEN)]
