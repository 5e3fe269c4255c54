"""Recognizes a run whose scores are on another scale than the prompts request."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, func, select

from judge.running.remaining_work import EMPTY_RESPONSE
from study.errors import StudyError
from study.scales import RatingScale
from study.schema.tables import judgments

ENOUGH = 50
"""Scores after which a run is stopped if all are low."""
_LOWEST = 0.1
# Points of a scale that is too short to be taken for another one.
_SHORT_SCALE = 10
_LIKELY = ((1, "0 to 1"), (5, "1 to 5"), (10, "1 to 10"))
"""Scales that models answer on instead, by their highest value."""


class ScaleUse:
    """Counts the scores of a run, and stops it where all are in the lowest tenth of the scale.

    A model that rates from 1 to 10 although the prompt asks for 0 to 100 gives a run of valid
    scores, all of them wrong. Equal scores alone are not taken for another scale, and scores that
    prompts define for an empty response do not count.
    """

    def __init__(self, scale: RatingScale, earlier: Mapping[float, int], *, accept: bool) -> None:
        self._scale = scale
        self._values = Counter(earlier)
        self._accept = accept or scale.max - scale.min <= _SHORT_SCALE

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Count the values of judgments."""
        self._values.update(
            row["value"]
            for row in rows
            if row["value"] is not None and row["rule"] != EMPTY_RESPONSE
        )

    def check(self) -> None:
        """Raise where the scores so far are on another scale.

        Raises
        ------
        StudyError
            At least 50 scores that differ are all in the lowest tenth of the scale.
        """
        if self._values.total() >= ENOUGH and (seen := self.note()):
            raise StudyError(
                f"{seen} Look at the answers with `ccrs judge show --response`, and say in the "
                "prompts which scale is meant. If the scores are right, add --accept-low-scores."
            )

    def note(self) -> str | None:
        """Return a sentence on scores that are all in the lowest tenth; None where they are not."""
        scale, values = self._scale, self._values
        if self._accept or len(values) < 2:
            return None
        low, high = min(values), max(values)
        if high > scale.min + _LOWEST * (scale.max - scale.min):
            return None
        likely = next((name for most, name in _LIKELY if high <= most), None)
        guess = f" The model seems to rate from {likely}." if likely and scale.min == 0 else ""
        return (
            f"All {values.total()} scores so far are from {low:g} to {high:g}, in the lowest tenth "
            f"of the scale from {scale.min:g} to {scale.max:g}.{guess}"
        )


def stored_values(connection: Connection, run_id: int) -> dict[float, int]:
    """Return how often each score was given in a run, except to empty responses."""
    column = judgments.c.value
    rows = connection.execute(
        select(column, func.count())
        .where(
            judgments.c.run_id == run_id,
            column.is_not(None),
            judgments.c.rule != EMPTY_RESPONSE,
        )
        .group_by(column)
    )
    return {float(value): int(number) for value, number in rows}
