"""Reading relevance judgments: which documents are relevant to a query, and how much."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judge.metrics.passage_judgments import PassageJudgment, passage_judgments
from study.errors import Fault, InputError
from study.importing.readers.json_text import loaded
from study.text import shell_word

_QUERY = ("query_id", "query-id", "qid")
_DOCUMENT = ("document", "document_id", "corpus-id", "docid", "doc_id")
_GRADE = ("grade", "relevance", "score", "rel")
_LAYOUTS = (
    "Give a TREC file (query, iteration, document, grade), a CSV or TSV file with the columns "
    'query_id, document and grade, or JSON: {"query": {"document": grade}} or '
    '{"query": ["document", ...]}; or an export of Label Studio in JSON with values of passages.'
)

Relevance = dict[str, dict[str, int]]
"""By query and document: the grade; above 0 is relevant."""


class _Judgment(NamedTuple):
    row: int | None
    query: str
    document: str
    grade: Any


def read_relevance(path: Path, numbers: Mapping[str, float] | None = None) -> Relevance:
    """Read a file of relevance judgments; `numbers` are the grades of words.

    Raises
    ------
    InputError
        With all faults: no known layout, a grade that is not a whole number, a blank query or
        document, a document with two grades.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path.name, [Fault(f"can't be read: {error}.", _LAYOUTS)]) from None
    relevance: Relevance = {}
    faults = []
    unused = {*(numbers or ())}
    for item in _judgments(path, text):
        if isinstance(item, Fault):
            faults.append(item)
            continue
        row, query, document, grade = item
        if not query or not document:
            faults.append(Fault("a query or document is blank.", "Name both.", row))
            continue
        if numbers and isinstance(grade, str) and grade in numbers:
            unused.discard(grade)
            grade = numbers[grade]
        whole = _whole(grade)
        if whole is None:
            fault = (
                f"the grade {grade!r} of {document!r} for the query {query!r} is not an integer."
            )
            remedy = "Write 0 for not relevant, 1 or more for relevant"
            if isinstance(grade, str) and grade:
                remedy += f"; or give the word its number with {_option(grade)}"
            faults.append(Fault(fault, f"{remedy}.", row))
            continue
        stored = relevance.setdefault(query, {}).setdefault(document, whole)
        if stored != whole:
            fault = f"{document!r} has the grades {stored} and {whole} for the query {query!r}."
            faults.append(Fault(fault, _settle(text), row))
    faults += [
        Fault(f"no grade is {word!r}.", f"Correct or leave out {_option(word)}.")
        for word in sorted(unused)
    ]
    if not relevance and not faults:
        faults.append(Fault("has no relevance judgments.", _LAYOUTS))
    if faults:
        raise InputError(path.name, faults)
    return relevance


def _option(word: str) -> str:
    return f"--value {shell_word(f'{word}=NUMBER')}"


def _settle(text: str) -> str:
    more = " In Label Studio, mark the annotation that counts as ground truth."
    return f"Keep one of them.{more if text.lstrip()[:1] == '[' else ''}"


def _whole(grade: Any) -> int | None:
    if isinstance(grade, bool):
        return int(grade)
    try:
        number = float(grade)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else None


def _judgments(path: Path, text: str) -> Iterator[_Judgment | PassageJudgment | Fault]:
    start = text.lstrip()[:1]
    if start in ("{", "["):
        yield from _json_judgments(path, text)
        return
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    for delimiter in (",", "\t"):
        columns = [name.strip() for name in first.split(delimiter)]
        named = [_column(columns, names) for names in (_QUERY, _DOCUMENT, _GRADE)]
        if all(named):
            reader = csv.DictReader(lines, delimiter=delimiter, skipinitialspace=True)
            for cells in reader:
                query, document, grade = (str(cells[str(n)] or "").strip() for n in named)
                yield _Judgment(reader.line_num, query, document, grade)
            return
    for row, line in enumerate(lines, 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 4:
            fault = Fault(f"{line[:60]!r} has {len(fields)} columns instead of 4.", _LAYOUTS, row)
            raise InputError(path.name, [fault])
        yield _Judgment(row, fields[0], fields[2], fields[3])


def _column(columns: list[str], names: tuple[str, ...]) -> str | None:
    return next((name for name in columns if name.lower() in names), None)


def _json_judgments(path: Path, text: str) -> Iterator[_Judgment | PassageJudgment | Fault]:
    try:
        queries = loaded(text)
    except ValueError as error:
        raise InputError(path.name, [Fault(f"is not JSON: {error}.", _LAYOUTS)]) from None
    if isinstance(queries, list):
        yield from passage_judgments(queries)
        return
    for query, judged in queries.items():
        if isinstance(judged, list):
            yield from (_Judgment(None, query, str(document), 1) for document in judged)
        elif isinstance(judged, dict):
            yield from (_Judgment(None, query, document, g) for document, g in judged.items())
        else:
            fault = f"the query {query!r} has {judged!r:.60} in place of documents."
            raise InputError(path.name, [Fault(fault, _LAYOUTS)])
