"""`flip_rate`: how often another scoring would put two systems in another order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.interval import Interval
from analysis.core.statistic import Statistic
from analysis.statistics.discrimination.system_scores import system_scores
from analysis.statistics.stability.rank_reversals import (
    Flips,
    flips_of_queries,
    flips_of_repeats,
    flips_of_runs,
)
from analysis.topics.stability.estimates import Runs, comparable, repeated_runs

#: Pairs of systems that are listed each (15 systems); of more only their mean is given.
PAIRS_LISTED = 105

METHOD = "noncentral_t"


def flip_rates(context: Context) -> Iterator[Estimate]:
    """`flip_rate` by construct, of each pair and their mean, and the mean over all constructs."""
    overall: dict[tuple[str, tuple[str, ...]], list[Estimate]] = {}
    for runs in repeated_runs(context):
        if len(runs.data.systems) < 2:
            continue
        for kind, names, flips in _kinds(context, runs):
            mean = _mean(context, runs.data, kind, names, flips)
            overall.setdefault((str(kind["between"]), names), []).append(mean)
            yield mean
            # Of queries alone the mean is there to compare with.
            if kind["between"] != "queries" and len(flips.value) <= PAIRS_LISTED:
                yield from _each(context, runs.data, kind, names, flips)
    for means in overall.values():
        if len(means) > 1:
            yield _over_constructs(means)


_Kind = dict[str, str | None]
"""Between which scorings, and which runs were left out of them."""


def _kinds(context: Context, runs: Runs) -> Iterator[tuple[_Kind, tuple[str, ...], Flips]]:
    data, level = runs.data, context.options.level
    for name in runs.names:
        if name in runs.later:
            scored = _by_system(data, runs.repeats(name))
            yield {"between": "repeats"}, (name,), flips_of_repeats(scored, level)
    if len(runs.names) > 1:
        comparable_runs, excluded = comparable(context, runs)
        flips = flips_of_runs(_by_system(data, comparable_runs.first), level)
        yield {"between": "runs", "excluded": excluded}, comparable_runs.names, flips
    for name in runs.names:
        scored = _by_system(data, data.scorers[name][:, None])[0]
        yield {"between": "queries"}, (name,), flips_of_queries(scored, level)


def _by_system(data: ConstructData, values: FloatArray) -> FloatArray:
    """Scores (D, Q, S) of values (n, D)."""
    return np.stack(
        [system_scores(scoring, data.query, data.produced, data.n_queries) for scoring in values.T]
    )


def _mean(
    context: Context, data: ConstructData, kind: _Kind, names: tuple[str, ...], flips: Flips
) -> Estimate:
    value, low, high, reason = flips.mean
    defined = np.isfinite(flips.value)
    queries = int(flips.n_queries[defined].min()) if defined.any() else 0
    return Estimate(
        "flip_rate",
        constructs=(data.construct,),
        scorers=names,
        systems=data.systems,
        scope="system_level",
        value=value,
        **Interval(low, high, context.options.level, METHOD).fields,
        n_queries=queries,
        reason=reason,
        params={
            **kind,
            "pairs": int(defined.sum()),
            "opposite": int(flips.opposite[defined].sum()),
            "tied": int(flips.tied[defined].sum()),
            "compared": flips.compared * int(defined.sum()),
        },
    )


def _each(
    context: Context, data: ConstructData, kind: _Kind, names: tuple[str, ...], flips: Flips
) -> Iterator[Estimate]:
    for place, (i, j) in enumerate(zip(flips.first, flips.second, strict=True)):
        low, high = float(flips.low[place]), float(flips.high[place])
        yield Estimate(
            "flip_rate",
            constructs=(data.construct,),
            scorers=names,
            systems=(data.systems[i], data.systems[j]),
            scope="system_level",
            value=float(flips.value[place]),
            **Interval(low, high, context.options.level, METHOD).fields,
            n_queries=int(flips.n_queries[place]),
            reason=flips.reasons[place],
            params={
                **kind,
                "opposite": int(flips.opposite[place]),
                "tied": int(flips.tied[place]),
                "compared": flips.compared,
            },
        )


def _over_constructs(means: list[Estimate]) -> Estimate:
    """The mean of several constructs' means; its ends are theirs, as within a construct."""
    defined = [e for e in means if e.defined]
    ended = [e for e in defined if e.has_interval]
    first = means[0]
    nan = float("nan")

    def mean(values: list[float]) -> float:
        return float(np.mean(values)) if values else nan

    # A construct without any reversal adds 0 to either end.
    low, high = (
        mean([getattr(e, end) if e.has_interval else 0.0 for e in defined]) if ended else nan
        for end in ("ci_low", "ci_high")
    )
    return Estimate(
        "flip_rate",
        constructs=tuple(e.constructs[0] for e in defined),
        scorers=first.scorers,
        systems=first.systems,
        scope="system_level",
        value=mean([e.value for e in defined]),
        ci_low=low,
        ci_high=high,
        ci_level=ended[0].ci_level if ended else None,
        method=METHOD if ended else None,
        n_queries=min((e.n_queries for e in defined), default=0),
        reason=None if ended else (defined or means)[0].reason,
        params={
            "between": first.params["between"],
            **_excluded(means),
            **{
                name: sum(int(str(e.params[name])) for e in defined)
                for name in ("pairs", "opposite", "tied", "compared")
            },
        },
    )


def _excluded(means: list[Estimate]) -> _Kind:
    """The runs left out on any of the constructs; empty where none could be."""
    if "excluded" not in means[0].params:
        return {}
    runs = dict.fromkeys(str(e.params["excluded"]) for e in means if e.params["excluded"])
    return {"excluded": "; ".join(runs) or None}


STATISTICS = (
    Statistic(
        "flip_rate",
        "Flip rate",
        "probability that two independent scorings put two systems in another order on their mean "
        "scores; params.between repeats, runs or queries. Of one pair (`systems`), or the mean "
        "over params.pairs pairs, of one construct or all (`constructs`)",
        flip_rates,
        range=(0, 1),
        better="lower",
        scopes=("system_level",),
        source="noncentral t: Johnson and Welch 1940",
    ),
)
