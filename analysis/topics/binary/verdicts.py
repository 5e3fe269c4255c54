"""What people and a scorer say of each response: pass or fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import ComparedScores, Context
from analysis.core.scales import Scale
from analysis.statistics.binary.best_cut import BestCut, best_cut
from analysis.statistics.binary.confusion_cells import (
    ConfusionCells,
    confusion_cells,
    majority,
    passes,
)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """A scorer's verdicts (n,) on a construct, 1 pass and 0 fail, and people's with ties of .5.

    `cut` is how the verdicts were made from graded scores; None where the scorer gives verdicts.
    `reason` explains why there are none.
    """

    scored: ComparedScores
    judge: FloatArray
    people: FloatArray
    cut: BestCut | None
    reason: str | None

    @property
    def data(self) -> ConstructData:
        """Arrays of the construct."""
        return self.scored.data

    def cells(self, items: BoolArray | None = None) -> ConfusionCells:
        """The confusion of these responses (n,), or of all."""
        data = self.data
        return confusion_cells(self.judge, self.people, data.query, data.n_queries, items)

    @property
    def params(self) -> dict[str, Any]:
        """How verdicts were made: the cut on all responses, and those of the folds."""
        if self.cut is None:
            return {}
        return {"cut": self.cut.cut, "lowest": self.cut.lowest, "highest": self.cut.highest}


def pass_or_fail(context: Context, *, all_responses: bool = False) -> Iterator[Verdicts]:
    """Verdicts of every scorer on the constructs that people pass or fail.

    Of responses to the rated queries, or of `all_responses`.
    """
    for scored in context.scored():
        scale = context.human_scale(scored.construct)
        if scale is None or not scale.binary:
            continue
        if all_responses:
            data = context.whole[scored.construct]
            values = data.scorers[scored.scorer]
            yield _verdicts(context, scored._replace(data=data, values=values), scale)
        else:
            yield _verdicts(context, scored, scale)


def people_pass(data: ConstructData, scale: Scale) -> tuple[FloatArray, str | None]:
    """People's majority (n,) on a binary scale, and why there is none."""
    adjudicated = data.reference_kind == "adjudicated"
    ratings = data.reference[:, None] if adjudicated else data.ratings
    off = int(np.count_nonzero(np.isfinite(ratings) & ~_at_ends(ratings, scale)))
    if off:
        why = f"{off:,} of people's values are neither {scale.min:g} nor {scale.max:g}"
        return np.full(len(ratings), np.nan), why
    return majority(passes(ratings, scale.max)), None


def _verdicts(context: Context, scored: ComparedScores, scale: Scale) -> Verdicts:
    data, values = scored.data, scored.values
    people, reason = people_pass(data, scale)
    own = context.scores.scale(data.construct, scored.scorer) or scale
    for ends in (own, scale):
        if _at_ends(values[np.isfinite(values)], ends).all():
            return Verdicts(scored, passes(values, ends.max), people, None, reason)
    if reason:
        return Verdicts(scored, np.full(len(values), np.nan), people, None, reason)
    cut = best_cut(values, people, data.query, context.options.seed)
    return Verdicts(scored, cut.verdicts, people, cut, cut.reason)


def _at_ends(values: FloatArray, scale: Scale) -> BoolArray:
    return np.asarray((values == scale.min) | (values == scale.max))
