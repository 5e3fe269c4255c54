"""Of responses that people rate low, how many had no relevant passage: the retriever's part."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.render.formatting import listed

_ON = "retrieval"
# Each is 0 where no relevant document is in the ranking, and only there.
_METRICS = ("hit", "RR", "AP", "NDCG", "recall", "precision")


def without_relevant(context: Context) -> Iterator[Estimate]:
    """The share of responses rated low without a relevant passage, by construct.

    Only where a metric of rankings by relevance judgments has values on them.
    """
    frame = context.scores.frame
    measured = frame[
        frame["construct"].eq(_ON) & frame["scorer_kind"].eq("metric") & frame["value"].notna()
    ]
    metric = _metric(list(map(str, measured["scorer"].unique())))
    if metric is None:
        return
    metric_rows = measured[measured["scorer"].eq(metric)]
    values = dict(zip(metric_rows["response_id"], metric_rows["value"], strict=True))
    for construct, data in context.rated.items():
        scale = context.human_scale(construct)
        if construct == _ON or scale is None or data.reference_missing:
            continue
        estimate = _construct_estimate(data, metric, values, (scale.min + scale.max) / 2)
        if estimate is not None:
            yield estimate


def _metric(names: list[str]) -> str | None:
    """The metric that tells whether a relevant document was retrieved: one without a cut first."""
    known = [name for name in names if name.split()[0].partition("@")[0] in _METRICS]
    return min(
        known,
        key=lambda name: (
            "@" in name.split()[0],
            _METRICS.index(name.split()[0].partition("@")[0]),
        ),
        default=None,
    )


def _construct_estimate(
    data: ConstructData, metric: str, values: dict[str, float], middle: float
) -> Estimate | None:
    retrieved = np.array([values.get(response, np.nan) for response in data.responses], float)
    known = np.isfinite(retrieved) & np.isfinite(data.reference)
    low = known & (data.reference < middle)
    others, none = known & ~low, retrieved == 0
    if not low.any():
        return None
    counts = {
        "count": int((low & none).sum()),
        "of": int(low.sum()),
        "others_count": int((others & none).sum()),
        "others_of": int(others.sum()),
    }
    return Estimate(
        "low_without_relevant",
        value=counts["count"] / counts["of"],
        constructs=(data.construct,),
        scorers=(metric, *data.people),
        n_raters=len(data.people) if data.reference_kind == "mean_of_raters" else 0,
        n_responses=counts["of"],
        n_queries=int(np.unique(data.query[low]).size),
        params={**counts, "below": middle},
    )


STATISTICS = (
    Statistic(
        "low_without_relevant",
        "Rated low, nothing relevant retrieved",
        "share of the responses that people rate below the middle of the scale (params.below) for "
        "which the ranking has no relevant document: the first of `scorers`, a metric by relevance "
        "judgments, is 0; params.count of params.of, and of the other responses "
        "params.others_count of params.others_of. Responses without a value of the metric are left "
        "out",
        without_relevant,
        range=(0, 1),
    ),
)


def reading(analysis: Analysis) -> Iterator[str]:
    """How many of the responses that people rate low the retriever gave nothing relevant."""
    estimates = analysis.estimates.select("low_without_relevant")
    if not estimates:
        return
    parts = [
        f"{e.params['count']} of {e.params['of']} on {e.constructs[0]} ({e.params['others_count']} "
        f"of {e.params['others_of']} other responses)"
        for e in estimates
    ]
    yield (
        "The retriever's part: of the responses that people rate below the middle of the scale, "
        f"no relevant passage was retrieved ({estimates[0].scorers[0]} is 0) for {listed(parts)}. "
        "The rest had one, so the retriever does not explain them."
    )
