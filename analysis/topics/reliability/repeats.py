"""Every scorer against itself: first scores and later ones of the same responses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import ResampledFamily
from analysis.core.statistic import Statistic
from analysis.core.uncertainty import Transform
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
    repeatable = frame["scorer_kind"].isin(["human", "judge"])
    columns = [*key, "query_id", "repeat", "value"]
    # A response of several systems has several rows with one value.
    again = frame.loc[later & repeatable, columns].drop_duplicates([*key, "repeat"])
    first = frame.loc[~later & repeatable, [*key, "value"]].drop_duplicates(key)
    pairs = again.merge(first, on=key, suffixes=("_later", "_first"), how="inner")
    queries = pd.Index(context.scores.queries, dtype="object")
    codes = queries.get_indexer(pd.Index(pairs["query_id"].astype("object"))).astype(np.int64)
    kinds = context.scores.scorer_kinds
    resampling = context.whole_resampling
    if resampling is context.rated_resampling:
        # Both orders have the same queries; the resamples belong to the rated order.
        rated = pd.Index(context.rated_queries, dtype="object")
        codes = rated.get_indexer(queries).astype(np.int64)[codes]
    for (construct, scorer), scorer_pairs in pairs.groupby(
        ["construct", "scorer"], observed=True, sort=False
    ):
        construct, scorer = str(construct), str(scorer)  # noqa: PLW2901  (hashables to pandas)
        places = scorer_pairs.index.to_numpy()
        family = repeat_agreement(
            scorer_pairs["value_first"].to_numpy(),
            scorer_pairs["value_later"].to_numpy(),
            codes[places],
            resampling.n_queries,
        )
        resampled = ResampledFamily(context, family, resampling)
        for place, measure in enumerate(REPEAT_MEASURES):
            if measure != "share_equal" and context.nominal([construct]):
                continue
            yield resampled.estimate(
                "repeat_agreement",
                place,
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
        "mean_absolute_difference, share_equal; params.pairs. Figures of judges make no claim "
        "about raters",
        repeats,
        targets=("these_raters",),
        nominal=True,
    ),
)
