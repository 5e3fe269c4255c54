"""How far people agree among themselves, by construct: alpha, ICC, kappas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.interval import Interval, withheld
from analysis.core.query_statistic import comparable
from analysis.core.statistic import Statistic
from analysis.statistics.reliability.alpha import Level, alpha_of_weights
from analysis.statistics.reliability.chance_corrected import (
    Coefficient,
    Weighting,
    agreement_standard_error,
    chance_corrected,
    weighted_kappa,
)
from analysis.statistics.reliability.conger_kappa import KappaWeights, conger_kappa
from analysis.statistics.reliability.icc import (
    ICC_NAMES,
    Form,
    icc,
    icc_interval,
    icc_undefined_reason,
)
from analysis.statistics.reliability.rater_pairs import mean_absolute_difference, raw_agreement
from analysis.statistics.reliability.variance_components import ErrorKind, sem, spearman_brown
from analysis.topics.reliability.raters import unconnected
from study.base.scales import Scale

NOBODY = "people gave no ratings on this construct"
ALONE = "one rater only: agreement between raters needs two"

#: Numbers of raters averaged for which the reliability of the mean is predicted.
AVERAGED = range(1, 11)


def reliability(context: Context) -> Iterator[Estimate]:
    """Agreement of raters with each other, and the reliability of one rating and of means."""
    for construct, data in context.rated.items():
        if not data.raters:
            continue
        nominal = context.nominal([construct])
        yield from alphas(context, data, ("nominal",) if nominal else get_args(Level))
        yield from _iccs(context, construct, data)
        yield from _agreement(context, data)


def alphas(context: Context, data: ConstructData, levels: Sequence[Level]) -> Iterator[Estimate]:
    """Alpha of one construct's ratings at these levels of measurement."""
    declared = context.human_scale(data.construct)
    for level in levels:
        # A ratio needs a meaningful zero, which only a declaration can give.
        if level == "ratio" and (declared is None or declared.level != "ratio"):
            continue
        statistic = alpha_of_weights(data.ratings, data.query, level, data.n_queries)
        yield context.estimate(
            "krippendorff_alpha",
            statistic,
            constructs=(data.construct,),
            scorers=data.raters,
            target="these_raters",
            n_raters=len(data.raters),
            params={"level": level, "declared_level": declared.level if declared else None},
        )


def raters_per_response(data: ConstructData) -> float:
    """Harmonic mean number of ratings of a rated response."""
    counts = np.isfinite(data.ratings).sum(axis=1)
    rated = counts[counts > 0]
    return float(rated.size / np.sum(1 / rated)) if rated.size else float("nan")


def _agreement(context: Context, data: ConstructData) -> Iterator[Estimate]:
    """Figures of pairs of ratings of one response, and agreement beyond chance."""
    record: dict[str, Any] = {
        "constructs": (data.construct,),
        "scorers": data.raters,
        "target": "these_raters",
        "n_raters": len(data.raters),
    }
    values = data.ratings, data.query
    equal = raw_agreement(*values, n_queries=data.n_queries)
    params = {"tolerance": 0}
    yield context.estimate("raw_agreement", equal, transform="logit", params=params, **record)
    apart = mean_absolute_difference(*values, n_queries=data.n_queries)
    yield context.estimate("mean_absolute_difference", apart, **record)
    kappa = weighted_kappa(*values, n_queries=data.n_queries)
    weights = {"weights": "quadratic", "chance": "conger"}
    yield context.estimate("weighted_kappa", kappa, params=weights, **record)
    yield from kappas(context, data, record)
    yield from categorical(context, data, record)


def _iccs(context: Context, construct: str, data: ConstructData) -> Iterator[Estimate]:
    rated = np.isfinite(data.ratings).any(axis=1)
    values, query = data.ratings[rated], data.query[rated]
    average = raters_per_response(data)
    parts = unconnected(data)
    shared = np.isfinite(values).sum(axis=1) > 1
    level = context.options.level
    record: dict[str, Any] = {
        "constructs": (construct,),
        "scorers": data.raters,
        "target": "raters_like_these",
        "n_responses": len(values),
        "n_queries": int(np.unique(query[shared]).size),
        "n_raters": int(np.isfinite(values).any(axis=0).sum()),
        "n_dropped": int((~rated).sum()),
    }
    singles: tuple[Form, ...] = ("A,1", "C,1", "1,1")
    for single in singles:
        by_rater = not single.startswith("1")
        reason = _too_few(values) or (parts if by_rater else None)
        reason = reason or icc_undefined_reason(values, single)
        value = float("nan") if reason else icc(values, single)
        interval_of_one = withheld(
            level, "none", reason or "intervals are given for the forms A and C"
        )
        if by_rater and not reason:
            interval_of_one = icc_interval(values, query, single, level=level)
        letter = single[0]
        for form, k in ((single, 1.0), (f"{letter},k", average)):
            mcgraw_wong, shrout_fleiss = ICC_NAMES[form]  # type: ignore[index]
            yield _averaged(
                "icc",
                value,
                interval_of_one,
                k,
                record,
                {
                    "form": form,
                    "mcgraw_wong": mcgraw_wong,
                    "shrout_fleiss": shrout_fleiss,
                    "k": k if np.isfinite(k) else None,
                },
            )
        if letter == "A":
            for k in AVERAGED:
                params = {"form": "A", "k": k}
                yield _averaged("spearman_brown", value, interval_of_one, k, record, params)
    kinds: tuple[ErrorKind, ...] = get_args(ErrorKind)
    for kind in kinds:
        reason = _too_few(values) or parts
        error, interval = (
            (float("nan"), withheld(level, "none", reason)) if reason else sem(values, kind, level)
        )
        yield _record("sem", error, interval, record, {"kind": kind})


