"""What a judge is worth where it cannot be used as it is: means corrected by people's ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.decisions.records import CorrectedMeans


def corrected_means(
    analysis: Analysis, subjects: Sequence[tuple[str, str]]
) -> list[CorrectedMeans]:
    """Half-widths of the overall mean, corrected and of the ratings alone."""
    results = []
    for construct, scorer in subjects:
        if analysis.context.nominal([construct]):
            continue
        where = {"construct": construct, "scorer": scorer, "scope": "pooled"}
        corrected = analysis.estimates.first("ppi_mean", **where)
        alone = analysis.estimates.first("weighted_human_mean", **where)
        if corrected is None:
            continue
        results.append(
            CorrectedMeans(
                construct,
                scorer,
                _half_width(corrected),
                _half_width(alone),
                corrected.n_responses,
                corrected.reason,
            )
        )
    return results


def _half_width(e: Estimate | None) -> float:
    return math.nan if e is None or not e.has_interval else (e.ci_high - e.ci_low) / 2
