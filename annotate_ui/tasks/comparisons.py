"""A rater's comparisons: their order, the options, which is next, and what they have shown."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Connection, Row, bindparam, select, update

from annotate_ui.tasks.answers import ComparisonInput
from annotate_ui.tasks.refusals import InvalidError, NotYoursError
from annotate_ui.tasks.save import AnswerTarget, check_status
from annotate_ui.tasks.stages import FIELDS, in_order
from study.base.scales import Scale
from study.facts.comparison_decisions import is_decided
from study.facts.slots import is_live_comparison
from study.schema import now
from study.schema.human_ratings import AnswerKind
from study.schema.tables import assignments, comparisons, responses, reveals
from study.settings.constructs import ConstructSpec
from study.settings.study_toml import StudyConfig
from study.study import Study
from study.types import Sees

# A scale without steps, or with more points than fit on a page, is offered as five points.
_MOST_POINTS = 11
_OPENED = select(comparisons.c.construct_key).where(
    comparisons.c.rater_id == bindparam("rater"),
    comparisons.c.query_id == bindparam("query"),
    comparisons.c.opened_at.is_not(None),
)


@dataclass(frozen=True)
class RaterComparison:
    """A comparison that is assigned to a rater."""

    id: int
    public_id: str
    query_id: int
    a: int
    b: int
    construct_key: str
    swapped: bool
    """Response b is shown first."""
    opened: bool
    decided: bool

    @property
    def shown(self) -> tuple[int, int]:
        """The two responses in the order in which they are shown."""
        return (self.b, self.a) if self.swapped else (self.a, self.b)


def rater_comparisons(
    connection: Connection, config: StudyConfig, rater_id: int
) -> list[RaterComparison]:
    """Return a rater's comparisons in their order of work, without those that were taken back."""
    rows: Any = connection.execute(
        select(
            comparisons.c.id,
            comparisons.c.public_id,
            comparisons.c.query_id,
            comparisons.c.response_a_id,
            comparisons.c.response_b_id,
            comparisons.c.construct_key,
            comparisons.c.swapped,
            comparisons.c.opened_at,
            is_decided().label("decided"),
        )
        .where(comparisons.c.rater_id == rater_id, is_live_comparison())
        .order_by(comparisons.c.position, comparisons.c.id)
    )
    known = {construct.key for construct in config.constructs}
    return [
        RaterComparison(
            id=row.id,
            public_id=row.public_id,
            query_id=row.query_id,
            a=row.response_a_id,
            b=row.response_b_id,
            construct_key=row.construct_key,
            swapped=row.swapped,
            opened=row.opened_at is not None,
            decided=bool(row.decided),
        )
        for row in rows
        # Constructs that study.toml no longer has are not asked for.
        if row.construct_key in known
    ]


def comparisons_done(connection: Connection, study: Study, rater_id: int) -> tuple[int, int]:
    """Return how many comparisons a rater has made, and how many they have in all."""
    assigned = rater_comparisons(connection, study.config, rater_id)
    return sum(comparison.decided for comparison in assigned), len(assigned)


def next_comparison(connection: Connection, study: Study, rater_id: int) -> str | None:
    """Open the first comparison that is not made and return its public id; None: all are made.

    The connection is a writing one, and the caller has locked the rater.
    """
    assigned = rater_comparisons(connection, study.config, rater_id)
    following = next((comparison for comparison in assigned if not comparison.decided), None)
    if following is None:
        return None
    if not following.opened:
        connection.execute(
            update(comparisons).where(comparisons.c.id == following.id).values(opened_at=now())
        )
    return following.public_id


def fields_compared(
    connection: Connection, config: StudyConfig, rater_id: int, query_id: int
) -> set[Sees]:
    """Return the fields that the opened comparisons of a query have shown to a rater."""
    opened = connection.execute(_OPENED, {"rater": rater_id, "query": query_id})
    seen: set[Sees] = set()
    for key in opened.scalars():
        spec = config.construct_spec(key)
        if spec is not None:
            seen.update(FIELDS if config.rating.disclosure == "all" else spec.sees)
    return seen


def points(scale: Scale) -> tuple[float, ...]:
    """Return the points of the scale of preferences that raters are offered, from low to high.

    A scale without steps, or with more than eleven, is offered as five points: its ends, the
    middle, and halfway between.
    """
    if scale.step is not None:
        steps = int((scale.max - scale.min) / scale.step + 1e-6)
        if steps < _MOST_POINTS:
            # Rounded: 0.1 three times is not 0.3.
            return tuple(round(scale.min + i * scale.step, 9) for i in range(steps + 1))
    middle = 0.0 if scale.min < 0 < scale.max else (scale.min + scale.max) / 2
    low, high = (scale.min + middle) / 2, (middle + scale.max) / 2
    return (scale.min, low, middle, high, scale.max)


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
            The comparison does not exist, or this rater did not open it, or it was taken back.
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

    KIND: ClassVar[AnswerKind] = "choice"

    study: Study
    rater_id: int
    submission: ComparisonInput
    construct: ConstructSpec
    comparison: Row[Any]

    def check(self) -> None:
        """Refuse a value that is not an option of the scale of preferences."""
        check_status(self.submission)
        value = self.submission.value
        if value is not None and value not in points(self.study.config.preferences.scale):
            raise InvalidError(f"{value:g} is not one of the options.", "value")

    @property
    def owner(self) -> int:
        """Database key of the comparison."""
        return int(self.comparison.id)

    def circumstances(self, connection: Connection, previous: Row[Any] | None) -> dict[str, Any]:
        """Return the fields that the rater had been shown, and how the texts were shown."""
        del previous
        query = self.comparison.query_id
        return {
            "text_format": self.submission.text_format,
            "revealed": _revealed(connection, self.study, self.rater_id, query),
        }


def _comparison(connection: Connection, rater_id: int, public_id: str) -> Row[Any]:
    # Restricted to the rater: other raters' comparisons must not be visible.
    opened = select(comparisons).where(
        comparisons.c.public_id == public_id,
        comparisons.c.rater_id == rater_id,
        comparisons.c.opened_at.is_not(None),
        is_live_comparison(),
    )
    # An address may contain characters that a database cannot compare.
    row = connection.execute(opened).one_or_none() if public_id.isalnum() else None
    if row is None:
        raise NotYoursError
    return row


def _revealed(connection: Connection, study: Study, rater_id: int, query_id: int) -> list[Sees]:
    """Return the fields of the query that the rater was shown, rating or comparing."""
    rated = connection.execute(
        select(reveals.c.fields)
        .join_from(reveals, assignments, reveals.c.assignment_id == assignments.c.id)
        .join(responses, assignments.c.response_id == responses.c.id)
        .where(assignments.c.rater_id == rater_id, responses.c.query_id == query_id)
    )
    seen: set[Sees] = {field for fields in rated.scalars() for field in fields}
    seen |= fields_compared(connection, study.config, rater_id, query_id)
    return list(in_order(seen))
