"""Calibration of every judge against the human reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import resampled_estimate
from analysis.core.query_statistic import comparable
from analysis.core.statistic import SYSTEM, Statistic
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

    Whatever takes the judge's score for points of people's scale is withheld where the two have
    none in common; a recalibration is learned all the same.
    """
    for construct, data in context.rated.items():
        for scorer in data.examined:
            record = _record(data, scorer)
            yield from _distinct(data, scorer, record)
            why = data.reference_missing or context.differences_withheld(construct, scorer)
            yield from _line(context, data, scorer, why, record)
            yield from _square(context, data, scorer, why, record)
            if data.reference_missing or context.human_scale(construct) is None:
                continue
            yield from _recalibrated(context, data, scorer, why, record)
            if why is None:
                yield from _diagram(context, data, scorer, record)
                yield from judge_error(context, data, scorer, record)


def _record(data: ConstructData, scorer: str) -> dict[str, Any]:
    people = data.people
    return {
        "constructs": (data.construct,),
        "scorers": (scorer, *people),
        "target": "these_raters",
        "n_raters": len(people) if data.reference_kind == "mean_of_raters" else 0,
    }


def _distinct(data: ConstructData, scorer: str, record: dict[str, Any]) -> Iterator[Estimate]:
    both = np.isfinite(data.scorers[scorer]) & np.isfinite(data.reference)
    for of, values in (("scorer", data.scorers[scorer]), ("human reference", data.reference)):
        yield Estimate(
            "distinct_scores",
            value=float(np.unique(comparable(values[both])).size),
            n_responses=int(both.sum()),
            n_queries=int(np.unique(data.query[both]).size),
            params={"of": of},
            **{**record, "target": None},
        )


def _line(
    context: Context, data: ConstructData, scorer: str, why: str | None, record: dict[str, Any]
) -> Iterator[Estimate]:
    names = ("recalibration_slope", "recalibration_intercept")
    if why:
        yield from (Estimate(name, reason=why, **record) for name in names)
        return
    family = recalibration_line(data.scorers[scorer], data.reference, data.query, data.n_queries)
    resampling = context.rated_resampling
    for place, found in enumerate(family.replicates(resampling)):
        yield resampled_estimate(context, names[place], family, place, found, resampling, **record)


def _square(
    context: Context, data: ConstructData, scorer: str, why: str | None, record: dict[str, Any]
) -> Iterator[Estimate]:
    name = "calibration_error_squared"
    if why:
        yield Estimate(name, reason=why, **record)
        return
    found = calibration_error_squared(
        data.scorers[scorer], data.reference, data.query, data.n_queries
    )
    counts: dict[str, Any] = {
        "n_responses": found.n_responses,
        "n_queries": found.n_queries,
        "n_dropped": found.n_dropped,
    }
    # Its interval is one-sided: the bound stands in a record of its own.
    yield Estimate(name, value=found.point, reason=found.reason, **counts, **record)
    bound, reason = upper_bound_of_square(found, context.rated_resampling)
    yield Estimate(
        f"{name}_upper",
        value=bound,
        reason=reason,
        params={"level": context.options.level},
        **counts,
        **record,
    )


def _recalibrated(
    context: Context, data: ConstructData, scorer: str, why: str | None, record: dict[str, Any]
) -> Iterator[Estimate]:
    errors = recalibrated_errors(
        data.scorers[scorer], data.reference, data.query, data.n_queries, context.options.seed
    )
    resampling = context.rated_resampling
    found = errors.family.replicates(resampling)
    for place, (name, method) in enumerate(errors.names):
        with_raw = method == RAW or name.endswith("difference")
        params = {"method": method}
        if with_raw and why:
            yield Estimate(name, reason=why, params=params, **record)
            continue
        yield resampled_estimate(
            context, name, errors.family, place, found[place], resampling, params=params, **record
        )


