"""The responses on which a judge and people are furthest apart: cases to read, no statistic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analysis.core.context import Context

#: Responses that are listed for each construct and judge.
LISTED = 20


class Apart(NamedTuple):
    """A response with both scores, in points of their common scale."""

    construct: str
    scorer: str
    response_id: str
    query_id: str
    score: float
    people: float
    """The reference: the mean of the raters, or the adjudicated value."""
    difference: float
    """Score minus people: positive where the judge is kinder."""


def furthest_apart(context: Context) -> Iterator[Apart]:
    """Yield the responses of each construct and judge with the largest differences, these first.

    At most `LISTED` each, none where both agree. Responses with one difference stand in the
    table's order. A judge whose values can't be subtracted from people's has none.
    """
    for construct, data in context.rated.items():
        if data.reference_missing:
            continue
        for scorer, values in data.scorers.items():
            if data.kinds[scorer] != "judge" or context.differences_withheld(construct, scorer):
                continue
            difference = values - data.reference
            size = np.where(np.isfinite(difference), np.abs(difference), 0.0)
            for row in np.argsort(-size, kind="stable")[:LISTED]:
                if size[row] == 0.0:
                    break
                yield Apart(
                    construct,
                    scorer,
                    str(data.responses[row]),
                    str(context.rated_queries[data.query[row]]),
                    float(values[row]),
                    float(data.reference[row]),
                    float(difference[row]),
                )
