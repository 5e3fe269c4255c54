"""What composing does as the weight of the match goes from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from analysis.core.construct_data import ConstructData, FloatArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.pairs import Scope
from analysis.statistics.agreement.association import association
from analysis.statistics.answer_correctness import composed_ac
from analysis.statistics.discrimination.tukey import randomised_tukey_hsds
from analysis.statistics.distribution.shape import tie_probability
from analysis.topics.agreement.association import REFERENCE
from analysis.topics.distribution.estimates import counts

#: Metrics that stand for a match: strict, normalized, and the overlap of tokens.
MATCHES = ("EM", "EM-normalized", "F1")

#: Weights of the match.
WEIGHTS = tuple(step / 10 for step in range(11))

#: Permutations of a test in the sweep, and its level.
RESAMPLES, ALPHA = 1000, 0.05

NO_PAIR = "a pair needs 2 scores"
NO_TEST = "no two systems have scores on a common query"


def lambda_sweep(context: Context, construct: str, judge: str, match: str) -> Iterator[Estimate]:
    """`ac_lambda_sweep`: agreement with people, ties, and discriminative power of composed AC.

    The parts are on one scale, and the metric in params.match is the match.
    """
    rated, whole = context.rated.get(construct), context.whole[construct]
    name = "ac_lambda_sweep"
    record: dict[str, Any] = {"constructs": (construct,), "scorers": (judge, match)}
    if rated is not None and not rated.reference_missing:
        scopes: tuple[Scope, ...] = ("pooled", "within_query")
        for scope in scopes:
            for weight in WEIGHTS:
                statistic = association(
                    "pearson",
                    composed_ac(rated.scorers[judge], rated.scorers[match], weight),
                    rated.reference,
                    rated.query,
                    scope,
                    n_queries=rated.n_queries,
                    names=("composed AC", REFERENCE),
                )
                params = _params(weight, "pearson", match)
                yield context.estimate(
                    name, statistic, None, "fisher_z", scope=scope, target="these_raters",
                    params=params, **record,
                )  # fmt: skip
    composed = [
        composed_ac(whole.scorers[judge], whole.scorers[match], weight) for weight in WEIGHTS
    ]
    for weight, values in zip(WEIGHTS, composed, strict=True):
        ties = tie_probability(values)
        yield Estimate(
            name, value=ties, reason=NO_PAIR if np.isnan(ties) else None,
            params=_params(weight, "tie_probability", match),
            **counts(values, whole.query), **record,
        )  # fmt: skip
    if len(whole.systems) > 1:
        tests = randomised_tukey_hsds(
            [by_system(whole, values) for values in composed], RESAMPLES, context.options.seed
        )
        for weight, test in zip(WEIGHTS, tests, strict=True):
            power = test.power(ALPHA)
            yield Estimate(
                name, systems=whole.systems, value=power,
                reason=(test.reason or NO_TEST) if np.isnan(power) else None,
                n_responses=test.n_scores, n_queries=test.n_queries,
                params=_params(weight, "discriminative_power", match) | {"alpha": ALPHA},
                **record,
            )  # fmt: skip


def _params(weight: float, measure: str, match: str) -> dict[str, Any]:
    return {"lambda": weight, "measure": measure, "match": match}


def by_system(data: ConstructData, values: FloatArray) -> FloatArray:
    """Values (n,) as a table (Q, S); a system with several responses to a query has their mean."""
    present = np.isfinite(values)
    table = np.full((data.n_queries, len(data.systems)), np.nan)
    for place in range(len(data.systems)):
        own = data.produced[:, place] & present
        count = np.bincount(data.query[own], minlength=data.n_queries)
        total = np.bincount(data.query[own], values[own], data.n_queries)
        some = count > 0
        table[some, place] = total[some] / count[some]
    return table
