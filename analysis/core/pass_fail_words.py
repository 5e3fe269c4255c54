"""Values that say pass or fail: words as 1 and 0, and scales that are seen to have two points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.core import table_checks as check
from study.base.scales import Scale

#: The word that is read as 1, and the one that is read as 0; a file and `ccrs_study.evaluate` know
#: further words.
PASS_FAIL_WORDS = (("pass", "fail"), ("true", "false"), ("yes", "no"))

#: Scale of values that are 0 or 1.
PASS_OR_FAIL = Scale(0, 1, step=1)

_NUMBERS = "numbers"
_MEANING = {
    word: (f"{words[0]} and {words[1]}", value)
    for words in PASS_FAIL_WORDS
    for word, value in zip(words, (1.0, 0.0), strict=True)
}


def words_as_numbers(
    column: pd.Series[Any],
    groups: check.Codes,
    label: Sequence[str],
    scales: Sequence[Scale | None],
    faults: list[str],
) -> tuple[pd.Series[Any], list[str]]:
    """Read words for pass and fail as 1 and 0.

    The values of a group, a scorer on a construct with its `label` and scale, are written in one
    way: mixed ones are faults, as are words on a scale that is not from 0 to 1. A column without
    such words is returned as it is.

    Returns
    -------
    column, notes
        The column with numbers in place of words, and what was read as what.
    """
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return column, []
    codes, distinct = pd.factorize(column.astype("object"), use_na_sentinel=True)
    meanings = [_MEANING.get(str(value).strip().casefold()) for value in distinct]
    if not any(meanings):
        return column, []
    written = [
        (_NUMBERS if str(value).strip() else "") if meaning is None else meaning[0]
        for value, meaning in zip(distinct, meanings, strict=True)
    ]
    row_words = np.array([*written, ""], dtype=object)[codes]
    notes = []
    for group in np.unique(groups[np.isin(row_words, ["", _NUMBERS], invert=True)]):
        rows = np.flatnonzero((groups == group) & (row_words != ""))
        fault = _fault(column, rows, row_words, scales[group])
        if fault is None:
            notes.append(f"{label[group]}: {_read_as(column, rows, row_words[rows[0]])}")
        else:
            faults.append(f"{label[group]}: {fault}")
    read = [
        value if meaning is None else meaning[1]
        for value, meaning in zip(distinct, meanings, strict=True)
    ]
    values = np.array([*read, np.nan], dtype=object)[codes]
    return pd.Series(values, index=column.index), notes


def _fault(
    column: pd.Series[Any],
    rows: npt.NDArray[np.intp],
    row_words: npt.NDArray[np.object_],
    scale: Scale | None,
) -> str | None:
    """Why words of a group, in these rows, cannot be read as 1 and 0."""
    first = row_words[rows[0]]
    others = rows[row_words[rows] != first]
    if others.size:
        return (
            f"{column.iloc[int(others[0])]!r} in {check.rows_named(others)} is "
            f"among {first}; write all values of a scorer on a construct in one way"
        )
    if scale is not None and (scale.min, scale.max) != (0, 1):
        return (
            f"{column.iloc[int(rows[0])]!r} in {check.rows_named(rows)} is 1 "
            f"or 0, and the scale is {scale}; declare a scale from 0 to 1 in one step (0:1:1)"
        )
    return None


def _read_as(column: pd.Series[Any], rows: npt.NDArray[np.intp], words: str) -> str:
    """'pass is read as 1 and fail as 0', of the words that are there."""
    present = {str(column.iloc[int(row)]).strip().casefold() for row in rows}
    return " and ".join(
        f"{word} {'is read ' if place == 0 else ''}as {_MEANING[word][1]:g}"
        for place, word in enumerate(w for w in words.split(" and ") if w in present)
    )


def with_two_points(
    table: pd.DataFrame,
    scales: Mapping[str, Scale],
    scorer_scales: Mapping[tuple[str, str], Scale],
) -> tuple[dict[str, Scale], dict[tuple[str, str], Scale], list[str]]:
    """Scales with one step where people's values on a construct are 0 and 1 only.

    That is so where no scale is declared and both values occur, and where one from 0 to 1 without a
    step is that does not only name categories. It is the scale of the construct if all scorers give
    0 and 1, else that of its raters.

    Returns
    -------
    scales, scorer_scales, notes
        By construct, by (scorer, construct), and what was recognized.
    """
    scales, scorer_scales, notes = dict(scales), dict(scorer_scales), []
    table = table[table["value"].notna()]
    by_people = table["scorer_kind"].isin(["human", "adjudicated"])
    for construct in table["construct"].unique():
        construct_rows = table["construct"] == construct
        people = table[construct_rows & by_people]
        raters = [str(name) for name in people["scorer"].unique()]
        rater_scales = {
            scorer_scales.get((name, construct), scales.get(construct)) for name in raters
        }
        values = set(people["value"].unique())
        if len(rater_scales) != 1 or not values or not values <= {0.0, 1.0}:
            continue
        (scale,) = rater_scales
        if not _may_have_two_points(scale, values):
            continue
        two_points = PASS_OR_FAIL if scale is None else replace(scale, step=1.0)
        if set(table.loc[construct_rows, "value"].unique()) <= {0.0, 1.0}:
            scales[construct] = two_points
        scorer_scales |= {(name, construct): two_points for name in raters}
        notes.append(
            f"people's values on {construct} are 0 and 1 only: they are read as fail and pass, on "
            f"the scale 0:1:1"
        )
    return scales, scorer_scales, notes


def _may_have_two_points(scale: Scale | None, values: set[float]) -> bool:
    """Whether both values occur where no scale is declared, or it goes from 0 to 1 in any steps."""
    if scale is None:
        return len(values) == 2
    return (scale.min, scale.max, scale.step) == (0, 1, None) and scale.level != "nominal"
