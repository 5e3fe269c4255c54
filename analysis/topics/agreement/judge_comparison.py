"""Is one judge better than another? Differences in agreement with people, ranks, and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.construct_data import ConstructData, judge_of_expected
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.render.formatting import listed, p_value
from analysis.render.table import Cell, Table, TableBuilder
from analysis.statistics.agreement.judge_comparison import (
    PERMUTATIONS,
    Compared,
    Measure,
    MeasureScope,
    ranks,
    soft_difference,
)
from analysis.statistics.discrimination.hypotheses import holm
from analysis.statistics.discrimination.system_scores import system_scores
from analysis.topics.distribution.people_by_system import adjusted_people

#: The measure that judges are ranked by, and from which p two judges differ.
LEADING: Measure = "kendall_tau_b"
ALPHA = 0.05

#: Judges of which every two are compared; of more the first ones are.
COMPARED = 8

_MEASURES: tuple[tuple[Measure, MeasureScope], ...] = (
    ("kendall_tau_b", "within_query"),
    ("pairwise_accuracy", "within_query"),
    ("pearson", "within_query"),
    ("kendall_tau_b", "pooled"),
    ("pearson", "pooled"),
    ("rmse", "pooled"),
)

#: Measures of which the smaller value is the better one.
LOWER_IS_BETTER = frozenset({"rmse"})


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two judges on a construct, with what all records of them have in common."""

    data: ConstructData
    names: tuple[str, str]
    compared: Compared

    @property
    def record(self) -> dict[str, Any]:
        return self.data.record(self.names[0]) | {"scorers": (*self.names, *self.data.people)}


def compared_judges(data: ConstructData) -> list[str]:
    """Judges that are compared: one by one, without the means of their distributions."""
    names = [n for n in data.examined if judge_of_expected(n, data.examined) is None]
    return names[:COMPARED]


def judges_compared(context: Context) -> Iterator[Estimate]:
    """`judge_difference` of every two judges in each measure, then `judge_rank`."""
    pairs = [
        _Pair(data, (first, second), _compared(data, first, second))
        for data in context.rated.values()
        if not data.reference_missing
        for first, second in combinations(compared_judges(data), 2)
    ]
    if not pairs:
        return
    leading: list[Estimate] = []
    for measure, scope in _MEASURES:
        records = _with_holm([_difference(context, pair, measure, scope) for pair in pairs])
        yield from records
        if measure == LEADING:
            leading += records
    yield from _with_holm([_soft(context, pair) for pair in pairs if len(pair.data.systems) > 1])
    for data in dict.fromkeys(pair.data for pair in pairs):
        yield from _ranks(data, [e for e in leading if e.constructs == (data.construct,)])


def _compared(data: ConstructData, first: str, second: str) -> Compared:
    scores = data.scorers[first], data.scorers[second], data.reference
    return Compared.of(*scores, data.query, data.n_queries, (first, second))


def _difference(context: Context, pair: _Pair, measure: Measure, scope: MeasureScope) -> Estimate:
    record = pair.record | {"scope": scope}
    params: dict[str, Any] = {"measure": measure, "permutations": PERMUTATIONS}
    if measure == "rmse":
        for name in pair.names:
            withheld = context.differences_withheld(pair.data.construct, name)
            if withheld:
                params |= {"permutation_p": None}
                return Estimate("judge_difference", reason=withheld, params=params, **record)
    statistic = pair.compared.difference(measure, scope)
    p = pair.compared.p(measure, scope, context.options.seed) if not statistic.reason else np.nan
    params |= {"permutation_p": p}
    return context.estimate("judge_difference", statistic, params=params, **record)


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
    return Estimate(
        "judge_difference",
        value=difference.value,
        n_responses=int(np.count_nonzero(used & data.produced.any(axis=1))),
        n_queries=difference.n_queries,
        reason=difference.reason or "no interval: permutations give the p alone",
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
                "permutation_p": _none(plain),
                "holm": _none(float(after)),
                "comparisons": tested,
            },
        )
        for e, plain, after in zip(records, p, adjusted, strict=True)
    ]


def _none(value: float) -> float | None:
    return None if np.isnan(value) else value