def _averaged(
    name: str, single: float, interval: Interval, k: float, record: Any, params: Any
) -> Estimate:
    """Reliability of the mean of k ratings, from that of one and its interval."""
    if np.isnan(single):
        return _record(name, single, interval, record, params)
    value = spearman_brown(single, k)
    if np.isnan(value):
        why = "the reliability of one rating is too far below 0 to predict that of a mean"
        return _record(name, value, withheld(interval.level, interval.method, why), record, params)
    if np.isnan(interval.low):
        return _record(name, value, interval, record, params)
    low, high = spearman_brown(interval.low, k), spearman_brown(interval.high, k)
    if np.isnan(low) or np.isnan(high):
        why = "the interval of one rating reaches too far below 0 to predict that of a mean"
        return _record(name, value, withheld(interval.level, interval.method, why), record, params)
    averaged = Interval(low, high, interval.level, interval.method)
    return _record(name, value, averaged, record, params)


def _record(name: str, value: float, interval: Interval, record: Any, params: Any) -> Estimate:
    return Estimate(
        name,
        value=value,
        **interval.fields,
        reason=interval.reason,
        params=params,
        **record,
    )


def _too_few(values: FloatArray) -> str | None:
    if not values.size:
        return NOBODY
    return ALONE if np.isfinite(values).any(axis=0).sum() < 2 else None


def kappas(context: Context, data: ConstructData, record: Any) -> Iterator[Estimate]:
    """Conger's kappa without weights and, where values are ordered, with linear ones."""
    nominal = context.nominal([data.construct])
    weightings: tuple[KappaWeights, ...] = ("unweighted",) if nominal else ("unweighted", "linear")
    for weights in weightings:
        statistic = conger_kappa(data.ratings, data.query, weights, data.n_queries)
        if weights == "unweighted" and not nominal:
            reason = _no_categories(data, context.human_scale(data.construct))
            statistic = replace(statistic, reason=statistic.reason or reason)
        yield context.estimate("conger_kappa", statistic, params={"weights": weights}, **record)


def _no_categories(data: ConstructData, scale: Scale | None) -> str | None:
    """Why ratings are not read as categories: too many values, and no step that explains them."""
    if few_levels(data, scale) is not None:
        return None
    values = np.unique(comparable(data.ratings[np.isfinite(data.ratings)]))
    if not values.size:
        return None
    if scale is None or scale.step is None:
        return (
            f"ratings have {values.size} different values on a scale without a declared step: two "
            "are equal by coincidence only"
        )
    steps = (values - scale.min) / scale.step
    off = int(np.count_nonzero(np.abs(steps - np.round(steps)) > 1e-9))
    return f"{off} different values are not on the scale's steps of {scale.step:g}" if off else None


#: Beyond this many levels equal ratings are chance, and coefficients of few levels are left out.
FEW_LEVELS = 11
_KINDS: tuple[tuple[str, Coefficient, Weighting], ...] = (
    ("fleiss_kappa", "fleiss", "unweighted"),
    ("brennan_prediger", "brennan_prediger", "unweighted"),
    ("gwet_ac", "gwet", "unweighted"),
    ("gwet_ac", "gwet", "quadratic"),
)


def categorical(context: Context, data: ConstructData, record: Any) -> Iterator[Estimate]:
    """Fleiss, Brennan-Prediger, AC1 and AC2, where the scale has at most 11 levels."""
    scale = context.human_scale(data.construct)
    nominal = context.nominal([data.construct])
    levels = few_levels(data, scale, np.inf if nominal else FEW_LEVELS)
    if levels is None:
        return
    for name, coefficient, weighting in _KINDS:
        if nominal and weighting != "unweighted":
            continue
        params: dict[str, str | float | int | None] = {"weights": weighting, "levels": len(levels)}
        if coefficient == "gwet":
            error = agreement_standard_error(data.ratings, weighting, levels)
            params["standard_error"] = error if np.isfinite(error) else None
        statistic = chance_corrected(
            coefficient, data.ratings, data.query, weighting, levels, data.n_queries
        )
        yield context.estimate(name, statistic, params=params, **record)


