"""The content of a study by key and by digest: the index that rows of a file are matched with."""

import json
from collections import Counter
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from study.schema import digest
from study.schema.tables import outputs, queries, response_aliases, responses

OWN_ID = "Give this response a different id."

Problem = tuple[str, str]
"""The problem, and the remedy."""


class ExistingQuery(NamedTuple):
    """A query by digests: a study's texts need not fit in memory."""

    key: str
    text: bytes
    references: bytes | None
    attributes: bytes | None
    """None where there are none."""


class ExistingResponse(NamedTuple):
    """A response of the study, or one that this import adds."""

    key: str
    version: int
    query: int
    content: bytes


class ExistingContent:
    """Keys and digests of a study's content, kept up to date while a file is stored."""

    def __init__(self, connection: Connection) -> None:
        self.queries: dict[int, ExistingQuery] = {}
        self.query_ids: dict[str, int] = {}
        self.queries_by_text: dict[bytes, list[int]] = {}
        self.responses: dict[int, ExistingResponse] = {}
        self.further_keys: dict[str, int] = {}
        """A further key to the response that has it."""
        self._versions: dict[str, list[int]] = {}
        """A key to its versions, oldest first."""
        self._systems: Counter[int] = Counter()
        """Response to the number of systems that give it now; 0 if one gave it before."""
        self.by_content: dict[tuple[int, bytes], int] = {}
        """(query, digest of text and passages) to response."""
        self.outputs: dict[tuple[int, str], tuple[int, int]] = {}
        """(query, system) to the current (response, revision)."""
        self._load(connection)

    def add_query(self, query: int, entry: ExistingQuery) -> None:
        """Add a query under its database key."""
        self.queries[query] = entry
        self.query_ids[entry.key] = query
        self.queries_by_text.setdefault(entry.text, []).append(query)

    def add_response(self, response: int, entry: ExistingResponse) -> None:
        """Add a response, the newest version of its key."""
        self.responses[response] = entry
        self._versions.setdefault(entry.key, []).append(response)
        self.by_content[entry.query, entry.content] = response

    def add_further_key(self, key: str, response: int) -> None:
        """Add another key of a response."""
        self.further_keys[key] = response

    def set_output(self, query: int, system: str, response: int, revision: int) -> None:
        """Set the current response of a system."""
        before = self.outputs.get((query, system))
        if before is not None:
            self._systems[before[0]] -= 1
        self._systems[response] += 1
        self.outputs[query, system] = (response, revision)

    def find(self, name: str) -> int | None:
        """Return the response of an id, by the rules of `study.facts.current_responses`."""
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
        """Whether no later response has replaced this one."""
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
        t: Any = queries
        for row in connection.execute(select(t).order_by(t.c.id)):
            text = digest(row.text.encode())
            references, attributes = digest_of(row.references), digest_of(row.attributes)
            self.add_query(row.id, ExistingQuery(row.key, text, references, attributes))
        t = responses
        columns = (t.c.id, t.c.key, t.c.version, t.c.query_id, t.c.content_hash)
        for row in connection.execute(select(*columns).order_by(t.c.version, t.c.id)):
            content = bytes(row.content_hash)
            self.add_response(row.id, ExistingResponse(row.key, row.version, row.query_id, content))
        t = response_aliases
        for row in connection.execute(select(t)):
            self.add_further_key(row.key, row.response_id)
        t = outputs
        for row in connection.execute(select(t).order_by(t.c.revision)):
            self.set_output(row.query_id, row.system, row.response_id, row.revision)


def digest_of(value: list[str] | dict[str, Any]) -> bytes | None:
    """Return a digest of references or attributes; None when there are none."""
    if not value:
        return None
    return digest(json.dumps(value, sort_keys=True, ensure_ascii=False).encode())


def not_revisable(
    existing: ExistingContent, key: str, current: int, same: int | None, system: str | None
) -> Problem | None:
    """Return why the content of an id cannot be replaced, and the remedy; None if it can.

    `current` is the response that has the id now, `same` the one with the new content if the
    study has it, and `system` the one that the row names.
    """
    was = existing.responses[current]
    if key != was.key:
        further = key in existing.further_keys
        relation = "a further id" if further else f"version {was.version}"
        return f"{key!r} is {relation} of response {was.key!r}, with another content.", OWN_ID
    if same is not None:
        return _not_revertible(existing, key, same, system)
    # Tables name the first version KEY@1 once there is a second one.
    for version in (1, existing.versions(key) + 1):
        other = existing.find(f"{key}@{version}")
        if other is not None and existing.responses[other].key != key:
            return (
                f"response {key!r} can't be revised: {f'{key}@{version}'!r}, the id of its "
                f"version {version}, is that of another response.",
                OWN_ID,
            )
    return None


def _not_revertible(
    existing: ExistingContent, key: str, same: int, system: str | None
) -> Problem | None:
    """Return why an id cannot return to an earlier content, and the remedy; None if it can."""
    was = existing.responses[same]
    if was.key == key and (system is not None or existing.in_use(same)):
        return None
    problem = (
        f"response {key!r} can't be revised: its content is that of {was.key!r}, version "
        f"{was.version}."
    )
    if was.key == key:
        return problem, f"Name the system that went back to it. {OWN_ID}"
    return problem, OWN_ID