def _ranks(data: ConstructData, differences: list[Estimate]) -> Iterator[Estimate]:
    """Rank of each judge by tau-b: within a query, or over all responses where that is undefined.

    Judges are ordered by their mean difference from the others, each on common responses.
    """
    names = compared_judges(data)
    scope = next(
        (s for s in ("within_query", "pooled") if _all_defined(differences, s)), "within_query"
    )
    chosen = [e for e in differences if e.scope == scope]
    record = {"scope": scope, "params": {"measure": LEADING}}
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
            | {"scope": scope, "params": {"measure": LEADING, "group": of.group}},
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
        "permuting the standardized scores of the two judges query by query, params.holm adjusted "
        "over params.comparisons (all pairs of judges on all constructs in this measure)",
        scopes=("pooled", "within_query", "system_level"),
        source="Deutsch, Dror and Roth 2021",
    ),
    _statistic(
        "judge_rank",
        "Rank",
        "place of the judge by tau-b, from 1; the interval is of the places left when judges that "
        "are significantly better or worse are counted; params.group: every judge of a group is "
        "significantly better than every judge of a later one",
        range=(1, None),
        better="lower",
        scopes=("pooled", "within_query"),
        source="Kocmi et al. 2021",
    ),
)

_SCOPES = {
    "within_query": "within a query",
    "pooled": "over all responses",
    "system_level": "between systems",
}


def reading(analysis: Analysis) -> Iterator[str]:
    """Which judges order responses better than which, by construct."""
    for construct in analysis.rated:
        placed = analysis.estimates.select("judge_rank", construct=construct)
        if not placed or not placed[0].defined:
            continue
        where = _SCOPES[placed[0].scope]
        pairs = [
            e
            for e in analysis.estimates.select(
                "judge_difference", construct=construct, scope=placed[0].scope, measure=LEADING
            )
            if differ(e)
        ]
        if not pairs:
            names = listed([e.scorers[0] for e in placed])
            same = "cannot be distinguished in how they order responses"
            yield f"{construct}: {names} {same} {where}."
            continue
        outcomes = []
        for e in pairs:
            first, second = e.scorers[:2] if e.value > 0 else e.scorers[1::-1]
            outcomes.append(f"{first} better than {second}")
        others = "; the others cannot be distinguished"
        all_differ = len(pairs) == len(placed) * (len(placed) - 1) // 2
        yield (
            f"{construct}: {listed(outcomes)} in how they order responses {where} (tau-b, p < .05 "
            f"after Holm's adjustment){'' if all_differ else others}."
        )


def ranks_table(analysis: Analysis) -> Iterator[Table]:
    """Rank and group of each judge by construct."""
    built = TableBuilder()
    for e in sorted(analysis.estimates.select("judge_rank"), key=lambda e: (e.constructs, e.value)):
        built.add(
            e.constructs[0], e.scorers[0], built.number(e, ".0f"), str(e.params.get("group", "")),
            _SCOPES[e.scope],
        )  # fmt: skip
    yield built.table(
        "judge-ranks",
        "Judges in order",
        "By tau-b with people, on the responses that two judges both scored. Brackets: the places "
        "that remain possible, from significant differences (Holm's adjustment over all pairs of "
        "judges and constructs). Every judge of a group is significantly better than every one of "
        "a later group.",
        ("Construct", "Judge", analysis.headings["judge_rank"], "Group", "Pairs of responses"),
        heads=2,
    )


def differences_table(analysis: Analysis) -> Iterator[Table]:
    """Every two judges in every measure."""
    built = TableBuilder()
    for e in analysis.estimates.select("judge_difference"):
        measure = str(e.params["measure"])
        built.add(
            e.constructs[0],
            f"{e.scorers[0]} minus {e.scorers[1]}",
            f"{analysis.headings[measure]}, {_SCOPES[e.scope]}",
            _value(built, analysis, e),
            *(
                p_value(p) if isinstance(p := e.params[key], float) else ""
                for key in ("permutation_p", "holm")
            ),
            f"{e.n_queries:,}",
        )
    yield built.table(
        "judge-differences",
        "Differences between judges",
        "Agreement of the first judge with people minus that of the second, on the responses that "
        "both scored and people rated; of the root mean squared error, in points, the smaller is "
        "the better one. p: the two judges' scores, standardized but for the root mean squared "
        "error, change places query by query. Adjusted: by Holm's method over all pairs of judges "
        "and constructs in one measure.",
        ("Construct", "Judges", "Measure", analysis.headings["judge_difference"], "Permutation p",
         "Adjusted p", "Queries"),
        heads=3,
    )  # fmt: skip


def _value(built: TableBuilder, analysis: Analysis, e: Estimate) -> Cell:
    if e.params["measure"] == "rmse":
        return built.points(e, analysis.context.human_scale(e.constructs[0]))
    return built.r(e)
