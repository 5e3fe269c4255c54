"""The first lines of a report, from an analysis."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.decisions.records import UseDecision
from analysis.decisions.table_facts import scored_facts
from analysis.render.formatting import between, correlation, counted, listed, percent, percents
from analysis.render.opening import ConstructOpening, JudgeOpening, openings


def openings_of(analysis: Analysis, decisions: Sequence[UseDecision]) -> list[JudgeOpening]:
    """The first lines about each judge that has answers, in their order."""
    about = dict.fromkeys((d.construct, d.scorer) for d in decisions if d.construct is not None)
    facts = [scored_facts(analysis, construct, scorer) for construct, scorer in about if construct]
    return openings(analysis, analysis.estimates, facts, decisions) + on_preferences(analysis)


def on_preferences(analysis: Analysis) -> list[JudgeOpening]:
    """The first lines on judges that compare responses, beside people's preferences."""
    figures = analysis.estimates.select("preference_accuracy")
    results = []
    for scorer in dict.fromkeys(e.scorers[0] for e in figures):
        own = [e for e in figures if e.scorers[0] == scorer]
        raters = own[0].scorers[1:]
        people = raters[0] if len(raters) == 1 else f"{len(raters)} raters ({listed(raters)})"
        pairs = counted(max(e.n_responses // max(1, e.n_raters) for e in own), "pair")
        results.append(
            JudgeOpening(
                scorer,
                f"{scorer} compared with the preferences of {people}: {pairs} of responses.",
                tuple(_preferred(analysis, e) for e in own),
                (),
                None,
                None,
            )
        )
    return results


def _preferred(analysis: Analysis, accuracy: Estimate) -> ConstructOpening:
    """Accuracy, kappa and consistency of a judge's preferences on one construct."""
    construct, scorer = accuracy.constructs[0], accuracy.scorers[0]
    where = {"construct": construct, "scorer": scorer}
    lines = []
    if accuracy.defined:
        text = f"Accuracy: {percent(accuracy.value)} {percents(accuracy)}".rstrip()
        kappa = analysis.estimates.first("preference_kappa", **where)
        if kappa is not None and kappa.defined:
            text += f"; kappa {correlation(kappa.value)} {between(kappa)}".rstrip()
        lines.append(text)
    else:
        lines.append(f"Accuracy: not defined, {accuracy.reason}")
    same = analysis.estimates.first("order_consistency", **where)
    bias = analysis.estimates.first("position_bias", **where)
    if same is not None and same.defined:
        text = f"Same choice in both orders: {percent(same.value)} {percents(same)}".rstrip()
        if bias is not None and bias.defined:
            text += f"; prefers what is shown first by {bias.value:+.0%}"
        lines.append(text)
    return ConstructOpening(analysis.full_name(construct), tuple(lines))
