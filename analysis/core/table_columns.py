"""Columns of a table that is read: texts as codes, numbers as floats, and their faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from analysis.core import table_checks as check
from analysis.core.pass_fail_words import words_as_numbers
from study.base.scales import Scale

NO_REASON = "not given"

_NUMBERS = {
    "value", "repeat", "inclusion_prob", "response_words", "position", "value_a_first",
    "value_b_first",
}  # fmt: skip


class Columns:
    """Columns of a frame as codes and numbers; reading them collects faults."""

    def __init__(
        self, frame: pd.DataFrame, required: Sequence[str], optional: Sequence[str]
    ) -> None:
        self._frame = frame
        self._required, self._columns = required, (*required, *optional)
        self._codes: dict[str, check.Codes] = {}
        self.names: dict[str, list[str]] = {}
        self.faults: list[str] = []

    def text(self, name: str) -> check.Codes:
        if name not in self._codes:
            if name in self._frame.columns:
                codes, names = check.text_codes(self._frame[name])
            else:
                codes, names = np.full(len(self._frame), -1, dtype=np.int8), []
            self._codes[name], self.names[name] = codes, names
            empty = np.flatnonzero(codes < 0)
            if name in self._required and empty.size:
                self.faults.append(f"column {name!r} is empty in {check.rows_named(empty)}")
        return self._codes[name]

    def name(self, column: str, code: int) -> str:
        return self.names[column][code] if code >= 0 else ""

    def number(self, name: str, default: float = np.nan) -> np.ndarray[Any, np.dtype[np.float64]]:
        if name not in self._frame.columns:
            return np.full(len(self._frame), default)
        values = check.numbers(self._frame[name], name, self.faults)
        missing = np.isnan(values)
        return (
            values if np.isnan(default) or not missing.any() else np.where(missing, default, values)
        )

    def repeated_number(self, name: str, default: float | None = None) -> pd.Categorical:
        """Numbers that repeat, as categories of floats: a byte or two for each of millions of rows.

        What is missing has the code -1, or is `default`.
        """
        column = self._frame.get(name, pd.Series(np.nan, index=self._frame.index))
        if not _has_finite_floats(column):
            values = check.numbers(column, name, self.faults)
            codes, distinct = pd.factorize(values, sort=True)
            codes = codes.astype(np.min_scalar_type(-len(distinct) - 1))
            column = pd.Series(pd.Categorical.from_codes(codes, pd.Index(distinct)))
        missing = column.isna()
        if default is not None and missing.any():
            if default not in column.cat.categories:
                column = column.cat.add_categories([default])
            column = column.fillna(default)
        return pd.Categorical(column)

    def read_words(
        self, groups: check.Codes, label: Sequence[str], scales: Sequence[Scale | None]
    ) -> list[str]:
        """Read words for pass and fail in the values as 1 and 0; return what was read as what."""
        values, notes = words_as_numbers(self._frame["value"], groups, label, scales, self.faults)
        if values is not self._frame["value"]:
            self._frame = self._frame.assign(value=values)
        return notes

    def repeat(self) -> check.Codes:
        if "repeat" not in self._frame.columns:
            return np.zeros(len(self._frame), dtype=np.int8)
        return check.repeats(self._frame["repeat"], self.faults)

    def ignored(self) -> list[str]:
        extra = [str(name) for name in self._frame.columns if name not in self._columns]
        return [f"columns not used: {', '.join(extra)}"] if extra else []

    def frame(self, **numbers: np.ndarray[Any, Any] | pd.Categorical) -> pd.DataFrame:
        """The columns of texts as categories, and these numbers."""
        texts = {
            name: pd.Categorical.from_codes(
                self.text(name), pd.Index(self.names[name], dtype="object")
            )
            for name in self._columns
            if name not in _NUMBERS
        }
        without = np.isnan(np.asarray(numbers["value"])) & (self.text("missing_reason") < 0)
        reasons = texts["missing_reason"]
        names = sorted({*reasons.categories, *([NO_REASON] if without.any() else [])})
        codes = np.array(reasons.set_categories(names).codes)
        if without.any():
            codes[without] = names.index(NO_REASON)
        texts["missing_reason"] = pd.Categorical.from_codes(codes, pd.Index(names, dtype="object"))
        return pd.DataFrame(texts | numbers, copy=False)


def value_or_reason(reason: check.Codes, value: np.ndarray[Any, np.dtype[np.float64]]) -> list[str]:
    both = np.flatnonzero((reason >= 0) & ~np.isnan(value))
    if not both.size:
        return []
    return [f"{check.rows_named(both)} have a value and a missing_reason; keep one of them"]


def words_faults(response: check.Codes, words: pd.Categorical) -> list[str]:
    """A response has one length, which is not below 0."""
    faults = _wrong_numbers("response_words", words, words.categories < 0, "")
    if faults or check.alike_within(response, words.codes):
        return faults
    present = np.flatnonzero(words.codes >= 0)
    differing, _ = check.two_values(
        response[present], np.asarray(words[present], dtype=np.float64),
        "one response has {a} and {b} response_words; give a response one length",
    )  # fmt: skip
    return differing[:1]


def position_faults(position: pd.Categorical) -> list[str]:
    """Positions count a rater's values from 1; missing where the order is not known."""
    numbers = position.categories
    remedy = "; count a rater's values 1, 2, 3 and so on"
    return _wrong_numbers("position", position, (numbers < 1) | (numbers % 1 != 0), remedy)


