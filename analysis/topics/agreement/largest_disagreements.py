"""The responses on which a judge and people differ most: cases to read, not a statistic."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.context import Context
from analysis.render.formatting import points
from analysis.render.labels import quoted
from analysis.render.table import Cell, Table, TableBuilder

#: Responses that are listed for each construct and judge.
LISTED = 20


class Disagreement(NamedTuple):
    """A response with both scores, in points of their common scale."""

    construct: str
    scorer: str
    response_id: str
    query_id: str
    score: float
    people: float
    """The reference: the mean of the raters, or the adjudicated value."""
    difference: float
    """Score minus people: positive where the judge is more lenient."""


def largest_disagreements(context: Context) -> Iterator[Disagreement]:
    """Yield the responses of each construct and judge with the largest differences, these first.

    At most `LISTED` each, none where both agree. Responses with equal differences keep the
    table's order. A judge whose values can't be subtracted from people's has none.
    """
    for data, scorer, values, withheld in context.scored("judges"):
        if withheld:
            continue
        difference = values - data.reference
        size = np.where(np.isfinite(difference), np.abs(difference), 0.0)
        for row in np.argsort(-size, kind="stable")[:LISTED]:
            if size[row] == 0.0:
                break
            yield Disagreement(
                data.construct,
                scorer,
                str(data.responses[row]),
                str(context.rated_queries[data.query[row]]),
                float(values[row]),
                float(data.reference[row]),
                float(difference[row]),
            )


#: Of each construct and judge, on the page.
SHOWN = 3

# Characters of a reason on the page.
_MOST = 280


def largest_disagreements_table(analysis: Analysis) -> Iterator[Table]:
    """The largest differences of each construct and judge; its CSV has more, reasons in full."""
    disagreements = list(largest_disagreements(analysis.context))
    built, reasons = TableBuilder(), analysis.inputs.reasons
    for (construct, scorer), own_disagreements in groupby(
        disagreements, key=lambda disagreement: (disagreement.construct, disagreement.scorer)
    ):
        scale = analysis.context.human_scale(construct)
        for disagreement in list(own_disagreements)[:SHOWN]:
            reason = reasons.get((scorer, disagreement.response_id, construct), "")
            built.add(
                construct,
                scorer,
                disagreement.response_id,
                *(
                    points(value, scale)
                    for value in (disagreement.score, disagreement.people, disagreement.difference)
                ),
                Cell("", quote=quoted(reason, _MOST)),
            )
    about_reasons = (
        " The reason is what the judge wrote before its score; it may not be what led to the score."
        if reasons
        else ""
    )
    yield built.table(
        "largest-disagreements",
        "Responses on which judge and people differ most",
        f"The largest differences of each construct and judge, the {SHOWN} largest here and "
        f"{LISTED} in the CSV: cases to read, chosen for being extreme. People: the reference of "
        f"this report.{about_reasons}",
        ("Construct", "Scorer", "Response", "Judge", "People", "Judge minus people, points",
         "Reason"),
        heads=3,
        records=disagreement_records(analysis, disagreements),
    )  # fmt: skip


def disagreement_records(
    analysis: Analysis, disagreements: list[Disagreement] | None = None
) -> list[dict[str, object]]:
    """The responses as plain records with their reasons in full; null without one."""
    largest = (
        largest_disagreements(analysis.context.ordered) if disagreements is None else disagreements
    )
    reasons = analysis.inputs.reasons
    return [
        {
            **disagreement._asdict(),
            "reason": reasons.get(
                (disagreement.scorer, disagreement.response_id, disagreement.construct)
            ),
        }
        for disagreement in largest
    ]
