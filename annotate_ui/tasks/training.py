"""Training: responses with expected values and feedback, until enough values are in range."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from sqlalchemy import Connection, insert, select

from annotate_ui.participants.languages import can_read, languages_of
from annotate_ui.tasks.slot_queue import next_position
from study.facts.current_responses import is_answer
from study.facts.departures import readmitted_without_leaving
from study.facts.ratings import counted_ratings
from study.facts.slots import OWN_CHANNEL, is_live
from study.schema import (
    AssignmentBase,
)
from study.schema.tables import (
    assignments,
    expected_values,
    queries,
    ratings as rating_table,
    responses,
)
from study.study import Study

# Any number that no other draw of the same seed uses.
_TRAINING = 0x747261696E

Why = Literal[
    "not_asked",
    "no_material",
    "passed",
    "readmitted",
    "under_way",
    "attempts_used",
    "material_used",
]


@dataclass(frozen=True)
class TrainingState:
    """How far a rater is with the training."""

    passed: bool
    """The rater may go on to what counts."""
    failed: bool
    """No further attempt is possible; the owner may let the rater through."""
    why: Why
    """`not_asked`: the study has no training. `no_material`: it asks for one and has no response
    for it that this rater can read. `readmitted`: the owner let them through. `attempts_used` and
    `material_used`: why no further attempt is possible."""
    attempt: int
    """Attempts that were begun."""
    attempts: int
    """Attempts that there may be."""
    share: float | None
    """Of the expected values met in the newest attempt that is finished; None: none is."""
    pass_mark: float
    shares: tuple[float, ...] = ()
    """Of each finished attempt."""

    @property
    def let_through(self) -> bool:
        """Whether the rater may go on without having passed, by the owner's decision."""
        return self.why in _LET_THROUGH

    def as_json(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return {**asdict(self), "shares": list(self.shares)}


def training_state(connection: Connection, study: Study, rater_id: int) -> TrainingState:
    """Return how far a rater is with the training."""
    design = study.config.design
    attempts = _attempts(connection, study, rater_id) if design.training else []
    shares = tuple(attempt.share for attempt in attempts if attempt.share is not None)

    why = _why(connection, study, rater_id, attempts)
    return TrainingState(
        passed=why in _PASSED,
        failed=why in _FAILED,
        why=why,
        attempt=len(attempts),
        attempts=design.training_attempts,
        share=shares[-1] if shares else None,
        pass_mark=design.pass_mark,
        shares=shares,
    )


_PASSED: tuple[Why, ...] = ("not_asked", "no_material", "passed", "readmitted")
_LET_THROUGH: tuple[Why, ...] = ("readmitted",)
_FAILED: tuple[Why, ...] = ("attempts_used", "material_used")


def _why(
    connection: Connection, study: Study, rater_id: int, attempts: "Sequence[_Attempt]"
) -> Why:
    design = study.config.design
    why: Why = "under_way"
    if not design.training:
        why = "not_asked"
    elif any(
        attempt.share is not None and attempt.share >= design.pass_mark for attempt in attempts
    ):
        why = "passed"
    elif readmitted_without_leaving(connection, rater_id):
        why = "readmitted"
    elif not attempts or attempts[-1].share is not None:
        left = len(_new_material(connection, study, rater_id))
        if not attempts:
            why = "under_way" if left else "no_material"
        elif len(attempts) >= design.training_attempts:
            why = "attempts_used"
        elif left < design.training:
            why = "material_used"
    return why


def begin_attempt(connection: Connection, study: Study, rater_id: int) -> int:
    """Give the rater the responses of an attempt, if the next one is due; return how many.

    They are drawn at random from those that the rater was never given, on as many queries as
    there are, and first from queries that are not part of the rater's other work.
    """
    state = training_state(connection, study, rater_id)
    attempts = _attempts(connection, study, rater_id)
    if state.passed or state.failed or (attempts and attempts[-1].share is None):
        return 0
    number = len(attempts)
    rng = np.random.default_rng([study.config.seed, _TRAINING, rater_id, number])
    chosen = _draw(
        _new_material(connection, study, rater_id),
        study.config.design.training,
        _queries_of(connection, rater_id),
        rng,
    )
    place = next_position(connection, rater_id)
    rows = []
    for offset, response in enumerate(chosen):
        row = AssignmentBase(
            construct_keys=[
                response.construct_keys[i] for i in rng.permutation(len(response.construct_keys))
            ],
            purpose="training",
            position=place + offset,
            round=number,
        )
        rows.append(
            {
                **row.model_dump(),
                "rater_id": rater_id,
                "response_id": response.response_id,
                "config_hash": study.config_hash,
            }
        )
    if rows:
        connection.execute(insert(assignments), rows)
    return len(rows)


@dataclass(frozen=True)
class _Attempt:
    met: int
    expected: int
    finished: bool

    @property
    def share(self) -> float | None:
        """Share of the expected values that were met; None: not all are given."""
        return self.met / self.expected if self.finished and self.expected else None


def _attempts(connection: Connection, study: Study, rater_id: int) -> list[_Attempt]:
    """Return the attempts that a rater began, in their order."""
    known = {construct.key for construct in study.config.constructs}
    assigned = connection.execute(
        select(
            assignments.c.id,
            assignments.c.round,
            assignments.c.response_id,
            assignments.c.construct_keys,
        )
        .where(
            assignments.c.rater_id == rater_id,
            assignments.c.purpose == "training",
            assignments.c.channel == OWN_CHANNEL,
            is_live(),
        )
        .order_by(assignments.c.round, assignments.c.id)
    ).all()
    if not assigned:
        return []
    ranges: dict[tuple[int, str], tuple[float, float]] = {}
    for row in connection.execute(
        select(
            expected_values.c.response_id,
            expected_values.c.construct_key,
            expected_values.c.low,
            expected_values.c.high,
        ).where(
            expected_values.c.purpose == "training",
            expected_values.c.response_id.in_({row.response_id for row in assigned}),
        )
    ):
        ranges[row.response_id, row.construct_key] = row.low, row.high
    values = _blind_values(connection, rater_id)
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in assigned:
        count = counts[row.round]
        for key in known.intersection(row.construct_keys):
            answered = (row.id, key) in values
            count[2] += not answered
            if (row.response_id, key) in ranges:
                low, high = ranges[row.response_id, key]
                value = values.get((row.id, key))
                count[0] += value is not None and low <= value <= high
                count[1] += 1
    return [_Attempt(met, expected, missing == 0) for met, expected, missing in counts.values()]


def _blind_values(connection: Connection, rater_id: int) -> dict[tuple[int, str], float | None]:
    """Return a rater's answers to each training response before its feedback was shown."""
    mine = select(assignments.c.id).where(
        assignments.c.rater_id == rater_id, assignments.c.purpose == "training"
    )
    ratings = connection.execute(select(counted_ratings(rating_table.c.assignment_id.in_(mine))))
    return {
        (row.assignment_id, row.construct_key): None if row.entered_after_reveal else row.value
        for row in ratings
    }


@dataclass(frozen=True)
class _Material:
    response_id: int
    query_id: int
    construct_keys: tuple[str, ...]


def _new_material(connection: Connection, study: Study, rater_id: int) -> list[_Material]:
    """Return the training responses that this rater can read and was never given."""
    languages = languages_of(connection, study.config, rater_id)
    seen = select(assignments.c.response_id).where(assignments.c.rater_id == rater_id)
    known = [construct.key for construct in study.config.constructs]
    by_response: dict[int, tuple[int, set[str]]] = {}
    for row in connection.execute(
        select(
            expected_values.c.response_id,
            expected_values.c.construct_key,
            responses.c.query_id,
            queries.c.attributes,
        )
        .join_from(expected_values, responses, expected_values.c.response_id == responses.c.id)
        .join(queries, responses.c.query_id == queries.c.id)
        .where(expected_values.c.purpose == "training", responses.c.id.not_in(seen), ~is_answer())
        .order_by(responses.c.id)
    ):
        if row.construct_key in known and can_read(languages, row.attributes):
            by_response.setdefault(row.response_id, (row.query_id, set()))[1].add(row.construct_key)
    return [
        _Material(response, query, tuple(key for key in known if key in keys))
        for response, (query, keys) in by_response.items()
    ]


def _draw(
    material: Sequence[_Material], count: int, busy: set[int], rng: np.random.Generator
) -> list[_Material]:
    shuffled = [material[i] for i in rng.permutation(len(material))]
    times: dict[int, int] = defaultdict(int)
    ranked: list[tuple[bool, int, int]] = []
    for place, response in enumerate(shuffled):
        ranked.append((response.query_id in busy, times[response.query_id], place))
        times[response.query_id] += 1
    return [shuffled[place] for *_, place in sorted(ranked)[:count]]


def _queries_of(connection: Connection, rater_id: int) -> set[int]:
    return set(
        connection.execute(
            select(responses.c.query_id)
            .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
            .where(assignments.c.rater_id == rater_id)
        ).scalars()
    )
