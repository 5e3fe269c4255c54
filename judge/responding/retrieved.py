"""The passages that each system retrieves for each query."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from judge.metrics.embedding import Encoder
from judge.responding.bm25 import bm25_rankings, identity as bm25_identity
from judge.responding.chunks import Chunk, Tokens, chunked
from judge.responding.corpus import CorpusDocument, CorpusQuery
from judge.responding.dense import UnitVectors, dense_rankings
from judge.responding.ranked import Ranking, fused
from judge.responding.stored_rankings import kept_rankings
from study.importing.readers.input_file import Advance, unseen
from study.settings.scorer_sections import SystemSpec

FUSED_DEPTH = 100
"""Passages of each ranking that are fused, or as many as the reader is given if these are more."""


@dataclass(frozen=True)
class Retrieved:
    """The passages of one system."""

    path: Path
    """File of the rankings."""
    chunks: Sequence[Chunk]
    rankings: Sequence[Ranking]
    """Of each query, in the order of the queries."""


@dataclass
class PassageRetrieval:
    """Ranks the passages of systems; what two systems have in common is computed once.

    Parameters
    ----------
    folder
        Of the study, which keeps the rankings.
    encoder
        Of the systems that compare vectors; None: there are none.
    """

    folder: Path
    documents: Sequence[CorpusDocument]
    questions: Sequence[CorpusQuery]
    tokens: Tokens
    encoder: Encoder | None = None
    advance: Advance = unseen
    truncated: int = 0
    """Texts of which the encoder read only the beginning."""
    _chunks: dict[tuple[int, int], list[Chunk]] = field(default_factory=dict)

    def of(self, spec: SystemSpec) -> Retrieved:
        """Return the passages that a system retrieves."""
        size = spec.chunk_tokens, spec.chunk_overlap
        if size not in self._chunks:
            self._chunks[size] = chunked(self.documents, self.tokens.count, *size)
        chunks = self._chunks[size]
        path, rankings = kept_rankings(
            self.folder,
            self._conditions(spec),
            chunks,
            self.questions,
            lambda: self._ranked(spec, chunks),
        )
        return Retrieved(path, chunks, rankings)

    def _conditions(self, spec: SystemSpec) -> dict[str, Any]:
        found: dict[str, Any] = {
            "retriever": spec.retriever,
            "chunk_tokens": spec.chunk_tokens,
            "chunk_overlap": spec.chunk_overlap,
            "passages": spec.passages,
            "tokens": self.tokens.identity,
            "corpus": _digest(self.documents),
            "queries": _digest((each.id, each.text) for each in self.questions),
        }
        if spec.retriever != "dense":
            found["bm25"] = bm25_identity()
        if spec.retriever != "bm25" and self.encoder is not None:
            found |= {"encoder": self.encoder.identity, "query_prefix": spec.query_prefix}
        if spec.retriever == "fused":
            found |= {"fusion": spec.fusion, "fused_depth": self._depth(spec)}
        return found

    def _ranked(self, spec: SystemSpec, chunks: Sequence[Chunk]) -> Iterable[Ranking]:
        texts = [chunk.text for chunk in chunks]
        queries = [question.text for question in self.questions]
        depth = self._depth(spec) if spec.retriever == "fused" else spec.passages
        if spec.retriever == "bm25":
            return bm25_rankings(texts, queries, depth)
        assert self.encoder is not None  # noqa: S101  (the caller has one)
        vectors = UnitVectors(self.encoder)
        query_vectors = UnitVectors(self.encoder, spec.query_prefix)
        dense = dense_rankings(vectors.of(texts, self.advance), query_vectors.of(queries), depth)
        self.truncated += vectors.truncated + query_vectors.truncated
        if spec.retriever == "dense":
            return dense
        words = bm25_rankings(texts, queries, depth)
        return (fused(pair, spec.fusion, spec.passages) for pair in zip(words, dense, strict=True))

    @staticmethod
    def _depth(spec: SystemSpec) -> int:
        return max(FUSED_DEPTH, spec.passages)


def _digest(rows: Iterable[Sequence[str]]) -> str:
    state = sha256()
    for row in rows:
        for text in row:
            data = text.encode("utf-8", "surrogatepass")
            state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()
