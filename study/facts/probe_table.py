"""Answers to probes as a table for `analysis`, in addition to the score table."""

from collections.abc import Mapping

import pandas as pd
from sqlalchemy import Connection, Text, case, cast, func, or_, select

from study.columns import PROBE_COLUMNS
from study.facts.current_responses import current_responses
from study.schema import (
    CONTROL_TOKENS,
    SUSPECTED,
    JudgeRun,
    Judgment,
    ProbeAnswer,
    Query,
    Response,
    table,
)
from study.schema.database import read_frame


def probe_table(connection: Connection, versions: Mapping[str, int]) -> pd.DataFrame:
    """Return one row for each answer to a probe; the columns are those of `PROBE_COLUMNS`.

    `versions` are the current versions of the constructs. Answers on an earlier version, or on a
    response that a later one replaced, are left out and counted in `attrs["left_out"]`.
    """
    t, run, r, q = table(ProbeAnswer), table(JudgeRun), table(Response), table(Query)
    rows = read_frame(
        connection,
        select(
            run.c.name.label("scorer"),
            run.c.model,
            run.c.prompt_version.label("prompts"),
            t.c.kind,
            t.c.probe,
            t.c.round,
            t.c.fault,
            t.c.response_id.label("response"),
            q.c.key.label("query_id"),
            t.c.construct_key.label("construct"),
            t.c.construct_version,
            t.c.value,
            t.c.missing_reason,
            t.c.served_model,
            t.c.fingerprint,
        )
        .join_from(t, run, t.c.run_id == run.c.id)
        .join(r, t.c.response_id == r.c.id)
        .join(q, r.c.query_id == q.c.id)
        .order_by(t.c.id),
    )
    responses = current_responses(connection)[0] if len(rows) else []
    ids = {response.id: response.response_id for response in responses}
    rows["response_id"] = rows["response"].map(ids)
    stale = rows["response_id"].isna()
    earlier = rows["construct"].map(versions) != rows["construct_version"]
    counted = {
        "of a response that a later one replaced": int(stale.sum()),
        "of an earlier version of a construct": int((earlier & ~stale).sum()),
    }
    rows = rows[~(stale | earlier)].reset_index(drop=True)
    named = zip(rows["served_model"], rows["fingerprint"], strict=True)
    rows["served"] = [", ".join(part for part in pair if part) or None for pair in named]
    kinds = {name: kind if kind != "str" else "object" for name, kind in PROBE_COLUMNS.items()}
    result = rows[list(PROBE_COLUMNS)].astype(kinds)
    result.attrs["left_out"] = {reason: n for reason, n in counted.items() if n}
    return result


def suspected_responses(connection: Connection) -> dict[str, tuple[int, int]]:
    """Return, by run, the responses whose judged text is flagged, and those that it judged at all.

    Flagged is what may be an instruction to the judge or a control token of a chat template. Runs
    without any are left out.
    """
    j, run = table(Judgment), table(JudgeRun)
    # PostgreSQL compares JSON as text only.
    text = cast(j.c.flags, Text)
    flagged = or_(text.contains(f'"{SUSPECTED}"'), text.contains(f'"{CONTROL_TOKENS}"'))
    rows = connection.execute(
        select(
            run.c.name,
            func.count(case((flagged, j.c.response_id)).distinct()),
            func.count(j.c.response_id.distinct()),
        )
        .join_from(j, run, j.c.run_id == run.c.id)
        .group_by(run.c.id, run.c.name)
        .order_by(run.c.id)
    )
    return {name: (int(number), int(of)) for name, number, of in rows if number}
