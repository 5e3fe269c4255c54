import json
from pathlib import Path
from typing import Any

import pytest

from judge.responding.corpus import CorpusDocument, CorpusQuery, read_corpus, read_questions
from study.errors import InputError, StudyError
from tests.judge.responding.example_corpus import ROOT, write_example


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_the_example_has_its_passages_as_a_corpus(tmp_path: Path) -> None:
    written_now = write_example(tmp_path / "corpus")[0]
    shipped = ROOT / "data" / "example" / "corpus"
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        assert (written_now / name).read_text() == (shipped / name).read_text(), name


def test_beir_is_read_from_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    written(folder / "corpus.jsonl", {"_id": "d1", "title": "T", "text": "One.", "metadata": {}})
    queries = written(folder / "queries.jsonl", {"_id": "q1", "text": "Why?", "metadata": {}})
    assert read_corpus(folder) == [CorpusDocument("d1", "T", "One.")]
    assert read_questions(queries) == [CorpusQuery("q1", "Why?")]


def test_files_of_a_corpus_folder_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    written(tmp_path / "b.jsonl", {"id": "2", "text": "Two."}, {"id": "3", "text": " "})
    (tmp_path / "a.csv").write_text("id,passage\n1,One.\n")
    (tmp_path / "notes.md").write_text("none of them")
    assert [document.id for document in read_corpus(tmp_path)] == ["1", "2"]


def test_the_file_of_the_queries_has_no_documents(tmp_path: Path) -> None:
    written(tmp_path / "docs.jsonl", {"id": "d", "text": "One."})
    queries = written(tmp_path / "q.jsonl", {"_id": "q", "text": "Why?"})
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (queries, tmp_path / "link" / "q.jsonl"):
        assert [document.id for document in read_corpus(tmp_path, path)] == ["d"]
    for name in ("q.jsonl", "corpus.jsonl"):
        both = written(tmp_path / "one" / name, {"_id": "q", "text": "Why?"})
        with pytest.raises(StudyError, match="at once"):
            read_corpus(both, both)
    with pytest.raises(StudyError, match="at once"):
        read_corpus(both.parent, both)


def test_references_are_a_text_or_a_list(tmp_path: Path) -> None:
    path = written(
        tmp_path / "q.jsonl",
        {"id": 1, "question": "Who?", "answer": "Ada"},
        {"id": 2, "question": "When?", "references": ["1815", "in 1815"]},
        {"id": 1, "question": "Who?", "answer": "Ada"},
    )
    assert read_questions(path) == [
        CorpusQuery("1", "Who?", ("Ada",)),
        CorpusQuery("2", "When?", ("1815", "in 1815")),
    ]


def test_each_fault_names_its_row_and_value(tmp_path: Path) -> None:
    corpus = written(
        tmp_path / "c.jsonl", {"text": "x"}, {"id": "a"}, {"id": "b", "text": "x"},
        {"id": "b", "text": "y"},
    )  # fmt: skip
    with pytest.raises(InputError) as refused:
        read_corpus(corpus)
    assert [fault.row for fault in refused.value.faults] == [1, 2, 4]
    assert "'b' occurs again" in str(refused.value)
    queries = written(
        tmp_path / "q.jsonl", {"id": "1", "query": "?"}, {"id": "1", "query": "!"}, {"id": "2"}
    )
    with pytest.raises(InputError, match="'1' occurs again") as refused:
        read_questions(queries)
    assert [fault.row for fault in refused.value.faults] == [2, 3]


def test_what_a_study_cannot_store_is_refused_with_its_row(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": "x\0"}, {"id": " b", "text": "x"}, {"id": "c", "text": "x"}]
    path = written(tmp_path / "c.jsonl", *rows, {"id": "d", "title": "\0", "text": "x"})
    with pytest.raises(InputError, match="document 'a' can't be stored") as refused:
        read_corpus(path)
    assert [fault.row for fault in refused.value.faults] == [1, 2, 4]
    path = written(tmp_path / "q.jsonl", *rows, {"id": "d", "text": "x", "answer": ["y", "\0"]})
    with pytest.raises(InputError, match="query 'a' can't be stored") as refused:
        read_questions(path)
    assert [fault.row for fault in refused.value.faults] == [1, 2, 4]


def test_a_corpus_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"has no corpus\.jsonl"):
        read_corpus(tmp_path)
    with pytest.raises(StudyError, match="no document with a text"):
        read_corpus(written(tmp_path / "c.jsonl", {"id": "a", "text": " "}))
