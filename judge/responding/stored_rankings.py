"""Rankings of passages, kept as files in the study's folder so that none is computed twice."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from judge.responding.chunks import Chunk
from judge.responding.corpus import CorpusQuery
from judge.responding.ranked import Ranked, Ranking
from study.errors import StudyError

FOLDER = "respond"
"""Folder of a study with its rankings, the answers of readers, and the responses."""


def kept_rankings(
    folder: Path,
    conditions: Mapping[str, Any],
    chunks: Sequence[Chunk],
    questions: Sequence[CorpusQuery],
    rank: Callable[[], Iterable[Ranking]],
) -> tuple[Path, list[Ranking]]:
    """Return the rankings under these conditions and their file; they are computed only once.

    The file has one line for each query: its identifier and, in rank order, the document of each
    passage, the passage's number in it, and its score. Its first line states the conditions.

    Parameters
    ----------
    folder
        Of the study.
    conditions
        All that decides the rankings; a hash of it is part of the file's name.
    chunks, questions
        What is ranked.
    rank
        Computes the ranking of each query.

    Raises
    ------
    StudyError
        The file was changed.
    """
    text = json.dumps(conditions, sort_keys=True, ensure_ascii=False)
    digest = sha256(text.encode()).hexdigest()[:12]
    path = folder / FOLDER / f"ranking-{conditions['retriever']}-{digest}.jsonl"
    if path.exists():
        return path, _read(path, chunks, questions)
    rankings = list(rank())
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        file.write(f"{json.dumps({'conditions': conditions}, ensure_ascii=False)}\n")
        for question, ranking in zip(questions, rankings, strict=True):
            passages = [
                {
                    "document": chunks[place.chunk].document,
                    "passage": chunks[place.chunk].number,
                    "score": place.score,
                }
                for place in ranking
            ]
            line = {"query_id": question.id, "passages": passages}
            file.write(f"{json.dumps(line, ensure_ascii=False)}\n")
    part.replace(path)
    return path, rankings


def _read(path: Path, chunks: Sequence[Chunk], questions: Sequence[CorpusQuery]) -> list[Ranking]:
    places = {(chunk.document, chunk.number): place for place, chunk in enumerate(chunks)}
    try:
        with path.open(encoding="utf-8") as file:
            next(file)
            lines = [json.loads(line) for line in file]
        if [line["query_id"] for line in lines] != [question.id for question in questions]:
            raise ValueError("its queries are others")
        return [
            [
                Ranked(places[each["document"], each["passage"]], float(each["score"]))
                for each in line["passages"]
            ]
            for line in lines
        ]
    except (ValueError, KeyError, TypeError, StopIteration) as error:
        raise StudyError(
            f"{path} was changed and can't be read ({error!r:.80}). Delete it: the same command "
            "ranks the passages again."
        ) from None
