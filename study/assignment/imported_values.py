"""Imported values of raters that new assignments would replace in the score table."""

from collections import Counter
from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from study.assignment.assignment_rows import Row
from study.errors import StudyError
from study.schema.tables import scores


def replaced_values(
    connection: Connection,
    rows: Iterable[Row],
    codes: Mapping[str, int],
    versions: Mapping[str, int],
) -> dict[str, int]:
    """Return the number of imported values of each rater that `rows` would replace.

    A value that a rater gives here replaces the one that was imported under their code for the
    same response and construct.

    Parameters
    ----------
    codes
        Raters' codes with their database keys.
    versions
        Current versions of the constructs; values on earlier ones are not in the table anyway.
    """
    code_of = {rater: code for code, rater in codes.items()}
    assigned = {
        (code_of[row["rater_id"]], row["response_id"], key)
        for row in rows
        if row["purpose"] == "main" and row["rater_id"] in code_of
        for key in row["construct_keys"]
    }
    imported = connection.execute(
        select(
            scores.c.scorer,
            scores.c.response_id,
            scores.c.construct_key,
            scores.c.construct_version,
        ).where(scores.c.scorer.in_(codes), scores.c.scorer_kind == "human", scores.c.repeat == 0)
    )
    replaced = Counter(
        row.scorer
        for row in imported
        if (row.scorer, row.response_id, row.construct_key) in assigned
        and versions.get(row.construct_key) == row.construct_version
    )
    return dict(sorted(replaced.items()))


def described(replaced: Mapping[str, int]) -> str:
    """Return the numbers as text, such as `12 of anna, 3 of ben`."""
    return ", ".join(f"{count:,} of {code}" for code, count in replaced.items())


def refuse_replacing(replaced: Mapping[str, int]) -> None:
    """Refuse assignments that replace imported values.

    Raises
    ------
    StudyError
        There are some.
    """
    if replaced:
        raise StudyError(
            "Values given here would replace imported ones of the same raters in all tables "
            f"({described(replaced)}). Nothing was stored. --constructs names other constructs, "
            "--raters other raters; --yes (replace_imported=True in Python) assigns them all the "
            "same."
        )