def few_levels(
    data: ConstructData, scale: Scale | None, most: float = FEW_LEVELS
) -> Sequence[float] | None:
    """Levels of the ratings: by the declared step, else those that occur; None beyond `most`."""
    present = np.unique(comparable(data.ratings[np.isfinite(data.ratings)]))
    if not present.size:
        return None
    if scale is not None and scale.step is not None:
        count = round(scale.width / scale.step) + 1
        if count > most:
            return None
        levels = scale.min + scale.step * np.arange(count)
        off = np.abs(present[:, None] - levels).min(axis=1)
        # Half points given where none were offered: every value that occurs is then a level.
        if off.max() <= 1e-9 * max(1.0, float(np.abs(levels).max())):
            return [float(level) for level in levels]
    return [float(level) for level in present] if present.size <= most else None


#: What the statistics of this module have in common.
_statistic = partial(Statistic, estimates=reliability, better="higher")

STATISTICS = (
    _statistic(
        "krippendorff_alpha",
        "Alpha",
        "alpha of the raters (params.level: nominal, ordinal, interval, and ratio where "
        "declared), ordinal by the mid-ranks of pairable values",
        range=(-1, 1),
        targets=("these_raters",),
        source="Krippendorff 2011",
        nominal=True,
    ),
    _statistic(
        "icc",
        "ICC",
        "ICC(A,1), ICC(C,1), ICC(1) and those of the mean of k raters, by analysis of variance on "
        "complete data and REML components otherwise; ICC(A,1) is response / (response + rater + "
        "residual) (params.form; params.mcgraw_wong and params.shrout_fleiss name it; params.k, 1 "
        "or the harmonic mean number of ratings). Intervals for A and C, responses clustered in "
        "queries",
        range=(None, 1),
        targets=("raters_like_these",),
        source="McGraw and Wong 1996; Shrout and Fleiss 1979",
    ),
    _statistic(
        "spearman_brown",
        "Reliability of a mean",
        "reliability ICC(A,k) of the mean of params.k raters, 1 to 10, with the interval of "
        "ICC(A,1) carried over",
        range=(None, 1),
        targets=("raters_like_these",),
        source="Spearman 1910; Brown 1910",
    ),
    _statistic(
        "sem",
        "SEM",
        "standard error of measurement of one rating in points: root of rater + residual variance "
        "(params.kind agreement) or of the residual (consistency)",
        range=(0, None),
        better="lower",
        targets=("raters_like_these",),
        source="Graybill and Wang 1980 for the interval",
    ),
    _statistic(
        "raw_agreement",
        "Equal",
        "share of pairs of ratings of a response that differ by at most params.tolerance points",
        range=(0, 1),
        targets=("these_raters",),
        nominal=True,
    ),
    _statistic(
        "mean_absolute_difference",
        "Distance",
        "mean distance of two ratings of a response, in points",
        range=(0, None),
        better="lower",
        targets=("these_raters",),
    ),
    _statistic(
        "weighted_kappa",
        "Weighted kappa",
        "Conger's kappa with quadratic weights: chance from each rater's own marginals, over "
        "pairs of raters; for two raters Cohen's",
        range=(None, 1),
        targets=("these_raters",),
        source="Conger 1980; Cohen 1968",
    ),
    _statistic(
        "conger_kappa",
        "Kappa",
        "Conger's kappa (params.weights unweighted, and linear where values are ordered): chance "
        "from each rater's own marginals, over pairs of raters; for two raters Cohen's. Without "
        "weights it is withheld where more than 11 different values occur and the scale has no "
        "declared step",
        range=(None, 1),
        targets=("these_raters",),
        source="Conger 1980; Cohen 1960, 1968",
        nominal=True,
    ),
    _statistic(
        "fleiss_kappa",
        "Fleiss",
        "chance from pooled marginals, ragged: shares within the response are averaged over "
        "responses",
        range=(None, 1),
        targets=("these_raters",),
        source="Fleiss 1971; Gwet 2014",
        nominal=True,
    ),
    _statistic(
        "brennan_prediger",
        "Brennan-Prediger",
        "chance 1/levels",
        range=(None, 1),
        targets=("these_raters",),
        source="Brennan and Prediger 1981",
        nominal=True,
    ),
    _statistic(
        "gwet_ac",
        "Gwet's AC",
        "AC1 (params.weights unweighted) and AC2 (quadratic); params.standard_error",
        range=(None, 1),
        targets=("these_raters",),
        source="Gwet 2008, 2014",
        nominal=True,
    ),
)
