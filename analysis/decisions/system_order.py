"""Does a judge rank systems as people do: what it costs to choose between two of them by it.

For a pair of systems, choosing by the judge costs the points by which people prefer the other one,
and nothing where judge and people prefer the same. The judge may rank systems if that is at most
the level margin for every pair. A pair costs more if people prefer the first system by more than
the margin and the judge does not prefer it, or the same the other way around; each of the two is
excluded where people's difference is shown to be smaller, or the judge's to have people's sign (the
smaller of both p-values, doubled). All pairs must be excluded, so that the largest p is that of all
(Berger 1982, Technometrics 24:295-300). Where no two systems differ any order would do, so that
judge and people must also be shown to agree on the sign of one pair at least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.core.estimates import Estimate
from analysis.core.uncertainty import Uncertainty
from analysis.decisions.questions import NOMINAL, ONE_RATER, Evidence, Question
from analysis.decisions.records import DecidingFigure, DecisionThreshold
from analysis.decisions.standards import WEAKER

#: With fewer systems there is one pair, which is not a ranking.
SYSTEMS_NEEDED = 3

SAME_SIGN = DecisionThreshold("same_sign", "by definition", 0.0)


def rank_systems(question: Question) -> Evidence:
    """Every pair of systems, and one on which both agree for sure."""
    facts = question.facts
    if facts.nominal:
        return Evidence(not_posed=NOMINAL)
    systems = len(facts.systems)
    if systems < SYSTEMS_NEEDED:
        has = f"the table has {systems}" if systems else "no column names systems"
        return Evidence(not_posed=f"it takes {SYSTEMS_NEEDED} systems, {has}")
    agreement = question.first("decision_agreement")
    records = question.select("decision")
    if not records:
        why = (agreement.reason if agreement else None) or "pairs of systems are too many to list"
        return Evidence(missing=why)
    undecided = next((e for e in records if _pair(e) is None), None)
    missing = None
    if undecided is not None:
        names = " and ".join(undecided.systems)
        missing = f"{names}: {undecided.reason or 'there is no interval'}"
    pairs = [pair for pair in map(_pair, records) if pair is not None]
    if not pairs:
        return Evidence(missing=missing)
    level, alpha = question.standards.level, question.standards.alpha
    threshold = level or DecisionThreshold("level_margin", "no scale is declared", 0.0, 0.0)
    margin = threshold.value
    costly = max(pairs, key=lambda pair: (pair.p_costly(margin), -abs(pair.people)))
    against = min(1.0, len(records) * min(pair.p_cheap(margin) for pair in pairs))
    order = DecidingFigure(
        costly.record,
        threshold,
        costly.p_costly(margin),
        max(pair.p_costly(WEAKER * margin) for pair in pairs),
        against,
        all(pair.cost <= margin for pair in pairs),
        costly.factor(margin, alpha),
    )
    sure = min(pairs, key=lambda pair: pair.p_same_sign)
    p = min(1.0, len(pairs) * sure.p_same_sign)
    factor = sure.factor(0.0, alpha / len(pairs))
    agreed = DecidingFigure(sure.record, SAME_SIGN, p, p, 1.0, sure.people * sure.judge > 0, factor)
    opposite = [e for e in records if e.params["decision"] == "opposite"]
    remarks = [
        f"people find {e.systems[0]} and {e.systems[1]} different in one direction and the judge "
        "in the other"
        for e in opposite[:1]
    ]
    if facts.n_raters == 1 and not facts.adjudicated:
        remarks.append(ONE_RATER)
    return Evidence((order, agreed), remarks=tuple(remarks), missing=missing)


@dataclass(frozen=True)
class _Pair:
    """People's and the judge's difference of two systems, each with its error."""

    record: Estimate
    people: float
    judge: float
    of_people: Uncertainty
    of_judge: Uncertainty

    @property
    def cost(self) -> float:
        """Points lost by choosing as the judge's difference has it, as observed."""
        return 0.0 if self.people * self.judge > 0 else abs(self.people)

    def p_costly(self, margin: float) -> float:
        """p of a cost above the margin: small where it is excluded in both directions."""
        first = min(self._people_at_least(margin), self._judge_at_most(0.0))
        second = min(self._people_at_most(-margin), self._judge_at_least(0.0))
        return min(1.0, 2 * max(first, second))

    def p_cheap(self, margin: float) -> float:
        """p of no cost above the margin: small where it is shown in one direction."""
        first = max(self._people_at_most(margin), self._judge_at_least(0.0))
        second = max(self._people_at_least(-margin), self._judge_at_most(0.0))
        return min(1.0, 2 * min(first, second))

    @property
    def p_same_sign(self) -> float:
        """p of judge and people not having one sign."""
        first = max(self._people_at_most(0.0), self._judge_at_most(0.0))
        second = max(self._people_at_least(0.0), self._judge_at_least(0.0))
        return min(1.0, 2 * min(first, second))

    def factor(self, margin: float, alpha: float) -> float | None:
        """By how much the queries must grow to decide, the cheaper way."""
        of_judge = self.of_judge.queries_factor(abs(self.judge), alpha / 2)
        room = abs(abs(self.people) - margin)
        of_people = self.of_people.queries_factor(room, alpha / 2)
        if margin == 0:
            known = [f for f in (of_judge, of_people) if f is not None]
            return max(known) if len(known) == 2 else None
        ways = [of_people if abs(self.people) < margin else None]
        ways.append(of_judge if self.people * self.judge > 0 else None)
        if self.cost > margin:
            known = [f for f in (of_judge, of_people) if f is not None]
            ways = [max(known) if len(known) == 2 else None]
        return min((f for f in ways if f is not None), default=None)

    def _people_at_most(self, threshold: float) -> float:
        return self.of_people.p_at_most(self.people, threshold)

    def _people_at_least(self, threshold: float) -> float:
        return self.of_people.p_at_least(self.people, threshold)

    def _judge_at_most(self, threshold: float) -> float:
        return self.of_judge.p_at_most(self.judge, threshold)

    def _judge_at_least(self, threshold: float) -> float:
        return self.of_judge.p_at_least(self.judge, threshold)


def _pair(record: Estimate) -> _Pair | None:
    """The two differences of a `decision`; None where one of them has no error."""
    values = []
    for side in ("people", "judge"):
        value, error, df = (record.params.get(key) for key in (side, f"{side}_error", f"{side}_df"))
        if value is None or error is None:
            return None
        freedom = math.inf if df is None else float(df)
        values.append((float(value), Uncertainty((float(error) ** 2,), (freedom,))))
    (people, of_people), (judge, of_judge) = values
    return _Pair(record, people, judge, of_people, of_judge)
