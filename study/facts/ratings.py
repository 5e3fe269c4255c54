"""Which revision of a rating counts, and what is derived from it, defined once for all modules.

A rating is a value that a rater gives to one construct of one assignment; each change is a
revision.

- The newest revision is the one that its rater sees and may change.
- The revision that counts is the last one entered before the reveal, that is, before the rater was
  shown fields of a later stage. A withdrawn rating is missing, whenever it was withdrawn.
- A rating that was first entered after the reveal is kept and marked `entered_after_reveal`. It
  enters no figure of agreement, and progress counts it separately.
- An answer is a rating that is not withdrawn, whether it counts or not. An assignment is finished
  when each of its constructs has one; constructs that study.toml no longer has are not asked for.
- Of two assignments of a rater for the same response, one rating counts (`rated_again`).
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Subquery,
    and_,
    case,
    func,
    null,
    or_,
    select,
    tuple_,
)

from study.errors import StudyError
from study.facts.passages_opened import passages_opened
from study.facts.scorers import ADJUDICATED
from study.facts.slots import OWN_CHANNEL, is_live
from study.schema.database import read_frame
from study.schema.tables import assignments, constructs, interim_analyses, raters, ratings
from study.settings.study_toml import StudyConfig

if TYPE_CHECKING:
    import pandas as pd

Edits = Literal["before_reveal", "last"]
"""`before_reveal`: the last value entered before the reveal. `last`: the last value."""

# Ratings for training, calibration or checks show how raters learn; they are not measurements.
MEASURING = ("main", "repeat")

ADJUDICATING: Final = "adjudication"
"""Purpose of an adjudicator's assignments. Their values are of another kind of scorer in the table.

They enter it only if they are of a stratum, so that it is known how the response was chosen:
tie-breaks are requested where raters disagree and are representative of these responses alone.
"""

REJECTED: Final = "rejected by the owner"
"""Reason of the revision by which the owner withdraws what a rater entered."""

AS_ENTERED: Final = ratings.c.reason.is_distinct_from(REJECTED)
"""Condition of revisions that reads ratings as if none was rejected."""

_TOO_LATE = "first given after a later stage was shown"
_AGAIN = "given to a response a second time by the same rater"


def newest_ratings(*conditions: ColumnElement[bool]) -> Subquery:
    """Return the newest revision of each rating, with all columns of the table of ratings.

    A further column is `answered`: whether the rating is not withdrawn. `conditions` refer to the
    table of ratings and must select all revisions of a rating or none, such as conditions on its
    assignment.
    """
    keys = ratings.c.assignment_id, ratings.c.construct_key
    last = (
        select(*keys, func.max(ratings.c.revision).label("revision"))
        .where(*conditions)
        .group_by(*keys)
        .subquery()
    )
    return (
        select(ratings, _is_answer(ratings).label("answered"))
        .join(last, _is_revision(ratings, last, last.c.revision))
        .subquery("newest_rating")
    )


def answered_constructs(*conditions: ColumnElement[bool]) -> Subquery:
    """Return the constructs of assignments that have an answer: a rating that is not withdrawn.

    `conditions` are as in `newest_ratings`. Columns: `assignment_id`, `construct_key`.
    """
    newest = newest_ratings(*conditions)
    return (
        select(newest.c.assignment_id, newest.c.construct_key)
        .where(newest.c.answered)
        .subquery("answered_construct")
    )


def is_rejected(newest: Any) -> bool:
    """Whether the newest revision of an answer is the owner's rejection of it."""
    return bool(newest.status == "withdrawn" and newest.reason == REJECTED)


def is_of_owner() -> ColumnElement[bool]:
    """Return the condition that a revision is a rejection, or takes one back: no rater made it."""
    before = ratings.alias("rejection")
    return (ratings.c.status == "withdrawn") & (ratings.c.reason == REJECTED) | (
        select(before.c.id)
        .where(
            before.c.assignment_id == ratings.c.assignment_id,
            before.c.construct_key == ratings.c.construct_key,
            before.c.revision == ratings.c.revision - 1,
            before.c.status == "withdrawn",
            before.c.reason == REJECTED,
        )
        .exists()
    )


