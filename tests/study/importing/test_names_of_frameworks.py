"""Responses as frameworks for retrieval-augmented generation and evaluation write them."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from study import InputError, Study, import_file
from study.schema.tables import outputs, passages, queries, response_passages, responses
from tests.study.importing.conftest import Write

TEXT = "The pool is open."
DOCUMENT = {"page_content": TEXT, "metadata": {"source": "pool.md"}}
NODE = {"node": {"id_": "n1", "text": TEXT, "metadata": {}}, "score": 0.8}
FRAMEWORKS: dict[str, dict[str, Any]] = {
    "langchain": {"query": "When?", "result": "At 8.", "source_documents": [DOCUMENT]},
    "langchain-chain": {"input": "When?", "answer": "At 8.", "context": [DOCUMENT]},
    "llama-index": {"query": "When?", "response": "At 8.", "source_nodes": [NODE]},
    "haystack": {"query": "When?", "answer": "At 8.", "documents": [{"content": TEXT}]},
    "deepeval": {
        "input": "When?",
        "actual_output": "At 8.",
        "expected_output": "Eight.",
        "retrieval_context": [TEXT],
    },
    "joined": {
        "userQuery": "When?",
        "responseText": "At 8.",
        "retrievedContexts": [TEXT],
        "groundTruth": "Eight.",
    },
    "spaced": {"Question": "When?", "Answer": "At 8.", "Source documents": [TEXT]},
    "completion": {"prompt": "When?", "completion": "At 8.", "chunks": [{"chunk": TEXT}]},
}  # fmt: skip


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_their_records_are_responses(study: Study, write: Write, framework: str) -> None:
    rows = [{**FRAMEWORKS[framework], "model": model} for model in ("one", "two")]
    rows[1] = {name: "At 9." if cell == "At 8." else cell for name, cell in rows[1].items()}
    import_file(study, write("r.jsonl", rows))
    with study.read() as connection:
        found = connection.execute(
            select(queries.c.text, queries.c.references, responses.c.text, outputs.c.system)
            .join_from(outputs, responses, outputs.c.response_id == responses.c.id)
            .join(queries, responses.c.query_id == queries.c.id)
            .order_by(outputs.c.system)
        ).all()  # fmt: skip
        shown = connection.execute(
            select(passages.c.text).join_from(response_passages, passages)
        ).scalars()
        assert set(shown) == {TEXT}
    references = ["Eight."] if framework in ("deepeval", "joined") else []
    assert [(row[0], list(row[1]), *row[2:]) for row in found] == [
        ("When?", references, "At 8.", "one"),
        ("When?", references, "At 9.", "two"),
    ]


def test_rows_within_a_document_are_named(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"data": [{"question": "When?", "answer": "At 8."}]}))
    with pytest.raises(InputError, match="the rows are in 'data' of the document"):
        import_file(study, path)


def test_documents_beside_passages_are_their_identifiers(study: Study, write: Write) -> None:
    row = {"query": "When?", "response": "At 8.", "passages": ["a", "b"], "documents": ["d1", "d2"]}
    assert import_file(study, write("r.jsonl", [row])).added["passages"] == 2


def test_the_score_of_a_passage_is_left_out_and_named(study: Study, write: Write) -> None:
    summary = import_file(study, write("r.jsonl", [FRAMEWORKS["llama-index"]]))
    assert summary.left_out["the field 'score' of passages"] == 1


def shown_passages(study: Study) -> set[str]:
    with study.read() as connection:
        return set(connection.execute(select(passages.c.text)).scalars())


@pytest.mark.parametrize(
    "beside",
    [
        {"chunks": [TEXT]},
        {"source_documents": [DOCUMENT]},
        {"retrieval_context": [TEXT]},
        {"source_nodes": [NODE]},
        {"documents": [DOCUMENT]},
        {"docs": [TEXT]},
    ],
)
def test_context_beside_passages_is_left_out(
    study: Study, write: Write, beside: dict[str, Any]
) -> None:
    row = {"question": "When?", "answer": "At 8.", "context": "A chat about pools", **beside}
    summary = import_file(study, write("r.jsonl", [row]))
    assert shown_passages(study) == {TEXT}
    assert any("context" in content for content in summary.left_out)


def test_context_does_not_take_the_place_of_empty_passages(study: Study, write: Write) -> None:
    row = {"question": "When?", "answer": "At 8.", "context": "A chat", "chunks": []}
    summary = import_file(study, write("r.jsonl", [row]))
    assert not shown_passages(study)
    assert any("context" in content for content in summary.left_out)


@pytest.mark.parametrize("cells", ["pass", "It is open."])
def test_a_result_without_passages_is_no_response(study: Study, write: Write, cells: str) -> None:
    with pytest.raises(InputError, match="response"):
        import_file(study, write("r.csv", f"query,result\nWhen?,{cells}\n"))


@pytest.mark.parametrize("other", ["output", "completion", "actual_output", "model_output"])
@pytest.mark.parametrize("scores", ["", ",llm_score,human_score"])
def test_an_answer_beside_an_output_is_refused(
    study: Study, write: Write, other: str, scores: str
) -> None:
    path = write("r.csv", f"question,answer,{other},model{scores}\nWhen?,Eight.,At 8.,one,3,4\n")
    if not scores:
        path.write_text(path.read_text(encoding="utf-8").replace(",3,4", ""), encoding="utf-8")
    with pytest.raises(InputError, match=f"'answer'.*'{other}'") as raised:
        import_file(study, path, construct="QR")
    assert "reference" in str(raised.value)
    path.write_text(path.read_text(encoding="utf-8").replace("answer,", "reference,", 1))
    assert import_file(study, path, construct="QR").added["responses"] == 1


def test_an_output_is_a_response(study: Study, write: Write) -> None:
    row = {"input": "When?", "output": "At 8.", "model": "one"}
    assert import_file(study, write("r.jsonl", [row])).added["responses"] == 1


@pytest.mark.parametrize("length", [4096, "4096", [1, 2]])
@pytest.mark.parametrize("column", ["context", "docs", "retrieved_documents"])
def test_numbers_are_no_passages(study: Study, write: Write, column: str, length: object) -> None:
    row = {"question": "When?", "answer": "At 8.", column: length}
    summary = import_file(study, write("r.jsonl", [row]))
    assert not shown_passages(study)
    assert summary.left_out[f"numbers in the column {column!r}, which are no passages"] == 1


@pytest.mark.parametrize("column", ["docs", "retrieved_documents", "chunks"])
def test_passages_that_may_be_ids_are_named(study: Study, write: Write, column: str) -> None:
    rows = [{"question": "When?", "answer": "At 8.", column: ["doc1", "doc2"]}]
    summary = import_file(study, write("r.jsonl", rows))
    assert any("may be the ids of passages" in line for line in summary.warnings)
    rows = [{"question": "Where?", "answer": "There.", column: texts} for texts in (["d1"], [TEXT])]
    summary = import_file(study, write("s.jsonl", rows))
    assert not any("may be the ids of passages" in line for line in summary.warnings)
