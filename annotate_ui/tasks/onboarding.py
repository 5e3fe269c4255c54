"""Further work of raters who take open slots: calibration first, attention checks in between.

Raters who are named in the assignment get both from there.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, insert, select

from annotate_ui.tasks.languages import can_read, languages_of
from annotate_ui.tasks.slot_queue import (
    TakenSlot,
    free_query,
    main_queries,
    most_queries,
    next_position,
)
from study.facts.slots import OWN_CHANNEL, is_live
from study.schema import AssignmentBase
from study.schema.human_ratings import Purpose
from study.schema.tables import assignments, check_pairs, queries, responses
from study.study import Study

# Any numbers that no other draw of the same seed uses.
_CALIBRATING, _CHECKING = 0x63616C69, 0x63686563
# Number of queries per check for a rater whose number of queries is not bounded.
_QUERIES_A_CHECK = 5


@dataclass(frozen=True)
class _Piece:
    response_id: int
    construct_keys: tuple[str, ...]
    round: int
    layout: str


def calibrate(connection: Connection, study: Study, rater_id: int) -> int:
    """Assign the study's calibration to a rater of open slots; return the number of responses.

    It is the calibration of the other raters, each query once, in a random order; for the first
    rater it is drawn as the assignment draws it.
    """
    mine = select(assignments.c.id).where(
        assignments.c.rater_id == rater_id, assignments.c.purpose.in_(("main", "calibration"))
    )
    if connection.execute(mine.limit(1)).first() is not None:
        return 0
    if free_query(connection, study, rater_id) is None:
        return 0
    by_query = _calibration_of_others(connection) or _drawn_calibration(connection, study)
    queries = list(_readable(connection, study, rater_id, by_query).values())
    rng = np.random.default_rng([study.config.seed, _CALIBRATING, rater_id])
    place = next_position(connection, rater_id)
    rows: list[dict[str, Any]] = []
    for index in rng.permutation(len(queries)):
        pieces = queries[index]
        for piece in (pieces[i] for i in rng.permutation(len(pieces))):
            row = _row(study, rater_id, piece, "calibration", place + len(rows), rng)
            rows.append(row)
    if rows:
        connection.execute(insert(assignments), rows)
    return len(rows)


def check(
    connection: Connection, study: Study, rater_id: int, taken: Sequence[TakenSlot]
) -> int | None:
    """Add a check to the slots of a query that a rater just took, at random.

    A rater whose number of queries is bounded gets all checks within them. Return the response
    that is the check, or None.
    """
    if not _is_due(connection, study, rater_id, taken):
        return None
    rng = np.random.default_rng([study.config.seed, _CHECKING, rater_id, taken[0].query_id, 1])
    shuffled = [taken[i] for i in rng.permutation(len(taken))]
    copied = _check_for(connection, study, rater_id, shuffled)
    if copied is None:
        return None
    response, like = copied
    piece = _Piece(response, like.construct_keys, like.round, like.layout)
    # Somewhere among the others: every second place was left free.
    place = min(slot.position for slot in taken) - 1 + 2 * int(rng.integers(len(taken) + 1))
    row = _row(study, rater_id, piece, "check", place, rng)
    row.update(repeat=like.repeat, leased_until=like.leased_until)
    connection.execute(insert(assignments), [row])
    return response


def _row(
    study: Study,
    rater_id: int,
    piece: _Piece,
    purpose: Purpose,
    position: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    keys = piece.construct_keys
    row = AssignmentBase(
        construct_keys=[keys[i] for i in rng.permutation(len(keys))],
        purpose=purpose,
        position=position,
        round=piece.round,
        layout="side_by_side" if piece.layout == "side_by_side" else "single",
    )
    return {
        **row.model_dump(),
        "rater_id": rater_id,
        "response_id": piece.response_id,
        "config_hash": study.config_hash,
    }


def _calibration_of_others(connection: Connection) -> dict[int, list[_Piece]]:
    """Return the calibration of all raters, by query."""
    by_query: dict[int, dict[tuple[int, int], _Piece]] = defaultdict(dict)
    for row in connection.execute(
        select(
            assignments.c.response_id,
            responses.c.query_id,
            assignments.c.construct_keys,
            assignments.c.round,
            assignments.c.layout,
        )
        .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
        .where(assignments.c.purpose == "calibration", assignments.c.channel == OWN_CHANNEL)
        .order_by(assignments.c.id)
    ):
        piece = _Piece(row.response_id, tuple(row.construct_keys), row.round, row.layout)
        by_query[row.query_id].setdefault((row.response_id, row.round), piece)
    return {query: list(pieces.values()) for query, pieces in by_query.items()}


def _drawn_calibration(connection: Connection, study: Study) -> dict[int, list[_Piece]]:
    """Draw the calibration of a study in which no rater has any yet."""
    design = study.config.design
    if not design.calibration or not design.ratings:
        return {}
    from study.assignment.assignment_rows import rounds_of
    from study.assignment.existing_assignments import existing_assignments
    from study.assignment.sample import calibration_queries
    from study.assignment.sampling_frame import sampling_frame

    frame, specs = sampling_frame(connection), study.config.constructs
    answers = frame.ratable(specs)
    queries, _ = calibration_queries(
        design.calibration,
        answers,
        frame,
        existing_assignments(connection, study.config),
        study.config.seed,
        drawn_queries=(),
        readable=lambda _: True,
        everything=False,
    )
    rounds = rounds_of(specs, study.config.seed, None)
    by_query: dict[int, list[_Piece]] = {query: [] for query in queries}
    for answer in answers:
        if answer.query not in by_query:
            continue
        keys = [spec.key for spec in specs if answer.shows(spec)]
        passes = [(key,) for key in keys] if design.one_construct_a_pass else [tuple(keys)]
        for pass_keys in passes:
            which = rounds[pass_keys[0]] if design.one_construct_a_pass else 0
            by_query[answer.query].append(_Piece(answer.id, pass_keys, which, design.layout))
    return by_query


def _readable(
    connection: Connection, study: Study, rater_id: int, by_query: dict[int, list[_Piece]]
) -> dict[int, list[_Piece]]:
    languages = languages_of(connection, study.config, rater_id)
    rows = connection.execute(
        select(queries.c.id, queries.c.attributes).where(queries.c.id.in_(by_query))
    )
    able = {row.id for row in rows if can_read(languages, row.attributes)}
    return {query: pieces for query, pieces in by_query.items() if query in able}


def _is_due(
    connection: Connection, study: Study, rater_id: int, taken: Sequence[TakenSlot]
) -> bool:
    number = study.config.design.checks
    if not number or taken[0].repeat:
        return False
    assigned = connection.execute(
        select(func.count()).where(
            assignments.c.rater_id == rater_id, assignments.c.purpose == "check", is_live()
        )
    ).scalar_one()
    if assigned >= number:
        return False
    most = most_queries(connection, rater_id)
    share = 1 / _QUERIES_A_CHECK
    if most is not None:
        left = most - len(main_queries(connection, rater_id)) + 1
        share = (number - assigned) / max(left, 1)
    rng = np.random.default_rng([study.config.seed, _CHECKING, rater_id, taken[0].query_id])
    return bool(rng.random() < share)


def _check_for(
    connection: Connection, study: Study, rater_id: int, taken: Sequence[TakenSlot]
) -> tuple[int, TakenSlot] | None:
    """Return a damaged copy of one of these responses, and that response."""
    from study.assignment.checks import LEAST_WORDS, Copies, expected_lower
    from study.assignment.reading_time import WordCounts
    from study.assignment.sampling_frame import sampling_frame

    falling = expected_lower(study.config.constructs)
    originals = {
        slot.response_id: slot for slot in taken if set(falling) & set(slot.construct_keys)
    }
    mine = select(assignments.c.response_id).where(assignments.c.rater_id == rater_id)
    existing = connection.execute(
        select(check_pairs.c.original_id, check_pairs.c.damaged_id)
        .where(check_pairs.c.original_id.in_(originals), check_pairs.c.damaged_id.not_in(mine))
        .order_by(check_pairs.c.id)
    ).first()
    if existing is not None:
        return int(existing.damaged_id), originals[existing.original_id]
    texts = connection.execute(
        select(responses.c.id, responses.c.text).where(responses.c.id.in_(originals))
    )
    long_enough = {row.id for row in texts if len(row.text.split()) >= LEAST_WORDS}
    measured = [answer.id for answer in sampling_frame(connection).answers]
    reading = WordCounts(connection, study.config.constructs)
    copies = Copies(connection, study.config.seed, measured, reading, dry_run=False)
    for original, slot in originals.items():
        copy = copies.of(original, falling) if original in long_enough else None
        if copy is not None:
            return copy, slot
    return None
