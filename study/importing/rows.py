"""What an importer yields: one validated row for each thing in the file."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from study.nouns.base import Key, Text
from study.nouns.imported import ScorerKind


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PassageRow(_Row):
    """A passage in rank order, with its identifier in the collection where it has one."""

    text: Text
    document: Key | None = None


class ResponseRow(_Row):
    """A system's response to a query, with what it was given."""

    query_id: Key
    query: Text
    response: Text
    """May be empty: the system answered nothing."""
    response_id: Key | None = None
    """Without one, a key is made from query, system and content."""
    system: Key | None = None
    passages: tuple[PassageRow, ...] = ()
    references: tuple[Text, ...] = ()
    attributes: dict[str, Any] = Field(default_factory=dict)


class ScoreRow(_Row):
    """A score of one response on one construct.

    The response is named by its id, or by query and system.
    """

    response_id: Key | None = None
    query_id: Key | None = None
    system: Key | None = None
    construct: Key
    scorer: Key
    scorer_kind: ScorerKind
    repeat: int = Field(default=0, ge=0)
    value: float | None = None
    missing_reason: Key | None = None
    inclusion_prob: float = Field(default=1.0, gt=0, le=1)
    stratum: Key | None = None
    source: Key | None = None

    @model_validator(mode="after")
    def _names_a_response(self) -> Self:
        if self.response_id is None and (self.query_id is None or self.system is None):
            raise ValueError("names no response; give response_id, or query_id and system")
        return self


class PreferenceRow(_Row):
    """A comparison of two responses to one query; positive: b is better."""

    query_id: Key
    response_a: Key
    response_b: Key
    construct: Key
    scorer: Key
    scorer_kind: ScorerKind
    repeat: int = Field(default=0, ge=0)
    value: float | None = None
    missing_reason: Key | None = None


class Placed(NamedTuple):
    """A row with its place in the file."""

    number: int
    row: ResponseRow | ScoreRow | PreferenceRow


Rows = Iterator[Placed]
