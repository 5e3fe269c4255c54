"""A rating as the payload of a save: one construct of one response at one step."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Connection, Row, bindparam, select

from annotate_ui.participation import lock_slots
from annotate_ui.tasks.answers import AnswerInput, RatingInput
from annotate_ui.tasks.comparisons import fields_compared
from annotate_ui.tasks.refusals import InvalidError, NotYoursError
from annotate_ui.tasks.save import AnswerTarget, check_status
from annotate_ui.tasks.slot_queue import end_lease, renew, renewed_by_now
from annotate_ui.tasks.stages import in_order, stages_of
from study.facts.ratings import answered_constructs, has_rejected
from study.facts.slots import OWN_CHANNEL, is_handed_on, lease_is_over
from study.schema import RaterAnswerBase
from study.schema.tables import assignments, ratings, responses, reveals
from study.settings.constructs import ConstructSpec
from study.study import Study
from study.types import Sees

_ASSIGNMENT = (
    select(assignments, responses.c.query_id)
    .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
    # Restricted to the rater: other raters' assignments must not be visible.
    .where(
        assignments.c.public_id == bindparam("public_id"),
        assignments.c.rater_id == bindparam("rater"),
    )
    .where(assignments.c.channel == OWN_CHANNEL)
)
_SHOWN = (
    select(
        reveals.c.id,
        reveals.c.stage,
        reveals.c.fields,
        assignments.c.repeat,
        reveals.c.assignment_id,
    )
    .join_from(reveals, assignments, reveals.c.assignment_id == assignments.c.id)
    .join(responses, assignments.c.response_id == responses.c.id)
    .where(assignments.c.rater_id == bindparam("rater"), responses.c.query_id == bindparam("query"))
)
_ANSWERED = select(
    answered_constructs(ratings.c.assignment_id == bindparam("assignment")).c.construct_key
)


@dataclass(frozen=True)
class RatingPayload:
    """A rating at the step that an address names."""

    public_id: str
    """Of the assignment."""
    stage: int
    submission: RatingInput

    def find(self, connection: Connection, study: Study, rater_id: int) -> "RatingTarget":
        """Return the step, which this rater opened.

        Raises
        ------
        NotYoursError
            The step does not exist, or it was not opened by this rater.
        InvalidError
            The construct is not rated at this step.
        """
        address = self.public_id, self.stage
        opened = opened_step(connection, study, rater_id, address, self.submission)
        return RatingTarget(self.submission, opened.construct, opened)


@dataclass(frozen=True)
class _Shown:
    id: int
    stage: int
    fields: tuple[Sees, ...]
    repeat: int
    in_assignment: bool


@dataclass(frozen=True)
class OpenedStep:
    """A construct of a response at a step that a rater opened, and what they had been shown."""

    study: Study
    rater_id: int
    construct: ConstructSpec
    assignment: Row[Any]
    shown: tuple[_Shown, ...]
    """What the rater was shown of the query, by any of its responses."""
    step: _Shown

    def circumstances(self, connection: Connection, previous: Row[Any] | None) -> dict[str, Any]:
        """Return what the rater had seen, and whether the lease was over, by column.

        A lease that is over is locked, so that its slot is not handed on in this moment.
        """
        step = self.step
        late = _late(connection, self.assignment)
        compared = fields_compared(
            connection, self.study.config, self.rater_id, self.assignment.query_id
        )
        seen = {field for v in self.shown for field in v.fields} | compared
        return {
            "revealed": list(in_order(seen)),
            # Only a stage that was opened after this one ends this step.
            "after_reveal": any(
                v.stage > step.stage and v.id > step.id and v.repeat == self.assignment.repeat
                for v in self.shown
            )
            or _compared_since(previous, compared.difference(step.fields)),
            # Such as in a repeat, or on a response that came in after the query was finished.
            "seen_more": not seen.issubset(step.fields),
            "late": late,
        }

    def renew(self, connection: Connection, *, late: bool) -> None:
        """Renew the lease, or end it where everything is answered."""
        _renew(connection, self.study, self.rater_id, self.assignment, late)


def opened_step(
    connection: Connection,
    study: Study,
    rater_id: int,
    address: tuple[str, int],
    given: AnswerInput,
) -> OpenedStep:
    """Return the step at an address (assignment's public id, stage), for a construct.

    Raises
    ------
    NotYoursError
        The step does not exist, it was not opened by this rater, or the owner rejected their work
        on the response.
    InvalidError
        The construct is not rated at this step.
    """
    public_id, stage = address
    assignment = _assignment(connection, rater_id, public_id)
    if assignment.released_at is not None and has_rejected(connection, assignment.id):
        raise NotYoursError
    shown = _reveals(connection, rater_id, assignment)
    step = next((v for v in shown if v.in_assignment and v.stage == stage), None)
    if step is None:
        raise NotYoursError
    construct = _construct(study, assignment, stage, given.construct_key)
    return OpenedStep(study, rater_id, construct, assignment, tuple(shown), step)


@dataclass(frozen=True)
class RatingTarget(AnswerTarget):
    """A construct of a response at a step."""

    CONTENT: ClassVar[tuple[str, ...]] = (*AnswerTarget.CONTENT, "flags")

    submission: RatingInput
    construct: ConstructSpec
    opened: OpenedStep

    def check(self) -> None:
        """Refuse a value off the scale, and flags that the construct does not have."""
        check_status(self.submission)
        spec, submission = self.construct, self.submission
        if submission.value is not None:
            problem = spec.scale.problem(submission.value) or spec.scale.off_grid(submission.value)
            if problem:
                raise InvalidError(f"{problem}.", "value")
        flags = submission.flags
        unknown = [flag for flag in flags if flag not in spec.flags]
        if unknown:
            raise InvalidError(f"{spec.name} has no remark {unknown[0]!r}.", "flags")
        if len(set(flags)) < len(flags):
            raise InvalidError("A remark is ticked twice.", "flags")

    @property
    def owner(self) -> int:
        """Database key of the assignment."""
        return int(self.opened.assignment.id)

    def circumstances(self, connection: Connection, previous: Row[Any] | None) -> dict[str, Any]:
        """Return what the rater had been shown, the remarks, and how the texts were shown."""
        return {
            "flags": list(self.submission.flags),
            "text_format": self.submission.text_format,
            **self.opened.circumstances(connection, previous),
        }

    def written(self, connection: Connection, row: RaterAnswerBase) -> None:
        """Renew the lease."""
        self.opened.renew(connection, late=row.late)


def _assignment(connection: Connection, rater_id: int, public_id: str) -> Row[Any]:
    key = {"public_id": public_id, "rater": rater_id}
    # An address may contain characters that a database cannot compare.
    row = connection.execute(_ASSIGNMENT, key).one_or_none() if public_id.isalnum() else None
    if row is None:
        raise NotYoursError
    return row


def _reveals(connection: Connection, rater_id: int, assignment: Row[Any]) -> list[_Shown]:
    query = {"rater": rater_id, "query": assignment.query_id}
    return [
        _Shown(
            row.id,
            row.stage,
            tuple(row.fields),
            row.repeat,
            row.assignment_id == assignment.id,
        )
        for row in connection.execute(_SHOWN, query)
    ]


def _construct(study: Study, assignment: Row[Any], stage: int, key: str) -> ConstructSpec:
    spec = study.config.construct_spec(key)
    if spec is None or key not in assignment.construct_keys:
        raise InvalidError(f"{key!r} is not rated here.", "construct")
    (rated_at,) = stages_of(study.config, [key])
    if rated_at.number != stage:
        raise InvalidError(f"{spec.name} is not rated at this step.", "construct")
    return spec


def _compared_since(newest: Row[Any] | None, more: set[Sees]) -> bool:
    """Whether a comparison has shown more fields since the newest revision was saved."""
    if newest is None:
        return False
    return bool(newest.after_reveal) or not more.issubset(newest.revealed)


def _late(connection: Connection, assignment: Row[Any]) -> bool:
    if assignment.released_at is None and not lease_is_over(assignment.leased_until):
        return False
    # A slot whose lease is over or that was released may be handed to another rater right now.
    lock_slots(connection)
    return True


def _renew(
    connection: Connection, study: Study, rater_id: int, assignment: Row[Any], late: bool
) -> None:
    if assignment.leased_until is None and assignment.released_at is None:
        return
    if late and _handed_on(connection, assignment.id):
        return
    if assignment.released_at is None and not renewed_by_now(study, assignment.leased_until):
        renew(connection, study, rater_id, assignment.query_id)
    answered = set(connection.execute(_ANSWERED, {"assignment": assignment.id}).scalars())
    known = {construct.key for construct in study.config.constructs}
    if answered.issuperset(known.intersection(assignment.construct_keys)):
        end_lease(connection, assignment.id)


def _handed_on(connection: Connection, assignment_id: int) -> bool:
    return bool(
        connection.execute(
            select(is_handed_on()).where(assignments.c.id == assignment_id)
        ).scalar_one()
    )
