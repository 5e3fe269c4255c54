"""The estimates of a report, each as report.json has it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis.core.uncertainty import Uncertainty

if TYPE_CHECKING:
    import pandas as pd

FIELDS = (
    "statistic", "constructs", "scorers", "systems", "scope", "target", "value", "ci_low",
    "ci_high", "ci_level", "method", "n_responses", "n_queries", "n_raters", "n_dropped",
    "reason", "params",
)  # fmt: skip

#: Columns of a table of estimates even where they are blank.
_ALWAYS = ("statistic", "constructs", "scorers", "scope", "value", "ci_low", "ci_high", "reason")

#: Values of `scope`, in addition to system:NAME.
SCOPES = ("pooled", "between_queries", "within_query", "system_level")


@dataclass(frozen=True)
class Estimate:
    """The value of a statistic with its interval, the sizes of its sample, and a reason.

    `value` is NaN where the statistic is undefined; `ci_low` and `ci_high` are NaN where there is
    no interval; `reason` then explains why. `target` names the raters that the interval is about:
    these_raters, raters_like_these, or None where it makes no statement about raters. `p` is the
    two-sided p of the value 0 by the method of the interval, from which claims are corrected, or
    the value itself where that is a p; NaN without either. `uncertainty` is the error that the
    interval comes from, where its method states one.
    """

    statistic: str
    constructs: tuple[str, ...] = ()
    scorers: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    scope: str = "pooled"
    target: str | None = None
    value: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    ci_level: float | None = None
    method: str | None = None
    n_responses: int = 0
    n_queries: int = 0
    n_raters: int = 0
    n_dropped: int = 0
    reason: str | None = None
    params: Mapping[str, str | float | int | None] = field(default_factory=dict)
    p: float = math.nan
    uncertainty: Uncertainty | None = None

    def __post_init__(self) -> None:
        if math.isnan(self.value) and not self.reason:
            raise ValueError(f"{self.statistic} of {self.scorers} has neither value nor reason")

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.ci_low) or math.isnan(self.ci_high))

    def without_interval(self, reason: str) -> Estimate:
        """The estimate without its interval, for a reason."""
        nan = math.nan
        return replace(
            self,
            ci_low=nan,
            ci_high=nan,
            ci_level=None,
            method=None,
            p=nan,
            uncertainty=None,
            reason=reason,
        )

    def as_json(self) -> dict[str, Any]:
        """The estimate as a JSON object, null for NaN."""
        record: dict[str, Any] = {}
        for name in FIELDS:
            value = getattr(self, name)
            if isinstance(value, tuple):
                value = list(value)
            elif isinstance(value, Mapping):
                value = {key: _null(entry) for key, entry in value.items()}
            record[name] = _null(value)
        return record


def _blank(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _null(value: Any) -> Any:
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


@dataclass(frozen=True)
class EstimateList:
    """All estimates of a report, with look-up."""

    records: tuple[Estimate, ...]

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    @cached_property
    def _named(self) -> dict[str, list[Estimate]]:
        by_statistic: dict[str, list[Estimate]] = {}
        for record in self.records:
            by_statistic.setdefault(record.statistic, []).append(record)
        return by_statistic

    def select(
        self,
        statistic: str | None = None,
        construct: str | None = None,
        scorer: str | None = None,
        scope: str | None = None,
        target: str | None = None,
        **params: str | float | int,
    ) -> list[Estimate]:
        """Estimates that match all arguments.

        Estimates of some of the ratings only (params.ratings) match only where `ratings` is an
        argument.
        """
        restricted = {"ratings": params.pop("ratings", None)}
        return [
            e
            for e in (self.records if statistic is None else self._named.get(statistic, []))
            if (construct is None or construct in e.constructs)
            and (scorer is None or scorer in e.scorers)
            and (scope is None or scope == e.scope)
            and (target is None or target == e.target)
            and all(e.params.get(key) == value for key, value in (restricted | params).items())
        ]

    def first(self, statistic: str, **where: Any) -> Estimate | None:
        """The first estimate that matches, if any."""
        return next(iter(self.select(statistic, **where)), None)


def to_frame(estimates: Iterable[Estimate]) -> pd.DataFrame:
    """Estimates as a table, a row each; lists joined by ' + ', params one column each.

    Columns in which no estimate has anything are left out.
    """
    import pandas as pd

    records = list(estimates)
    columns: dict[str, list[Any]] = {}
    for name in FIELDS:
        values = [getattr(record, name) for record in records]
        if name in ("constructs", "scorers", "systems"):
            columns[name] = [" + ".join(value) for value in values]
        elif name != "params":
            columns[name] = [_null(value) for value in values]
    for key in sorted({key for record in records for key in record.params}):
        params = (record.params for record in records)
        columns[f"params.{key}"] = [_null(of[key]) if key in of else math.nan for of in params]
    return pd.DataFrame(
        {
            name: values
            for name, values in columns.items()
            if name in _ALWAYS or not all(map(_blank, values))
        }
    )
