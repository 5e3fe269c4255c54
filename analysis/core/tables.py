"""The two input tables, scores and preferences.

A table is validated once: it is accepted, or refused as a whole with every fault named. Values are
never averaged, clipped or dropped. Rows are named by their position, counted from 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd

from analysis.core import table_checks as check
from analysis.core.errors import TableError
from analysis.core.pass_fail_words import with_two_points
from analysis.core.table_columns import (
    LAYOUTS,
    TEXT_FORMATS,
    Columns,
    domain_faults,
    named_faults,
    one_human_scale,
    position_faults,
    probability_faults,
    suspicions,
    value_or_reason,
    without_first,
    words_faults,
)
from study.base.scales import Scale

_REQUIRED = ("response_id", "query_id", "construct", "scorer", "scorer_kind", "value")
_OPTIONAL = (
    "system", "repeat", "missing_reason", "rule", "inclusion_prob", "stratum", "source",
    "response_words", "position", "layout", "domain", "passages_opened", "text_format",
)  # fmt: skip
_PREFERENCE_REQUIRED = (
    "query_id", "response_a", "response_b", "construct", "scorer", "scorer_kind", "value",
)  # fmt: skip
_BY_ORDER = ("value_a_first", "value_b_first")
_PREFERENCE_OPTIONAL = ("repeat", "missing_reason", *_BY_ORDER, "text_format")


#: How a warning ends on rows that are left out, since they repeat others.
COUNT_ONCE = "in rows that repeat another one, with the same value; these count once"

_ROWS_AT_ONCE = 50_000


def _hashes(rows: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return a hash of each row; columns may be of any type."""
    texts = rows.astype("object").where(rows.notna(), None).astype(str)
    return np.asarray(pd.util.hash_pandas_object(texts, index=False), dtype=np.uint64)


@dataclass(frozen=True)
class _Table:
    frame: pd.DataFrame
    scales: Mapping[str, Scale] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[str, ...] = ()

    @cached_property
    def constructs(self) -> tuple[str, ...]:
        """Constructs with rows: first those with a declared scale, in that order."""
        present = _names(self.frame["construct"])
        declared = [key for key in self.scales if key in present]
        return (*declared, *(key for key in present if key not in declared))

    @cached_property
    def scorer_kinds(self) -> dict[str, str]:
        """Kind of each scorer: human, adjudicated, judge or metric."""
        scorers, kinds = self.frame["scorer"], self.frame["scorer_kind"]
        kind_of = np.zeros(len(scorers.cat.categories), dtype=np.int64)
        kind_of[check.codes_of(scorers)] = check.codes_of(kinds)
        names, kind_names = scorers.cat.categories, kinds.cat.categories
        codes = pd.unique(check.codes_of(scorers)).tolist()
        return {str(names[code]): str(kind_names[kind_of[code]]) for code in codes}

    def scorers(self, construct: str, *kinds: str) -> tuple[str, ...]:
        """Scorers with rows on a construct, of these kinds (all when none is given)."""
        names = self._scorers.get(construct, [])
        return tuple(name for name in names if not kinds or self.scorer_kinds[name] in kinds)

    @cached_property
    def _scorers(self) -> dict[str, list[str]]:
        """Scorers of each construct, in order of appearance."""
        constructs, scorers = (self.frame[name] for name in ("construct", "scorer"))
        construct_names, scorer_names = constructs.cat.categories, scorers.cat.categories
        size = len(construct_names) * len(scorer_names)
        pairs = check.codes_of(constructs).astype(np.min_scalar_type(-size - 1))
        pairs *= len(scorer_names)
        pairs += check.codes_of(scorers)
        found: dict[str, list[str]] = {}
        for pair in pd.unique(pairs).tolist():
            construct, scorer = divmod(pair, len(scorer_names))
            names = found.setdefault(str(construct_names[construct]), [])
            names.append(str(scorer_names[scorer]))
        return found

    def digest(self) -> str:
        """SHA-256 of the rows; their order does not matter."""
        # As texts a table takes ten times its memory, so only some of its rows are at a time.
        starts = range(0, len(self.frame), _ROWS_AT_ONCE)
        hashes = np.empty(len(self.frame), dtype=np.uint64)
        for start in starts:
            end = start + _ROWS_AT_ONCE
            hashes[start:end] = _hashes(self.frame.iloc[start:end])
        hashes.sort()
        return sha256(hashes.data).hexdigest()


