"""What a verdict adds where metrics were measured: whether the judge orders responses better."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.sentence_templates import SCOPES
from analysis.render.sentences import Fact, fact

#: The measure that is decided on where people compared two responses.
ON_PREFERENCES = "spearman"

_Pair = tuple[Estimate, Estimate]


def family(construct: str, judge: str, on: object) -> str:
    """Key of the family of a judge and the metrics on a construct; `on` as in params.on."""
    return f"{judge} and metrics on {construct}" + (f", {on}" if on else "")


def beside_metrics(analysis: Analysis, construct: str, judge: str) -> Iterator[Fact]:
    """The metric that comes closest to the judge, where any was measured.

    On ratings and on preferences, if there are both.
    """
    # The difference from each metric that is defined, with the margin it is held against.
    pairs = [
        (e, margin)
        for margin in analysis.estimates.select(
            "metric_within_margin", construct=construct, scorer=judge
        )
        for e in difference_of(analysis, margin)
        if e.defined
    ]
    for on_preferences in (False, True):
        some = [pair for pair in pairs if ("on" in pair[0].params) == on_preferences]
        if some:
            yield _beside(analysis, judge, some, "agree" if on_preferences else "order")


def _beside(analysis: Analysis, judge: str, pairs: list[_Pair], do: str) -> Fact:
    best, margin = min(pairs, key=lambda pair: pair[0].value)
    metric, claims = best.scorers[1], analysis.claims
    key = family(best.constructs[0], judge, best.params.get("on"))
    measure = "tau-b" if do == "order" else "Spearman's rho"
    slots = {
        "judge": judge,
        "metric": metric,
        "of": fact("best_of", n=len(pairs)) if len(pairs) > 1 else "a metric",
        "do": fact(do, s="", where=SCOPES[best.scope]),
        "does": fact(do, s="s", where=SCOPES[best.scope]),
        "free": ", and asks no model" if _asks_no_model(analysis, metric) else "",
        "figure": fact("from_metric", measure=measure, judge=judge, metric=metric, e=best),
        "margin": margin.params["margin"],
    }
    if claims.hold(key, best) and best.value < 0:
        return Fact("metric_better", slots)
    if claims.hold(key, margin) and margin.value > 0:
        return Fact("metric_as_good", slots)
    if claims.joint(key, (e for e, _ in pairs)):
        return Fact("judge_better", slots)
    undecided = best.ci_low <= 0 <= best.ci_high
    return Fact("judge_not_better" if undecided else "judge_not_better_corrected", slots)


def _asks_no_model(analysis: Analysis, metric: str) -> bool:
    """Whether the scores of a metric, or of all members of a composite, were computed here."""
    frame = analysis.context.scores.frame
    members = analysis.options.derived_from.get(metric, (metric,))
    if any(member in analysis.options.runs for member in members):
        return False
    return bool(frame.loc[frame["scorer"].isin(members), "source"].eq("own").all())


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