def probability_faults(probability: pd.Categorical) -> list[str]:
    """A response is rated with a probability above 0."""
    numbers = probability.categories
    remedy = "; it must be above 0 and at most 1"
    return _wrong_numbers("inclusion_prob", probability, (numbers <= 0) | (numbers > 1), remedy)


def _wrong_numbers(
    name: str, column: pd.Categorical, wrong: np.ndarray[Any, np.dtype[np.bool_]], remedy: str
) -> list[str]:
    """A fault that names the rows with a wrong category; `wrong` is by category."""
    rows = np.flatnonzero(np.isin(column.codes, np.flatnonzero(wrong)))
    if not rows.size:
        return []
    return [f"{name} is {column[rows[0]]:g} in {check.rows_named(rows)}{remedy}"]


def _has_finite_floats(column: pd.Series[Any]) -> bool:
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return False
    numbers = column.cat.categories
    return numbers.dtype == np.float64 and bool(np.isfinite(numbers).all())


LAYOUTS = ("single", "side_by_side")
TEXT_FORMATS = ("plain", "monospace", "rendered", "both")


def domain_faults(columns: Columns) -> list[str]:
    """A query has one domain."""
    query, domain = columns.text("query_id"), columns.text("domain")
    return check.one_each(
        query, columns.names["query_id"], domain, columns.names["domain"],
        "query {name!r} has domain {a!r} and in {rows} domain {b!r}; give a query one domain",
    )  # fmt: skip


def named_faults(columns: Columns, column: str, known: tuple[str, ...]) -> list[str]:
    """A cell of this column is one of the known names, or empty where it is not known."""
    columns.text(column)
    unknown = [name for name in columns.names[column] if name not in known]
    if not unknown:
        return []
    return [f"{column} is {unknown[0]!r}; it is {' or '.join(known)}, or empty"]


def one_human_scale(
    columns: Columns,
    scales: Mapping[str, Scale],
    scorer_scales: Mapping[tuple[str, str], Scale],
) -> list[str]:
    """Raters of a construct are averaged, so they must be on one scale."""
    human = [i for i, name in enumerate(columns.names["scorer_kind"]) if name == "human"]
    by_people = np.isin(columns.text("scorer_kind"), human)
    rows = pd.DataFrame({name: columns.text(name)[by_people] for name in ("construct", "scorer")})
    rows = rows.drop_duplicates()
    faults = []
    for code, group in rows.groupby("construct", sort=False):
        key = columns.name("construct", int(str(code)))
        names = [columns.name("scorer", code) for code in group["scorer"]]
        used = {scorer_scales.get((name, key), scales.get(key)) for name in names}
        if len(used) > 1:
            listed = ", ".join(sorted(str(scale or "none declared") for scale in used))
            faults.append(f"raters on {key} have different scales ({listed}); map them to one")
    return faults


