"""What a verdict adds where metrics were measured: whether the judge orders responses better."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER
from analysis.render.formatting import between, correlation

SCOPES = {"within_query": "within a query", "pooled": "over all responses"}

#: The section whose comparisons decide what is said.
SECTION = "agreement"


def beside_metrics(analysis: Analysis, construct: str, judge: str) -> Iterator[str]:
    """A sentence on the metric that comes closest to the judge, where any was measured."""
    pairs = _pairs(analysis, construct, judge)
    if not pairs:
        return
    best, margin = min(pairs, key=lambda pair: pair[0].value)
    metric, hold = best.scorers[1], analysis.claims.hold
    where = SCOPES[best.scope]
    of = f"the best of {len(pairs)} metrics" if len(pairs) > 1 else "a metric"
    figure = f"tau-b of {judge} minus {metric}: {correlation(best.value)} {between(best)}".rstrip()
    free = ", and asks no model" if _asks_no_model(analysis, metric) else ""
    orders = f"orders responses {where}"
    if hold(SECTION, best) and best.value < 0:
        yield f"{metric}, {of}, {orders} better than {judge} does{free} ({figure})."
    elif hold(SECTION, margin) and margin.value > 0:
        within = correlation(float(str(margin.params["margin"])))
        yield f"{metric}, {of}, {orders} as well as {judge}, to within {within}{free} ({figure})."
    elif all(hold(SECTION, e) and e.value > 0 for e, _ in pairs):
        yield f"{judge} {orders} better than {metric}, {of} ({figure})."
    else:
        better = f"order responses {where} better than {metric}, {of}"
        yield f"{judge} is not shown to {better} ({figure})."


def _asks_no_model(analysis: Analysis, metric: str) -> bool:
    """Whether the scores of a metric, or of all members of a composite, were computed here."""
    frame = analysis.context.scores.frame
    members = analysis.options.derived_from.get(metric, (metric,))
    return bool(frame.loc[frame["scorer"].isin(members), "source"].eq("own").all())


def _pairs(analysis: Analysis, construct: str, judge: str) -> list[tuple[Estimate, Estimate]]:
    """The difference from each metric that is defined, with the margin it is held against."""
    where = {"construct": construct, "scorer": judge}
    pairs = []
    for margin in analysis.estimates.select("metric_within_margin", **where):
        for e in analysis.estimates.select(
            "judge_minus_metric", measure=ORDER, scope=margin.scope, **where
        ):
            if e.scorers == margin.scorers and e.defined:
                pairs.append((e, margin))
    return pairs
