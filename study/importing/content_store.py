"""Storing queries, responses, their passages and outputs of a file."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, select

from study.importing.bulk_insert import Batch
from study.importing.existing_content import (
    OWN_ID,
    ExistingContent,
    ExistingQuery,
    ExistingResponse,
    digest_of,
    not_revisable,
)
from study.importing.import_report import TWICE, ImportReport
from study.importing.rows import PassageRow, ResponseRow
from study.schema import (
    OutputBase,
    QueryBase,
    ResponseBase,
    digest,
)
from study.schema.tables import (
    outputs,
    passages,
    queries,
    response_aliases,
    response_passages,
    responses,
)

EMPTY = "empty responses (the system gave no answer)"
NO_LONGER_TRAINED = (
    "training responses that are now a system's response: they are measured from now on, by "
    "raters who were not trained with them"
)
SAME_CONTENT = "the same content under a further id (one response, two ids)"
TEXT_ALONE = "responses without passages read as the stored ones with this text"
BLANK_PASSAGES = "blank passages read as no passage"
BLANK_REFERENCES = "blank reference answers read as none"


class ContentStore:
    """Adds rows to the study's content; every table it writes to is append-only.

    Faults are added to the report; the caller rolls the transaction back if there are any.
    """

    def __init__(
        self,
        connection: Connection,
        existing: ExistingContent,
        report: ImportReport,
        *,
        revise: bool = False,
    ) -> None:
        self._connection = connection
        self._existing = existing
        self._last_stored = max(existing.responses, default=0)
        """The newest response that is not of this file."""
        self._answered = {response.query for response in existing.responses.values()}
        """Queries with such responses."""
        self._report = report
        self._revise = revise
        self._rows_of: dict[str | tuple[int, str], int] = {}
        """Response ids and (query, system) of this file, with the first row that has them."""
        self._queries = Batch(connection, queries)
        self._responses = Batch(connection, responses)
        self._further_keys = Batch(connection, response_aliases)
        self._outputs = Batch(connection, outputs)
        self._passages = PassageStore(connection, report)
        self.without_passages = 0
        self.without_references = 0
        """New responses without them."""

    def add(self, number: int, row: ResponseRow) -> int | None:
        """Add a row and return its response, or add a fault and return None."""
        row = self._without_blanks(row)
        query = self._query(number, row)
        if query is None:
            return None
        hashes = [digest(passage.text.encode()) for passage in row.passages]
        content = digest(row.response.encode(), *hashes)
        if not row.response.strip():
            self._report.rules[EMPTY] += 1
        before = self._report.added.total()
        response = self._response(number, row, query, content, hashes)
        if response is None or not self._output(number, row.system, query, response):
            return None
        if row.response_id is not None:
            self._rows_of.setdefault(row.response_id, number)
        if self._report.added.total() == before:
            self._count_existing(number, row, query, response)
        if self._responses.full or self._passages.full:
            self._write()
        return response

    def has_reference(self, response: int) -> bool:
        """Whether the query of a response has a reference."""
        query = self._existing.responses[response].query
        return self._existing.queries[query].references is not None

    def _without_blanks(self, row: ResponseRow) -> ResponseRow:
        """Return the row without blank passages and references, which count as missing."""
        passages = tuple(passage for passage in row.passages if passage.text.strip())
        references = tuple(reference for reference in row.references if reference.strip())
        blank = len(row.passages) - len(passages), len(row.references) - len(references)
        if not any(blank):
            return row
        for rule, count in zip((BLANK_PASSAGES, BLANK_REFERENCES), blank, strict=True):
            if count:
                self._report.rules[rule] += count
        return row.model_copy(update={"passages": passages, "references": references})

    def finish(self) -> None:
        """Write the remaining rows."""
        self._write()
        for batch in (self._queries, self._responses, self._further_keys, self._outputs):
            batch.finish()
        self._passages.finish()

    def _write(self) -> None:
        # In the order of the references between them.
        self._queries.write()
        self._responses.write()
        self._passages.write()
        self._further_keys.write()
        self._outputs.write()

    # -- queries ---------------------------------------------------------------------------

    def _query(self, number: int, row: ResponseRow) -> int | None:
        entry = ExistingQuery(
            row.query_id or "",
            digest(row.query.encode()),
            digest_of(list(row.references)),
            digest_of(row.attributes),
        )
        if row.query_id is None:
            same = self._existing.queries_by_text.get(entry.text, [])
            if len(same) > 1:
                names = ", ".join(self._existing.queries[query].key for query in same)
                self._report.fault(
                    f"the query's text is that of several queries: {names}.",
                    "Give query_id.",
                    number,
                    "query_id",
                )
                return None
            key = self._existing.queries[same[0]].key if same else f"q-{entry.text.hex()[:12]}"
            entry = entry._replace(key=key)
        stored = self._existing.query_ids.get(entry.key)
        if stored is None:
            return self._new_query(row, entry)
        column = _contradicted_column(self._existing.queries[stored], entry)
        if column:
            self._report.fault(
                f"query {entry.key!r} already has another value of {column}.",
                "Make all rows of a query_id agree, or give the other query a different id.",
                number,
                column,
            )
            return None
        return stored

    def _new_query(self, row: ResponseRow, entry: ExistingQuery) -> int:
        noun = QueryBase(
            key=entry.key,
            text=row.query,
            references=list(row.references),
            attributes=row.attributes,
        )
        query = self._queries.add(**noun.model_dump())
        self._existing.add_query(query, entry)
        self._report.added["queries"] += 1
        return query

    # -- responses -------------------------------------------------------------------------

    def _response(
        self, number: int, row: ResponseRow, query: int, content: bytes, hashes: list[bytes]
    ) -> int | None:
        key = row.response_id
        same = self._existing.by_content.get((query, content))
        current = None if key is None else self._existing.find(key)
        alone = row.role == "answer" and not hashes and query in self._answered
        if same is None and alone and not self._revise:
            same = self._of_text_alone(row, query, current)
        if key is not None and current is not None:
            if current == same:
                return same
            problem = self._unchangeable(key, current, same, query, row.system)
            if problem:
                self._report.fault(problem[0], problem[1], number, "response_id")
                return None
            if same is not None:
                return same  # back to an earlier version
            version = self._existing.versions(key) + 1
        elif same is not None:
            if key is not None:
                self._further_key(number, key, same)
            return same
        else:
            version = 1
        response = ExistingResponse(
            key or self._generated_key(row, query, content), version, query, content
        )
        return self._new_response(number, row, response, hashes)

    def _of_text_alone(self, row: ResponseRow, query: int, current: int | None) -> int | None:
        """Return the stored response that a row without passages is about, if only one can be.

        Who rated saw the texts, and a file of ratings seldom has the passages as well. It is the
        one of the row's id or system, and without these the only one with the text.
        """
        if row.system is not None and current is None:
            current, _ = self._existing.outputs.get((query, row.system), (None, 0))
            if current is None:
                return None
        t: Any = responses
        stored = self._connection.execute(
            select(t.c.id, t.c.text).where(t.c.query_id == query, t.c.id <= self._last_stored)
        )
        found = [one.id for one in stored if one.text == row.response]
        if current is None:
            found = [response for response in found if self._existing.in_use(response)]
            current = found[0] if len(found) == 1 else None
        if current not in found:
            return None
        self._report.rules[TEXT_ALONE] += 1
        return current

    def _unchangeable(
        self, key: str, current: int, same: int | None, query: int, system: str | None
    ) -> tuple[str, str] | None:
        """Return why the content of an existing id cannot be replaced, and the remedy."""
        was = self._existing.responses[current]
        if was.query != query:
            other = self._existing.queries[was.query].key
            return f"response {key!r} already answers query {other!r}{self._where(key)}.", OWN_ID
        if key in self._rows_of:
            return f"response {key!r} has another content in row {self._rows_of[key]}.", (
                f"Remove one of the rows. {OWN_ID}"
            )
        if not self._revise:
            return f"response {key!r} is stored with another content.", (
                f"{OWN_ID} Or import with --revise, which stores it as the next version; ratings "
                "and scores stay with the version they were given to."
            )
        return not_revisable(self._existing, key, current, same, system)

    def _new_response(
        self, number: int, row: ResponseRow, entry: ExistingResponse, hashes: list[bytes]
    ) -> int:
        noun = ResponseBase(key=entry.key, version=entry.version, text=row.response, role=row.role)
        response = self._responses.add(
            **noun.model_dump(),
            query_id=entry.query,
            content_hash=entry.content,
            context_hash=digest(*hashes) if hashes else None,
        )
        self._passages.add(response, row.passages, hashes)
        self._existing.add_response(response, entry)
        self._rows_of[entry.key] = number
        self._report.added["responses" if entry.version == 1 else "response versions"] += 1
        self.without_passages += not hashes
        self.without_references += self._existing.queries[entry.query].references is None
        return response

    def _further_key(self, number: int, key: str, response: int) -> None:
        self._further_keys.add(key=key, response_id=response)
        self._existing.add_further_key(key, response)
        self._rows_of[key] = number
        self._report.added["further ids"] += 1
        self._report.rules[SAME_CONTENT] += 1

    def _generated_key(self, row: ResponseRow, query: int, content: bytes) -> str:
        key = f"{self._existing.queries[query].key}/{row.system or content.hex()[:12]}"
        if len(key) <= 450 and self._existing.find(key) is None:
            return key
        # Long names, or a system whose response was revised.
        return f"{key[:450].rstrip()}/{content.hex()[:12]}"

    # -- outputs ---------------------------------------------------------------------------

    def _output(self, number: int, system: str | None, query: int, response: int) -> bool:
        if system is None:
            return True
        current = self._existing.outputs.get((query, system))
        if current is not None and current[0] == response:
            return True
        in_file = (query, system) in self._rows_of
        if current is not None and (in_file or not self._revise):
            remedy = "Give one of them another system name, or remove one row."
            if not in_file:
                remedy = (
                    "Give this one another system name, or import with --revise to make it the "
                    "system's current response."
                )
            self._report.fault(
                f"system {system!r} already gave query {self._existing.queries[query].key!r} "
                f"another response, {self._existing.id_of(current[0])!r}"
                f"{self._where((query, system))}.",
                remedy,
                number,
                "system",
            )
            return False
        revision = 1 if current is None else current[1] + 1
        noun = OutputBase(system=system, revision=revision)
        self._outputs.add(**noun.model_dump(), query_id=query, response_id=response)
        if response in self._training:
            self._report.rules[NO_LONGER_TRAINED] += 1
        self._existing.set_output(query, system, response, revision)
        self._rows_of[query, system] = number
        self._report.added["outputs" if revision == 1 else "output revisions"] += 1
        return True

    @cached_property
    def _training(self) -> frozenset[int]:
        """The responses that raters are trained with."""
        rows = self._connection.execute(
            select(responses.c.id).where(responses.c.role == "training")
        )
        return frozenset(rows.scalars())

    def _count_existing(self, number: int, row: ResponseRow, query: int, response: int) -> None:
        name = row.response_id or self._existing.responses[response].key
        place = (query, row.system) if row.system is not None else name
        if self._rows_of.setdefault(place, number) != number:
            self._report.rules[TWICE] += 1
        else:
            self._report.already["responses"] += 1

    def _where(self, name: str | tuple[int, str]) -> str:
        return f" (row {self._rows_of[name]})" if name in self._rows_of else ""


def _contradicted_column(existing: ExistingQuery, query: ExistingQuery) -> str | None:
    """Return the column in which a row contradicts its query; an absent value does not."""
    if existing.text != query.text:
        return "query"
    if query.references is not None and existing.references != query.references:
        return "references"
    if query.attributes is not None and existing.attributes != query.attributes:
        return "attributes"
    return None


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
