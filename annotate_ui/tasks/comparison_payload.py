"""A comparison as the payload of a save: which of two responses a rater prefers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from annotate_ui.tasks.comparisons import fields_compared, points
from annotate_ui.tasks.refusals import InvalidError, NotYoursError
from annotate_ui.tasks.save import AnswerTarget, Revision
from annotate_ui.tasks.stages import in_order
from annotate_ui.tasks.submission import ComparisonInput
from study.facts.slots import is_live_comparison
from study.schema import Assignment, Comparison, Decision, DecisionBase, Response, Reveal, table
from study.settings.constructs import ConstructSpec
from study.study import Study
from study.types import Sees


@dataclass(frozen=True)
class ComparisonPayload:
    """A preference for the comparison that an address names."""

    public_id: str
    submission: ComparisonInput

    def find(self, connection: Connection, study: Study, rater_id: int) -> "ComparisonTarget":
        """Return the comparison, which this rater opened.

        Raises
        ------
        NotYoursError
            There is no such comparison, or this rater did not open it, or it was taken back.
        InvalidError
            Another construct is compared here, or the study no longer has it.
        """
        comparison = _comparison(connection, rater_id, self.public_id)
        key = self.submission.construct_key
        construct = study.config.construct_spec(key)
        if construct is None or key != comparison.construct_key:
            raise InvalidError(f"{key!r} is not compared here.", "construct")
        return ComparisonTarget(study, rater_id, self.submission, construct, comparison)


@dataclass(frozen=True)
class ComparisonTarget(AnswerTarget):
    """A comparison that its rater has opened."""

    study: Study
    rater_id: int
    submission: ComparisonInput
    construct: ConstructSpec
    comparison: Row[Any]

    def check(self) -> None:
        """Refuse a value that is not among the options of the scale of preferences."""
        value = self.submission.value
        if value is not None and value not in points(self.study.config.preferences.scale):
            raise InvalidError(f"{value:g} is not one of the options.", "value")

    def stored(self, connection: Connection) -> Sequence[Row[Any]]:
        """Return the revisions of the decision; the row under the key is one of them."""
        d = table(Decision)
        return connection.execute(
            select(d).where(d.c.comparison_id == self.comparison.id).order_by(d.c.revision)
        ).all()

    def insert(self, connection: Connection, revision: Revision) -> Row[Any]:
        """Write the decision with the fields that its rater had been shown."""
        d, columns = table(Decision), revision.columns
        row = DecisionBase(
            **{name: columns[name] for name in DecisionBase.model_fields if name in columns},
            revealed=_revealed(connection, self.study, self.rater_id, self.comparison.query_id),
        )
        return connection.execute(
            insert(d)
            .values(**{**columns, **row.model_dump()}, comparison_id=self.comparison.id)
            .returning(d)
        ).one()


def _comparison(connection: Connection, rater_id: int, public_id: str) -> Row[Any]:
    c = table(Comparison)
    # The rater is part of the question: another rater's comparison does not exist here.
    opened = select(c).where(
        c.c.public_id == public_id,
        c.c.rater_id == rater_id,
        c.c.opened_at.is_not(None),
        is_live_comparison(),
    )
    # An address may hold anything, also what a database can't compare with.
    row = connection.execute(opened).one_or_none() if public_id.isalnum() else None
    if row is None:
        raise NotYoursError("There is no such page for you. Go on from the start page.")
    return row


def _revealed(connection: Connection, study: Study, rater_id: int, query_id: int) -> list[Sees]:
    """Return the fields of the query that the rater was shown, rating or comparing."""
    v, a, r = table(Reveal), table(Assignment), table(Response)
    rated = connection.execute(
        select(v.c.fields)
        .join_from(v, a, v.c.assignment_id == a.c.id)
        .join(r, a.c.response_id == r.c.id)
        .where(a.c.rater_id == rater_id, r.c.query_id == query_id)
    )
    seen: set[Sees] = {field for fields in rated.scalars() for field in fields}
    seen |= fields_compared(connection, study.config, rater_id, query_id)
    return list(in_order(seen))
