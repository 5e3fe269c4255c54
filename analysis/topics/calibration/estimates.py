"""Calibration of every judge against the human reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import ResampledFamily
from analysis.core.query_statistic import comparable
from analysis.core.statistic import SYSTEM, Statistic
from analysis.core.statistic_family import StatisticFamily
from analysis.statistics.calibration.calibration_error import (
    calibration_error_squared,
    reliability_diagram,
    upper_bound_of_square,
)
from analysis.statistics.calibration.recalibration import (
    RAW,
    recalibrated_errors,
    recalibration_line,
)
from analysis.topics.calibration.judge_error import judge_error


def calibration(context: Context) -> Iterator[Estimate]:
    """Every judge's, or the metrics' of a construct without a judge, on the rated queries.

    Statistics that compare the judge's score with people's in points are withheld where the two
    share no scale; a recalibration is learned all the same.
    """
    for examined in context.scored("examined", without_reference=True):
        data = examined.data
        scored = examined._replace(withheld=data.reference_missing or examined.withheld)
        yield from _distinct(scored)
        yield from _line(context, scored)
        yield from _square(context, scored)
        if data.reference_missing or context.human_scale(data.construct) is None:
            continue
        yield from _recalibrated(context, scored)
        if scored.withheld is None:
            yield from _diagram(context, scored)
            yield from judge_error(context, scored)


def calibration_errors(context: Context) -> Iterator[Estimate]:
    """`calibration_error_squared` and its upper bound, of each scorer beside people."""
    for examined in context.scored("examined"):
        yield from _square(context, examined)


def _distinct(scored: ComparedScores) -> Iterator[Estimate]:
    data = scored.data
    both = np.isfinite(scored.values) & np.isfinite(data.reference)
    for of, values in (("scorer", scored.values), ("human reference", data.reference)):
        yield Estimate(
            "distinct_scores",
            value=float(np.unique(comparable(values[both])).size),
            n_responses=int(both.sum()),
            n_queries=int(np.unique(data.query[both]).size),
            params={"of": of},
            **scored.record() | {"target": None},
        )


def _line(context: Context, scored: ComparedScores) -> Iterator[Estimate]:
    names = ("recalibration_slope", "recalibration_intercept")
    data, record = scored.data, scored.record()
    if scored.withheld:
        yield from (Estimate(name, reason=scored.withheld, **record) for name in names)
        return
    family = recalibration_line(scored.values, data.reference, data.query, data.n_queries)
    yield from _estimates(context, names, family, record)


def _estimates(
    context: Context,
    names: Sequence[str],
    family: StatisticFamily,
    record: dict[str, Any],
    params: Sequence[dict[str, Any]] = (),
) -> Iterator[Estimate]:
    """The statistics of a family by their names, each with its params where there are any."""
    resampled = ResampledFamily(context, family, context.rated_resampling)
    for place in range(len(family.reasons)):
        fields: dict[str, Any] = {"params": params[place]} if params else {}
        yield resampled.estimate(names[place], place, **record, **fields)


def _square(context: Context, scored: ComparedScores) -> Iterator[Estimate]:
    name = "calibration_error_squared"
    data, record = scored.data, scored.record()
    if scored.withheld:
        yield Estimate(name, reason=scored.withheld, **record)
        return
    error = calibration_error_squared(scored.values, data.reference, data.query, data.n_queries)
    counts: dict[str, Any] = {
        "n_responses": error.n_responses,
        "n_queries": error.n_queries,
        "n_dropped": error.n_dropped,
    }
    # Its interval is one-sided: the bound has a separate record.
    yield Estimate(name, value=error.point, reason=error.reason, **counts, **record)
    bound, reason = upper_bound_of_square(error, context.rated_resampling)
    yield Estimate(
        f"{name}_upper",
        value=bound,
        reason=reason,
        params={"level": context.options.level},
        **counts,
        **record,
    )


def _recalibrated(context: Context, scored: ComparedScores) -> Iterator[Estimate]:
    data = scored.data
    errors = recalibrated_errors(
        scored.values, data.reference, data.query, data.n_queries, context.options.seed
    )
    names = [name for name, _ in errors.names]
    params = [{"method": method} for _, method in errors.names]
    for estimate in _estimates(context, names, errors.family, scored.record(), params):
        raw = estimate.params["method"] == RAW or estimate.statistic.endswith("difference")
        if raw and scored.withheld:
            yield Estimate(
                estimate.statistic,
                reason=scored.withheld,
                params=estimate.params,
                **scored.record(),
            )
        else:
            yield estimate


def _diagram(context: Context, scored: ComparedScores) -> Iterator[Estimate]:
    data = scored.data
    diagram = reliability_diagram(scored.values, data.reference, data.query, data.n_queries)
    bins = zip(diagram.judge, diagram.low, diagram.high, strict=True)
    params = [
        {
            "bin": number + 1,
            "judge_mean": float(mean),
            "judge_low": float(low),
            "judge_high": float(high),
        }
        for number, (mean, low, high) in enumerate(bins)
    ]
    names = ["reliability_bin"] * len(params)
    yield from _estimates(context, names, diagram.human, scored.record(), params)


#: What the statistics of this module have in common.
_statistic = partial(Statistic, estimates=calibration)

STATISTICS = (
    _statistic(
        "distinct_scores",
        "Distinct scores",
        "number of different scores on responses that both scored; params.of = scorer or human "
        "reference",
        range=(0, None),
    ),
    _statistic(
        "recalibration_slope",
        "Slope",
        "slope of the least squares line of people's value on the judge's score; 1 needs no "
        "recalibration",
        better="1",
        targets=("these_raters",),
        source="Mincer and Zarnowitz 1969",
    ),
    _statistic(
        "recalibration_intercept",
        "Intercept",
        "intercept of the same line, in points; 0 needs no recalibration",
        better="0",
        targets=("these_raters",),
        source="Mincer and Zarnowitz 1969",
    ),
    _statistic(
        "calibration_error_squared",
        "Error², points²",
        "mean over bins of (people's mean minus the judge's)², in squared points, from products "
        "of different queries; no two-sided interval",
        better="lower",
        targets=("these_raters",),
        source="Bröcker 2012; Kumar, Liang and Ma 2019",
    ),
    _statistic(
        "calibration_error_squared_upper",
        "Upper bound of error²",
        "one-sided upper bound of `calibration_error_squared` at params.level, by the jackknife "
        "on the scale of the root",
        range=(0, None),
        better="lower",
        targets=("these_raters",),
    ),
    _statistic(
        "recalibrated_mae",
        "MAE",
        "mean absolute error in points; params.method raw, linear or isotonic, the latter two out "
        "of fold",
        range=(0, None),
        better="lower",
        targets=("these_raters",),
    ),
    _statistic(
        "recalibrated_mae_difference",
        "MAE minus raw",
        "`recalibrated_mae` of the method minus that of the raw scores on the same responses",
        better="lower",
        targets=("these_raters",),
    ),
    _statistic(
        "recalibrated_rmse",
        "RMSE",
        "root mean squared error in points; params.method raw, linear or isotonic, the latter two "
        "out of fold",
        range=(0, None),
        better="lower",
        targets=("these_raters",),
    ),
    _statistic(
        "recalibrated_rmse_difference",
        "RMSE minus raw",
        "`recalibrated_rmse` of the method minus that of the raw scores on the same responses",
        better="lower",
        targets=("these_raters",),
    ),
    _statistic(
        "reliability_bin",
        "People's mean",
        "people's mean in bin params.bin of the judge's score, with its mean and ends in "
        "params.judge_mean, params.judge_low and params.judge_high",
        targets=("these_raters",),
    ),
    _statistic(
        "error_by_system_given_human",
        "Judge minus people",
        "effect of the system on judge minus people at a given human value, by a regression with "
        "a cubic in the value that is predicted from ratings and system; effects sum to 0; "
        "simultaneous intervals; withheld where over 60% of the scores are at an end of the scale; "
        "params.noise",
        better="0",
        scopes=(SYSTEM,),
        targets=("these_raters",),
        source="Carroll, Ruppert, Stefanski and Crainiceanu 2006, chapter 4",
    ),
    _statistic(
        "error_by_level",
        "Judge minus people",
        "mean of judge minus people in bin params.bin of people's value (params.human_mean, "
        "params.human_low, params.human_high); params.split",
        better="0",
        targets=("these_raters",),
    ),
    _statistic(
        "error_by_length",
        "Points per doubling of length",
        "points by which judge minus people grows when a response is twice as long; a response "
        "without a word does not enter",
        better="0",
        targets=("these_raters",),
    ),
)
