"""Reading what systems answer from: the documents of a corpus, and the queries."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from study.errors import Fault, InputError, StudyError
from study.importing.readers.input_file import Advance, unseen
from study.importing.readers.source import RecordSource
from study.text import abbreviate
from study.types import naming, storable

_IDS = ("_id", "id", "document", "document_id", "doc_id")
_TEXTS = ("text", "passage", "contents")
_QUERY_IDS = ("_id", "query_id", "id")
_QUERIES = ("query", "question", "text")
_REFERENCES = ("references", "reference", "ground_truth", "answer")
_SUFFIXES = {".jsonl", ".csv", ".tsv", ".parquet"}


class CorpusDocument(NamedTuple):
    """A document of the corpus."""

    id: str
    title: str
    text: str


class CorpusQuery(NamedTuple):
    """A query of the study, with its reference answers."""

    id: str
    text: str
    references: tuple[str, ...] = ()


def read_corpus(
    path: Path, queries: Path | None = None, advance: Advance = unseen
) -> list[CorpusDocument]:
    """Return the documents of a corpus that are not blank.

    Parameters
    ----------
    path, queries
        See `corpus_files`. A document has an identifier (`_id`, `id`, `document`, `document_id` or
        `doc_id`), a text (`text`, `passage` or `contents`), and may have a `title`.
    advance
        Called with the amount read and the total.

    Raises
    ------
    InputError
        With all faults of a file: a document without identifier or text, one that a study can't
        store, or an identifier that occurs again.
    StudyError
        There is no file of documents, or all documents are blank.
    """
    documents: dict[str, CorpusDocument] = {}
    for file in corpus_files(path, queries):
        faults: list[Fault] = []
        for number, cells in _records(file, advance, faults):
            key, text = _cell(cells, _IDS), _cell(cells, _TEXTS)
            if not key or text is None:
                faults.append(_lacking(number, "document", _TEXTS if key else _IDS))
            elif key in documents:
                remedy = "Give each document an identifier of its own."
                faults.append(Fault(f"the document {key!r} occurs again.", remedy, number))
            else:
                documents[key] = CorpusDocument(key, _cell(cells, ("title",)) or "", text)
                faults += _unstorable(number, "document", *documents[key])
        if faults:
            raise InputError(file.name, faults)
    found = [each for each in documents.values() if each.text.strip() or each.title.strip()]
    if not found:
        raise StudyError(f"{path} has no document with a text.")
    return found


def corpus_files(path: Path, queries: Path | None = None) -> Sequence[Path]:
    """Return the files of documents.

    Parameters
    ----------
    path
        A file, or a folder: its corpus.jsonl, as BEIR has it, or else all its files.
    queries
        The file of the queries, which is none of them.

    Raises
    ------
    StudyError
        There is no such file, or it is that of the queries.
    """
    beir = path / "corpus.jsonl"
    if path.is_file() or beir.is_file():
        file = path if path.is_file() else beir
        if _same(file, queries):
            raise StudyError(
                f"{file} has the documents (--corpus) and the queries (--queries) at once. Name a "
                "file of its own for each."
            )
        return [file]
    files = sorted(
        file
        for file in path.iterdir()
        if file.suffix.lower() in _SUFFIXES and file.is_file() and not _same(file, queries)
    )
    if not files:
        raise StudyError(
            f"{path} has no corpus.jsonl, and no other file of documents "
            f"({', '.join(sorted(_SUFFIXES))}). Name the folder that has them."
        )
    return files


def read_questions(path: Path) -> list[CorpusQuery]:
    """Return the queries of a file, each once.

    A query has an identifier (`_id`, `query_id` or `id`), a text (`query`, `question` or `text`),
    and may have reference answers (`references`, `reference`, `ground_truth` or `answer`): a text,
    or a list of texts.

    Raises
    ------
    InputError
        With all faults of the file: a query without identifier or text, one that a study can't
        store, or one that occurs again with another text or other references.
    """
    questions: dict[str, CorpusQuery] = {}
    faults: list[Fault] = []
    for number, cells in _records(path, unseen, faults):
        key, text = _cell(cells, _QUERY_IDS), _cell(cells, _QUERIES)
        if not key or not (text or "").strip():
            faults.append(_lacking(number, "query", _QUERIES if key else _QUERY_IDS))
            continue
        question = CorpusQuery(key, text or "", _references(cells))
        faults += _unstorable(number, "query", key, question.text, *question.references)
        if questions.setdefault(key, question) != question:
            problem = f"the query {key!r} occurs again with another text or other references."
            faults.append(Fault(problem, "Keep one of them.", number))
    if faults:
        raise InputError(path.name, faults)
    return list(questions.values())


def _same(file: Path, other: Path | None) -> bool:
    return other is not None and file.samefile(other)


def _records(
    path: Path, advance: Advance, faults: list[Fault]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for record in RecordSource(path, advance=advance).records():
        if isinstance(record, Fault):
            faults.append(record)
        else:
            yield record.number, record.cells


def _cell(cells: dict[str, Any], names: Sequence[str]) -> str | None:
    value = next((cells[name] for name in names if cells.get(name) is not None), None)
    return None if value is None else str(value)


def _references(cells: dict[str, Any]) -> tuple[str, ...]:
    found = next((cells[name] for name in _REFERENCES if cells.get(name)), ())
    listed = found if isinstance(found, list | tuple) else [found]
    return tuple(str(each) for each in listed)


def _lacking(number: int, what: str, names: Sequence[str]) -> Fault:
    return Fault(f"the {what} lacks {abbreviate(names[0])}.", f"Give {' or '.join(names)}.", number)


def _unstorable(number: int, what: str, key: str, *texts: str) -> Iterator[Fault]:
    """Yield a fault where a study can't store an identifier or text, which an import refuses."""
    try:
        naming(key)
        for text in texts:
            storable(text)
    except ValueError as error:
        yield Fault(f"the {what} {key!r} can't be stored: {error}.", row=number)
