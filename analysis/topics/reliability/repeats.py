"""Every scorer against itself: first scores and later ones of the same responses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import resampled_estimate
from analysis.core.resampling import Transform
from analysis.core.statistic import Statistic
from analysis.statistics.reliability.repeat_agreement import REPEAT_MEASURES, repeat_agreement

#: How each measure's jackknife interval is formed.
_TRANSFORMS: tuple[Transform | None, ...] = ("fisher_z", None, "logit")


def repeats(context: Context) -> Iterator[Estimate]:
    """`repeat_agreement` of people and judges wherever a response was scored more than once."""
    frame = context.scores.frame
    later = frame["repeat"] > 0
    if not later.any():
        return
    key = ["construct", "scorer", "response_id"]
    kept = frame["scorer_kind"].isin(["human", "judge"])
    columns = [*key, "query_id", "repeat", "value"]
    # A response of several systems stands there several times, with one value.
    again = frame.loc[later & kept, columns].drop_duplicates([*key, "repeat"])
    first = frame.loc[~later & kept, [*key, "value"]].drop_duplicates(key)
    pairs = again.merge(first, on=key, suffixes=("_later", "_first"), how="inner")
    queries = pd.Index(context.scores.queries, dtype="object")
    codes = queries.get_indexer(pd.Index(pairs["query_id"].astype("object"))).astype(np.int64)
    kinds = context.scores.scorer_kinds
    resampling = context.whole_resampling
    if resampling is context.rated_resampling:
        # Both orders of the queries hold the same ones; the resamples belong to the rated order.
        rated = pd.Index(context.rated_queries, dtype="object")
        codes = rated.get_indexer(queries).astype(np.int64)[codes]
    for (construct, scorer), own in pairs.groupby(
        ["construct", "scorer"], observed=True, sort=False
    ):
        construct, scorer = str(construct), str(scorer)  # noqa: PLW2901  (hashables to pandas)
        places = own.index.to_numpy()
        family = repeat_agreement(
            own["value_first"].to_numpy(),
            own["value_later"].to_numpy(),
            codes[places],
            resampling.n_queries,
        )
        found = family.replicates(resampling)
        for place, measure in enumerate(REPEAT_MEASURES):
            yield resampled_estimate(
                context,
                "repeat_agreement",
                family,
                place,
                found[place],
                resampling,
                _TRANSFORMS[place],
                constructs=(construct,),
                scorers=(scorer,),
                target="these_raters" if kinds[scorer] == "human" else None,
                n_raters=int(kinds[scorer] == "human"),
                params={"measure": measure, "pairs": int(family.n_responses[place])},
            )


STATISTICS = (
    Statistic(
        "repeat_agreement",
        "Agreement with itself",
        "first against later scores of one scorer: params.measure pearson, "
        "mean_absolute_difference, share_equal; params.pairs. For judges nothing is claimed about "
        "raters",
        repeats,
        targets=("these_raters",),
    ),
)