@dataclass(frozen=True)
class ScoreTable(_Table):
    """Validated scores, long format; build it with `from_frame`.

    `frame` has the columns of the score table. Texts are categories, and so are the numbers of
    inclusion_prob, response_words and position, which repeat. `scales` are
    declared by construct and `scorer_scales` by (scorer, construct). A construct without a scale
    is undeclared: statistics of its range and ceiling are not given.

    Examples
    --------
    >>> from ccrs_study import Scale, ScoreTable, read_scores
    >>> table = ScoreTable.from_frame(read_scores("scores.csv"), {"QR": Scale(0, 100)})
    >>> table.constructs, sorted(table.scorer_kinds)
    (('QR',), ['anna', 'ben', 'llm'])
    """

    scorer_scales: Mapping[tuple[str, str], Scale] = field(
        default_factory=lambda: MappingProxyType({})
    )
    construct_names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    value_names: Mapping[str, Mapping[float, str]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """By construct: the word for each value, where values were words."""

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        scales: Mapping[str, Scale] | None = None,
        scorer_scales: Mapping[tuple[str, str], Scale] | None = None,
        construct_names: Mapping[str, str] | None = None,
    ) -> Self:
        """Check a long table of scores.

        `frame.attrs["value_names"]`, if present, has the word for each value by construct.

        Parameters
        ----------
        frame
            One row for each response, construct, scorer, repeat and producing system, with the
            columns response_id, query_id, construct, scorer, scorer_kind, value, and optionally
            system, repeat (0), missing_reason, rule, inclusion_prob (1), stratum, source,
            response_words, position, layout, domain, passages_opened, text_format.
        scales, scorer_scales
            Declared scales by construct, and by (scorer, construct) where they differ.
        construct_names
            Names that are shown with the keys of constructs.

        Raises
        ------
        TableError
            The table has faults; the message lists all.
        """
        scales, scorer_scales = dict(scales or {}), dict(scorer_scales or {})
        faults = _shape(frame, _REQUIRED)
        faults += check.check_scales(scales, "scales")
        faults += check.check_scales(scorer_scales, "scorer_scales")
        if faults:
            raise TableError("score table", faults)
        columns = Columns(frame, _REQUIRED, _OPTIONAL)
        response, query = columns.text("response_id"), columns.text("query_id")
        construct, scorer = columns.text("construct"), columns.text("scorer")
        system, kind = columns.text("system"), columns.text("scorer_kind")
        groups, named = _by_scorer(columns)
        label = [f"{name} on {key}" for name, key in named]
        group_scales = [scorer_scales.get(pair, scales.get(pair[1])) for pair in named]
        read_as = columns.read_words(groups, label, group_scales)
        repeat, value = columns.repeat(), columns.number("value")
        probability = columns.repeated_number("inclusion_prob", default=1.0)
        words = columns.repeated_number("response_words")
        faults, position = columns.faults, columns.repeated_number("position")
        faults += words_faults(response, words) + position_faults(position)
        faults += named_faults(columns, "layout", LAYOUTS) + domain_faults(columns)
        for name, known in (("passages_opened", ("yes", "no")), ("text_format", TEXT_FORMATS)):
            faults += named_faults(columns, name, known)
        faults += check.kinds(kind, columns.names["scorer_kind"])
        faults += check.one_each(
            response, columns.names["response_id"], query, columns.names["query_id"],
            "response {name!r} has query {a!r} and in {rows} query {b!r}; a response answers one "
            "query",
        )  # fmt: skip
        faults += check.one_each(
            scorer, columns.names["scorer"], kind, columns.names["scorer_kind"],
            "scorer {name!r} is {a} and in {rows} {b}; give one of them another name",
        )  # fmt: skip
        faults += probability_faults(probability)
        faults += value_or_reason(columns.text("missing_reason"), value)
        faults += check.off_scale(value, group_scales, groups, label)
        faults += one_human_scale(columns, scales, scorer_scales)
        key_parts = [response, construct, scorer, repeat]
        differing, _ = check.two_values(
            check.combined(key_parts), value,
            "two values for one response, construct, scorer and repeat: {a} and {b} in rows "
            "{rows}; keep one, or number them as repeats",
        )  # fmt: skip
        faults += differing
        if faults:
            raise TableError("score table", faults)
        _, again = check.two_values(check.combined([*key_parts, system]), value, "")
        numbers: dict[str, Any] = {
            "repeat": repeat, "value": value, "inclusion_prob": probability,
        }  # fmt: skip
        further = {"response_words": words, "position": position}
        numbers |= {name: column for name, column in further.items() if (column.codes >= 0).any()}
        table = columns.frame(**numbers)
        for name in ("layout", "domain", "passages_opened", "text_format"):
            if table[name].isna().all():
                table = table.drop(columns=name)
        warnings = columns.ignored() + _left_out(frame)
        if again.any():
            number = int(again.sum())
            warnings.append(f"{number:,} {'score' if number == 1 else 'scores'} {COUNT_ONCE}")
            table = table[~again]
        warnings += without_first(table, ["response_id"], "response")
        scales, scorer_scales, two_points = with_two_points(table, scales, scorer_scales)
        odd = suspicions(table, scales, scorer_scales)
        return cls(
            table.reset_index(drop=True),
            scales,
            (*read_as, *two_points, *warnings, *odd),
            scorer_scales,
            dict(construct_names or {}),
            dict(frame.attrs.get("value_names", {})),
        )

    def scale(self, construct: str, scorer: str | None = None) -> Scale | None:
        """Scale of a scorer's values on a construct; None where none is declared."""
        if scorer is not None and (scorer, construct) in self.scorer_scales:
            return self.scorer_scales[scorer, construct]
        return self.scales.get(construct)

    def full_name(self, construct: str) -> str:
        """The name that is shown for a construct: its key where it has no other."""
        return self.construct_names.get(construct) or construct

    def value_name(self, construct: str, value: float) -> str:
        """A value as it is shown: its word, or the number where it has none."""
        return self.value_names.get(construct, {}).get(value, f"{value:g}")

    def on_constructs(self, constructs: Collection[str]) -> Self:
        """The rows on some of the constructs."""
        rows = self.frame["construct"].isin(constructs)
        return replace(self, frame=self.frame[rows].reset_index(drop=True))

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, sorted; empty where the table names none."""
        return tuple(sorted(_names(self.frame["system"])))

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """Queries in order of appearance."""
        return tuple(_names(self.frame["query_id"]))

    @cached_property
    def rated_queries(self) -> tuple[str, ...]:
        """Queries with a human or adjudicated value, in order of appearance."""
        people = self.frame["scorer_kind"].isin(["human", "adjudicated"])
        rated = people & self.frame["value"].notna()
        return tuple(_names(self.frame.loc[rated, "query_id"]))


@dataclass(frozen=True)
class PreferenceTable(_Table):
    """Validated comparisons of two responses to a query; a positive value means that b is better.

    Where two systems gave the same response, it is compared with itself. The columns
    `value_a_first` and `value_b_first`, if any, are the choices of a judge that was asked in both
    orders, by the response that it saw first.

    Examples
    --------
    >>> import pandas as pd
    >>> from ccrs_study import PreferenceTable
    >>> row = {"query_id": "q0", "response_a": "r0", "response_b": "r1", "construct": "QR",
    ...        "scorer": "anna", "scorer_kind": "human", "value": 1.0}
    >>> PreferenceTable.from_frame(pd.DataFrame([row])).constructs
    ('QR',)
    """

    systems: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Systems that gave each response, if they are known."""

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, scale: Scale | None = None) -> Self:
        """Check a long table of preferences; `scale` is that of all their values.

        `frame.attrs["systems"]`, if present, are the systems of each response, by its id.

        Raises
        ------
        TableError
            The table has faults; the message lists all.
        """
        faults = _shape(frame, _PREFERENCE_REQUIRED)
        if faults:
            raise TableError("preference table", faults)
        columns = Columns(frame, _PREFERENCE_REQUIRED, _PREFERENCE_OPTIONAL)
        parts = [columns.text(name) for name in _PREFERENCE_REQUIRED[:-1]]
        query, a, b, construct, scorer, kind = parts
        repeat, value = columns.repeat(), columns.number("value")
        by_order = {name: columns.number(name) for name in _BY_ORDER}
        faults = columns.faults
        faults += named_faults(columns, "text_format", TEXT_FORMATS)
        faults += check.kinds(kind, columns.names["scorer_kind"])
        faults += check.one_each(
            scorer, columns.names["scorer"], kind, columns.names["scorer_kind"],
            "scorer {name!r} is {a} and in {rows} {b}; give one of them another name",
        )  # fmt: skip
        faults += value_or_reason(columns.text("missing_reason"), value)
        everything = np.zeros(len(frame), dtype=np.int64)
        faults += check.off_scale(value, [scale], everything, ["preference"])
        differing, again = check.two_values(
            check.combined([query, a, b, construct, scorer, repeat]), value,
            "two values for one pair, construct, scorer and repeat: {a} and {b} in rows {rows}; "
            "keep one, or number them as repeats",
        )  # fmt: skip
        faults += differing
        if faults:
            raise TableError("preference table", faults)
        numbers = {"repeat": repeat, "value": value}
        if any(np.isfinite(values).any() for values in by_order.values()):
            numbers |= by_order
        table = columns.frame(**numbers)
        if table["text_format"].isna().all():
            table = table.drop(columns="text_format")
        warnings = columns.ignored() + _left_out(frame)
        if again.any():
            warnings.append(f"{again.sum()} preferences repeat another with the same value")
            table = table[~again]
        warnings += without_first(table, ["query_id", "response_a", "response_b"], "pair")
        scales = {} if scale is None else dict.fromkeys(columns.names["construct"], scale)
        systems = MappingProxyType(dict(frame.attrs.get("systems", {})))
        return cls(table.reset_index(drop=True), scales, tuple(warnings), systems)


