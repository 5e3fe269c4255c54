"""Declared hypotheses, tested with each judge and adjusted together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.hypothesis import Hypothesis
from analysis.statistics.discrimination.hypotheses import holm, hypothesis_p
from analysis.statistics.discrimination.tukey import RandomisedTukey
from analysis.topics.discrimination.scored_systems import SystemsScored

Tests = Sequence[tuple[SystemsScored, RandomisedTukey]]


def hypotheses(context: Context, tests: Tests) -> Iterator[Estimate]:
    """A record for each hypothesis and scorer; Holm's adjustment is over those of one scorer."""
    declared = context.options.hypotheses
    if not declared:
        return
    by_scorer: dict[str, dict[str, tuple[SystemsScored, RandomisedTukey]]] = {}
    for of, found in tests:
        by_scorer.setdefault(of.name, {})[of.construct] = (of, found)
    kinds = context.scores.scorer_kinds
    judges = [name for name in by_scorer if kinds.get(name) == "judge"]
    unasked = judges or [name for name in by_scorer if kinds.get(name) == "metric"]
    for scorer in dict.fromkeys([*unasked, *(h.scorer for h in declared if h.scorer)]):
        own = [h for h in declared if (scorer == h.scorer if h.scorer else scorer in unasked)]
        yield from _of_scorer(scorer, own, by_scorer.get(scorer, {}))


def _of_scorer(
    scorer: str,
    own: Sequence[Hypothesis],
    tests: Mapping[str, tuple[SystemsScored, RandomisedTukey]],
) -> Iterator[Estimate]:
    p: dict[tuple[str, str, str], float] = {}
    difference: dict[tuple[str, str, str], float] = {}
    for construct, (of, found) in tests.items():
        for i, j, own_p, apart in zip(
            found.first, found.second, found.p, found.difference, strict=True
        ):
            key = (construct, of.systems[i], of.systems[j])
            p[key], difference[key] = float(own_p), float(apart)
    scored = [construct for construct, (_, found) in tests.items() if np.isfinite(found.p).any()]
    values = [hypothesis_p(h, p, difference, scored) for h in own]
    adjusted = holm(values)
    one = next((of for of, _ in tests.values()), None)
    for hypothesis, value, after in zip(own, values, adjusted, strict=True):
        chosen = hypothesis.constructs or tuple(scored)
        systems = dict.fromkeys(name for pair in hypothesis.pairs for name in pair)
        used = [tests[construct][1] for construct in chosen if construct in tests]
        yield Estimate(
            "hypothesis_p",
            constructs=chosen,
            scorers=one.scorers if one else (scorer,),
            systems=tuple(systems),
            scope="system_level",
            value=value,
            method="randomised_tukey_hsd" if np.isfinite(value) else None,
            n_responses=sum(found.n_scores for found in used),
            n_queries=max((found.n_queries for found in used), default=0),
            n_raters=len(one.scorers) if one and one.people else 0,
            reason=_reason(scorer, hypothesis, chosen, p) if np.isnan(value) else None,
            params={
                "hypothesis": hypothesis.name,
                "direction": hypothesis.direction,
                "aggregation": hypothesis.aggregation,
                "holm": float(after),
                "hypotheses": len(own),
                "tests": len(chosen) * len(hypothesis.pairs),
            },
        )


def _reason(
    scorer: str,
    hypothesis: Hypothesis,
    constructs: Sequence[str],
    p: Mapping[tuple[str, str, str], float],
) -> str:
    for construct in constructs:
        for a, b in hypothesis.pairs:
            found = p.get((construct, a, b), p.get((construct, b, a), np.nan))
            if np.isnan(found):
                return f"{scorer} has no test of {a} against {b} on {construct}"
    return f"{scorer} has no scores of systems to test it with"
