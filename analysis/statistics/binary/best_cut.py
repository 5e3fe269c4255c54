"""The cut of a graded score from which on a response passes, chosen out of fold.

The best cut has the largest balanced accuracy against people's verdicts (Youden 1950, Cancer
3:32-35). Rates at a cut that was chosen on the same responses are too good; here every response is
decided by the cut that is best on other queries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import as_codes, as_values
from analysis.core.resampling import FOLDS, folds
from analysis.statistics.binary.confusion_cells import passes

ONE_VERDICT = "people's verdicts leave too few passes or fails outside a fold to choose a cut"


@dataclass(frozen=True, eq=False)
class BestCut:
    """The best cut of all responses, and the verdicts (n,) by cuts of other queries.

    A response without people's verdict is decided by the best cut of all.

    `lowest` and `highest` are the smallest and largest cut of a fold. Where `reason` explains why
    no cut can be chosen, cuts and verdicts are NaN.
    """

    cut: float
    lowest: float
    highest: float
    verdicts: FloatArray
    reason: str | None = None


def best_cut(
    scores: npt.ArrayLike,
    people: npt.ArrayLike,
    query: npt.ArrayLike,
    seed: int = 0,
    count: int = FOLDS,
) -> BestCut:
    """Choose cuts for scores (n,) by people's verdicts (n,): 1 pass, 0 fail, between them a tie."""
    values, verdicts = as_values(scores, "scores"), as_values(people, "people")
    codes, _ = as_codes(query, len(values), None)
    both = np.isfinite(values) & np.isfinite(verdicts)
    # Folds of the queries that enter, so that each has about as many.
    entering, place = np.unique(codes[both], return_inverse=True)
    fold = np.full(len(values), -1)
    fold[both] = folds(entering.size, count, seed)[place]
    cuts = np.full(len(values), np.nan)
    fold_cuts = []
    for number in range(min(count, entering.size)):
        cut = _best(values[both & (fold != number)], verdicts[both & (fold != number)])
        fold_cuts.append(cut)
        cuts[fold == number] = cut
    if not fold_cuts or np.isnan(fold_cuts).any():
        nan = float("nan")
        return BestCut(nan, nan, nan, np.full(len(values), np.nan), ONE_VERDICT)
    whole = _best(values[both], verdicts[both])
    # Where people gave no verdict, no cut was chosen on the response itself.
    decided = passes(values, np.where(both, cuts, whole))
    return BestCut(whole, float(min(fold_cuts)), float(max(fold_cuts)), decided)


def _best(values: FloatArray, verdicts: FloatArray) -> float:
    """The cut with the largest balanced accuracy; of several, the middle one; NaN without both."""
    positive, negative = verdicts.sum(), (1 - verdicts).sum()
    if positive <= 0 or negative <= 0:
        return float("nan")
    levels, place = np.unique(values, return_inverse=True)
    passing = np.bincount(place, weights=verdicts)
    failing = np.bincount(place, weights=1 - verdicts)
    # At the cut levels[i] all responses from levels[i] on pass.
    right = passing[::-1].cumsum()[::-1] / positive
    right += 1 - failing[::-1].cumsum()[::-1] / negative
    best = np.flatnonzero(right >= right.max() - 1e-12)
    return float(levels[best[best.size // 2]])
