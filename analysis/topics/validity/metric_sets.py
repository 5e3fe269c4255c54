"""A second set of metrics beside the study's own: how the two correlate within systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.core.construct_data import ConstructData, aligned
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import resampled_estimate
from analysis.core.statistic import Statistic
from analysis.statistics.validity.correlation_family import CorrelationFamily, prepared
from analysis.statistics.validity.derived_correlations import averaged_by_fisher, with_derived
from analysis.topics.validity.judge_constructs import scored_by

Scored = tuple[str, str]

NOBODY = "no construct or scorer of the table is called {name}; there are {names}"
NOTHING_LEFT = "every construct belongs to the second set: nothing is left to correlate it with"


def metric_sets(context: Context) -> Iterator[Estimate]:
    """Each score outside the second set with each in it: Pearson within systems, averaged.

    The average over systems is by Fisher's z, with queries resampled jointly; over all responses
    where there is one system or none.
    """
    names = context.options.second_metrics
    if not names or not context.whole:
        return
    first, second = metric_set_members(context)
    known = [*context.whole, *scored_by(context)]
    for name in names:
        if name not in known:
            reason = NOBODY.format(name=name, names=", ".join(dict.fromkeys(known)))
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
    pairs = [(one, other) for one in first for other in second]
    for one, other in pairs:
        for system in systems:
            of = "" if system is None else f" of {system}"
            correlations.add(
                values[one],
                values[other],
                None if system is None else side.of_system(system),
                (f"{one[0]}{of}", f"{other[0]}{of}"),
            )
    base = correlations.family()
    members, each = [], len(systems)
    for place in range(len(pairs)):
        at = [(place * each + s, str(name)) for s, name in enumerate(systems)]
        members.append([(m, name) for m, name in at if base.n_responses[m]])
    averages = [averaged_by_fisher([m for m, _ in of], [n for _, n in of]) for of in members]
    averaged = systems[0] is not None
    family = with_derived(base, averages) if averaged else base
    found = family.replicates(context.whole_resampling)
    for place, (one, other) in enumerate(pairs):
        m = len(base.reasons) + place if averaged else place
        yield resampled_estimate(
            context, "metric_set_correlation", family, m, found[m], context.whole_resampling,
            "fisher_z", constructs=(one[0], other[0]), scorers=(one[1], other[1]),
            params={"measure": "pearson", "n_systems": len(members[place]) if averaged else 0},
        )  # fmt: skip


STATISTICS = (
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
