"""The rows that an importer yields: validated responses, scores and preferences."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from study.errors import Fault
from study.types import Attributes, Key, ScorerKind, Text

ResponseRole = Literal["answer", "training", "check"]

# More repeats than this are a shifted column, not a design.
_MOST_REPEATS = 1_000_000


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PassageRow(_Row):
    """A passage in rank order, with its identifier in the collection where it has one."""

    text: Text
    document: Key | None = None


class ResponseRow(_Row):
    """A system's response to a query, with the passages it was given."""

    query_id: Key | None = None
    """Without one, the study's query with this text is meant, or a key is made from the text."""
    query: Text
    response: Text
    """May be empty: the system gave no answer."""
    response_id: Key | None = None
    """Without one, a key is made from query, system and content."""
    system: Key | None = None
    passages: tuple[PassageRow, ...] = ()
    references: tuple[Text, ...] = ()
    attributes: Attributes = Field(default_factory=dict)
    """Attributes of the query, such as its domain."""

    @property
    def role(self) -> ResponseRole:
        """The purpose of the response: to be measured."""
        return "answer"

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.query.strip():
            raise ValueError("the query's text is blank; give the question that was asked")
        return self


class ExpectedRange(_Row):
    """The range in which a value should lie, with the reason shown to raters."""

    low: float
    high: float
    why: Text | None = Field(default=None, max_length=5000)


class ExpectedRow(ResponseRow):
    """A response to train or check raters with; it belongs to no system."""

    purpose: Literal["training", "check"] = "training"
    expected: dict[Key, ExpectedRange]
    """By construct."""

    @property
    def role(self) -> ResponseRole:
        """The purpose of the response."""
        return self.purpose


class ScoreRow(_Row):
    """A score of one response on one construct.

    The response is named by its id, or by query and system. Where both are given they must
    agree.
    """

    response_id: Key | None = None
    query_id: Key | None = None
    system: Key | None = None
    construct_key: Key
    scorer: Key
    scorer_kind: ScorerKind
    repeat: int = Field(default=0, ge=0, le=_MOST_REPEATS)
    value: float | None = None
    word_range: tuple[float, float] | None = Field(default=None, exclude=True)
    """Lowest and highest value of the words, where the value was a known word; no column."""
    missing_reason: Key | None = None
    """Why there is no value; default: "blank"."""
    rule: Key | None = None
    """How a judge's answer was read."""
    inclusion_prob: float = Field(default=1.0, gt=0, le=1)
    stratum: Key | None = None
    source: Key | None = None
    response_words: int | None = Field(default=None, ge=0)
    """Length of the response in words, if the table has it; a study counts it in the text."""
    position: int | None = Field(default=None, ge=1)
    """Position in the rater's order, if the table has it."""
    layout: Literal["single", "side_by_side"] | None = None
    """Layout of the rater's page, if the table has it."""
    passages_opened: Literal["yes", "no"] | None = None
    text_format: Literal["plain", "monospace", "rendered", "both"] | None = None
    """How the rater was shown the texts, if the table has it."""
    domain: Key | None = None
    """Domain of the query, if the table has it; a study takes it from the query's attributes."""

    @model_validator(mode="after")
    def _names_a_response(self) -> Self:
        if self.response_id is None and (self.query_id is None or self.system is None):
            raise ValueError("names no response; give response_id, or query_id and system")
        return self

    @model_validator(mode="after")
    def _a_value_or_a_reason(self) -> Self:
        _check_reason(self.value, self.missing_reason)
        return self

    @model_validator(mode="after")
    def _a_rule_read_a_value(self) -> Self:
        if self.rule is not None and (self.value is None or self.scorer_kind != "judge"):
            other = "no value" if self.value is None else f"a {self.scorer_kind} scorer"
            raise ValueError(
                f"has the rule {self.rule!r} and {other}, while a rule is how a judge's answer "
                "was read; leave the cell blank, or give the column another name"
            )
        return self


class PreferenceRow(_Row):
    """A comparison of two responses to one query; positive: b is better."""

    query_id: Key
    response_a: Key
    response_b: Key
    construct_key: Key
    scorer: Key
    scorer_kind: ScorerKind
    repeat: int = Field(default=0, ge=0, le=_MOST_REPEATS)
    value: float | None = None
    missing_reason: Key | None = None
    """Why there is no value; default: "blank"."""
    value_a_first: float | None = None
    """The choice where response a was shown first; positive: b is better."""
    value_b_first: float | None = None
    text_format: Literal["plain", "monospace", "rendered", "both"] | None = None
    """How the rater was shown the texts, if the table has it."""

    @model_validator(mode="after")
    def _a_value_or_a_reason(self) -> Self:
        _check_reason(self.value, self.missing_reason)
        return self


class MarkedPart(_Row):
    """A part of a response that a person marked, by characters [start, end)."""

    start: int = Field(ge=0, strict=True)
    end: int = Field(ge=0, strict=True)
    text: Text | None = None
    """What is there, where the file has it: it shows how the file counts characters."""


class MarksRow(_Row):
    """The parts of one response that a person marked for one construct; none is an answer.

    The response is named as that of a score.
    """

    value: ClassVar[None] = None

    response_id: Key | None = None
    query_id: Key | None = None
    system: Key | None = None
    construct_key: Key
    scorer: Key
    scorer_kind: Literal["human"] = "human"
    repeat: int = Field(default=0, ge=0, le=_MOST_REPEATS)
    marks: tuple[MarkedPart, ...]

    @model_validator(mode="after")
    def _names_a_response(self) -> Self:
        if self.response_id is None and (self.query_id is None or self.system is None):
            raise ValueError("names no response; give response_id, or query_id and system")
        return self


def _check_reason(value: float | None, reason: str | None) -> None:
    if value is not None and reason is not None:
        raise ValueError(
            f"has the value {value:g} and the missing_reason {reason!r}; remove one of them"
        )


class LocatedRow(NamedTuple):
    """A row with its place in the file, as a spreadsheet or editor counts it."""

    number: int
    row: ResponseRow | ScoreRow | PreferenceRow | MarksRow
    columns: Mapping[str, str] = MappingProxyType({})
    """Field to the file's column, where it has one; empty if the columns are unknown."""

    def column(self, field: str) -> str | None:
        """Return the column under which a fault in a field is reported."""
        return self.columns.get(field) if self.columns else _DOCUMENTED.get(field, field)


# Columns whose names differ from the fields'.
_DOCUMENTED = {"construct_key": "construct"}

Rows = Iterator[LocatedRow | Fault]
"""An importer yields rows, and a fault in the place of each row that it can't read."""
