"""What all estimates of a report share: tables, arrays, and one set of resamples.

Intervals of level .95 cover .95 where scores seldom reach an end of their scale. Where most ratings
are one value (in the simulation two thirds of them, at the end of the scale), a few queries decide
an estimate, and with few queries the interval is too short. No method that was tried covers more
with an interval of a useful width; the report therefore shows the coverage that was measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData, construct_data, sharing
from analysis.core.estimates import Estimate
from analysis.core.interval import Interval
from analysis.core.mark_table import MarkTable
from analysis.core.options import Options
from analysis.core.probe_table import ProbeTable
from analysis.core.query_statistic import QueryStatistic
from analysis.core.resampling import QueryResampling, Replicates
from analysis.core.scales import not_common
from analysis.core.tables import PreferenceTable, ScoreTable
from analysis.core.uncertainty import Transform
from study.base.scales import Level, Scale

#: Share of the ratings that are one value, from which on the report shows measured coverage.
CROWDED = 0.5

#: From this coverage on, at a nominal .95, none is shown.
ENOUGH = 0.935

#: The level at which coverage was measured.
LEVEL = 0.95

#: Numbers of queries of the simulation.
QUERIES = (15, 30, 60, 150, 500)

#: Coverage below ENOUGH by statistic with its scope or level, and number of queries. The rows of
#: tests/coverage/coverage.csv with two thirds of the ratings at the end of the scale.
MEASURED: dict[tuple[str, str], dict[int, float]] = {
    ("krippendorff_alpha", "interval"): {15: 0.92},
    ("pearson", "pooled"): {15: 0.93},
    ("human_ceiling", "pooled"): {15: 0.93},
    ("recalibration_slope", "pooled"): {15: 0.93},
}


def crowding(values: FloatArray) -> float:
    """Share of the values (any shape) that equal the most frequent one; NaN is left out."""
    counts = np.unique(values[np.isfinite(values)], return_counts=True)[1]
    return float(counts.max() / counts.sum()) if counts.size else 0.0


def measured_coverage(statistic: str, variant: str, n_queries: int) -> float | None:
    """Coverage of the interval where ratings are crowded; None where it is at least `ENOUGH`.

    `variant` is the scope, or the level of measurement of alpha. Between two sizes of the
    simulation the coverage of the lower one is returned. Below the lowest size it is that of the
    lowest, which is then too high.
    """
    size = max((s for s in QUERIES if s <= n_queries), default=QUERIES[0])
    return MEASURED.get((statistic, variant), {}).get(size)


class ComparedScores(NamedTuple):
    """The scores of one judge or metric on a construct that has a human reference."""

    data: ConstructData
    scorer: str
    values: FloatArray
    """(n,), NaN where missing."""
    withheld: str | None
    """Why they cannot be subtracted from people's values; None where they can."""

    @property
    def construct(self) -> str:
        """Key of the construct."""
        return self.data.construct

    def record(self, scope: str = "pooled") -> dict[str, Any]:
        """Fields that the estimates of these scores against the reference have in common."""
        return self.data.record(self.scorer, scope)


