"""What a verdict adds where metrics were measured: whether the judge orders responses better."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import between, correlation

SCOPES = {"within_query": "within a query", "pooled": "over all responses"}

#: The measure that is decided on where people compared two responses.
ON_PREFERENCES = "spearman"


def family(construct: str, judge: str, on: object) -> str:
    """Key of the family of a judge and the metrics on a construct; `on` as in params.on."""
    return f"{judge} and metrics on {construct}" + (f", {on}" if on else "")


def beside_metrics(analysis: Analysis, construct: str, judge: str) -> Iterator[str]:
    """A sentence on the metric that comes closest to the judge, where any was measured.

    On ratings and on preferences, if there are both.
    """
    pairs = _pairs(analysis, construct, judge)
    for some in (
        [pair for pair in pairs if "on" not in pair[0].params],
        [pair for pair in pairs if "on" in pair[0].params],
    ):
        if some:
            yield _beside(analysis, judge, some)


def _beside(analysis: Analysis, judge: str, pairs: list[tuple[Estimate, Estimate]]) -> str:
    best, margin = min(pairs, key=lambda pair: pair[0].value)
    metric, claims = best.scorers[1], analysis.claims
    key = family(best.constructs[0], judge, best.params.get("on"))
    on_preferences = "on" in best.params
    measure = "Spearman's rho" if on_preferences else "tau-b"
    of = f"the best of {len(pairs)} metrics" if len(pairs) > 1 else "a metric"
    figure = (
        f"{measure} of {judge} minus {metric}: {correlation(best.value)} {between(best)}".rstrip()
    )
    free = ", and asks no model" if _asks_no_model(analysis, metric) else ""
    verb, what = "order", f"responses {SCOPES[best.scope]}"
    if on_preferences:
        verb, what = "agree", "with people's preferences"
    orders = f"{verb}s {what}"
    if claims.hold(key, best) and best.value < 0:
        return f"{metric}, {of}, {orders} better than {judge} does{free} ({figure})."
    if claims.hold(key, margin) and margin.value > 0:
        within = correlation(float(str(margin.params["margin"])))
        return f"{metric}, {of}, {orders} as well as {judge}, to within {within}{free} ({figure})."
    if claims.joint(key, (e for e, _ in pairs)):
        return f"{judge} {orders} better than {metric}, {of} ({figure})."
    alone = not best.ci_low <= 0 <= best.ci_high
    several = ", before correction for the number of comparisons" if alone else ""
    return f"{judge} is not shown to {verb} {what} better than {metric}, {of} ({figure}{several})."


def _asks_no_model(analysis: Analysis, metric: str) -> bool:
    """Whether the scores of a metric, or of all members of a composite, were computed here."""
    frame = analysis.context.scores.frame
    members = analysis.options.derived_from.get(metric, (metric,))
    if any(member in analysis.options.runs for member in members):
        return False
    return bool(frame.loc[frame["scorer"].isin(members), "source"].eq("own").all())


def _pairs(analysis: Analysis, construct: str, judge: str) -> list[tuple[Estimate, Estimate]]:
    """The difference from each metric that is defined, with the margin it is held against."""
    where = {"construct": construct, "scorer": judge}
    pairs = []
    for margin in analysis.estimates.select("metric_within_margin", **where):
        pairs += [(e, margin) for e in difference_of(analysis, margin) if e.defined]
    return pairs


def difference_of(analysis: Analysis, margin: Estimate) -> Iterator[Estimate]:
    """The judge minus the metric, of which `margin` is the distance from the margin."""
    for e in analysis.estimates.select(
        "judge_minus_metric",
        construct=margin.constructs[0],
        scope=margin.scope,
        measure=str(margin.params["measure"]),
    ):
        if (e.scorers, e.params.get("on")) == (margin.scorers, margin.params.get("on")):
            yield e