def without_first(table: pd.DataFrame, of: Sequence[str], noun: str) -> list[str]:
    """Warnings about repeats without a first value (repeat 0) of the same columns `of`."""
    if not (table["repeat"] > 0).any():
        return []
    keys = ["scorer", "construct", *of]
    lowest = table.groupby(keys, observed=True, sort=False)["repeat"].min()
    warnings: list[str] = []
    without = lowest[lowest > 0].groupby(level=["scorer", "construct"], observed=True, sort=False)
    for key, responses_without in without:
        assert isinstance(key, tuple)  # noqa: S101  (two levels: scorer and construct)
        count = len(responses_without)
        warnings.append(
            f"{key[0]} on {key[1]} has repeats but no repeat 0 of {count} "
            f"{noun}{'s' if count > 1 else ''}, so these do not enter; number repeats from 0"
        )
    return warnings


# So many equal values of two scorers, or more, are reported.
_FEWEST_COPIED = 10


def suspicions(
    table: pd.DataFrame,
    scales: Mapping[str, Scale],
    scorer_scales: Mapping[tuple[str, str], Scale],
) -> list[str]:
    """Warnings about values that are allowed and look wrong."""
    warnings = []
    all_values = table["value"].to_numpy()
    for (scorer, construct), rows in _groups(table, ["scorer", "construct"]):
        values = all_values[rows]
        values = values[~np.isnan(values)]
        scale = scorer_scales.get((scorer, construct), scales.get(construct))
        if scale is None or values.size < 5:
            continue
        low, high = values.min(), values.max()
        if scale.max > 10 and low >= 0 and high <= 1 and low < high:
            warnings.append(
                f"{scorer} on {construct}: all values are between 0 and 1 on a scale of {scale}; "
                "if this scorer uses another scale, declare it"
            )
        elif low == high:
            warnings.append(f"{scorer} on {construct} gave {low:g} throughout")
    return [*warnings, *_identical(table)]


def _groups(
    table: pd.DataFrame, columns: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], np.ndarray[Any, np.dtype[np.int64]]]]:
    """The rows of each combination of texts, in order of appearance; none of them is missing."""
    named = [table[name] for name in columns]
    sizes = [len(texts.cat.categories) for texts in named]
    group = np.zeros(len(table), dtype=np.min_scalar_type(-int(np.prod(sizes)) - 1))
    for texts, size in zip(named, sizes, strict=True):
        group *= size
        group += check.codes_of(texts)
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(table)])
    parts = np.split(order, starts[1:]) if starts.size else []
    for rows in sorted(parts, key=lambda rows: int(rows[0])):
        codes = np.unravel_index(int(group[rows[0]]), sizes)
        names = zip(named, codes, strict=True)
        yield tuple(str(texts.cat.categories[int(code)]) for texts, code in names), rows


def _identical(table: pd.DataFrame) -> list[str]:
    """Warnings about a judge whose values all equal another judge's, or a rater's.

    Few values may agree by chance, and passes and failures of a judge and a rater by merit.
    """
    values, repeats = table["value"].to_numpy(), table["repeat"].to_numpy()
    responses = check.codes_of(table["response_id"])
    found = []
    for names, rows in _groups(table, ["construct", "scorer", "scorer_kind"]):
        group_rows = rows[~np.isnan(values[rows])]
        if names[2] not in {"judge", "human"} or not group_rows.size:
            continue
        order = group_rows[np.lexsort((repeats[group_rows], responses[group_rows]))]
        contents = (responses[order], repeats[order], values[order])
        digests = [
            sha256(np.asarray(part, dtype=np.float64).tobytes()).digest() for part in contents
        ]
        first = (int(responses[order[0]]), int(repeats[order[0]]), int(order[0]))
        found.append((first, names, order.size, np.unique(values[order]).size, b"".join(digests)))
    first_with: dict[tuple[str, bytes], tuple[str, str]] = {}
    warnings = []
    for _, (construct, scorer, kind), count, distinct, content in sorted(found):
        if count < _FEWEST_COPIED or distinct < 2:
            continue
        other, other_kind = first_with.setdefault((construct, content), (scorer, kind))
        both_judges = kind == other_kind == "judge"
        graded = distinct > 2 and "judge" in {kind, other_kind}
        if other != scorer and (both_judges or graded):
            warnings.append(
                f"{other} and {scorer} have the same {count} values on {construct}; check "
                "that neither is a copy of the other"
            )
    return warnings
