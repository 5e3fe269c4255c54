"""What a study holds, by key and by digest: the index that a file's rows are joined on."""

import json
from collections import Counter
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from study.schema import Output, Query, Response, ResponseAlias, digest, table


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
        self.further_keys: dict[str, int] = {}
        """A further key to the response that has it."""
        self._versions: dict[str, list[int]] = {}
        """A key to its versions, oldest first."""
        self._systems: Counter[int] = Counter()
        """A response to how many systems give it now; 0 where one did before."""
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
        """Take in a response, the newest version of its key."""
        self.responses[response] = held
        self._versions.setdefault(held.key, []).append(response)
        self.by_content[held.query, held.content] = response

    def add_further_key(self, key: str, response: int) -> None:
        """Take in another key of a response."""
        self.further_keys[key] = response

    def set_output(self, query: int, system: str, response: int, revision: int) -> None:
        """Take in what a system gives now."""
        before = self.outputs.get((query, system))
        if before is not None:
            self._systems[before[0]] -= 1
        self._systems[response] += 1
        self.outputs[query, system] = (response, revision)

    def find(self, name: str) -> int | None:
        """Return the response that an id means (study.facts.response_versions says which)."""
        versions = self._versions.get(name)
        if versions is not None:
            return versions[0] if len(versions) == 1 else self._meant(versions)
        if name in self.further_keys:
            return self.further_keys[name]
        key, _, number = name.rpartition("@")
        for response in self._versions.get(key, ()):
            if str(self.responses[response].version) == number:
                return response
        return None

    def versions(self, name: str) -> int:
        """Return how many versions there are of a key."""
        return len(self._versions.get(name, ()))

    def in_use(self, response: int) -> bool:
        """Whether no later response has taken this one's place."""
        if response in self._systems:
            return self._systems[response] > 0
        return self._versions[self.responses[response].key][-1] == response

    def id_of(self, response: int) -> str:
        """Return the id of a response in tables and files."""
        key, version, *_ = self.responses[response]
        return key if version == 1 and self.find(key) == response else f"{key}@{version}"

    def response_ids(self) -> list[str]:
        """Return every key and further key."""
        return [*self._versions, *self.further_keys]

    def current_responses(self) -> set[int]:
        """Return the responses in use."""
        return {response for response in self.responses if self.in_use(response)}

    def _meant(self, versions: list[int]) -> int:
        used = [response for response in versions if self.in_use(response)]
        return (used or versions)[-1]

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
            self.set_output(row.query_id, row.system, row.response_id, row.revision)


def digest_of(value: list[str] | dict[str, Any]) -> bytes | None:
    """Return a digest of references or attributes; None when there are none."""
    if not value:
        return None
    return digest(json.dumps(value, sort_keys=True, ensure_ascii=False).encode())
