"""How far people agree among themselves, by construct."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

import numpy as np

from analysis.compose.context import Context
from analysis.estimates import Estimate
from analysis.matrix import ConstructData, FloatArray
from analysis.reliability.alpha import Level, alpha_of_weights
from analysis.reliability.icc import Form, icc, icc_interval, icc_undefined_reason

NOBODY = "people gave no ratings on this construct"
ALONE = "one rater only: agreement between raters needs two"


def reliability(context: Context) -> Iterator[Estimate]:
    """Krippendorff's alpha at every level that the values allow, and ICC(A,1) and ICC(A,k)."""
    for construct, data in context.rated.items():
        if not data.raters:
            continue
        yield from alphas(context, data, get_args(Level))
        yield from _iccs(context, construct, data)


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


def _iccs(context: Context, construct: str, data: ConstructData) -> Iterator[Estimate]:
    rated = np.isfinite(data.ratings).any(axis=1)
    values, query = data.ratings[rated], data.query[rated]
    present = np.isfinite(values).any(axis=0)
    average = raters_per_response(data)
    forms: tuple[tuple[Form, float], ...] = (("A,1", 1.0), ("A,k", average))
    for form, k in forms:
        reason = _too_few(values) or icc_undefined_reason(values, form)
        record: dict[str, Any] = {
            "constructs": (construct,),
            "scorers": data.raters,
            "target": "raters_like_these",
            "n_responses": len(values),
            "n_queries": int(np.unique(query).size),
            "n_raters": int(present.sum()),
            "n_dropped": int((~rated).sum()),
            "params": {"form": form, "k": k if np.isfinite(k) else None},
        }
        if reason is not None:
            yield Estimate("icc", reason=reason, **record)
            continue
        interval = icc_interval(values, query, form, k, context.options.level)
        given = not np.isnan(interval.low)
        yield Estimate(
            "icc",
            value=icc(values, form, k),
            ci_low=interval.low,
            ci_high=interval.high,
            ci_level=interval.level if given else None,
            method=interval.method if given else None,
            reason=interval.reason,
            **record,
        )


def _too_few(values: FloatArray) -> str | None:
    if not values.size:
        return NOBODY
    return ALONE if np.isfinite(values).any(axis=0).sum() < 2 else None
