"""The passages of the example study as a corpus, with its queries."""

import json
from pathlib import Path
from typing import Any

from judge.responding.corpus import CorpusDocument, CorpusQuery

ROOT = Path(__file__).resolve().parents[3]


def example() -> tuple[list[CorpusDocument], list[CorpusQuery], dict[str, set[str]]]:
    """Return documents, queries, and by query the documents that its systems were given."""
    documents: dict[str, str] = {}
    questions: dict[str, CorpusQuery] = {}
    given: dict[str, set[str]] = {}
    lines = (ROOT / "data" / "example" / "responses.jsonl").read_text(encoding="utf-8")
    for row in map(json.loads, lines.splitlines()):
        named = [documents.setdefault(text, f"d{len(documents)}") for text in row["passages"]]
        given.setdefault(row["query_id"], set()).update(named)
        questions[row["query_id"]] = CorpusQuery(
            row["query_id"], row["query"], tuple(row["references"])
        )
    return (
        [CorpusDocument(key, "", text) for text, key in documents.items()],
        list(questions.values()),
        given,
    )


def write_example(folder: Path) -> tuple[Path, Path, Path]:
    """Write the example in BEIR's form; return its folder, its queries and its judgments."""
    documents, questions, relevant = example()
    (folder / "qrels").mkdir(parents=True)
    files: dict[str, list[dict[str, Any]]] = {
        "corpus.jsonl": [{"_id": d.id, "title": d.title, "text": d.text} for d in documents],
        "queries.jsonl": [
            {"_id": q.id, "text": q.text, "references": list(q.references)} for q in questions
        ],
    }
    for name, rows in files.items():
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")
    qrels = folder / "qrels" / "test.tsv"
    judged = [
        f"{q}\t{d}\t1\n"
        for q, found in relevant.items()
        for d in sorted(found, key=lambda name: int(name[1:]))
    ]
    qrels.write_text(f"query-id\tcorpus-id\tscore\n{''.join(judged)}", encoding="utf-8")
    return folder, folder / "queries.jsonl", qrels
