"""Correlations between a judge's constructs, and with a second set of metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import Aligned, ConstructData, aligned
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import ResampledFamily
from analysis.core.resampling import QueryResampling
from analysis.core.statistic import SYSTEM, Statistic
from analysis.core.statistic_family import StatisticFamily
from analysis.statistics.validity.correlation_family import CorrelationFamily, prepared
from analysis.statistics.validity.derived_correlations import averaged_by_fisher, with_derived
from analysis.statistics.validity.rank_correlations import RankFamily, ranked

#: Sums of queries in memory together (32 MB).
SUMS_AT_ONCE = 4_000_000

RANKS = ("spearman", "kendall_tau_b")


def judge_constructs(context: Context) -> Iterator[Estimate]:
    """Every pair of constructs of each judge or metric, over all responses.

    Within each system, and averaged over systems by Fisher's z with queries resampled jointly for
    all systems; over all responses without systems.
    """
    for scorer, constructs in scored_by(context).items():
        if len(constructs) > 1:
            yield from _scorer_estimates(context, scorer, constructs)


def scored_by(context: Context) -> dict[str, dict[str, ConstructData]]:
    """Judges and metrics with the constructs they scored, over all queries."""
    by_scorer: dict[str, dict[str, ConstructData]] = {}
    for construct, data in context.whole.items():
        for scorer in data.scorers:
            by_scorer.setdefault(scorer, {})[construct] = data
    return by_scorer


def _scorer_estimates(
    context: Context, scorer: str, constructs: dict[str, ConstructData]
) -> Iterator[Estimate]:
    side = aligned(constructs)
    scores = {key: data.scorers[scorer] for key, data in constructs.items()}
    pairs = list(combinations(constructs, 2))
    whole = context.whole_resampling
    record = {"scorers": (scorer,)}
    plain = {key: prepared(side.spread(key, values)) for key, values in scores.items()}
    # A pair has six sums of every query and system: of millions of queries few fit into memory.
    at_once = max(1, SUMS_AT_ONCE // max(1, 6 * side.n_queries * max(1, len(side.systems))))
    for start in range(0, len(pairs), at_once):
        some = pairs[start : start + at_once]
        moments = CorrelationFamily(side.query, side.n_queries)
        _add(moments, side, plain, some)
        yield from _records(context, side, some, ("pearson",), moments.family(), whole, record)
    del plain
    levels = {key: ranked(side.spread(key, values)) for key, values in scores.items()}
    ranks = RankFamily(side.query, side.n_queries)
    _add(ranks, side, levels, pairs)
    del levels
    fewer = replace(whole, resamples=min(ranks.resamples, whole.resamples))
    yield from _records(context, side, pairs, RANKS, ranks.family(), fewer, record)


def _add(
    family: CorrelationFamily | RankFamily,
    side: Aligned,
    values: Mapping[str, FloatArray],
    pairs: Sequence[tuple[str, str]],
) -> None:
    for a, b in pairs:
        for system in side.systems or (None,):
            items = None if system is None else side.produced_by(system)
            names = (_named(a, system), _named(b, system))
            family.add(values[a], values[b], items, names)


def _named(construct: str, system: str | None) -> str:
    return construct if system is None else f"{construct} of {system}"


def _records(
    context: Context,
    side: Aligned,
    pairs: Sequence[tuple[str, str]],
    measures: tuple[str, ...],
    family: StatisticFamily,
    resampling: QueryResampling,
    record: dict[str, Any],
) -> Iterator[Estimate]:
    """Records of a family whose statistics are ordered by pair, system and measure."""
    systems: tuple[str | None, ...] = side.systems or (None,)
    each = len(measures)
    averages, averaged_over = [], []
    for place in range(len(pairs)):
        for of in range(each):
            at = [(place * len(systems) + s) * each + of for s in range(len(systems))]
            # A system without a response that has both values is left out of the average.
            defined = [(m, s) for m, s in zip(at, systems, strict=True) if family.n_responses[m]]
            averages.append(
                averaged_by_fisher([m for m, _ in defined], [str(s) for _, s in defined])
            )
            averaged_over.append(len(defined))
    several = len(side.systems) > 1
    both = with_derived(family, averages) if several else family
    resampled = ResampledFamily(context, both, resampling)
    for place, pair in enumerate(pairs):
        for of, measure in enumerate(measures):
            params: dict[str, Any] = {"measure": measure, "resamples": resampling.resamples}
            for s, system in enumerate(systems):
                m = (place * len(systems) + s) * each + of
                yield resampled.estimate(
                    "construct_correlation", m, "fisher_z", constructs=pair,
                    systems=(system,) if system else (),
                    scope=f"system:{system}" if system else "pooled", params=params, **record,
                )  # fmt: skip
            if several:
                a = place * each + of
                m = len(family.reasons) + a
                yield resampled.estimate(
                    "construct_correlation_average", m, "fisher_z", constructs=pair,
                    params=params | {"n_systems": averaged_over[a]}, **record,
                )  # fmt: skip


Scored = tuple[str, str]
UNKNOWN_NAME = "unknown construct or scorer {name}; the table has {names}"
NOTHING_LEFT = (
    "every construct belongs to the second set: no construct is left to correlate it with"
)


def metric_sets(context: Context) -> Iterator[Estimate]:
    """Each score outside the second set with each in it: Pearson within systems, averaged.

    The average over systems is by Fisher's z, with queries resampled jointly; over all responses
    where there is one system or none.
    """
    names = context.options.second_metrics
    if not names or not context.whole:
        return
    first, second = metric_set_members(context)
    existing = [*context.whole, *scored_by(context)]
    for name in names:
        if name not in existing:
            reason = UNKNOWN_NAME.format(name=name, names=", ".join(dict.fromkeys(existing)))
            yield Estimate("metric_set_correlation", reason=reason, params={"named": name})
    if second and not first:
        yield Estimate("metric_set_correlation", reason=NOTHING_LEFT)
    elif second:
        yield from _between(context, first, second)


def metric_set_members(context: Context) -> tuple[list[Scored], list[Scored]]:
    """(construct, scorer) of judges and metrics outside the second set, and inside it."""
    names = context.options.second_metrics
    first: list[Scored] = []
    second: list[Scored] = []
    for construct, data in context.whole.items():
        for scorer in data.scorers:
            inside = construct in names or scorer in names
            (second if inside else first).append((construct, scorer))
    return first, second


def _between(
    context: Context, first: Sequence[Scored], second: Sequence[Scored]
) -> Iterator[Estimate]:
    constructs: dict[str, ConstructData] = {key: context.whole[key] for key, _ in (*first, *second)}
    side = aligned(constructs)
    values = {
        (key, scorer): prepared(side.spread(key, constructs[key].scorers[scorer]))
        for key, scorer in (*first, *second)
    }
    systems: tuple[str | None, ...] = side.systems if len(side.systems) > 1 else (None,)
    correlations = CorrelationFamily(side.query, side.n_queries)
    pairs = [(first_scores, second_scores) for first_scores in first for second_scores in second]
    for first_scores, second_scores in pairs:
        for system in systems:
            of = "" if system is None else f" of {system}"
            correlations.add(
                values[first_scores],
                values[second_scores],
                None if system is None else side.produced_by(system),
                (f"{first_scores[0]}{of}", f"{second_scores[0]}{of}"),
            )
    base = correlations.family()
    members, each = [], len(systems)
    for place in range(len(pairs)):
        at = [(place * each + s, str(name)) for s, name in enumerate(systems)]
        members.append([(m, name) for m, name in at if base.n_responses[m]])
    averages = [averaged_by_fisher([m for m, _ in of], [n for _, n in of]) for of in members]
    averaged = systems[0] is not None
    family = with_derived(base, averages) if averaged else base
    resampled = ResampledFamily(context, family, context.whole_resampling)
    for place, (first_scores, second_scores) in enumerate(pairs):
        m = len(base.reasons) + place if averaged else place
        yield resampled.estimate(
            "metric_set_correlation", m, "fisher_z", constructs=(first_scores[0], second_scores[0]),
            scorers=(first_scores[1], second_scores[1]),
            params={"measure": "pearson", "n_systems": len(members[place]) if averaged else 0},
        )  # fmt: skip


STATISTICS = (
    Statistic(
        "construct_correlation",
        "Correlation",
        "correlation of two constructs of a scorer within a system, or over all responses without "
        "systems; params.measure is pearson, spearman or kendall_tau_b",
        judge_constructs,
        range=(-1, 1),
        scopes=(SYSTEM, "pooled"),
        source="Muhamed 2025, tables 7 to 12",
    ),
    Statistic(
        "construct_correlation_average",
        "Average correlation",
        "average of `construct_correlation` over systems by Fisher's z",
        judge_constructs,
        range=(-1, 1),
        source="Muhamed 2025, figure 3",
    ),
    Statistic(
        "metric_set_correlation",
        "r",
        "Pearson's r of a score and one of the second set within systems, averaged by Fisher's z; "
        "over all responses with one system or none",
        metric_sets,
        range=(-1, 1),
        source="Muhamed 2025, section 4.1.4 and figure 4",
    ),
)
