"""Whether raters keep the points of a scale of few ordered points equally far apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.multiple_tests import holm
from analysis.core.statistic import Statistic
from analysis.render.formatting import p_value
from analysis.render.table import Cell, Table, TableBuilder

if TYPE_CHECKING:
    from analysis.statistics.reliability.rater_thresholds import SpacingTest

#: Scales with more ordered points have the additive model alone.
MOST_POINTS = 7

#: From this p on, adjusted over constructs, raters are not reported to differ.
ALPHA = 0.05

_TESTED: WeakKeyDictionary[Context, dict[str, SpacingTest]] = WeakKeyDictionary()


def of_few_points(context: Context, construct: str) -> bool:
    """Whether people's scale is declared ordinal and has at most 7 points."""
    scale = context.human_scale(construct)
    if scale is None or scale.level != "ordinal":
        return False
    if scale.step is not None:
        return round(scale.width / scale.step) + 1 <= MOST_POINTS
    ratings = context.rated[construct].ratings
    return np.unique(ratings[np.isfinite(ratings)]).size <= MOST_POINTS


def spacing_tests(context: Context) -> dict[str, SpacingTest]:
    """The test of each construct on few ordered points that several people rated."""
    if context not in _TESTED:
        constructs = {
            construct: data
            for construct, data in context.rated.items()
            if len(data.raters) > 1 and of_few_points(context, construct)
        }
        if constructs:
            # Imported here: few reports have such ratings.
            from analysis.statistics.reliability.rater_thresholds import equal_spacing

            _TESTED[context] = {
                construct: equal_spacing(data.ratings, data.query, data.produced, data.raters)
                for construct, data in constructs.items()
            }
        else:
            _TESTED[context] = {}
    return _TESTED[context]


def adjusted_p(context: Context) -> dict[str, float]:
    """p of each construct's test, adjusted over constructs by Holm's method."""
    tests = spacing_tests(context)
    return dict(zip(tests, map(float, holm([test.p for test in tests.values()])), strict=True))


def spaced_differently(context: Context, construct: str) -> bool:
    """Whether the raters of a construct differ significantly in the spacing of thresholds."""
    return bool(adjusted_p(context).get(construct, 1.0) < ALPHA)


def spacing(context: Context) -> Iterator[Estimate]:
    """`equal_spacing_p` of each construct on few ordered points."""
    adjusted = adjusted_p(context)
    for construct, test in spacing_tests(context).items():
        data = context.rated[construct]
        defined = test.reason is None
        yield Estimate(
            "equal_spacing_p",
            value=test.p,
            method="likelihood_ratio" if defined else None,
            reason=test.reason,
            constructs=(construct,),
            scorers=data.raters,
            target="these_raters",
            n_raters=len(data.raters),
            n_responses=test.n_responses,
            n_queries=test.n_queries,
            params={
                "chi_squared": test.statistic if defined else None,
                "df": test.df if defined else None,
                "holm": adjusted[construct] if defined else None,
            },
        )


def equal_spacing(analysis: Analysis) -> Iterator[Table]:
    """The tests, and what they say."""
    built = TableBuilder()
    for e in analysis.estimates.select("equal_spacing_p"):
        chi_squared, df, holm_p = (e.params[name] for name in ("chi_squared", "df", "holm"))
        built.add(
            e.constructs[0],
            Cell(f"{chi_squared:.1f}" if isinstance(chi_squared, float) else ""),
            Cell(str(df) if df is not None else ""),
            built.number(e, ".3f"),
            Cell(p_value(holm_p) if isinstance(holm_p, float) else ""),
            Cell(_reading(holm_p) if isinstance(holm_p, float) else ""),
        )
    yield built.table(
        "equal-spacing",
        "Whether raters use the points alike",
        "On few ordered points: likelihood ratio test of the cumulative-logit model in which "
        "raters differ by severity alone, which moves all thresholds between points by the same "
        "distance, against the one in which each rater has thresholds of their own. The reading "
        "follows p adjusted over constructs (Holm).",
        ("Construct", "Likelihood ratio", "Degrees of freedom",
         analysis.headings["equal_spacing_p"], "p, adjusted", "Reading"),
    )  # fmt: skip


def _reading(p: float) -> str:
    return (
        "raters use the points differently"
        if p < ALPHA
        else "raters differ by severity at most, as far as the ratings show"
    )


STATISTICS = (
    Statistic(
        "equal_spacing_p",
        "p",
        "p of a likelihood ratio test (params.chi_squared, params.df; params.holm adjusted over "
        "constructs) of raters who differ by severity alone against thresholds of each rater, in "
        "the cumulative-logit model (systems fixed, queries random). Only where people's scale is "
        "declared ordinal with at most 7 points; withheld where a rater never chose a point that "
        "others chose",
        estimates=spacing,
        range=(0, 1),
        targets=("these_raters",),
        source="McCullagh 1980; Peterson and Harrell 1990",
    ),
)