def has_rejected(connection: Connection, assignment_id: int) -> bool:
    """Whether the owner rejected ratings of an assignment, and has not taken that back."""
    newest = newest_ratings(ratings.c.assignment_id == assignment_id)
    return any(map(is_rejected, connection.execute(select(newest.c.status, newest.c.reason))))


def moments_entered(connection: Connection) -> "pd.Series[Any]":
    """Return when each revision was entered, by its id.

    Revisions from elsewhere are stored when they are fetched; the other place knows when they
    were given.
    """
    given = func.coalesce(
        ratings.c.external_at, ratings.c.created_at, type_=ratings.c.created_at.type
    )
    moments = read_frame(connection, select(ratings.c.id, given.label("moment")))
    return moments.set_index("id")["moment"]


def settled_values() -> Select[Any]:
    """Return the values that adjudicators chose knowing those of the raters, the earliest first.

    Columns: `response_id`, `construct_key`, `code` (the adjudicator's), `value`, `comment`,
    `created_at`. A blind value is none of them.
    """
    adjudicated = select(assignments.c.id).where(assignments.c.purpose == ADJUDICATING)
    newest = newest_ratings(ratings.c.assignment_id.in_(adjudicated))
    return (
        select(
            assignments.c.response_id,
            newest.c.construct_key,
            raters.c.code,
            newest.c.value,
            newest.c.comment,
            newest.c.created_at,
        )
        .join_from(newest, assignments, newest.c.assignment_id == assignments.c.id)
        .join(raters, assignments.c.rater_id == raters.c.id)
        .where(newest.c.after_reveal, newest.c.value.is_not(None))
        .order_by(newest.c.id)
    )


def finished_assignments(
    connection: Connection, config: StudyConfig, *conditions: ColumnElement[bool]
) -> set[int]:
    """Return the ids of assignments of which every construct has an answer.

    `conditions` refer to the table of assignments.
    """
    known = {construct.key for construct in config.constructs}
    chosen = select(assignments.c.id).where(*conditions)
    answered = answered_constructs(ratings.c.assignment_id.in_(chosen))
    answers = defaultdict[int, set[str]](set)
    for assignment, key in connection.execute(select(answered)):
        answers[assignment].add(key)
    assigned = connection.execute(
        select(assignments.c.id, assignments.c.construct_keys).where(*conditions)
    )
    return {
        row.id
        for row in assigned
        if answers[row.id].issuperset(key for key in row.construct_keys if key in known)
    }


def unfinished_slots(connection: Connection, config: StudyConfig, rater_id: int) -> list[int]:
    """Return the ids of a rater's live assignments on these pages that are not finished."""
    theirs = (assignments.c.rater_id == rater_id, assignments.c.channel == OWN_CHANNEL, is_live())
    done = finished_assignments(connection, config, *theirs)
    rows = connection.execute(select(assignments.c.id).where(*theirs).order_by(assignments.c.id))
    return [row.id for row in rows if row.id not in done]


def counted_ratings(*conditions: ColumnElement[bool], edits: Edits = "before_reveal") -> Subquery:
    """Return the revision that counts of each rating, with all columns of the table of ratings.

    `conditions` are as in `newest_ratings`. With `edits="last"` the newest revision is returned in
    place of the one that counts. Further columns:

    - `answered`: it is not withdrawn;
    - `entered_after_reveal`: every revision was entered after the reveal, and none withdrew it; the
      row is the newest revision, and does not count;
    - `edited`: the newest value is another than the one before the reveal;
    - `first_id`: id of the first revision, which rises in the order of rating;
    - `saved_at`: when the newest revision was stored.
    """
    newest, counting = ratings.alias("newest"), ratings.alias("counting")
    keys = ratings.c.assignment_id, ratings.c.construct_key
    ends = (
        select(
            *keys,
            func.max(ratings.c.revision).label("newest"),
            func.max(case((ratings.c.after_reveal, null()), else_=ratings.c.revision)).label(
                "before"
            ),
            func.min(ratings.c.id).label("first_id"),
        )
        .where(*conditions)
        .group_by(*keys)
        .subquery("revisions")
    )
    answered = _is_answer(newest)
    counts = case((~answered, ends.c.newest), else_=func.coalesce(ends.c.before, ends.c.newest))
    chosen = newest if edits == "last" else counting
    return (
        select(
            chosen,
            answered.label("answered"),
            and_(ends.c.before.is_(None), answered).label("entered_after_reveal"),
            and_(
                ends.c.before.is_not(None),
                answered,
                newest.c.value.is_distinct_from(counting.c.value),
            ).label("edited"),
            ends.c.first_id,
            newest.c.created_at.label("saved_at"),
        )
        .select_from(ends)
        .join(newest, _is_revision(newest, ends, ends.c.newest))
        .join(counting, _is_revision(counting, ends, counts))
        .subquery("counted_rating")
    )


