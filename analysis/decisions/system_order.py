"""Does a judge rank systems as people do: the system that it would choose, and all pairs.

`rank_systems`: choosing the system that the judge finds best costs at most the level margin in
people's points (`choice_regret`), and judge and people are shown to agree on the sign of one pair
at least. Where no two systems differ any choice would do, and shows nothing.

`rank_all_systems` is stricter. For a pair of systems, choosing by the judge costs the points by
which people prefer the other one, and nothing where judge and people prefer the same; this must be
at most the margin for every pair. A pair costs more if people prefer the first system by more than
the margin and the judge does not prefer it, or the same the other way around. Each of the two is
excluded where people's difference is shown to be smaller, or the judge's to have people's sign (the
smaller of both p-values, doubled, with nine tenths of the error), or the two differences to be less
than the margin apart (with one tenth), as where the judge's scores are people's. All pairs must be
excluded, so that the largest p is that of all (Berger 1982, Technometrics 24:295-300). Pairs are
compared on the rated responses, also where these are a sample of what the judge scored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from analysis.core.estimates import Estimate
from analysis.core.statistic import Target
from analysis.core.uncertainty import Uncertainty
from analysis.decisions.figures import below
from analysis.decisions.questions import NOMINAL, ONE_RATER, Evidence, Question, why_missing
from analysis.decisions.records import DecidingFigure, DecisionThreshold

#: With fewer systems there is one pair, and the stricter question is the other one.
SYSTEMS_NEEDED = 3

#: The part of the error for the test of the judge's difference minus people's.
_DIRECT = 0.1

SAME_SIGN = DecisionThreshold("same_sign", "by definition", 0.0)


def rank_systems(question: Question, target: Target) -> Evidence | None:
    """The judge's choice costs little, and on one pair both agree for sure."""
    if (why := _not_posed(question, 2)) is not None:
        return Evidence(not_posed=why)
    e, regret = question.first("choice_regret"), question.standards.regret
    if e is None or not e.has_interval or regret is None:
        return Evidence(missing=why_missing(e)) if target == "these_raters" else None
    if e.target != target:
        return None
    return Evidence(
        (below(e, regret, question.standards.alpha), _agreed(e)), limits=_limits(question)
    )


def _agreed(e: Estimate) -> DecidingFigure:
    """Judge and people have one sign on one pair at least."""
    p = float(str(e.params["agreed_p"]))
    names = str(e.params["agreed_first"]), str(e.params["agreed_second"])
    shown = replace(e, systems=names).without_interval("it is a test of signs")
    return DecidingFigure(shown, SAME_SIGN, p, 1.0, math.nan, True)


def rank_all_systems(question: Question, target: Target) -> Evidence | None:
    """Every pair of systems, and one on which both agree for sure."""
    if (why := _not_posed(question, SYSTEMS_NEEDED)) is not None:
        return Evidence(not_posed=why)
    e, records = question.first("choice_regret"), question.select("decision")
    threshold = question.standards.level
    if not records or threshold is None or e is None or not e.defined:
        why = (e.reason if e is not None and not e.defined else None) or (
            "pairs of systems are too many to list"
        )
        return Evidence(missing=why) if target == "these_raters" else None
    if e.target != target:
        return None
    unknown = next((record for record in records if _pair(record) is None), None)
    missing = None
    if unknown is not None:
        names = " and ".join(unknown.systems)
        missing = (
            f"{names}: {unknown.reason or 'the difference is the same on each of too few queries'}"
        )
    pairs = [pair for pair in map(_pair, records) if pair is not None]
    if not pairs:
        return Evidence(missing=missing)
    margin, alpha = threshold.value, question.standards.alpha
    costly = max(pairs, key=lambda pair: (pair.p_costly(margin), -abs(pair.people)))
    worst = min(pairs, key=lambda pair: (pair.p_cheap(margin), -abs(pair.people)))
    p_against = min(1.0, len(records) * worst.p_cheap(margin))
    # A no rests on the pair that refuses, any other answer on the one that is least known.
    shown = worst if p_against <= alpha else costly
    order = DecidingFigure(
        shown.record,
        threshold,
        costly.p_costly(margin),
        p_against,
        math.prod(pair.probability(margin) for pair in pairs),
        all(pair.cost <= margin for pair in pairs),
        shown.factor(margin, alpha),
    )
    limits = (*_rated_alone(e), *_limits(question))
    return Evidence((order, _agreed(e)), limits=limits, missing=missing)


def _rated_alone(e: Estimate) -> Iterator[str]:
    """That pairs are not compared on everything that was judged, as the choice of a system is."""
    judged = e.params.get("judged_queries")
    if isinstance(judged, int):
        yield f"pairs are compared on the {e.n_queries:,} rated of {judged:,} judged queries"


def _not_posed(question: Question, needed: int) -> str | None:
    """Why the table cannot be asked."""
    if question.facts.nominal:
        return NOMINAL
    if question.facts.people_constant:
        return question.facts.constant
    systems = len(question.facts.systems)
    if systems < needed:
        has = f"the table has {systems}" if systems else "no column names systems"
        return f"it takes {needed if systems > 1 else 2} systems, {has}"
    return "no scale is declared" if question.standards.level is None else None


