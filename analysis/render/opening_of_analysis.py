"""The first lines of a report, from an analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.decisions.preferred_responses import preference_facts
from analysis.decisions.records import UseDecision
from analysis.decisions.table_facts import scored_facts
from analysis.render.answer_lines import answer_lines, shared_remarks
from analysis.render.formatting import listed
from analysis.render.opening import ConstructOpening, JudgeOpening, openings
from analysis.render.sentences import Fact, fact, in_words


def openings_of(analysis: Analysis, decisions: Sequence[UseDecision]) -> list[JudgeOpening]:
    """The first lines about each judge that has answers, in their order."""
    compared = {(of.construct, of.scorer) for of in preference_facts(analysis)}
    about = dict.fromkeys((d.construct, d.scorer) for d in decisions if d.construct is not None)
    facts = [
        scored_facts(analysis, construct, scorer)
        for construct, scorer in about
        if construct in analysis.rated and (construct, scorer) not in compared
    ]
    own = {of.scorer for of in facts}
    others = on_preferences(analysis, [d for d in decisions if d.scorer not in own])
    return openings(analysis, analysis.estimates, facts, decisions) + others


def on_preferences(analysis: Analysis, decisions: Sequence[UseDecision] = ()) -> list[JudgeOpening]:
    """The first lines on judges that compare responses, beside people's preferences."""
    figures = analysis.estimates.select("preference_accuracy")
    results = []
    for scorer in dict.fromkeys(e.scorers[0] for e in figures):
        own = [e for e in figures if e.scorers[0] == scorer]
        raters = own[0].scorers[1:]
        people = raters[0] if len(raters) == 1 else f"{len(raters)} raters ({listed(raters)})"
        pairs = max(e.n_responses // max(1, e.n_raters) for e in own)
        whole = [d for d in decisions if d.scorer == scorer and d.construct is None]
        results.append(
            JudgeOpening(
                scorer,
                in_words(fact("compared_preferences", scorer=scorer, people=people, n=pairs)),
                tuple(_preferred(analysis, e) for e in own),
                tuple(answer_lines(analysis, whole)),
                shared_remarks(whole),
                None,
            )
        )
    return results


def _preferred(analysis: Analysis, accuracy: Estimate) -> ConstructOpening:
    """Accuracy, kappa and consistency of a judge's preferences on one construct."""
    construct, scorer = accuracy.constructs[0], accuracy.scorers[0]
    where = {"construct": construct, "scorer": scorer}
    if not accuracy.defined:
        lines = [fact("accuracy_undefined", reason=accuracy.reason)]
    else:
        further = {
            key: _and(analysis, f"and_{key}", f"preference_{key}", where)
            for key in ("kappa", "ac1")
        }
        lines = [fact("accuracy", e=accuracy, **further), *_beside_the_majority(analysis, where)]
    same = analysis.estimates.first("order_consistency", **where)
    if same is not None and same.defined:
        first = _and(analysis, "and_first", "position_bias", where)
        lines.append(fact("both_orders", e=same, first=first))
    return ConstructOpening(analysis.full_name(construct), tuple(map(in_words, lines)))


def _and(analysis: Analysis, name: str, statistic: str, where: dict[str, str]) -> Fact | None:
    e = analysis.estimates.first(statistic, **where)
    return fact(name, e=e) if e is not None and e.defined else None


def _beside_the_majority(analysis: Analysis, where: dict[str, str]) -> Iterator[Fact]:
    """Accuracy against most raters, and that of a rater, where there are several."""
    judge, rater = (
        analysis.estimates.first(name, **where)
        for name in ("majority_accuracy", "rater_majority_accuracy")
    )
    if judge is not None and judge.defined and rater is not None and rater.defined:
        yield fact("majority", judge=judge, rater=rater)
