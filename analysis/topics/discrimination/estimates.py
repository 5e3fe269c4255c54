"""Which systems differ: randomized Tukey tests by scorer, and declared hypotheses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.multiple_tests import holm
from analysis.core.statistic import Statistic
from analysis.statistics.discrimination.hypotheses import hypothesis_p
from analysis.statistics.discrimination.system_scores import system_scores
from analysis.statistics.discrimination.tukey import FEW, RandomizedTukey, randomized_tukey_hsds
from analysis.topics.discrimination.system_differences import SystemsScored, system_differences
from analysis.topics.discrimination.system_ranks import system_ranks
from analysis.topics.distribution.estimates import MEAN_OF_RATERS
from analysis.topics.distribution.people_by_system import adjusted_people
from study.base.hypotheses import Hypothesis

#: Permutations of a test, and the level at which a pair differs significantly: as in the paper.
PERMUTATIONS, ALPHA = 10_000, 0.05

#: Pairs of systems with a record each; of more systems only the summary is given.
PAIRS_LISTED = 780


@dataclass(frozen=True)
class _Test:
    of: SystemsScored
    tukey: RandomizedTukey


def discrimination(context: Context) -> Iterator[Estimate]:
    """Every scorer's tests, the reference's, their powers, differences, and hypotheses."""
    scored = [table for table in _scored(context) if table.scores.shape[1]]
    tables = [table.scores for table in scored]
    results = randomized_tukey_hsds(tables, PERMUTATIONS, context.options.seed)
    tests = [
        _Test(of, _without_raters(context, of, test))
        for of, test in zip(scored, results, strict=True)
    ]
    for test in tests:
        yield _power(test)
    for test in tests:
        if test.of.leads:
            yield from _pairs(test)
    differences = list(system_differences(context, _listed(scored)))
    yield from differences
    yield from system_ranks(differences)
    yield from hypotheses(context, [(test.of, test.tukey) for test in tests if test.of.leads])


def system_comparisons(context: Context) -> Iterator[Estimate]:
    """Only the differences of every two systems."""
    scored = [table for table in _scored(context) if table.scores.shape[1]]
    return system_differences(context, _listed(scored))


def _listed(scored: Sequence[SystemsScored]) -> list[SystemsScored]:
    """Those of which every pair of systems has a record."""
    return [table for table in scored if table.leads and table.n_pairs <= PAIRS_LISTED]


#: Why people's scores are not permuted across systems.
OTHER_RATERS = (
    "the systems were not rated by the same raters to the same extent, so that permuting scores "
    "across systems would take differences between raters for differences between systems; "
    "system_difference is adjusted for raters"
)


def _without_raters(context: Context, of: SystemsScored, test: RandomizedTukey) -> RandomizedTukey:
    """The test, without p where raters are not balanced over systems."""
    if not of.people or adjusted_people(context, of.construct) is None:
        return test
    return replace(test, p=np.full(test.p.shape, np.nan), reason=OTHER_RATERS)


def _scored(context: Context) -> Iterator[SystemsScored]:
    """Judges and metrics on all responses, people on theirs, and judges on those of people."""
    for construct, data in context.whole.items():
        for scorer, values in data.scorers.items():
            yield _test(data, values, (scorer,), "all", whole=True)
        rated = context.rated.get(construct)
        if rated is None or rated.reference_missing:
            continue
        adjudicated = rated.reference_kind == "adjudicated"
        whose = tuple(rated.adjudicated) if adjudicated else rated.raters
        several = not adjudicated and len(whose) > 1
        of = MEAN_OF_RATERS if several else None
        yield _test(rated, rated.reference, whose, "rated", whole=False, people=True, of=of)
        with_reference = np.isfinite(rated.reference)
        for scorer, values in rated.scorers.items():
            if (
                np.isfinite(data.scorers[scorer]).sum()
                > (np.isfinite(values) & with_reference).sum()
            ):
                shared = np.where(with_reference, values, np.nan)
                yield _test(rated, shared, (scorer,), "rated", whole=False, leads=False)


def _test(
    data: ConstructData,
    values: FloatArray,
    scorers: tuple[str, ...],
    on: str,
    *,
    whole: bool,
    people: bool = False,
    leads: bool = True,
    of: str | None = None,
) -> SystemsScored:
    scores = system_scores(values, data.query, data.produced, data.n_queries)
    answered = np.zeros(scores.shape, dtype=bool)
    response, system = np.nonzero(data.produced)
    answered[data.query[response], system] = True
    return SystemsScored(
        data.construct, scorers, data.systems, scores, answered, on, whole, people, leads, of
    )


def _power(test: _Test) -> Estimate:
    tested = int(np.isfinite(test.tukey.p).sum())
    significant = int(np.count_nonzero(test.tukey.p < ALPHA))
    params: dict[str, Any] = {
        "alpha": ALPHA,
        "pairs": tested,
        "significant": significant,
        "permutations": test.tukey.resamples,
    }
    record = test.of.record(params)
    return Estimate(
        "discriminative_power",
        value=test.tukey.power(ALPHA),
        n_responses=test.tukey.n_scores,
        n_queries=test.tukey.n_queries,
        n_dropped=int(test.of.missing.sum()),
        reason=test.tukey.reason,
        **record,
    )


def _pairs(test: _Test) -> Iterator[Estimate]:
    result, of = test.tukey, test.of
    pairs = len(result.p)
    if not pairs:
        return
    if pairs > PAIRS_LISTED:
        reason = (
            f"{pairs:,} pairs of {len(of.systems):,} systems are not listed; discriminative_power "
            "sums them up"
        )
        yield Estimate("randomized_tukey_hsd_p", reason=reason, **of.record({}))
        return
    counts, missing = np.isfinite(of.scores).sum(axis=0), of.missing.sum(axis=0)
    for place, (i, j) in enumerate(zip(result.first, result.second, strict=True)):
        names = (of.systems[i], of.systems[j])
        without = [name for name, at in zip(names, (i, j), strict=True) if not counts[at]]
        reason = f"no scores of {' and '.join(without)}" if without else result.reason or FEW
        p = float(result.p[place])
        params: dict[str, Any] = {
            "difference": float(result.difference[place]),
            "one_sided": float(result.one_sided[place]),
            "permutations": result.resamples,
        }
        yield Estimate(
            "randomized_tukey_hsd_p",
            systems=names,
            value=p,
            method="randomized_tukey_hsd",
            n_responses=int(counts[i] + counts[j]),
            n_queries=result.n_queries,
            n_dropped=int(missing[i] + missing[j]),
            reason=reason if np.isnan(p) else None,
            **of.record(params),
        )


Tests = Sequence[tuple[SystemsScored, RandomizedTukey]]


def hypotheses(context: Context, tests: Tests) -> Iterator[Estimate]:
    """A record for each hypothesis and scorer; Holm's adjustment is over those of one scorer."""
    declared = context.options.hypotheses
    if not declared:
        return
    by_scorer: dict[str, dict[str, tuple[SystemsScored, RandomizedTukey]]] = {}
    for of, result in tests:
        by_scorer.setdefault(of.name, {})[of.construct] = (of, result)
    kinds = context.scores.scorer_kinds
    judges = [name for name in by_scorer if kinds.get(name) == "judge"]
    unasked = judges or [name for name in by_scorer if kinds.get(name) == "metric"]
    for scorer in dict.fromkeys([*unasked, *(h.scorer for h in declared if h.scorer)]):
        scorer_hypotheses = [
            h for h in declared if (scorer == h.scorer if h.scorer else scorer in unasked)
        ]
        yield from _scorer_estimates(scorer, scorer_hypotheses, by_scorer.get(scorer, {}))