def _limits(question: Question) -> tuple[str, ...]:
    found = [
        f"people find {e.systems[0]} and {e.systems[1]} different in one direction and the judge "
        "in the other"
        for e in question.select("decision")
        if e.params["decision"] == "opposite"
    ][:1]
    if question.facts.n_raters == 1 and not question.facts.adjudicated:
        found.append(ONE_RATER)
    return tuple(found)


@dataclass(frozen=True)
class _Pair:
    """People's and the judge's difference of two systems, each with its error."""

    record: Estimate
    people: float
    judge: float
    people_uncertainty: Uncertainty
    judge_uncertainty: Uncertainty
    apart: tuple[float, Uncertainty] | None = None
    """The judge's difference minus people's."""

    @property
    def cost(self) -> float:
        """Points lost by choosing as the judge's difference has it, as observed."""
        return 0.0 if self.people * self.judge > 0 else abs(self.people)

    def p_costly(self, margin: float) -> float:
        """p of a cost above the margin: small where it is excluded in both directions."""
        wrong_first, wrong_second = self._not_preferred
        first = min(self._people_at_least(margin), wrong_first)
        second = min(self._people_at_most(-margin), wrong_second)
        if self.apart is None or not margin > 0:
            return min(1.0, 2 * max(first, second))
        value, apart_uncertainty = self.apart
        below, above = (
            apart_uncertainty.p_at_most(value, -margin),
            apart_uncertainty.p_at_least(value, margin),
        )
        first = min(2 * first / (1 - _DIRECT), below / _DIRECT)
        second = min(2 * second / (1 - _DIRECT), above / _DIRECT)
        return min(1.0, max(first, second))

    def p_cheap(self, margin: float) -> float:
        """p of no cost above the margin: small where it is shown in one direction."""
        wrong_first, wrong_second = self._not_preferred
        first = max(self._people_at_most(margin), 1 - wrong_first)
        second = max(self._people_at_least(-margin), 1 - wrong_second)
        return min(1.0, 2 * min(first, second))

    def probability(self, margin: float) -> float:
        """Probability of no cost above the margin, with flat priors, people and judge apart."""
        above, below = 1 - self._people_at_most(margin), self._people_at_most(-margin)
        wrong_above, wrong_below = self._not_preferred
        costly = above * wrong_above + below * wrong_below
        if self.apart is not None and margin > 0:
            value, apart_uncertainty = self.apart
            costly = min(costly, 1 - apart_uncertainty.probability(value, -margin, margin))
        return 1 - costly

    def factor(self, margin: float, alpha: float) -> float | None:
        """By how much the queries must grow to decide, the cheaper way."""
        judge_uncertainty = self.judge_uncertainty.queries_factor(abs(self.judge), alpha / 2)
        room = abs(abs(self.people) - margin)
        people_uncertainty = self.people_uncertainty.queries_factor(room, alpha / 2)
        if margin == 0:
            known = [f for f in (judge_uncertainty, people_uncertainty) if f is not None]
            return max(known) if len(known) == 2 else None
        ways = [people_uncertainty if abs(self.people) < margin else None]
        ways.append(judge_uncertainty if self.people * self.judge > 0 else None)
        if self.cost > margin:
            known = [f for f in (judge_uncertainty, people_uncertainty) if f is not None]
            ways = [max(known) if len(known) == 2 else None]
        return min((f for f in ways if f is not None), default=None)

    def _people_at_most(self, threshold: float) -> float:
        return self.people_uncertainty.p_at_most(self.people, threshold)

    def _people_at_least(self, threshold: float) -> float:
        return self.people_uncertainty.p_at_least(self.people, threshold)

    @property
    def _not_preferred(self) -> tuple[float, float]:
        """p of the judge not preferring the first system, and of it not preferring the second.

        Where it ties the two on every query, it prefers neither for sure.
        """
        if self.judge == 0 and sum(self.judge_uncertainty.variances) == 0:
            return 1.0, 1.0
        first = self.judge_uncertainty.p_at_most(self.judge, 0.0)
        return first, 1 - first


def _pair(record: Estimate) -> _Pair | None:
    """The two differences of a `decision`; None where one of them has no error."""
    values = []
    for side in ("people", "judge"):
        value, error, df = (record.params.get(key) for key in (side, f"{side}_error", f"{side}_df"))
        if value is None or error is None:
            return None
        freedom = math.inf if df is None else float(df)
        values.append((float(value), Uncertainty((float(error) ** 2,), (freedom,))))
    (people, people_uncertainty), (judge, judge_uncertainty) = values
    value, error, df = (record.params.get(key) for key in ("apart", "apart_error", "apart_df"))
    apart = None
    if value is not None and error is not None:
        freedom = math.inf if df is None else float(df)
        apart = float(value), Uncertainty((float(error) ** 2,), (freedom,))
    return _Pair(record, people, judge, people_uncertainty, judge_uncertainty, apart)
