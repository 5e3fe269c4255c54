"""How far scores move when the prompt is altered in a way that should not move them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import LEVEL, Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import ResampledFamily, simultaneous_estimates
from analysis.core.statistic import Statistic
from analysis.core.uncertainty import Transform
from analysis.statistics.probes import Part, none_of, query_means
from study.base.scales import Scale

FEW, MEASURED = 30, 0.86
"""Queries below which the interval of a mean shift covers too little, and what it covered at 15."""

MOVED = 0.05
"""Share of the scale's width beyond which a score counts as moved."""

NO_PAIR = "no response has a score both with and without the alteration"


@dataclass(frozen=True, eq=False)
class _Cell:
    """One probe of one scorer on one construct, on the responses of the construct's arrays."""

    record: dict[str, Any]
    data: ConstructData
    before: FloatArray
    after: FloatArray
    asked: BoolArray
    scale: Scale | None
    fault: str
    unknown: int
    """Responses that the table of scores does not have."""

    @property
    def both(self) -> BoolArray:
        return np.isfinite(self.before) & np.isfinite(self.after)

    @property
    def dropped(self) -> int:
        return int(np.count_nonzero(self.asked & ~self.both)) + self.unknown

    def part(self, values: FloatArray, chosen: BoolArray, reason: str = NO_PAIR) -> Part:
        used = np.asarray(chosen)
        return Part(values[used], self.data.query[used], self.dropped, reason)

    def room(self) -> BoolArray | None:
        """Which responses have a score that the fault could move; None where any has."""
        if self.scale is None or self.fault == "either":
            return None
        end = self.scale.max if self.fault == "rise" else self.scale.min
        return np.asarray(~np.isclose(self.before, end))


def probes(context: Context) -> Iterator[Estimate]:
    """Shifts of each probe, construct and scorer; then how many texts are suspected."""
    if context.probes is None:
        return
    rows = context.probes.probes
    for scorer, scorer_rows in rows.groupby("scorer", sort=False):
        cells = list(_cells(context, str(scorer), scorer_rows))
        if cells:
            yield from _shifts(context, cells)
            yield from _shares(context, cells)
    for scorer, (flagged, of) in context.probes.suspects.items():
        yield Estimate(
            "suspected_share",
            scorers=(scorer,),
            value=flagged / of,
            n_responses=of,
            params={"count": flagged},
        )


def _cells(context: Context, scorer: str, rows: pd.DataFrame) -> Iterator[_Cell]:
    for construct in context.scores.constructs:
        data = context.whole[construct]
        if scorer not in data.scorers:
            continue
        place = pd.Index(data.responses, dtype="object")
        construct_rows = rows[rows["construct"] == construct]
        for (kind, probe), probe_rows in construct_rows.groupby(["kind", "probe"], sort=False):
            at = place.get_indexer(pd.Index(probe_rows["response_id"].astype("object")))
            in_table = at >= 0
            after = np.full(len(data.responses), np.nan)
            after[at[in_table]] = probe_rows["value"].to_numpy(dtype=np.float64)[in_table]
            probed = np.zeros(len(data.responses), dtype=bool)
            probed[at[in_table]] = True
            fault = str(probe_rows["fault"].iloc[0])
            yield _Cell(
                {
                    "constructs": (construct,),
                    "scorers": (scorer,),
                    "params": {
                        "kind": str(kind),
                        "probe": str(probe),
                        "fault": fault,
                        "prompts": str(probe_rows["prompts"].iloc[0]),
                    },
                },
                data,
                data.scorers[scorer],
                after,
                probed,
                context.scores.scale(construct, scorer),
                fault,
                int(np.count_nonzero(~in_table)),
            )


def _shifts(context: Context, cells: list[_Cell]) -> Iterator[Estimate]:
    """Mean shifts, each with a single and with a simultaneous interval."""
    parts = [cell.part(cell.after - cell.before, cell.both) for cell in cells]
    cells = [_with_coverage(context, cell, part) for cell, part in zip(cells, parts, strict=True)]
    family = query_means(parts, context.whole_resampling.n_queries)
    yield from _estimates(context, "probe_shift", cells, parts, interval="single")
    records = [_together(cell) for cell in cells]
    yield from simultaneous_estimates(
        context, "probe_shift", family, context.whole_resampling, records
    )
    rooms = [(cell, cell.room()) for cell in cells]
    limited = [(cell, room) for cell, room in rooms if room is not None]
    yield from _estimates(
        context,
        "probe_shift_with_room",
        [cell for cell, _ in limited],
        [
            cell.part(
                cell.after - cell.before,
                cell.both & room,
                "every score is at the end of the scale that the probe aims at",
            )
            for cell, room in limited
        ],
    )
    yield from _estimates(
        context,
        "probe_at_end",
        [cell for cell, _ in limited],
        [cell.part((~room).astype(np.float64), cell.both) for cell, room in limited],
        transform="logit",
    )


