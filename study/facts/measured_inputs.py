"""Which scores of a metric count that was measured with several states of an input.

The name of such a metric ends with the name of the input, relevance judgments or a model, and the
beginning of its hash: `NDCG@10 qrels@1f3c2a9b`. Of several states of one input the one that was
used last counts.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from study.schema.tables import scores

OWN = "own"
"""Source of scores that are computed here, not imported."""
EARLIER_INPUT = "measured with an earlier state of relevance judgments or of a model"
_WITH_INPUT = re.compile(r"(.+ .+)@[0-9a-f]{8}")


class MeasuredWith(NamedTuple):
    """A metric on a construct, with one state of its input."""

    scorer: str
    construct: str


def earlier_inputs(
    connection: Connection, construct: str | None = None
) -> dict[MeasuredWith, MeasuredWith]:
    """Return the metrics with states of an input that do not count, and for each the one that does.

    On one construct if it is named.
    """
    newest: dict[tuple[str, str], MeasuredWith] = {}
    replaced: list[tuple[tuple[str, str], MeasuredWith]] = []
    for input_name, measured in _by_last_use(connection, construct):
        if input_name in newest:
            replaced.append((input_name, measured))
        else:
            newest[input_name] = measured
    return {measured: newest[input_name] for input_name, measured in replaced}


def _by_last_use(
    connection: Connection, construct: str | None
) -> Iterator[tuple[tuple[str, str], MeasuredWith]]:
    columns = scores.c.scorer, scores.c.construct_key
    statement = (
        select(*columns)
        .where(scores.c.source == OWN, scores.c.scorer.like("% %@________"))
        .group_by(*columns)
        .order_by(func.max(scores.c.id).desc())
    )
    if construct is not None:
        statement = statement.where(scores.c.construct_key == construct)
    for scorer, key in connection.execute(statement):
        match = _WITH_INPUT.fullmatch(scorer)
        if match is not None:
            yield (match[1], key), MeasuredWith(scorer, key)
