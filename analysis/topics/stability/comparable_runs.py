"""The runs of judges on a construct, and which of them can be set beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from analysis.core.construct_data import ConstructData, FloatArray
from analysis.core.context import Context
from analysis.core.scales import Scale

#: A run that has scored a smaller share of what the fullest has is left out where all the runs
#: have to have scored a response: it is unfinished, or was a sample.
LEAST_SCORED = 0.5


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of judges on one construct: first scores and repeats.

    Scorers whose scores follow from those of others (juries, expected scores) are no runs.
    """

    data: ConstructData
    names: tuple[str, ...]
    later: dict[str, FloatArray]
    """By run the later scores (n, K - 1), where it has any."""

    @cached_property
    def first(self) -> FloatArray:
        """First scores (n, R)."""
        return np.column_stack([self.data.scorers[name] for name in self.names])

    def repeats(self, name: str) -> FloatArray:
        """All scores (n, K) of a run, the first included."""
        first = self.data.scorers[name][:, None]
        return np.hstack([first, self.later[name]]) if name in self.later else first

    def of(self, names: Sequence[str]) -> Runs:
        """Some of the runs."""
        later = {name: self.later[name] for name in names if name in self.later}
        return Runs(self.data, tuple(names), later)

    def enough(self) -> Runs:
        """The runs that have scored at least `LEAST_SCORED` of what the fullest has."""
        counts = np.isfinite(self.first).sum(axis=0)
        least = LEAST_SCORED * counts.max()
        return self.of([n for n, count in zip(self.names, counts, strict=True) if count >= least])


def judge_runs(context: Context) -> Iterator[Runs]:
    """The runs on each construct. Nominal ones have none: categories have no distances or means."""
    frame = context.scores.frame
    judged = frame["scorer_kind"] == "judge"
    repeats = frame.loc[judged & (frame["repeat"] > 0)]
    for construct, data in context.whole.items():
        names = tuple(
            name
            for name, values in data.scorers.items()
            if data.kinds[name] == "judge"
            and name not in context.options.derived_from
            and np.isfinite(values).any()
            and not _nominal(context.scores.scale(construct, name))
        )
        own = repeats[repeats["construct"] == construct]
        if names:
            later = {name: _later(data, own, name) for name in names}
            yield Runs(data, names, {n: found for n, found in later.items() if found is not None})


def _later(data: ConstructData, rows: pd.DataFrame, name: str) -> FloatArray | None:
    own = rows[(rows["scorer"] == name) & rows["value"].notna()]
    if own.empty:
        return None
    numbers, column = np.unique(own["repeat"].to_numpy(), return_inverse=True)
    places = pd.Index(data.responses, dtype="object").get_indexer(
        pd.Index(own["response_id"].astype("object"))
    )
    later = np.full((len(data.responses), numbers.size), np.nan)
    later[places, column] = own["value"].to_numpy()
    return later


def _nominal(scale: Scale | None) -> bool:
    return scale is not None and scale.level == "nominal"


def same_scale(context: Context, runs: Runs) -> Runs:
    """The runs on the scale that most of them have; those of others can't be subtracted."""
    construct = runs.data.construct
    groups: list[list[str]] = []
    for name in runs.names:
        scale = context.scores.scale(construct, name)
        for group in groups:
            other = context.scores.scale(construct, group[0])
            if (scale is None and other is None) or (
                scale is not None and other is not None and scale.same_points(other)
            ):
                group.append(name)
                break
        else:
            groups.append([name])
    return runs.of(max(groups, key=len))


def comparable(context: Context, runs: Runs) -> tuple[Runs, str | None]:
    """The runs with enough scores and on one scale; and those left out with why, if any."""
    enough = runs.enough()
    kept = same_scale(context, enough)
    excluded = [
        f"{name}: {'another scale' if name in enough.names else 'too few scores'}"
        for name in runs.names
        if name not in kept.names
    ]
    return kept, "; ".join(excluded) or None
