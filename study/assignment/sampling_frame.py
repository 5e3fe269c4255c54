"""The sampling frame: responses in use with their queries, systems and languages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from study.facts.current_responses import all_outputs, is_answer, response_versions
from study.schema.tables import queries, responses
from study.settings.constructs import ConstructSpec


class FrameResponse(NamedTuple):
    """A response in use."""

    id: int
    key: str
    query: int
    systems: tuple[str, ...]
    """Those whose current response it is."""
    has_passages: bool
    has_reference: bool

    def shows(self, construct: ConstructSpec) -> bool:
        """Whether the response has the fields that raters of a construct see."""
        return (self.has_passages or "context" not in construct.sees) and (
            self.has_reference or "reference" not in construct.sees
        )


class FrameQuery(NamedTuple):
    """A query."""

    key: str
    attributes: Mapping[str, Any]

    @property
    def language(self) -> str | None:
        """The primary language of its texts, `de` for `de-AT`; None if unknown."""
        attribute = self.attributes.get("language")
        return primary(attribute) if isinstance(attribute, str) and attribute.strip() else None


@dataclass(frozen=True)
class SamplingFrame:
    """Everything that can be assigned."""

    answers: Sequence[FrameResponse]
    """In the order of the database, those of a query together."""
    questions: Mapping[int, FrameQuery]

    def ratable(self, constructs: Iterable[ConstructSpec]) -> list[FrameResponse]:
        """Return the responses that can be rated on at least one construct."""
        specs = tuple(constructs)
        return [answer for answer in self.answers if any(map(answer.shows, specs))]


def primary(language: str) -> str:
    """Return the primary subtag of a language tag, in lower case."""
    return language.strip().replace("_", "-").split("-")[0].lower()


def sampling_frame(connection: Connection) -> SamplingFrame:
    """Read the responses in use, and all queries."""
    every_output = all_outputs()
    questions, referenced = {}, set()
    for row in connection.execute(
        select(queries.c.id, queries.c.key, queries.c.references, queries.c.attributes)
    ):
        questions[row.id] = FrameQuery(row.key, row.attributes or {})
        if row.references:
            referenced.add(row.id)
    rows: Sequence[Any] = connection.execute(
        select(
            responses.c.id,
            responses.c.key,
            responses.c.version,
            responses.c.query_id,
            responses.c.context_hash,
        )
        .where(is_answer())
        .order_by(responses.c.query_id, responses.c.id)
    ).all()
    outputs = connection.execute(
        select(every_output.c.response_id, every_output.c.system, every_output.c.current)
    ).all()
    in_use = response_versions(
        ((row.id, row.key, row.version) for row in rows),
        ((row.response_id, bool(row.current)) for row in outputs),
    ).in_use
    systems = _systems(outputs)
    answers = [
        FrameResponse(
            row.id,
            row.key,
            row.query_id,
            tuple(sorted(systems.get(row.id, ()))),
            row.context_hash is not None,
            row.query_id in referenced,
        )
        for row in rows
        if row.id in in_use
    ]
    return SamplingFrame(answers, questions)


def _systems(outputs: Iterable[Any]) -> dict[int, list[str]]:
    systems: dict[int, list[str]] = {}
    for row in outputs:
        if row.current:
            systems.setdefault(row.response_id, []).append(row.system)
    return systems
