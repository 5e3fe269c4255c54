"""What people and a scorer say of each response: pass or fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import ComparedScores, Context
from analysis.core.cuts import PEOPLE, declared_cut, gives_pass_or_fail
from analysis.core.pass_fail_words import PASS_OR_FAIL
from analysis.statistics.binary.best_cut import BestCut, best_cut
from analysis.statistics.binary.confusion_cells import (
    ConfusionCells,
    confusion_cells,
    majority,
    passes,
)
from study.base.scales import Scale


@dataclass(frozen=True, eq=False)
class PassFailValues:
    """A scorer's passes and fails (n,) on a construct as 1 and 0, and people's with ties of .5.

    `cut` is how they were made from graded scores; None where the scorer gives them itself or
    its cut is declared. `declared` are params on declared cuts.
    `reason` explains why there are none.
    """

    scored: ComparedScores
    judge: FloatArray
    people: FloatArray
    cut: BestCut | None
    reason: str | None
    declared: Mapping[str, float] = field(default_factory=dict)

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
        """How passes and fails were made: declared cuts, or the cut on all and of the folds."""
        if self.cut is None:
            return dict(self.declared)
        chosen = {"cut": self.cut.cut, "lowest": self.cut.lowest, "highest": self.cut.highest}
        return {**self.declared, **chosen}


def pass_or_fail(context: Context, *, all_responses: bool = False) -> Iterator[PassFailValues]:
    """Passes and fails of every scorer where people pass or fail, by their cut or without.

    Of responses to the rated queries, or of `all_responses`.
    """
    for scored in context.scored():
        if not people_decide(context, scored.construct):
            continue
        scale = context.human_scale(scored.construct)
        if all_responses:
            data = context.whole[scored.construct]
            values = data.scorers[scored.scorer]
            yield _verdicts(context, scored._replace(data=data, values=values), scale)
        else:
            yield _verdicts(context, scored, scale)


def people_decide(context: Context, construct: str) -> bool:
    """Whether people pass or fail responses on a construct, by its scale or by a declared cut."""
    scale = context.human_scale(construct)
    if scale is not None and scale.binary:
        return True
    graded = not context.nominal([construct])
    return graded and declared_cut(context.options.cut, PEOPLE, construct) is not None


def people_pass(
    data: ConstructData, scale: Scale | None, cut: float | None = None
) -> tuple[FloatArray, str | None]:
    """People's majority (n,) on a binary scale or by a cut, and why there is none."""
    adjudicated = data.reference_kind == "adjudicated"
    ratings = data.reference[:, None] if adjudicated else data.ratings
    if scale is None or not scale.binary:
        return majority(passes(ratings, np.nan if cut is None else cut)), None
    off = int(np.count_nonzero(np.isfinite(ratings) & ~_at_ends(ratings, scale)))
    if off:
        why = f"{off:,} of people's values are neither {scale.min:g} nor {scale.max:g}"
        return np.full(len(ratings), np.nan), why
    return majority(passes(ratings, scale.max)), None


def _verdicts(context: Context, scored: ComparedScores, scale: Scale | None) -> PassFailValues:
    data, values, cuts = scored.data, scored.values, context.options.cut
    people_cut = declared_cut(cuts, PEOPLE, data.construct)
    declared = {}
    if people_cut is not None and (scale is None or not scale.binary):
        declared["people_cut"] = people_cut
    people, reason = people_pass(data, scale, people_cut)
    own = context.scores.scale(data.construct, scored.scorer) or scale
    cut = declared_cut(cuts, scored.scorer, data.construct)
    if cut is not None and not gives_pass_or_fail(context.scores, data.construct, scored.scorer):
        declared["cut"] = cut
        return PassFailValues(scored, passes(values, cut), people, None, reason, declared)
    for ends in (own, scale, PASS_OR_FAIL):
        if ends is not None and _at_ends(values[np.isfinite(values)], ends).all():
            return PassFailValues(scored, passes(values, ends.max), people, None, reason, declared)
    if reason:
        nothing = np.full(len(values), np.nan)
        return PassFailValues(scored, nothing, people, None, reason, declared)
    best = best_cut(values, people, data.query, context.options.seed)
    return PassFailValues(scored, best.verdicts, people, best, best.reason, declared)


def _at_ends(values: FloatArray, scale: Scale) -> BoolArray:
    return np.asarray((values == scale.min) | (values == scale.max))
