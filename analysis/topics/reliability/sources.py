"""Where people rated: do values from one place differ from those from another?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.construct_data import ConstructData, FloatArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.render.formatting import listed
from analysis.render.table import Table, TableBuilder
from analysis.statistics.agreement.association import association

#: The study's own pages, which are what others are compared with.
OWN = "own"


def sources(context: Context) -> Iterator[Estimate]:
    """`source_difference` of each two places on each construct; nothing where there is one.

    The mean over responses that were rated in both of the mean of the second place's raters minus
    that of the first's. Raters differ with the place, so it is the panels' difference as well.
    """
    for construct, data in context.rated.items():
        rows = source_rows(context, construct)
        means = {
            name: _mean_by_response(data, of_one)
            for name, of_one in rows.groupby("source", sort=True)
        }
        names = sorted(means, key=lambda name: (name != OWN, name))
        for first, second in combinations(names, 2):
            shared = np.isfinite(means[first]) & np.isfinite(means[second])
            both = [
                response for response, is_in in zip(data.responses, shared, strict=True) if is_in
            ]
            compared = rows["source"].isin([first, second]) & rows["response_id"].isin(both)
            raters = rows.loc[compared, "scorer"].unique()
            yield context.estimate(
                "source_difference",
                association(
                    "bias",
                    means[second],
                    means[first],
                    data.query,
                    n_queries=data.n_queries,
                    names=(str(second), str(first)),
                ),
                constructs=(construct,),
                scorers=tuple(sorted(str(rater) for rater in raters)),
                scope="pooled",
                target="these_raters",
                n_raters=len(raters),
                params={"first": str(first), "second": str(second)},
            )


def source_rows(context: Context, construct: str) -> pd.DataFrame:
    """Return people's first values on a construct with their source, each once."""
    frame = context.scores.frame
    columns = ["response_id", "scorer", "source", "value"]
    if "source" not in frame:
        return pd.DataFrame({name: [] for name in columns}, dtype="object")
    wanted = (
        (frame["construct"] == construct)
        & (frame["scorer_kind"] == "human")
        & (frame["repeat"] == 0)
        & frame["value"].notna()
        & frame["source"].notna()
    )
    rows = frame.loc[wanted, columns]
    texts = dict.fromkeys(columns[:-1], "object")
    return rows.astype(texts).drop_duplicates(["response_id", "scorer"])


def _mean_by_response(data: ConstructData, rows: pd.DataFrame) -> FloatArray:
    found = rows.groupby("response_id")["value"].mean().astype("float64")
    return np.asarray(found.reindex(list(data.responses)), dtype=np.float64)


STATISTICS = (
    Statistic(
        "source_difference",
        "Difference",
        "mean of the ratings from params.second minus that of params.first (places where people "
        "rated: `own`, `label_studio`, ...), on responses rated in both; the raters differ with "
        "the place",
        sources,
        better="0",
        targets=("these_raters",),
    ),
)


def between_sources(analysis: Analysis) -> Iterator[Table]:
    """How far the places differ in which people rated."""
    built = TableBuilder()
    for e in analysis.estimates.select("source_difference"):
        construct = e.constructs[0]
        built.add(
            construct,
            str(e.params["first"]),
            str(e.params["second"]),
            built.points(e, analysis.context.human_scale(construct)),
            f"{e.n_responses:,}",
            listed(e.scorers),
        )
    yield built.table(
        "sources",
        "Where people rated",
        "The second place's mean minus the first's in points, on responses that were rated in both "
        "(intervals for these raters). Who rates differs with where, so a difference may be the "
        "raters' as well as the place's.",
        ("Construct", "First", "Second", "Difference", "Responses in both", "Raters"),
        heads=3,
    )
