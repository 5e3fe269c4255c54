"""Checks of both tables; each returns messages about faults and raises nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.core.errors import did_you_mean
from study.base.scales import Scale

#: Rows named in one fault; the count is always given in full.
NAMED = 5

KINDS = ("human", "adjudicated", "judge", "metric")

Codes = npt.NDArray[np.signedinteger[Any]]
"""Codes (n,) of texts, -1 for missing ones; of as few bytes as their number needs."""

Mask = npt.NDArray[np.bool_]


def rows_named(rows: Iterable[int]) -> str:
    """'row 3', or 'rows 3, 5, 9 and 12 more'; rows are counted from 0."""
    listed = [int(row) for row in rows]
    first = ", ".join(str(row) for row in listed[:NAMED])
    more = f" and {len(listed) - NAMED} more" if len(listed) > NAMED else ""
    return f"row{'s' if len(listed) > 1 else ''} {first}{more}"


def missing_columns(present: Sequence[str], required: Sequence[str]) -> list[str]:
    """A fault for each required column that is missing, with the most similar present name."""
    listed = ", ".join(map(repr, present)) or "none"
    return [
        f"column {name!r} is missing; there are {listed}.{did_you_mean(name, present)}"
        for name in required
        if name not in present
    ]


def text_codes(column: pd.Series[Any]) -> tuple[Codes, list[str]]:
    """Codes (n,) and the distinct texts, in order of appearance; -1 for missing and empty."""
    if isinstance(column.dtype, pd.CategoricalDtype) and _are_texts(column.cat.categories):
        return _by_appearance(codes_of(column), column.cat.categories)
    raw, distinct = pd.factorize(column, use_na_sentinel=True)
    # An object column may contain 1, 1.0 and "1": the texts decide.
    texts = [_text(value) for value in distinct]
    names: dict[str, int] = {}
    lookup = np.full(len(texts) + 1, -1, dtype=np.int64)
    for position, text in enumerate(texts):
        if text:
            lookup[position] = names.setdefault(text, len(names))
    return lookup.astype(_smallest(len(names)))[raw], list(names)


def codes_of(column: pd.Series[Any]) -> Codes:
    """Codes (n,) of a categorical column, without the copy that `cat.codes` makes."""
    texts: Any = column.array
    return np.asarray(texts.codes)


def _smallest(count: int) -> np.dtype[Any]:
    """The smallest type of codes of so many texts."""
    return np.min_scalar_type(-count - 1)


def _are_texts(categories: pd.Index[Any]) -> bool:
    return all(isinstance(name, str) and name for name in categories)


def _by_appearance(codes: npt.NDArray[Any], categories: pd.Index[Any]) -> tuple[Codes, list[str]]:
    """Codes and names of a categorical column: the codes themselves where they are in order."""
    # The last element is for what is missing, -1.
    first = np.full(len(categories) + 1, len(codes))
    # Of several positions of a code, the last one written is its first.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1, dtype=np.int32)
    first = first[:-1]
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(codes))]
    names = [str(categories[code]) for code in order]
    if order.size == len(categories) and (np.diff(order) > 0).all():
        return codes, names
    renamed = np.full(len(categories) + 1, -1, dtype=_smallest(len(names)))
    renamed[order] = np.arange(order.size)
    return renamed[codes], names


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def numbers(column: pd.Series[Any], name: str, faults: list[str]) -> npt.NDArray[np.float64]:
    """Floats with NaN for missing; words and infinite values are faults."""
    if column.dtype == bool:
        faults.append(f"column {name!r} contains true and false; write numbers")
        return np.full(len(column), np.nan)
    if column.dtype == np.float64:
        values = column.to_numpy()
        # It may be the caller's own, who may change it later.
        values = values.copy() if values.flags.writeable else values
    else:
        numeric = pd.to_numeric(column, errors="coerce")
        values = numeric.to_numpy(dtype=np.float64, na_value=np.nan)
    if not pd.api.types.is_numeric_dtype(column):
        text = column.astype("object")
        blank = column.isna().to_numpy() | (text.map(lambda v: str(v).strip() == "").to_numpy())
        wrong = np.flatnonzero(np.isnan(values) & ~blank)
        if wrong.size:
            first = str(text.iloc[int(wrong[0])])
            faults.append(
                f"column {name!r} contains {first!r} in {rows_named(wrong)}; write a number, "
                "or leave it empty and give missing_reason"
            )
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        faults.append(f"column {name!r} is infinite in {rows_named(infinite)}")
        values = np.where(np.isinf(values), np.nan, values)
    return values


def repeats(column: pd.Series[Any], faults: list[str]) -> Codes:
    """Whole numbers from 0; a missing repeat is 0."""
    before = len(faults)
    values = numbers(column, "repeat", faults)
    values = np.where(np.isnan(values), 0, values)
    wrong = np.flatnonzero((values < 0) | (values != np.floor(values)))
    if wrong.size and len(faults) == before:
        faults.append(
            f"column 'repeat' is {values[wrong[0]]:g} in {rows_named(wrong)}; "
            "count repeats 0, 1, 2 and so on"
        )
    return values.astype(np.min_scalar_type(-int(values.max(initial=0)) - 1))


def kinds(codes: Codes, names: Sequence[str]) -> list[str]:
    """Faults for unknown kinds of scorer."""
    return [
        f"scorer_kind {name!r} in {rows_named(np.flatnonzero(codes == code))} is not one of "
        f"{', '.join(KINDS)}.{did_you_mean(name.lower(), KINDS)}"
        for code, name in enumerate(names)
        if name not in KINDS
    ]


def one_each(
    codes: Codes, names: Sequence[str], of: Codes, other_names: Sequence[str], message: str
) -> list[str]:
    """Faults where one of `names` has two of `other_names`.

    `message` has the fields {name}, {a}, {b} and {rows}.
    """
    if alike_within(codes, of):
        return []
    known = (codes >= 0) & (of >= 0)
    pairs = pd.unique(codes[known].astype(np.int64) * max(1, len(other_names)) + of[known])
    first = pd.DataFrame(
        dict(zip(("codes", "of"), divmod(pairs, max(1, len(other_names))), strict=True))
    )
    faults = []
    counts = first["codes"].value_counts(sort=False)
    for code in counts.index[counts.to_numpy() > 1][:NAMED]:
        both = [other_names[i] for i in first.loc[first["codes"] == code, "of"].tolist()[:2]]
        rows = rows_named(np.flatnonzero((codes == code) & (of == other_names.index(both[1]))))
        faults.append(message.format(name=names[code], a=both[0], b=both[1], rows=rows))
    return faults


def alike_within(codes: Codes, of: Codes) -> bool:
    """Whether rows of one code (n,) also have one code `of` (n,); missing ones are left out."""
    # The last element is for a missing code, -1. Of several positions one is written.
    given = np.full(int(codes.max(initial=-1)) + 2, -1, dtype=of.dtype)
    given[codes[of >= 0]] = of[of >= 0]
    return not ((codes >= 0) & (of >= 0) & (of != given[codes])).any()


def off_scale(
    values: npt.NDArray[np.float64],
    group_scales: Sequence[Scale | None],
    groups: Codes,
    label: Sequence[str],
) -> list[str]:
    """Faults for values outside the declared scale of their group (construct and scorer)."""
    faults = []
    for group, scale in enumerate(group_scales):
        if scale is None:
            continue
        rows = np.flatnonzero(groups == group)
        group_values = values[rows]
        outside = rows[(group_values < scale.min) | (group_values > scale.max)]
        if outside.size:
            faults.append(
                f"{label[group]}: {values[outside[0]]:g} in {rows_named(outside)} is outside "
                f"{scale}; correct the value or declare the scorer's own scale"
            )
    return faults


def combined(parts: Sequence[Codes]) -> npt.NDArray[np.int64]:
    """A number for each combination of codes (n,); missing counts as a separate value."""
    key, largest = np.zeros(len(parts[0]), dtype=np.int64), 1
    for part in parts:
        size = int(part.max(initial=-1)) + 2
        if largest * size > np.iinfo(np.int64).max:
            key = pd.factorize(key)[0].astype(np.int64)
            largest = len(key)
        key *= size
        key += part
        key += 1
        largest *= size
    return key


def two_values(key: Codes, values: npt.NDArray[np.float64], message: str) -> tuple[list[str], Mask]:
    """Faults where one key has two values, and which rows repeat an earlier row with its value.

    A missing and a present value differ. `message` has the fields {a}, {b} and {rows}.
    """
    in_order = np.sort(key)
    if not (in_order[1:] == in_order[:-1]).any():
        return [], np.zeros(key.size, dtype=bool)
    order = np.argsort(key, kind="stable")
    sorted_key, sorted_value = key[order], values[order]
    again = np.r_[False, sorted_key[1:] == sorted_key[:-1]]
    start = np.maximum.accumulate(np.where(again, 0, np.arange(key.size))) if key.size else order
    first = sorted_value[start]
    same = (sorted_value == first) | (np.isnan(sorted_value) & np.isnan(first))
    wrong = np.flatnonzero(again & ~same)
    faults = []
    for position in wrong[:NAMED]:
        a, b = int(order[start[position]]), int(order[position])
        faults.append(
            message.format(a=_text_of(values[a]), b=_text_of(values[b]), rows=f"{a} and {b}")
        )
    if wrong.size > NAMED:
        faults.append(f"and {wrong.size - NAMED} more of the same kind")
    repeated = np.zeros(key.size, dtype=bool)
    repeated[order] = again & same
    return faults, repeated


def _text_of(value: float) -> str:
    return "missing" if np.isnan(value) else f"{value:g}"


def check_scales(scales: Mapping[Any, object], name: str) -> list[str]:
    """Faults for declared scales that are not of the class `Scale`."""
    return [
        f"{name}[{key!r}] is {value!r}; give a Scale"
        for key, value in scales.items()
        if not isinstance(value, Scale)
    ]