def _scorer_estimates(
    scorer: str,
    hypotheses_of_scorer: Sequence[Hypothesis],
    tests: Mapping[str, tuple[SystemsScored, RandomizedTukey]],
) -> Iterator[Estimate]:
    p: dict[tuple[str, str, str], float] = {}
    difference: dict[tuple[str, str, str], float] = {}
    for construct, (of, result) in tests.items():
        for i, j, own_p, apart in zip(
            result.first, result.second, result.p, result.difference, strict=True
        ):
            key = (construct, of.systems[i], of.systems[j])
            p[key], difference[key] = float(own_p), float(apart)
    scored = [construct for construct, (_, result) in tests.items() if np.isfinite(result.p).any()]
    values = [hypothesis_p(h, p, difference, scored) for h in hypotheses_of_scorer]
    adjusted = holm(values)
    reference = next((of for of, _ in tests.values()), None)
    for hypothesis, value, after in zip(hypotheses_of_scorer, values, adjusted, strict=True):
        chosen = hypothesis.constructs or tuple(scored)
        systems = dict.fromkeys(name for pair in hypothesis.pairs for name in pair)
        used = [tests[construct][1] for construct in chosen if construct in tests]
        yield Estimate(
            "hypothesis_p",
            constructs=chosen,
            scorers=reference.scorers if reference else (scorer,),
            systems=tuple(systems),
            scope="system_level",
            value=value,
            method="randomized_tukey_hsd" if np.isfinite(value) else None,
            n_responses=sum(result.n_scores for result in used),
            n_queries=max((result.n_queries for result in used), default=0),
            n_raters=len(reference.scorers) if reference and reference.people else 0,
            reason=_reason(scorer, hypothesis, chosen, p) if np.isnan(value) else None,
            params={
                "hypothesis": hypothesis.name,
                "direction": hypothesis.direction,
                "aggregation": hypothesis.aggregation,
                "holm": float(after),
                "hypotheses": len(hypotheses_of_scorer),
                "tests": len(chosen) * len(hypothesis.pairs),
            },
        )