def _together(cell: _Cell) -> dict[str, Any]:
    # What was measured is of the interval of one shift alone.
    params = {k: v for k, v in cell.record["params"].items() if k != "measured_coverage"}
    return {**cell.record, "params": {**params, "interval": "simultaneous"}}


def _with_coverage(context: Context, cell: _Cell, part: Part) -> _Cell:
    """The cell, with the measured coverage in its record where intervals cover too little."""
    if context.options.level != LEVEL or np.unique(part.query).size >= FEW:
        return cell
    params = {**cell.record["params"], "measured_coverage": MEASURED}
    return replace(cell, record={**cell.record, "params": params})


def _shares(context: Context, cells: list[_Cell]) -> Iterator[Estimate]:
    scaled = [(cell, cell.scale) for cell in cells if cell.scale is not None]
    for name, sign in (("probe_moved_up", 1), ("probe_moved_down", -1)):
        parts = [
            cell.part(
                (sign * (cell.after - cell.before) > MOVED * scale.width).astype(np.float64),
                cell.both,
            )
            for cell, scale in scaled
        ]
        yield from _estimates(context, name, [cell for cell, _ in scaled], parts, transform="logit")
    parts = [
        Part(
            np.isnan(cell.after[probed]).astype(np.float64),
            cell.data.query[probed],
            0,
            "no response was asked about",
        )
        for cell in cells
        for probed in (np.asarray(cell.asked & np.isfinite(cell.before)),)
    ]
    yield from _estimates(context, "probe_missing", cells, parts, transform="logit")


def _estimates(
    context: Context,
    name: str,
    cells: list[_Cell],
    parts: list[Part],
    transform: Transform | None = None,
    **params: str,
) -> Iterator[Estimate]:
    resampling = context.whole_resampling
    family = query_means(parts, resampling.n_queries)
    resampled = ResampledFamily(context, family, resampling)
    for place, (cell, replicates) in enumerate(zip(cells, resampled.replicates, strict=True)):
        more: dict[str, Any] = dict(params)
        if transform == "logit" and replicates.point == 0:
            more["at_most"] = none_of(replicates.n_queries, context.options.level)
        record = {**cell.record, "params": {**cell.record["params"], **more}}
        yield resampled.estimate(name, place, transform, **record)


STATISTICS = (
    Statistic(
        "probe_shift",
        "Shift",
        "mean of altered minus unaltered score; params.kind, params.probe, params.fault, "
        "params.prompts, and params.interval single or simultaneous",
        probes,
        better="0",
    ),
    Statistic(
        "probe_shift_with_room",
        "With room",
        "`probe_shift` over the scores that are not at the end of the scale that the fault moves "
        "scores to",
        probes,
        better="0",
    ),
    Statistic(
        "probe_at_end",
        "At the end",
        "share of the unaltered scores at the end of the scale that the fault moves scores to",
        probes,
        range=(0, 1),
    ),
    Statistic(
        "probe_moved_up",
        "Up",
        "share of scores that rose by more than 5% of the scale's width; params.at_most where it "
        "is 0",
        probes,
        range=(0, 1),
        better="lower",
        source="Clopper and Pearson 1934",
    ),
    Statistic(
        "probe_moved_down",
        "Down",
        "share of scores that fell by more than 5% of the scale's width; params.at_most where it "
        "is 0",
        probes,
        range=(0, 1),
        better="lower",
        source="Clopper and Pearson 1934",
    ),
    Statistic(
        "probe_missing",
        "Without a score",
        "share of the altered prompts without a score, such as refusals",
        probes,
        range=(0, 1),
        better="lower",
    ),
    Statistic(
        "suspected_share",
        "Suspected",
        "share of a run's responses that are flagged: text or passages with what may be an "
        "instruction to the judge, or a control token; params.count",
        probes,
        range=(0, 1),
    ),
)
