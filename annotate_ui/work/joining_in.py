"""What raters who take open slots are given besides: calibration before, checks in between.

Raters who are named beforehand have both from the assignment.
"""

from collections import defaultdict
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, insert, select

from annotate_ui.work.languages import can_read, languages_of
from annotate_ui.work.leasing import free_query, next_position
from annotate_ui.work.steps import OWN_CHANNEL
from study.campaign import Study
from study.nouns import Assignment, Query, Response, table

# Any numbers that no other draw of the same seed uses.
_CALIBRATING, _CHECKING = 0x63616C69, 0x63686563
# A rater whose number of queries is not known meets a check about every so many.
_QUERIES_A_CHECK = 5


def calibrate(connection: Connection, study: Study, rater_id: int) -> int:
    """Give a rater who has come for open slots the study's calibration; return how many responses.

    It is what other raters have as calibration, each query once, in an order of the rater's own.
    """
    a, r, q = table(Assignment), table(Response), table(Query)
    mine = select(a.c.id).where(a.c.rater_id == rater_id, a.c.purpose.in_(("main", "calibration")))
    if connection.execute(mine.limit(1)).first() is not None:
        return 0
    languages = languages_of(connection, study.config, rater_id)
    found: dict[int, dict[tuple[int, int], Row[Any]]] = defaultdict(dict)
    for row in connection.execute(
        select(a.c.response_id, r.c.query_id, a.c.construct_keys, a.c.round, a.c.layout)
        .add_columns(q.c.attributes)
        .join_from(a, r, a.c.response_id == r.c.id)
        .join(q, q.c.id == r.c.query_id)
        .where(a.c.purpose == "calibration", a.c.channel == OWN_CHANNEL)
        .order_by(a.c.id)
    ):
        if can_read(languages, row.attributes):
            found[row.query_id].setdefault((row.response_id, row.round), row)
    if not found or free_query(connection, study, rater_id) is None:
        return 0
    rng = np.random.default_rng([study.config.seed, _CALIBRATING, rater_id])
    place = next_position(connection, rater_id)
    queries = list(found.values())
    rows: list[dict[str, Any]] = []
    for index in rng.permutation(len(queries)):
        responses = list(queries[index].values())
        for one in (responses[i] for i in rng.permutation(len(responses))):
            keys = one.construct_keys
            rows.append(
                {
                    "rater_id": rater_id,
                    "response_id": one.response_id,
                    "construct_keys": [keys[i] for i in rng.permutation(len(keys))],
                    "purpose": "calibration",
                    "round": one.round,
                    "layout": one.layout,
                    "position": place + len(rows),
                    "config_hash": study.config_hash,
                }
            )
    connection.execute(insert(table(Assignment)), rows)
    return len(rows)