def _reason(
    scorer: str,
    hypothesis: Hypothesis,
    constructs: Sequence[str],
    p: Mapping[tuple[str, str, str], float],
) -> str:
    for construct in constructs:
        for a, b in hypothesis.pairs:
            value = p.get((construct, a, b), p.get((construct, b, a), np.nan))
            if np.isnan(value):
                return f"{scorer} has no test of {a} against {b} on {construct}"
    return f"{scorer} has no scores of systems to test it with"


STATISTICS = (
    Statistic(
        "discriminative_power",
        "Discriminative power",
        "share of pairs with p below params.alpha; params.significant of params.pairs",
        discrimination,
        range=(0, 1),
        better="higher",
        scopes=("system_level",),
        source="Sakai 2006; Muhamed 2025, table 2",
    ),
    Statistic(
        "randomized_tukey_hsd_p",
        "p",
        "p of the pair in `systems`, two-sided, simultaneous over all pairs; params.difference "
        "(first minus second, in points), params.one_sided (p of the first being above the "
        "second), params.permutations, params.on (all or rated). More than 780 pairs are not "
        "listed",
        discrimination,
        range=(0, 1),
        scopes=("system_level",),
        source="Carterette 2012; Muhamed 2025, tables 20 to 24",
    ),
    Statistic(
        "system_difference",
        "Difference",
        "mean of first minus second on their common queries, with a simultaneous interval over "
        "params.simultaneous pairs (max-t or Sidak's, params.critical_value); for these raters "
        "where it is of people's own means. Where raters are not balanced over systems, people's "
        "are adjusted for raters' severity (params.adjusted; params.unadjusted, params.imbalance) "
        "and for raters like these; none where no rater links two systems",
        discrimination,
        scopes=("system_level",),
        targets=("these_raters", "raters_like_these"),
        source="Westfall and Young 1993; Hothorn et al. 2008; Kenward and Roger 1997",
    ),
    Statistic(
        "system_rank",
        "Rank",
        "place of the system by its mean difference from the others, from 1; the interval is of "
        "the places left when systems whose simultaneous interval of `system_difference` excludes "
        "0 are counted, and covers the places of all params.systems systems at once; "
        "params.group: every system of a group is significantly better than every one of a later "
        "group",
        discrimination,
        range=(1, None),
        better="lower",
        scopes=("system_level",),
        targets=("these_raters", "raters_like_these"),
        source="Mogstad et al. 2024; Kocmi et al. 2021",
    ),
    Statistic(
        "hypothesis_p",
        "p",
        "p of the hypothesis in params.hypothesis, by params.direction and params.aggregation; "
        "params.holm is adjusted over params.hypotheses",
        discrimination,
        range=(0, 1),
        scopes=("system_level",),
        source="Holm 1979; Muhamed 2025, section 4",
    ),
)
