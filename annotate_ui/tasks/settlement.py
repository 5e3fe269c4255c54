"""Settling a response on which raters differ: a value that is chosen knowing theirs.

It is a rating of an adjudicator that is entered after the reveal. Such a rating is stored and
exported, and enters no figure: what judges are compared with is the value that an adjudicator gave
before they saw those of others.
"""

from collections.abc import Mapping
from typing import Any, get_args

from sqlalchemy import Connection, insert, select

from annotate_ui.participation import lock_rater
from study.assignment.raters import raters_by_code
from study.errors import StudyError
from study.facts.ratings import ADJUDICATING, newest_ratings
from study.schema import AssignmentBase, RaterAnswerBase
from study.schema.locks import LockSpace, lock_until_commit
from study.schema.tables import assignments, rater_answers, ratings, responses, scores
from study.study import Study
from study.types import Sees

LONGEST_COMMENT = 5000
CHANNEL, INPUT_KIND = "owner", "settled"
"""Where such a value is entered, and how."""


def settle(
    study: Study,
    response_id: int,
    rater: str,
    values: Mapping[str, float],
    comment: str | None = None,
) -> int:
    """Store the values on which an adjudicator settles; return how many were not stored already.

    Parameters
    ----------
    response_id
        Database key of the response.
    rater
        Code of the adjudicator; an unknown code creates a rater.
    values
        By construct.
    comment
        Why, stored with each of the values.

    Raises
    ------
    StudyError
        There is no value, one is not a point of its scale, the comment is too long, the
        adjudicator has left or is a rater of the response, or has it to rate and has not given a
        blind value on the construct yet.
    """
    if not values:
        raise StudyError("No value was entered; nothing was stored.")
    for key, value in values.items():
        spec = study.config.construct_spec(key)
        if spec is None:
            raise StudyError(f"{key!r} is not a construct of the study.")
        problem = spec.scale.problem(value) or spec.scale.off_grid(value)
        if problem:
            raise StudyError(f"{key}: {problem}. Nothing was stored.")
    if comment is not None and len(comment) > LONGEST_COMMENT:
        raise StudyError(
            f"The comment has {len(comment)} characters; the maximum is {LONGEST_COMMENT}. "
            "Nothing was stored."
        )
    with study.write() as connection:
        lock_until_commit(connection, LockSpace.ASSIGNMENT)
        _check_response(connection, response_id)
        rater_id = raters_by_code(connection, study, [rater], dry_run=False)[rater]
        lock_rater(connection, rater_id)
        mine = _assignments(connection, study, response_id, rater_id, rater, list(values))
        newest = newest_ratings(ratings.c.assignment_id.in_({row.id for row in mine.values()}))
        stored = {
            (row.assignment_id, row.construct_key): row
            for row in connection.execute(select(newest))
        }
        versions = study.construct_versions(connection)
        rows = []
        for key, value in values.items():
            assignment = mine[key]
            before = stored.get((assignment.id, key))
            if before is None and assignment.stratum is not None:
                raise StudyError(
                    f"{rater!r} has this response to adjudicate and has not rated {key} yet: the "
                    "blind value comes first, on the rating pages. Nothing was stored."
                )
            if before is not None and (before.value, before.comment) == (value, comment):
                continue
            noun = RaterAnswerBase(
                construct_key=key,
                construct_version=versions[key],
                revision=1 if before is None else before.revision + 1,
                value=value,
                comment=comment,
                input_kind=INPUT_KIND,
                revealed=list(get_args(Sees)),
                after_reveal=True,
                seen_more=True,
                channel=assignment.channel,
            )
            row = noun.model_dump() | {"config_hash": study.config_hash}
            rows.append(row | {"assignment_id": assignment.id})
        if rows:
            connection.execute(insert(rater_answers), rows)
        return len(rows)


def _check_response(connection: Connection, response_id: int) -> None:
    known = select(responses.c.id).where(responses.c.id == response_id)
    if connection.execute(known).first() is None:
        raise StudyError(f"There is no response {response_id}.")


def _assignments(
    connection: Connection,
    study: Study,
    response_id: int,
    rater_id: int,
    code: str,
    keys: list[str],
) -> dict[str, Any]:
    """Return the adjudicator's assignment of the response by construct, stored where it is new."""
    existing = connection.execute(
        select(assignments)
        .where(assignments.c.rater_id == rater_id, assignments.c.response_id == response_id)
        .order_by(assignments.c.id)
    ).all()
    imported = connection.execute(
        select(scores.c.id).where(
            scores.c.response_id == response_id,
            scores.c.scorer == code,
            scores.c.scorer_kind == "human",
        )
    ).first()
    if imported is not None or any(row.purpose != ADJUDICATING for row in existing):
        raise StudyError(
            f"{code!r} is a rater of this response, whose value is one of those that differ. "
            "Name another adjudicator. Nothing was stored."
        )
    found = {key: row for row in existing for key in row.construct_keys}
    missing = [key for key in keys if key not in found]
    if missing:
        # Another channel than that of the rating pages, which would ask for it there.
        noun = AssignmentBase(construct_keys=missing, purpose=ADJUDICATING, channel=CHANNEL)
        values = noun.model_dump() | {
            "rater_id": rater_id, "response_id": response_id, "config_hash": study.config_hash,
        }  # fmt: skip
        row = connection.execute(insert(assignments).values(**values).returning(assignments)).one()
        found |= dict.fromkeys(missing, row)
    return found
