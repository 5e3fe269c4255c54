"""Further work of raters who take open slots: calibration first, attention checks in between.

Raters who are named in the assignment get both from there.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, insert, select

from annotate_ui.participants.languages import can_read, languages_of
from annotate_ui.tasks.slot_queue import (
    free_query,
    lease_end,
    main_queries,
    most_queries,
    next_position,
    slots_to_take,
)
from study.facts.slots import OWN_CHANNEL, is_live
from study.schema import AssignmentBase
from study.schema.human_ratings import Purpose
from study.schema.tables import assignments, queries, responses
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


def _next_check(
    connection: Connection, study: Study, rater_id: int, *, dry_run: bool
) -> list[dict[str, Any]]:
    """Return the assignments of the check that comes before the rater's next slots; empty if none.

    A rater whose number of queries is bounded gets all checks within them and after the last one,
    each order of queries and checks being equally likely. A check has the form of the slots that
    come next, or of the rater's last query if none do. The caller has called `lock_slots`.
    """
    like = slots_to_take(connection, study, rater_id)
    share = _share_of_checks(connection, study, rater_id, more=bool(like))
    if share <= 0:
        return []
    like = like or _last_slots(connection, rater_id)
    place = next_position(connection, rater_id)
    rng = np.random.default_rng([study.config.seed, _CHECKING, rater_id, place])
    if not like or like[0].repeat or rng.random() >= share:
        return []
    pieces = _check_like(connection, study, rater_id, like, dry_run=dry_run)
    until = lease_end(study)
    return [
        {
            **_row(study, rater_id, pieces[index], "check", place + offset, rng),
            "leased_until": until,
        }
        for offset, index in enumerate(rng.permutation(len(pieces)))
    ]


def give_check(connection: Connection, study: Study, rater_id: int) -> bool:
    """Assign the check that comes next; return whether there is one."""
    rows = _next_check(connection, study, rater_id, dry_run=False)
    if rows:
        connection.execute(insert(assignments), rows)
    return bool(rows)


def check_follows(connection: Connection, study: Study, rater_id: int) -> bool:
    """Whether the rater's next request brings a check; nothing is stored."""
    return bool(_next_check(connection, study, rater_id, dry_run=True))


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


def _share_of_checks(connection: Connection, study: Study, rater_id: int, *, more: bool) -> float:
    """Return the probability that a check comes next; `more`: slots are to come as well."""
    number = study.config.design.checks
    if not number:
        return 0.0
    given = connection.execute(
        select(func.count(responses.c.query_id.distinct()))
        .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
        .where(assignments.c.rater_id == rater_id, assignments.c.purpose == "check", is_live())
    ).scalar_one()
    most = most_queries(connection, rater_id)
    if given >= number:
        return 0.0
    if most is None:
        return 1 / _QUERIES_A_CHECK if more else 0.0
    left = max(most - len(main_queries(connection, rater_id)), 0) if more else 0
    return float((number - given) / (number - given + left))


def _last_slots(connection: Connection, rater_id: int) -> list[Any]:
    """Return the rater's main assignments of the query that they were handed last."""
    rows = connection.execute(
        select(assignments, responses.c.query_id)
        .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
        .where(assignments.c.rater_id == rater_id, assignments.c.purpose == "main", is_live())
        .order_by(assignments.c.position.desc(), assignments.c.id.desc())
    ).all()
    return [row for row in rows if (row.query_id, row.round) == (rows[0].query_id, rows[0].round)]


def _check_like(
    connection: Connection, study: Study, rater_id: int, like: Sequence[Any], *, dry_run: bool
) -> list[_Piece]:
    """Return copies of responses to a query that the rater does not have, in the form of others."""
    from study.assignment.checks import CheckQuery, Copies, expected_lower, matched
    from study.assignment.reading_time import WordCounts
    from study.assignment.sampling_frame import sampling_frame

    frame, specs = sampling_frame(connection), study.config.constructs
    falling, reading = expected_lower(specs), WordCounts(connection, specs)
    measured = [answer.id for answer in frame.answers]
    copies = Copies(connection, study.config.seed, measured, reading, dry_run=dry_run)
    had = select(responses.c.query_id).join_from(
        assignments, responses, assignments.c.response_id == responses.c.id
    )
    known = set(connection.execute(had.where(assignments.c.rater_id == rater_id)).scalars())
    known |= {slot.query_id for slot in like}
    languages = languages_of(connection, study.config, rater_id)
    originals: dict[int, dict[int, frozenset[str]]] = defaultdict(dict)
    for answer in frame.answers:
        if answer.query not in known and can_read(
            languages, frame.questions[answer.query].attributes
        ):
            keys = frozenset(spec.key for spec in specs if answer.shows(spec))
            originals[answer.query][answer.id] = keys
    turns = np.random.default_rng([study.config.seed, _CHECKING])
    turn = {query: turns.random() for query in frame.questions}
    form = [frozenset(slot.construct_keys) for slot in like]
    # Queries that nobody rates come first, since the others may be handed to the rater later.
    for query in sorted(originals, key=lambda query: (query in copies.rated, turn[query])):
        chosen = matched(form, CheckQuery(query, originals[query], {}), falling, reading.length)
        made = [(copies.of(original, falling), keys) for original, keys in chosen.items()]
        if made and all(copy is not None for copy, _ in made):
            return [
                _Piece(copy, tuple(sorted(keys)), like[0].round, like[0].layout)
                for copy, keys in made
                if copy is not None
            ]
    return []
