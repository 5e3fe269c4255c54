"""The AC audit: the judge's part, the exact match, composed AC, and the unit of a match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import SYSTEM, Statistic
from analysis.statistics.agreement.association import Measure
from analysis.statistics.answer_correctness import (
    TOLERANCE,
    UnitCheck,
    attainable_without_match,
    composed_ac,
    em_problem,
    exact_matches,
    unit_check,
    unit_check_with_parts,
)
from analysis.topics.agreement.association import compared
from analysis.topics.answer_correctness.lambda_sweep import MATCHES, lambda_sweep
from analysis.topics.distribution.estimates import counts
from study.base.scales import Scale

CONSTRUCT = "AC"
EXACT_MATCH = "EM"
_MEASURES: tuple[Measure, ...] = ("pearson", "spearman", "kendall_tau_b")


def answer_correctness(context: Context) -> Iterator[Estimate]:
    """The unit check of AC, and its composed form where it has a judge and the metric EM.

    The composed AC gets correlations only: with lambda = .7 it is tens of points lower than
    people's ratings even for a judge that agrees with them.
    """
    yield from unit_checks(context)
    data = context.whole.get(CONSTRUCT)
    if data is None:
        return
    yield from _sweeps(context, data)
    if EXACT_MATCH not in data.scorers:
        return
    em, weight = data.scorers[EXACT_MATCH], context.options.ac_lambda
    scale = context.scores.scale(CONSTRUCT, EXACT_MATCH)
    judges = [name for name, kind in data.kinds.items() if kind == "judge"]
    for judge in judges:
        judge_scale = context.scores.scale(CONSTRUCT, judge)
        record: dict[str, Any] = {
            "constructs": (CONSTRUCT,),
            "scorers": (composed_name(judge, weight), judge, EXACT_MATCH),
            "params": {"lambda": weight},
        }
        problem = (
            "no scale is declared for AC; declare it with --scale AC=MIN:MAX"
            if scale is None or judge_scale is None
            else f"{judge} is on {judge_scale}, EM on {scale}: not a common scale"
            if not scale.same_points(judge_scale)
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
            yield from _mean(context.rated[CONSTRUCT], judge, weight)
    if scale is not None and em_problem(em, scale) is None:
        for system in (None, *data.systems):
            system_rows = slice(None) if system is None else data.produced_by(system)
            chosen = em[system_rows]
            yield Estimate(
                "exact_matches",
                (CONSTRUCT,),
                (EXACT_MATCH,),
                (system,) if system else (),
                f"system:{system}" if system else "pooled",
                value=float(exact_matches(chosen, scale)),
                **counts(chosen, data.query[system_rows]),
            )


def composed_name(judge: str, weight: float) -> str:
    """Name of the derived scorer, with its lambda."""
    return f"{judge} composed with EM (lambda {weight:g})"


def _composed(
    context: Context, data: ConstructData, judge: str, weight: float
) -> Iterator[Estimate]:
    values = composed_ac(data.scorers[judge], data.scorers[EXACT_MATCH], weight)
    scored = ComparedScores(data, composed_name(judge, weight), values, None)
    for measure in _MEASURES:
        yield from compared(context, scored, measure)


def _mean(data: ConstructData, judge: str, weight: float) -> Iterator[Estimate]:
    """Means of the composed AC and of people on the same responses; not a bias."""
    values = composed_ac(data.scorers[judge], data.scorers[EXACT_MATCH], weight)
    both = np.isfinite(values) & np.isfinite(data.reference)
    if both.any():
        yield Estimate(
            "composed_ac_mean",
            (CONSTRUCT,),
            (judge, EXACT_MATCH),
            value=float(values[both].mean()),
            n_responses=int(both.sum()),
            n_queries=int(np.unique(data.query[both]).size),
            params={"lambda": weight, "people": float(data.reference[both].mean())},
        )


def _sweeps(context: Context, data: ConstructData) -> Iterator[Estimate]:
    """Each judge composed with each metric of a match that is on its scale."""
    for match in (name for name in MATCHES if name in data.scorers):
        scale = context.scores.scale(CONSTRUCT, match)
        exact = match != "F1"
        if scale is None or (exact and em_problem(data.scorers[match], scale)):
            continue
        for judge in (name for name, kind in data.kinds.items() if kind == "judge"):
            judge_scale = context.scores.scale(CONSTRUCT, judge)
            em, weight = data.scorers[match], context.options.ac_lambda
            composed = exact and part_of(data, judge, em, weight) is not None
            if judge_scale is not None and scale.same_points(judge_scale) and not composed:
                yield from lambda_sweep(context, CONSTRUCT, judge, match)


def unit_checks(context: Context) -> Iterator[Estimate]:
    """`ac_unit_check` of AC, where the table has it."""
    if CONSTRUCT in context.whole:
        yield from ac_unit_check(context, CONSTRUCT, EXACT_MATCH)


def ac_unit_check(context: Context, construct: str, match: str) -> Iterator[Estimate]:
    """`ac_unit_check` of every judge or metric on AC that looks composed.

    With the parts in the table, that is one that equals (1 - lambda) times a judge where there is
    no match; without them, one on the grid of a composed column, with values that are not whole
    points. In a table of AC alone every column with such values is named. Columns from 0 to 1 are
    read in hundredths, which are points.
    """
    data, weight = context.whole[construct], context.options.ac_lambda
    factors = {
        name: factor
        for name, values in data.scorers.items()
        if (factor := _points_per_unit(values, context.scores.scale(construct, name))) is not None
    }
    data = replace(
        data, scorers={name: factor * data.scorers[name] for name, factor in factors.items()}
    )
    for name, values in data.scorers.items():
        if name == match or not np.isfinite(values).any():
            continue
        parts: tuple[str, ...] = ()
        check: UnitCheck | None = None
        em = data.scorers.get(match)
        judge = None if em is None else part_of(data, name, em, weight)
        if em is not None and judge is not None:
            parts = (judge, match)
            check = unit_check_with_parts(values, data.scorers[judge], _matched(em), weight)
        elif _between_points(values):
            check = unit_check(values, weight)
            if check.off_grid and len(context.scores.constructs) > 1:
                continue
        if check is not None:
            present = np.isfinite(values)
            yield Estimate(
                "ac_unit_check",
                (construct,),
                (name, *parts),
                value=check.value,
                n_responses=int(present.sum()),
                n_queries=int(np.unique(data.query[present]).size),
                n_dropped=int((~present).sum()),
                reason=check.reason,
                params={
                    "lambda": weight,
                    "from": "parts" if parts else "values",
                    "points_per_unit": factors[name],
                },
            )


def _points_per_unit(values: FloatArray, scale: Scale | None) -> float | None:
    """1 for values from 0 to 100, 100 for values from 0 to 1; None on another scale."""
    if scale is None:
        return 100.0 if np.nanmax(values, initial=0.0) <= 1 else 1.0
    return {(0.0, 100.0): 1.0, (0.0, 1.0): 100.0}.get((scale.min, scale.max))


def _between_points(values: FloatArray) -> bool:
    present = values[np.isfinite(values)]
    return bool((np.abs(present - np.round(present)) > TOLERANCE).any())


def _matched(em: FloatArray) -> BoolArray:
    """Where there is a match, whichever of 1 and 100 it is written as."""
    present = em[np.isfinite(em)]
    return np.asarray(em == present.max()) if present.size and present.max() > 0 else em > 0


def part_of(data: ConstructData, name: str, em: FloatArray, weight: float) -> str | None:
    """The judge that a scorer is composed of, by its values without a match; None if of none."""
    whole, without = data.scorers[name], np.isfinite(em) & ~_matched(em)
    for judge, part in data.scorers.items():
        if judge == name or data.kinds[judge] != "judge":
            continue
        both = without & np.isfinite(whole) & np.isfinite(part)
        apart = np.abs(whole - (1 - weight) * part)[both]
        if np.unique(part[both]).size > 1 and (apart <= TOLERANCE).all():
            return judge
    return None


STATISTICS = (
    Statistic(
        "ac_unit_check",
        "A match adds",
        "1 where a match adds lambda of a point, 0 where it adds 100 lambda points, null with the "
        "reason where that can't be decided; params.lambda, params.from = parts or values, "
        "params.points_per_unit 100 for a column from 0 to 1",
        answer_correctness,
        range=(0, 1),
        source="Muhamed 2025, table 15",
    ),
    Statistic(
        "ac_lambda_sweep",
        "Composed AC by lambda",
        "of AC composed with params.lambda and params.match: params.measure = pearson (pooled and "
        "within a query, for these raters), tie_probability, or discriminative_power (at "
        "params.alpha)",
        answer_correctness,
        range=(-1, 1),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
        source="Muhamed 2025, section 2.3",
    ),
    Statistic(
        "attainable_without_match",
        "Attainable without a match",
        "largest composed AC of a response that matches no reference exactly, in points "
        "(params.lambda)",
        answer_correctness,
        source="Muhamed 2025, section 2.3",
    ),
    Statistic(
        "composed_ac_mean",
        "Mean of composed AC",
        "mean of the composed AC on the rated responses; params.people is people's mean there",
        answer_correctness,
    ),
    Statistic(
        "exact_matches",
        "Exact matches",
        "number of responses that match a reference exactly",
        answer_correctness,
        range=(0, None),
        scopes=("pooled", SYSTEM),
    ),
)