def ratings_that_count(connection: Connection, *conditions: ColumnElement[bool]) -> list[Row[Any]]:
    """Return the ratings that count, with the columns of `counted_ratings` and `rater_id`.

    `conditions` are as in `newest_ratings`; they must also select all assignments of a rater for
    the same response, or one.
    """
    counted = counted_ratings(*conditions)
    task = (
        assignments.c.rater_id,
        assignments.c.response_id,
        assignments.c.repeat,
        counted.c.construct_key,
        counted.c.construct_version,
    )
    rows = connection.execute(
        select(counted, assignments.c.rater_id, assignments.c.response_id, assignments.c.repeat)
        .join_from(counted, assignments, counted.c.assignment_id == assignments.c.id)
        .where(counted.c.answered)
        .order_by(assignments.c.id, counted.c.first_id)
    )
    first: dict[tuple[Any, ...], Row[Any]] = {}
    for row in rows:
        first.setdefault(tuple(row._mapping[column] for column in task), row)
    return [row for row in first.values() if not row.entered_after_reveal]


def _is_answer(newest: Any) -> ColumnElement[bool]:
    return cast(ColumnElement[bool], newest.c.status != "withdrawn")


def _is_revision(ratings: Any, of: Any, revision: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(
        ratings.c.assignment_id == of.c.assignment_id,
        ratings.c.construct_key == of.c.construct_key,
        ratings.c.revision == revision,
    )


def human_scores(
    connection: Connection, edits: Edits, *conditions: ColumnElement[bool]
) -> "pd.DataFrame":
    """Return one value of each construct of each assignment that measures or adjudicates.

    Values that a rater gave as adjudicator have the scorer CODE (adjudicated): a scorer is of one
    kind, and the same person may have rated other responses.

    In addition to the columns of the score table there are `left_out` (why a row does not count;
    None where it does) and `edited` (whether the last value is another than the one before the
    reveal). `conditions` are as in `newest_ratings`.

    Raises
    ------
    StudyError
        The value of `edits` is not valid.
    """
    if edits not in get_args(Edits):
        raise StudyError(f"edits = {edits!r}: use one of {', '.join(get_args(Edits))}.")
    rows = _human_ratings(connection, edits, *conditions)
    rows["left_out"] = None
    if edits != "last":
        rows.loc[rows["entered_after_reveal"], "left_out"] = _TOO_LATE
    again = rated_again(rows, rows["answered"])
    rows.loc[again, "left_out"] = _AGAIN
    # Values from other places are stored in the order in which they were fetched, not rated.
    on_own_pages = rows["first_id"].where(rows["source"].eq(OWN_CHANNEL))
    rows["position"] = on_own_pages.groupby(rows["scorer"]).rank(method="first")
    return rows.drop(columns=["answered", "entered_after_reveal", "first_id"])


def rated_again(ratings: "pd.DataFrame", answered: "pd.Series[bool]") -> "pd.Series[bool]":
    """Return which ratings do not count, since the scorer rated the same in another assignment.

    Of two assignments of a rater for the same response and repeat, the earlier one counts, or the
    later one if the earlier is withdrawn.

    Parameters
    ----------
    ratings
        `response`, `construct`, `construct_version`, `scorer`, `repeat`, in the order of their
        assignments.
    answered
        Whether each of them is not withdrawn.
    """
    key = ["response", "construct", "construct_version", "scorer", "repeat"]
    withdrawn_last = (~answered).sort_values(kind="stable").index
    return ratings.loc[withdrawn_last, key].duplicated().reindex(ratings.index)


def _human_ratings(
    connection: Connection, edits: Edits, *conditions: ColumnElement[bool]
) -> "pd.DataFrame":
    counted = counted_ratings(*conditions, edits=edits)
    adjudicated = assignments.c.purpose == ADJUDICATING
    ratings = read_frame(
        connection,
        select(
            assignments.c.response_id.label("response"),
            counted.c.construct_key.label("construct"),
            counted.c.construct_version,
            case((adjudicated, raters.c.code + ADJUDICATED), else_=raters.c.code).label("scorer"),
            case((adjudicated, "adjudicated"), else_="human").label("scorer_kind"),
            assignments.c.repeat,
            counted.c.value,
            func.nullif(counted.c.status, "rated").label("missing_reason"),
            null().label("rule"),
            assignments.c.inclusion_prob,
            assignments.c.stratum,
            assignments.c.layout,
            counted.c.channel.label("source"),
            counted.c.text_format,
            counted.c.channel,
            counted.c.revealed,
            counted.c.created_at,
            assignments.c.rater_id,
            counted.c.edited,
            counted.c.answered,
            counted.c.entered_after_reveal,
            counted.c.first_id,
        )
        .join_from(counted, assignments, counted.c.assignment_id == assignments.c.id)
        .join(raters, assignments.c.rater_id == raters.c.id)
        .where(
            or_(
                assignments.c.purpose.in_(MEASURING),
                and_(adjudicated, assignments.c.stratum.is_not(None)),
            )
        )
        .order_by(assignments.c.id, counted.c.first_id),
    )
    flags = dict.fromkeys(("answered", "edited", "entered_after_reveal"), "bool")
    types: Any = {"value": "float64", **flags}
    ratings["passages_opened"] = passages_opened(connection, ratings)
    ratings = ratings.drop(columns=["channel", "revealed", "created_at", "rater_id"])
    return ratings.astype(types)


def values_so_far(connection: Connection) -> int:
    """Return how many ratings that measure something people have entered, revisions not counted.

    Those first entered after the reveal are in no interim figure and are not counted.
    """
    g = counted_ratings()
    counted = (
        select(func.count())
        .select_from(g)
        .join(assignments, g.c.assignment_id == assignments.c.id)
        .where(assignments.c.purpose.in_(MEASURING), ~g.c.entered_after_reveal)
    )
    return int(connection.execute(counted).scalar_one())


def interim_analysis_counts(connection: Connection) -> dict[str, int]:
    """Return by kind the number of interim analyses before the last value was entered."""
    rows = connection.execute(
        select(interim_analyses.c.kind, func.count())
        .where(interim_analyses.c.ratings < values_so_far(connection))
        .group_by(interim_analyses.c.kind)
        .order_by(interim_analyses.c.kind)
    )
    return {kind: int(count) for kind, count in rows}


def rules_of_raters(
    connection: Connection, versions: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """Return the rules of each construct that was rated with the rules in view.

    `versions` are the current versions of the constructs; ratings of others do not count.
    Constructs without rules are left out.
    """
    rows = connection.execute(
        select(constructs.c.key, constructs.c.rules).where(
            tuple_(constructs.c.key, constructs.c.version).in_(list(versions.items())),
            select(ratings.c.id)
            .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
            .where(
                and_(
                    ratings.c.construct_key == constructs.c.key,
                    ratings.c.construct_version == constructs.c.version,
                    ratings.c.rules_hash.is_not(None),
                    assignments.c.purpose.in_(MEASURING),
                )
            )
            .exists(),
        )
    )
    rules = {row.key: tuple(row.rules) for row in rows if row.rules}
    return {key: rules[key] for key in versions if key in rules}
