"""Tables of what is judged: queries, passages, responses and outputs of systems."""

from hashlib import blake2b
from typing import Literal

from sqlalchemy import JSON, LargeBinary, Text as LongText, UniqueConstraint
from sqlmodel import Field

from study.schema.base import Noun
from study.types import Attributes, Key, Text

ResponseRole = Literal["answer", "training", "check"]


def digest(*parts: bytes) -> bytes:
    """Return a digest of 16 bytes of the parts in their order.

    Each part is preceded by its length, so that moving text from one part to the next
    changes the digest.
    """
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()


class QueryBase(Noun):
    """A question put to the systems, with its reference answers."""

    key: Key = Field(unique=True)
    text: Text = Field(sa_type=LongText)
    references: list[Text] = Field(default_factory=list, sa_type=JSON)
    """Reference answers; the first is the one shown, and the one that fills a prompt."""
    attributes: Attributes = Field(default_factory=dict, sa_type=JSON)
    """Such as the domain or the type of question."""


class Query(QueryBase, table=True):
    id: int | None = Field(default=None, primary_key=True)


class PassageBase(Noun):
    """A retrieved text, stored once by its content."""

    text: Text = Field(sa_type=LongText)


class Passage(PassageBase, table=True):
    id: int | None = Field(default=None, primary_key=True)
    content_hash: bytes = Field(sa_type=LargeBinary(16), unique=True)


class ResponseBase(Noun):
    """One distinct content: a query, a text, and the passages it was given, in order.

    A changed response is a new version under the same key; ratings and scores stay with the
    version they were given to.
    """

    key: Key
    version: int = Field(default=1, ge=1)
    text: Text = Field(sa_type=LongText)
    role: ResponseRole = Field(default="answer", sa_type=LongText)
    """Why it was imported: as an answer to be measured, or as material for training or checks.
    `study.facts.current_responses` defines which responses are measured."""


class Response(ResponseBase, table=True):
    __table_args__ = (
        UniqueConstraint("key", "version"),
        UniqueConstraint("query_id", "content_hash"),
    )

    id: int | None = Field(default=None, primary_key=True)
    query_id: int = Field(foreign_key="query.id")
    content_hash: bytes = Field(sa_type=LargeBinary(16))
    context_hash: bytes | None = Field(default=None, sa_type=LargeBinary(16))
    """Digest of the passages in order; the judge's requests are grouped by it. Null: none."""


class ResponseAlias(Noun, table=True):
    """A further key of a response: the same content was imported under another name."""

    __tablename__ = "response_alias"

    key: str = Field(primary_key=True)
    response_id: int = Field(foreign_key="response.id", index=True)


class ResponsePassage(Noun, table=True):
    """A passage at its place in a response's context."""

    __tablename__ = "response_passage"

    response_id: int = Field(foreign_key="response.id", primary_key=True)
    position: int = Field(primary_key=True)
    """From 0, in rank order."""
    passage_id: int = Field(foreign_key="passage.id", index=True)
    document: str | None = None
    """The passage's identifier in the collection it was retrieved from."""


class OutputBase(Noun):
    """A system's answer to a query: one of the responses.

    Two systems may have given the same response. The highest revision is the current one.
    """

    system: Key
    revision: int = Field(default=1, ge=1)


class Output(OutputBase, table=True):
    __table_args__ = (UniqueConstraint("query_id", "system", "revision"),)

    id: int | None = Field(default=None, primary_key=True)
    query_id: int = Field(foreign_key="query.id")
    response_id: int = Field(foreign_key="response.id", index=True)
