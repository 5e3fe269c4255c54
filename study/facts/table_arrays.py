"""Columns of tables with millions of rows: arrays of numbers, codes of what repeats."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

Columns = Mapping[str, Any] | pd.DataFrame
"""Arrays (n,) by name: numpy.ndarray, pandas.Categorical or pandas.Series."""

TYPES = {
    "response": "int64",
    "construct_version": "int32",
    "repeat": "int32",
    "value": "float64",
    "edited": "bool",
    "a": "int64",
    "b": "int64",
    "value_a_first": "float64",
    "value_b_first": "float64",
}
"""Columns that are neither of texts nor of few distinct numbers."""

FEW_NUMBERS = frozenset({"inclusion_prob", "position"})
"""Columns of numbers that repeat: categories of floats, missing in most rows or alike in them."""


def size(columns: Columns) -> int:
    """Return the number of rows."""
    return len(columns[str(next(iter(columns)))])


def together(parts: Sequence[Columns]) -> dict[str, Any]:
    """Return the rows of all parts; a column that a part lacks is missing there, or False.

    Texts (and numbers that repeat) are categories in their order, without unused ones. Parts that
    are dicts are emptied, so that rows are not in memory twice.
    """
    sizes = [size(part) for part in parts]
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(str(name) for part in parts for name in part):
        part_columns = [
            part.pop(name, None) if isinstance(part, dict) else part.get(name) for part in parts
        ]
        columns[name] = (_numbers if name in TYPES else _repeated)(name, part_columns, sizes)
    return columns


def _numbers(name: str, parts: list[Any], sizes: Sequence[int]) -> np.ndarray:
    kind = np.dtype(TYPES[name])
    missing = np.nan if kind.kind == "f" else 0
    arrays = [
        np.full(rows, missing, kind) if part is None else np.asarray(part).astype(kind, copy=False)
        for part, rows in zip(parts, sizes, strict=True)
    ]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _repeated(name: str, parts: list[Any], sizes: Sequence[int]) -> pd.Categorical:
    coded = [
        (np.full(rows, -1, np.int8), []) if part is None else _coded(part)
        for part, rows in zip(parts, sizes, strict=True)
    ]
    distinct = sorted({each for _, categories in coded for each in categories})
    rank = {each: code for code, each in enumerate(distinct)}
    # The last element is the code of what is missing, -1.
    ranks = [np.array([*(rank[each] for each in categories), -1]) for _, categories in coded]
    kind = np.min_scalar_type(-len(distinct) - 1)
    codes = [of.astype(kind)[part] for of, (part, _) in zip(ranks, coded, strict=True)]
    joined = np.concatenate(codes)
    return numbered(joined, distinct) if name in FEW_NUMBERS else categorical(joined, distinct)


def _coded(column: Any) -> tuple[np.ndarray, list[Any]]:
    """Return the codes (n,) of a column, -1 for what is missing, and the categories that occur."""
    if not isinstance(column, pd.Categorical) and not isinstance(column.dtype, pd.CategoricalDtype):
        values = np.asarray(column)
        values = values if values.dtype == np.float64 else values.astype("object")
        codes, distinct = pd.factorize(values)
        return codes, distinct.tolist()
    whole = pd.Categorical(column)
    return used(np.asarray(whole.codes), list(whole.categories))


def used(codes: np.ndarray, texts: list[Any]) -> tuple[np.ndarray, list[Any]]:
    """Return codes and categories without the categories that do not occur."""
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    if counts.all():
        return codes, texts
    kept = np.flatnonzero(counts)
    renamed = np.full(len(texts) + 1, -1)
    renamed[kept] = np.arange(kept.size)
    return renamed.astype(codes.dtype)[codes], [texts[code] for code in kept]


def categorical(codes: np.ndarray, texts: Sequence[str] | np.ndarray) -> pd.Categorical:
    """Return texts by their codes; -1 is missing."""
    index = pd.Index(np.asarray(texts, dtype="object"), dtype="object")
    return pd.Categorical.from_codes(codes, index)


def numbered(codes: np.ndarray, numbers: Sequence[float] | np.ndarray) -> pd.Categorical:
    """Return numbers by their codes; -1 is missing."""
    index: Any = pd.Index(np.asarray(numbers, dtype=np.float64))
    return pd.Categorical.from_codes(codes, index)


def select_rows(columns: Mapping[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """Return some rows, by their positions or by a mask (n,)."""
    return {name: column[rows] for name, column in columns.items()}
