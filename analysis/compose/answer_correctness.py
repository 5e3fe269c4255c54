"""The AC audit: the judge's part, the exact match, and the AC composed of the two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.agreement.association import Measure
from analysis.answer_correctness.composing import (
    attainable_without_match,
    composed_ac,
    em_problem,
    exact_matches,
)
from analysis.compose.context import Context
from analysis.compose.judge_against_humans import compared, reference_scorers
from analysis.compose.score_properties import counts
from analysis.estimates import Estimate
from analysis.matrix import ConstructData

CONSTRUCT = "AC"
EXACT_MATCH = "EM"
_MEASURES: tuple[Measure, ...] = ("pearson", "spearman", "kendall_tau_b")


def answer_correctness(context: Context) -> Iterator[Estimate]:
    """Figures of the composed AC, where the construct AC has a judge and the metric EM.

    The composed AC gets correlations only: with lambda = .7 it lies tens of points below what
    people say of a judge that agrees with them.
    """
    data = context.whole.get(CONSTRUCT)
    if data is None or EXACT_MATCH not in data.scorers:
        return
    em, weight = data.scorers[EXACT_MATCH], context.options.ac_lambda
    scale = context.scores.scale(CONSTRUCT, EXACT_MATCH)
    judges = [name for name, kind in data.kinds.items() if kind == "judge"]
    for judge in judges:
        own = context.scores.scale(CONSTRUCT, judge)
        record: dict[str, Any] = {
            "constructs": (CONSTRUCT,),
            "scorers": (composed_name(judge, weight), judge, EXACT_MATCH),
            "params": {"lambda": weight},
        }
        problem = (
            "no scale is declared for AC; declare it with --scale AC=MIN:MAX"
            if scale is None or own is None
            else f"{judge} is on {own}, EM on {scale}: not a common scale"
            if not scale.same_points(own)
            else em_problem(em, scale)
        )
        if problem or scale is None:
            yield Estimate("attainable_without_match", reason=problem, **record)
            continue
        yield Estimate(
            "attainable_without_match",
            value=attainable_without_match(weight, scale),
            **record,
        )
        if CONSTRUCT in context.rated:
            yield from _composed(context, context.rated[CONSTRUCT], judge, weight)
    if scale is not None and em_problem(em, scale) is None:
        for system in (None, *data.systems):
            of_system = slice(None) if system is None else data.of_system(system)
            chosen = em[of_system]
            yield Estimate(
                "exact_matches",
                (CONSTRUCT,),
                (EXACT_MATCH,),
                (system,) if system else (),
                f"system:{system}" if system else "pooled",
                value=float(exact_matches(chosen, scale)),
                **counts(chosen, data.query[of_system]),
            )


def composed_name(judge: str, weight: float) -> str:
    """Name of the derived scorer, with its lambda."""
    return f"{judge} composed with EM (lambda {weight:g})"


def _composed(
    context: Context, data: ConstructData, judge: str, weight: float
) -> Iterator[Estimate]:
    values = composed_ac(data.scorers[judge], data.scorers[EXACT_MATCH], weight)
    for measure in _MEASURES:
        yield from compared(
            context,
            data,
            composed_name(judge, weight),
            values,
            reference_scorers(data),
            measure,
        )