def _diagram(
    context: Context, data: ConstructData, scorer: str, record: dict[str, Any]
) -> Iterator[Estimate]:
    diagram = reliability_diagram(data.scorers[scorer], data.reference, data.query, data.n_queries)
    resampling = context.rated_resampling
    for place, found in enumerate(diagram.human.replicates(resampling)):
        yield resampled_estimate(
            context,
            "reliability_bin",
            diagram.human,
            place,
            found,
            resampling,
            params={
                "bin": place + 1,
                "judge_mean": float(diagram.judge[place]),
                "judge_low": float(diagram.low[place]),
                "judge_high": float(diagram.high[place]),
            },
            **record,
        )


STATISTICS = (
    Statistic(
        "distinct_scores",
        "Distinct scores",
        "number of different scores on responses that both scored; params.of = scorer or human "
        "reference",
        calibration,
        range=(0, None),
    ),
    Statistic(
        "recalibration_slope",
        "Slope",
        "slope of the least squares line of people's value on the judge's score; 1 needs no "
        "recalibration",
        calibration,
        better="1",
        targets=("these_raters",),
        source="Mincer and Zarnowitz 1969",
    ),
    Statistic(
        "recalibration_intercept",
        "Intercept",
        "intercept of the same line, in points; 0 needs no recalibration",
        calibration,
        better="0",
        targets=("these_raters",),
        source="Mincer and Zarnowitz 1969",
    ),
    Statistic(
        "calibration_error_squared",
        "Error², points²",
        "mean over bins of (people's mean minus the judge's)², in squared points, from products "
        "of different queries; no two-sided interval",
        calibration,
        better="lower",
        targets=("these_raters",),
        source="Bröcker 2012; Kumar, Liang and Ma 2019",
    ),
    Statistic(
        "calibration_error_squared_upper",
        "Upper bound of error²",
        "one-sided upper bound of `calibration_error_squared` at params.level, by the jackknife "
        "on the scale of the root",
        calibration,
        range=(0, None),
        better="lower",
        targets=("these_raters",),
    ),
    Statistic(
        "recalibrated_mae",
        "MAE",
        "mean absolute error in points; params.method raw, linear or isotonic, the latter two out "
        "of fold",
        calibration,
        range=(0, None),
        better="lower",
        targets=("these_raters",),
    ),
    Statistic(
        "recalibrated_mae_difference",
        "MAE less raw",
        "`recalibrated_mae` of the method minus that of the raw scores on the same responses",
        calibration,
        better="lower",
        targets=("these_raters",),
    ),
    Statistic(
        "recalibrated_rmse",
        "RMSE",
        "root mean squared error in points; params.method raw, linear or isotonic, the latter two "
        "out of fold",
        calibration,
        range=(0, None),
        better="lower",
        targets=("these_raters",),
    ),
    Statistic(
        "recalibrated_rmse_difference",
        "RMSE less raw",
        "`recalibrated_rmse` of the method minus that of the raw scores on the same responses",
        calibration,
        better="lower",
        targets=("these_raters",),
    ),
    Statistic(
        "reliability_bin",
        "People's mean",
        "people's mean in bin params.bin of the judge's score, with its mean and ends in "
        "params.judge_mean, params.judge_low and params.judge_high",
        calibration,
        targets=("these_raters",),
    ),
    Statistic(
        "error_by_system_given_human",
        "Judge minus people",
        "effect of the system on judge minus people at a given human value; effects sum to 0; "
        "simultaneous intervals; params.noise",
        calibration,
        better="0",
        scopes=(SYSTEM,),
        targets=("these_raters",),
        source="Fuller 1987, section 2.2",
    ),
    Statistic(
        "error_by_level",
        "Judge minus people",
        "mean of judge minus people in bin params.bin of people's value (params.human_mean, "
        "params.human_low, params.human_high); params.split",
        calibration,
        better="0",
        targets=("these_raters",),
    ),
    Statistic(
        "error_by_length",
        "Points per doubling of length",
        "points by which judge minus people grows when a response is twice as long; a response "
        "without a word does not enter",
        calibration,
        better="0",
        targets=("these_raters",),
    ),
)
