"""Passages: stored once by content, and their places in a response's context."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from study.importing.bulk_insert import Batch
from study.importing.import_report import ImportReport
from study.importing.rows import PassageRow
from study.schema.tables import passages, response_passages

# How many passages are looked up at once; databases limit the parameters of a statement.
_LOOKED_UP = 2000


class PassageStore:
    """Passages of a file that are to be stored."""

    def __init__(self, connection: Connection, report: ImportReport) -> None:
        self._connection = connection
        self._report = report
        self._texts = Batch(connection, passages)
        self._places = Batch(connection, response_passages)
        self._waiting: dict[bytes, str] = {}
        """Digest to text, until the study is searched for them."""
        self._contexts: list[tuple[int, list[str | None], list[bytes]]] = []

    def add(self, response: int, passages: Sequence[PassageRow], hashes: list[bytes]) -> None:
        """Add the passages of a response, in rank order, with their digests."""
        for passage, content in zip(passages, hashes, strict=True):
            self._waiting.setdefault(content, passage.text)
        if passages:
            documents = [passage.document for passage in passages]
            self._contexts.append((response, documents, hashes))

    @property
    def full(self) -> bool:
        """Whether it is time to write."""
        return len(self._waiting) >= _LOOKED_UP

    def write(self) -> None:
        """Insert the passages that are not in the study, and the positions of all."""
        ids = self._stored_ids(list(self._waiting))
        for content, text in self._waiting.items():
            if content not in ids:
                ids[content] = self._texts.add(text=text, content_hash=content)
                self._report.added["passages"] += 1
        self._waiting = {}
        self._texts.write()
        for response, documents, hashes in self._contexts:
            for position, (document, content) in enumerate(zip(documents, hashes, strict=True)):
                self._places.add(
                    response_id=response,
                    position=position,
                    passage_id=ids[content],
                    document=document,
                )
        self._contexts = []
        self._places.write()

    def finish(self) -> None:
        """Close the batches after the last write."""
        self._texts.finish()
        self._places.finish()

    def _stored_ids(self, contents: list[bytes]) -> dict[bytes, int]:
        t: Any = passages
        ids: dict[bytes, int] = {}
        for start in range(0, len(contents), _LOOKED_UP):
            some = contents[start : start + _LOOKED_UP]
            rows = self._connection.execute(
                select(t.c.content_hash, t.c.id).where(t.c.content_hash.in_(some))
            )
            ids.update((bytes(content), key) for content, key in rows)
        return ids
