"""Is one judge better than another? Differences in agreement with people, and ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from analysis.core.construct_data import ConstructData, judge_of_expected
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.interval import withheld
from analysis.core.multiple_tests import holm
from analysis.core.resampling import Replicates
from analysis.core.statistic import Statistic
from analysis.statistics.agreement.judge_comparison import (
    OF_VALUES,
    PERMUTATIONS,
    Categories,
    Compared,
    Measure,
    MeasureScope,
)
from analysis.statistics.agreement.soft_difference import soft_difference
from analysis.statistics.discrimination.ranks import ranks
from analysis.statistics.discrimination.system_scores import system_scores
from analysis.topics.agreement.categories import levels_on, people_one_by_one, scores_on_levels
from analysis.topics.distribution.people_by_system import adjusted_people

#: The measure that judges are ranked by: where values have an order, and where they do not.
LEADING: Measure = "kendall_tau_b"
LEADING_ON_CATEGORIES: Measure = "cohen_kappa"

#: Two judges differ from this adjusted p on.
ALPHA = 0.05

#: Judges of which every two are compared; of more the first ones are.
COMPARED = 8

_MEASURES: tuple[tuple[Measure, MeasureScope], ...] = (
    ("kendall_tau_b", "within_query"),
    ("pairwise_accuracy", "within_query"),
    ("calibrated_pairwise_accuracy", "within_query"),
    ("pearson", "within_query"),
    ("kendall_tau_b", "pooled"),
    ("pearson", "pooled"),
    ("rmse", "pooled"),
    ("cohen_kappa", "pooled"),
)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two judges on a construct, with what all records of them have in common."""

    data: ConstructData
    names: tuple[str, str]
    compared: Compared
    on_levels: Compared | None
    """The scores as kappas take them, where there are categories."""
    withheld: str | None
    """Why the two judges' kappas cannot be compared."""
    nominal: bool

    @property
    def record(self) -> dict[str, Any]:
        return self.data.record(self.names[0]) | {"scorers": (*self.names, *self.data.people)}


def compared_judges(data: ConstructData) -> list[str]:
    """Judges that are compared: one by one, without the means of their distributions."""
    names = [n for n in data.examined if judge_of_expected(n, data.examined) is None]
    return names[:COMPARED]


def judges_compared(context: Context, *, leading_only: bool = False) -> Iterator[Estimate]:
    """`judge_difference` of every two judges in each measure, then `judge_rank`.

    With `leading_only` only in the measure that judges are ranked by.
    """
    pairs = [
        _pair(context, data, first, second)
        for data in context.rated.values()
        if not data.reference_missing
        for first, second in combinations(compared_judges(data), 2)
    ]
    if not pairs:
        return
    leading: list[Estimate] = []
    for measure, scope in _MEASURES:
        measured = [
            pair
            for pair in pairs
            if _suits(pair, measure)
            and (not leading_only or measure == leading_measure(context, pair.data.construct))
        ]
        records = _with_holm([_difference(context, pair, measure, scope) for pair in measured])
        yield from records
        leading += [e for e in records if measure == leading_measure(context, e.constructs[0])]
    if not leading_only:
        by_system = [pair for pair in pairs if len(pair.data.systems) > 1 and not pair.nominal]
        yield from _with_holm([_soft(context, pair) for pair in by_system])
    for data in dict.fromkeys(pair.data for pair in pairs):
        construct_estimates = [e for e in leading if e.constructs == (data.construct,)]
        yield from _ranks(data, construct_estimates, leading_measure(context, data.construct))


def leading_measure(context: Context, construct: str) -> Measure:
    """The measure that judges are ranked by on a construct."""
    return LEADING_ON_CATEGORIES if context.nominal([construct]) else LEADING


def _suits(pair: _Pair, measure: Measure) -> bool:
    return pair.on_levels is not None if measure == "cohen_kappa" else not pair.nominal


def _pair(context: Context, data: ConstructData, first: str, second: str) -> _Pair:
    names, nominal = (first, second), context.nominal([data.construct])
    where = data.reference, data.query, data.n_queries, names
    compared = Compared.of(data.scorers[first], data.scorers[second], *where)
    levels = levels_on(context, data)
    if not levels:
        return _Pair(data, names, compared, None, None, nominal)
    categories = Categories(people_one_by_one(data), levels, "none" if nominal else "quadratic")
    (a, why_a), (b, why_b) = (scores_on_levels(context, data, name, levels) for name in names)
    on_levels = Compared.of(a, b, *where, categories)
    return _Pair(data, names, compared, on_levels, why_a or why_b, nominal)


def _difference(context: Context, pair: _Pair, measure: Measure, scope: MeasureScope) -> Estimate:
    record, compared = pair.record | {"scope": scope}, pair.compared
    params: dict[str, Any] = {"measure": measure, "permutations": PERMUTATIONS}
    if measure == "cohen_kappa" and (of := pair.on_levels) is not None and of.categories:
        compared, params = of, params | {"weights": of.categories.weights}
    withheld = _withheld(context, pair, measure)
    if withheld:
        params |= {"permutation_p": None}
        return Estimate("judge_difference", reason=withheld, params=params, **record)
    statistic = compared.difference(measure, scope)
    p = compared.p(measure, scope, context.options.seed) if not statistic.reason else np.nan
    params |= {"permutation_p": p}
    if measure == "pearson" and scope == "pooled" and (test := compared.williams()) is not None:
        params |= {"williams_p": none_of(test.p)}
    return context.estimate("judge_difference", statistic, params=params, **record)


def _withheld(context: Context, pair: _Pair, measure: Measure) -> str | None:
    if measure == "cohen_kappa":
        return pair.withheld
    if measure not in OF_VALUES:
        return None
    reasons = (context.differences_withheld(pair.data.construct, name) for name in pair.names)
    return next((reason for reason in reasons if reason), None)


