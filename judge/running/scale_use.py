"""Recognizes a run whose scores are on another scale than the prompts request."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, func, select

from judge.running.items import EMPTY_RESPONSE
from study.base.scales import Scale
from study.errors import StudyError
from study.facts.judgments import as_read
from study.schema.tables import judgments

ENOUGH = 50
"""Scores of a run, or on one construct, after which the run is stopped if all are low."""
FEW = 10
"""Scores after which a note names them, and a sample that decides on a run ends with an error."""
_LOWEST = 0.1
# Points of a scale that is too short to be taken for another one.
_SHORT_SCALE = 10
_LIKELY = ((1, "0 to 1"), (5, "1 to 5"), (10, "1 to 10"))
"""Scales that models answer on instead, by their highest value."""


class ScaleUse:
    """Counts the scores of a run, and stops it where all are in the lowest tenth of the scale.

    A model that rates from 1 to 10 although the prompt asks for 0 to 100 gives a run of valid
    scores, all of them wrong; so does a prompt of one construct that names another scale than those
    of the others. Equal scores alone are not taken for another scale, and scores that prompts
    define for an empty response do not count.
    """

    def __init__(
        self,
        scale_of: Callable[[str], Scale],
        earlier: Mapping[str, Mapping[float, int]] | None = None,
        *,
        accept: bool,
    ) -> None:
        self._scale_of = scale_of
        self._values: defaultdict[str, Counter[float]] = defaultdict(Counter)
        for construct, values in (earlier or {}).items():
            self._values[construct] = Counter(values)
        self._accept = accept

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Count the values of judgments."""
        for row in rows:
            if row["value"] is not None and row["rule"] != EMPTY_RESPONSE:
                self._values[row["construct_key"]][row["value"]] += 1

    def check(self, enough: int = ENOUGH) -> None:
        """Raise where the scores so far are on another scale.

        Raises
        ------
        StudyError
            At least `enough` scores that differ, of the run or on one construct, are all in the
            lowest tenth of the scale.
        """
        if seen := self._low_scores(enough):
            raise StudyError(
                f"{seen} Look at the answers with `ccrs judge show --response`, and say in the "
                "prompts which scale is meant. If the scores are right, add --accept-low-scores."
            )

    def note(self) -> str | None:
        """Return a sentence on scores that are all in the lowest tenth; None where they are not.

        At least 10 scores, of the run or on one construct, are needed.
        """
        return self._low_scores(FEW)

    def _low_scores(self, enough: int) -> str | None:
        """Describe the run, or else each construct, whose scores are all in the lowest tenth."""
        if self._accept:
            return None
        scales = {key: self._scale_of(key) for key in self._values}
        low = {
            (f" on {key}", scales[key]): values
            for key, values in self._values.items()
            if _is_low(max(values), scales[key])
        }
        if len(low) == len(self._values) and len(set(scales.values())) == 1:
            [scale] = set(scales.values())
            low = {("", scale): sum(low.values(), Counter[float]())}
        sentences = [
            _sentence(where, scale, values)
            for (where, scale), values in low.items()
            if len(values) > 1 and values.total() >= enough
        ]
        return " ".join(sentences) or None


def _is_low(value: float, scale: Scale) -> bool:
    """Return whether a value is in the lowest tenth of a scale that is long enough to tell."""
    length = scale.max - scale.min
    return length > _SHORT_SCALE and value <= scale.min + _LOWEST * length


def _sentence(where: str, scale: Scale, values: Counter[float]) -> str:
    low, high = min(values), max(values)
    likely = next((name for most, name in _LIKELY if high <= most), None)
    guess = f" The model seems to rate from {likely}." if likely and scale.min == 0 else ""
    return (
        f"All {values.total()} scores so far{where} are from {low:g} to {high:g}, in the "
        f"lowest tenth of the scale from {scale.min:g} to {scale.max:g}.{guess}"
    )


def stored_values(connection: Connection, run_id: int) -> dict[str, dict[float, int]]:
    """Return how often each score was given in a run by construct, except to empty responses.

    Scores are those of the newest reading.
    """
    rows = as_read(("construct_key", "value", "rule"), judgments.c.run_id == run_id).subquery()
    columns = (rows.c.construct_key, rows.c.value)
    statement = (
        select(*columns, func.count())
        .where(rows.c.value.is_not(None), rows.c.rule != EMPTY_RESPONSE)
        .group_by(*columns)
    )
    values: dict[str, dict[float, int]] = {}
    for construct, value, number in connection.execute(statement):
        values.setdefault(construct, {})[float(value)] = int(number)
    return values