def _shape(frame: pd.DataFrame, required: Sequence[str]) -> list[str]:
    names = [str(name) for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    faults = [f"column {name!r} occurs twice" for name in twice]
    return faults + check.missing_columns(names, required)


def _left_out(frame: pd.DataFrame) -> list[str]:
    """Warnings about values that were left out when the table was made."""
    left_out: Mapping[str, int] = frame.attrs.get("left_out", {})
    return [f"{count} values left out: {why}" for why, count in left_out.items()]


def _by_scorer(columns: Columns) -> tuple[check.Codes, list[tuple[str, str]]]:
    """Codes (n,) of scorer and construct, and these two of each code."""
    construct, scorer = columns.text("construct"), columns.text("scorer")
    n_scorers = int(scorer.max(initial=-1)) + 2
    n_both = n_scorers * (int(construct.max(initial=-1)) + 2)
    pairs = (construct + 1).astype(np.min_scalar_type(-n_both - 1))
    pairs *= n_scorers
    pairs += scorer
    pairs += 1
    numbers = np.flatnonzero(np.bincount(pairs, minlength=1))
    groups = np.zeros(n_both, dtype=np.min_scalar_type(-numbers.size - 1))
    groups[numbers] = np.arange(numbers.size)
    scored_pairs = [divmod(number, n_scorers) for number in numbers.tolist()]
    return groups[pairs], [
        (columns.name("scorer", scorer - 1), columns.name("construct", construct - 1))
        for construct, scorer in scored_pairs
    ]


def _names(column: pd.Series[Any]) -> list[str]:
    return [str(name) for name in column.dropna().unique()]