def _soft(context: Context, pair: _Pair) -> Estimate:
    data, of = pair.data, pair.compared
    used = np.isfinite(data.scorers[pair.names[0]]) & np.isfinite(data.scorers[pair.names[1]])
    used &= np.isfinite(data.reference)
    first, second, people = (
        system_scores(np.where(used, values, np.nan), data.query, data.produced, of.n_queries)
        for values in (*(data.scorers[name] for name in pair.names), data.reference)
    )
    adjusted = adjusted_people(context, data.construct)
    difference = soft_difference(first, second, people, context.options.seed, adjusted)
    left_out, n_queries = difference.without_each_query, difference.n_queries
    replicates = Replicates(difference.value, left_out, "jackknife", n_queries, difference.reason)
    if difference.no_interval is not None:
        # There may be no value without a query either.
        level = context.rated_resampling.level
        interval = withheld(level, "jackknife_t", difference.no_interval)
    else:
        interval = context.rated_resampling.interval_of(replicates)
    return Estimate(
        "judge_difference",
        value=difference.value,
        **interval.fields,
        n_responses=int(np.count_nonzero(used & data.produced.any(axis=1))),
        n_queries=difference.n_queries,
        reason=difference.reason or interval.reason,
        params={
            "measure": "soft_pairwise_accuracy",
            "permutations": PERMUTATIONS,
            "permutation_p": difference.p,
            "pairs": difference.n_pairs,
        },
        **pair.record | {"scope": "system_level"},
    )


def _with_holm(records: list[Estimate]) -> list[Estimate]:
    """The records with params.holm, adjusted over all pairs of judges and constructs."""
    p = [
        np.nan if e.params["permutation_p"] is None else float(str(e.params["permutation_p"]))
        for e in records
    ]
    adjusted = holm(p)
    tested = int(np.isfinite(p).sum())
    return [
        replace(
            e,
            params={
                **e.params,
                "permutation_p": none_of(plain),
                "holm": none_of(float(after)),
                "comparisons": tested,
            },
        )
        for e, plain, after in zip(records, p, adjusted, strict=True)
    ]


def none_of(value: float) -> float | None:
    """None where a value is undefined, as params have it."""
    return None if np.isnan(value) else value


def _ranks(
    data: ConstructData, differences: list[Estimate], measure: Measure
) -> Iterator[Estimate]:
    """Rank of each judge: within a query, or over all responses where that is undefined.

    Judges are ordered by their mean difference from the others, each on common responses.
    """
    names = compared_judges(data)
    scopes = list(dict.fromkeys(e.scope for e in differences))
    scope = next((scope for scope in scopes if _all_defined(differences, scope)), scopes[0])
    chosen = [e for e in differences if e.scope == scope]
    record = {"scope": scope, "params": {"measure": measure}}
    without = next((e for e in chosen if not e.defined), None)
    if without is not None:
        for name in names:
            yield Estimate("judge_rank", reason=without.reason, **data.record(name, scope) | record)
        return
    ahead, better = np.zeros(len(names)), np.zeros((len(names), len(names)), dtype=bool)
    for e in chosen:
        i, j = names.index(e.scorers[0]), names.index(e.scorers[1])
        ahead[i] += e.value
        ahead[j] -= e.value
        if differ(e):
            better[(i, j) if e.value > 0 else (j, i)] = True
    n_queries = min(e.n_queries for e in chosen)
    n_responses = min(e.n_responses for e in chosen)
    for name, of in zip(names, ranks(ahead.tolist(), better), strict=True):
        yield Estimate(
            "judge_rank",
            value=float(of.rank),
            ci_low=float(of.best),
            ci_high=float(of.worst),
            ci_level=1 - ALPHA,
            method="permutation_holm",
            n_responses=n_responses,
            n_queries=n_queries,
            **data.record(name, scope)
            | {"scope": scope, "params": {"measure": measure, "group": of.group}},
        )


def _all_defined(differences: list[Estimate], scope: str) -> bool:
    return all(e.defined for e in differences if e.scope == scope)


def differ(difference: Estimate) -> bool:
    """Whether two judges differ significantly, adjusted for all comparisons in the measure."""
    adjusted = difference.params["holm"]
    return isinstance(adjusted, float) and adjusted <= ALPHA


#: What the statistics of this module have in common.
_statistic = partial(Statistic, estimates=judges_compared, targets=("these_raters",))

STATISTICS = (
    _statistic(
        "judge_difference",
        "Difference",
        "a measure of agreement (params.measure) of the first of `scorers` minus that of the "
        "second, on the responses that both scored and people rated; params.permutation_p by "
        "permuting the scores of the two judges query by query (standardized but for rmse and "
        "kappa), params.holm adjusted over params.comparisons (all pairs of judges on all "
        "constructs in this measure); calibrated_pairwise_accuracy has the best tie threshold in "
        "every permutation and resample; cohen_kappa has params.weights; with one response a query "
        "pooled pearson also has params.williams_p",
        scopes=("pooled", "within_query", "system_level"),
        source="Deutsch, Dror and Roth 2021; Deutsch, Foster and Freitag 2023; Williams 1959",
        nominal=True,
    ),
    _statistic(
        "judge_rank",
        "Rank",
        "place of the judge by tau-b (on nominal scales by kappa), from 1; the interval is of the "
        "places left when judges that are significantly better or worse are counted; "
        "params.group: every judge of a group is significantly better than every judge of a later "
        "one",
        range=(1, None),
        better="lower",
        scopes=("pooled", "within_query"),
        source="Kocmi et al. 2021",
        nominal=True,
    ),
)