@dataclass(frozen=True, eq=False)
class Context:
    """Tables and options, and the arrays and resamples that are derived from them once.

    Two samples of queries are resampled: those that people rated, for statistics that need a human
    value, and all of them, for statistics that describe scores. They coincide where all are rated.
    """

    scores: ScoreTable
    preferences: PreferenceTable | None
    options: Options
    layout_left_out: str | None = None
    """Warning about ratings that are left out because their pages have another layout."""
    probes: ProbeTable | None = None
    """Answers to altered prompts, if a judge was asked any."""
    marks: MarkTable | None = None
    """Marks of people on sentences, if there are any."""

    @cached_property
    def rated_queries(self) -> tuple[str, ...]:
        """Queries with a value or a preference of people, in order of appearance."""
        names = dict.fromkeys(self.scores.rated_queries)
        if self.preferences is not None:
            rows = self.preferences.frame
            compared = rows["scorer_kind"].isin(["human", "adjudicated"])
            names |= dict.fromkeys(rows.loc[compared, "query_id"].astype("object"))
        if self.marks is not None:
            names |= dict.fromkeys(self.marks.first["query_id"].astype("object"))
        return tuple(names)

    @property
    def marked_constructs(self) -> tuple[str, ...]:
        """Constructs for which people marked sentences, in the order of the scores' constructs."""
        if self.marks is None:
            return ()
        present = dict.fromkeys(map(str, self.marks.first["construct"]))
        known = [key for key in self.scores.constructs if key in present]
        return (*known, *(key for key in present if key not in known))

    @cached_property
    def compared_queries(self) -> tuple[str, ...]:
        """Queries with a preference of people or of a judge, in order of appearance."""
        if self.preferences is None:
            return ()
        return tuple(dict.fromkeys(self.preferences.frame["query_id"].astype("object")))

    @cached_property
    def compared_resampling(self) -> QueryResampling:
        """Resamples of the queries with a preference."""
        if self.compared_queries == self.rated_queries:
            return self.rated_resampling
        return self._resampling(len(self.compared_queries))

    @cached_property
    def rated_resampling(self) -> QueryResampling:
        """Resamples of the rated queries."""
        return self._resampling(len(self.rated_queries))

    @cached_property
    def whole_resampling(self) -> QueryResampling:
        """Resamples of all queries."""
        if set(self.rated_queries) == set(self.scores.queries):
            return self.rated_resampling
        return self._resampling(len(self.scores.queries))

    @cached_property
    def rated(self) -> dict[str, ConstructData]:
        """Arrays of each construct, over the rated queries."""
        return self._arrays(self.rated_queries)

    @cached_property
    def whole(self) -> dict[str, ConstructData]:
        """Arrays of each construct, over all queries."""
        if set(self.rated_queries) == set(self.scores.queries):
            return self.rated
        return self._arrays(self.scores.queries)

    def _resampling(self, n_queries: int) -> QueryResampling:
        options = self.options
        return QueryResampling(n_queries, options.resamples, options.seed, options.level)

    def _arrays(self, queries: tuple[str, ...]) -> dict[str, ConstructData]:
        arrays: dict[str, ConstructData] = {}
        for key in self.scores.constructs:
            data = construct_data(self.scores, key, self.options.reference, queries)
            arrays[key] = sharing(data, next(iter(arrays.values()), data))
        return arrays

    def scored(
        self,
        scorers: Literal["all", "judges", "examined"] = "all",
        *,
        without_reference: bool = False,
    ) -> Iterator[ComparedScores]:
        """Judges and metrics on each construct that has a human reference.

        `examined` are the judges, or the metrics where there is no judge. `without_reference`
        includes constructs without a human reference, whose records then state the reason.
        """
        for construct, data in self.rated.items():
            if data.reference_missing and not without_reference:
                continue
            names = {"all": list(data.scorers), "judges": data.judges, "examined": data.examined}
            for scorer in names[scorers]:
                withheld = self.differences_withheld(construct, scorer)
                yield ComparedScores(data, scorer, data.scorers[scorer], withheld)

    def human_scale(self, construct: str) -> Scale | None:
        """Scale of the human reference."""
        data = self.whole[construct]
        adjudicated = self.options.reference == "adjudicated"
        people = tuple(data.adjudicated) if adjudicated else data.raters
        return self.scores.scale(construct, people[0] if people else None)

    def level(self, construct: str) -> Level:
        """Level of measurement of people's agreement: as declared, otherwise interval."""
        scale = self.human_scale(construct)
        return "interval" if scale is None or scale.level == "ratio" else scale.level

    def nominal(self, constructs: Iterable[str]) -> bool:
        """Whether values of any of these constructs only name categories."""
        return any(key in self.whole and self.level(key) == "nominal" for key in constructs)

    @cached_property
    def ordered(self) -> Context:
        """The context without nominal constructs: what statistics of order and distance read."""
        kept = [key for key in self.scores.constructs if not self.nominal([key])]
        if len(kept) == len(self.scores.constructs):
            return self
        return replace(self, scores=self.scores.on_constructs(kept))

    def differences_withheld(self, construct: str, scorer: str) -> str | None:
        """Why values of a scorer and of people cannot be subtracted; None where they can."""
        human, scale = self.human_scale(construct), self.scores.scale(construct, scorer)
        return not_common(construct, scorer, human, scale)

    def estimate(
        self,
        name: str,
        statistic: QueryStatistic,
        resampling: QueryResampling | None = None,
        transform: Transform | None = None,
        replicates: Replicates | None = None,
        **record: Any,
    ) -> Estimate:
        """A statistic with its interval for these raters; `replicates`: its resamples, if known."""
        used = self.rated_resampling if resampling is None else resampling
        interval = used.interval_of(replicates or used.replicates(statistic), transform)
        return Estimate(
            name,
            value=statistic.point,
            **interval.fields,
            **statistic.counts,
            reason=statistic.reason or interval.reason,
            **self.with_coverage(name, interval, statistic.n_queries, record),
        )

    def with_coverage(
        self, name: str, interval: Interval, n_queries: int, record: dict[str, Any]
    ) -> dict[str, Any]:
        """The record, with params.measured_coverage where its interval covers too little."""
        params = record.get("params", {})
        variant = params.get("level") if name == "krippendorff_alpha" else record.get("scope")
        if (
            interval.method != "jackknife_t"
            or np.isnan(interval.low)
            or interval.level != LEVEL
            or params.get("measure", "pearson") != "pearson"
        ):
            return record
        covers = measured_coverage(name, variant or "pooled", n_queries)
        crowded = [self.crowding.get(key, 0.0) >= CROWDED for key in record.get("constructs", ())]
        if covers is None or not any(crowded):
            return record
        return record | {"params": {**params, "measured_coverage": covers}}

    @cached_property
    def crowding(self) -> dict[str, float]:
        """Share of people's ratings on each construct that are the most frequent value."""
        return {key: crowding(data.ratings) for key, data in self.rated.items()}
