"""What a study holds, by key and by digest: the index that a file's rows are joined on."""

import json
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from study.nouns import Output, Query, Response, ResponseAlias, digest, table


class HeldQuery(NamedTuple):
    """A query by digests: a study's texts need not fit in memory."""

    key: str
    text: bytes
    references: bytes | None
    attributes: bytes | None
    """None where there are none."""


class HeldResponse(NamedTuple):
    """A response that the study holds, or will when the import ends well."""

    key: str
    version: int
    query: int
    content: bytes


class Held:
    """Keys and digests of a study's content, kept up to date while a file is stored."""

    def __init__(self, connection: Connection) -> None:
        self.queries: dict[int, HeldQuery] = {}
        self.query_ids: dict[str, int] = {}
        self.queries_by_text: dict[bytes, list[int]] = {}
        self.responses: dict[int, HeldResponse] = {}
        self.response_ids: dict[str, int] = {}
        """Every key and further key to its current response."""
        self.further_keys: set[str] = set()
        self.by_content: dict[tuple[int, bytes], int] = {}
        """(query, digest of text and passages) to response."""
        self.outputs: dict[tuple[int, str], tuple[int, int]] = {}
        """(query, system) to the current (response, revision)."""
        self._load(connection)

    def add_query(self, query: int, held: HeldQuery) -> None:
        """Take in a query under its database key."""
        self.queries[query] = held
        self.query_ids[held.key] = query
        self.queries_by_text.setdefault(held.text, []).append(query)

    def add_response(self, response: int, held: HeldResponse) -> None:
        """Take in a response; it is the current one of its key."""
        self.responses[response] = held
        self.response_ids[held.key] = response
        if held.version > 1:
            # The id that the version has in the study's tables.
            self.response_ids.setdefault(f"{held.key}@{held.version}", response)
        self.by_content[held.query, held.content] = response

    def add_further_key(self, key: str, response: int) -> None:
        """Take in another key of a response."""
        self.further_keys.add(key)
        self.response_ids[key] = response

    def current_responses(self) -> set[int]:
        """Return the responses that an id or a system's output leads to now."""
        return {*self.response_ids.values(), *(response for response, _ in self.outputs.values())}

    def _load(self, connection: Connection) -> None:
        t: Any = table(Query)
        for row in connection.execute(select(t).order_by(t.c.id)):
            text = digest(row.text.encode())
            references, attributes = digest_of(row.references), digest_of(row.attributes)
            self.add_query(row.id, HeldQuery(row.key, text, references, attributes))
        t = table(Response)
        columns = (t.c.id, t.c.key, t.c.version, t.c.query_id, t.c.content_hash)
        for row in connection.execute(select(*columns).order_by(t.c.version, t.c.id)):
            content = bytes(row.content_hash)
            self.add_response(row.id, HeldResponse(row.key, row.version, row.query_id, content))
        t = table(ResponseAlias)
        for row in connection.execute(select(t)):
            self.add_further_key(row.key, row.response_id)
        t = table(Output)
        for row in connection.execute(select(t).order_by(t.c.revision)):
            self.outputs[row.query_id, row.system] = (row.response_id, row.revision)


def digest_of(value: list[str] | dict[str, Any]) -> bytes | None:
    """Return a digest of references or attributes; None when there are none."""
    if not value:
        return None
    return digest(json.dumps(value, sort_keys=True, ensure_ascii=False).encode())
