"""Answers to probes as a table for `analysis`, in addition to the score table."""

from collections.abc import Mapping

import pandas as pd
from sqlalchemy import Connection, Text, case, cast, func, or_, select

from study.columns import PROBE_COLUMNS
from study.facts.current_responses import current_responses
from study.schema import (
    CONTROL_TOKENS,
    SUSPECTED,
)
from study.schema.database import read_frame
from study.schema.tables import (
    judge_runs,
    judgments,
    probe_answers,
    queries,
    responses as response_table,
)


def probe_table(connection: Connection, versions: Mapping[str, int]) -> pd.DataFrame:
    """Return one row for each answer to a probe; the columns are those of `PROBE_COLUMNS`.

    `versions` are the current versions of the constructs. Answers on an earlier version, or on a
    response that a later one replaced, are left out and counted in `attrs["left_out"]`.
    """
    rows = read_frame(
        connection,
        select(
            judge_runs.c.name.label("scorer"),
            judge_runs.c.model,
            judge_runs.c.prompt_version.label("prompts"),
            probe_answers.c.kind,
            probe_answers.c.probe,
            probe_answers.c.round,
            probe_answers.c.fault,
            probe_answers.c.response_id.label("response"),
            queries.c.key.label("query_id"),
            probe_answers.c.construct_key.label("construct"),
            probe_answers.c.construct_version,
            probe_answers.c.value,
            probe_answers.c.missing_reason,
            probe_answers.c.served_model,
            probe_answers.c.fingerprint,
        )
        .join_from(probe_answers, judge_runs, probe_answers.c.run_id == judge_runs.c.id)
        .join(response_table, probe_answers.c.response_id == response_table.c.id)
        .join(queries, response_table.c.query_id == queries.c.id)
        .order_by(probe_answers.c.id),
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
    # PostgreSQL compares JSON as text only.
    text = cast(judgments.c.flags, Text)
    flagged = or_(text.contains(f'"{SUSPECTED}"'), text.contains(f'"{CONTROL_TOKENS}"'))
    rows = connection.execute(
        select(
            judge_runs.c.name,
            func.count(case((flagged, judgments.c.response_id)).distinct()),
            func.count(judgments.c.response_id.distinct()),
        )
        .join_from(judgments, judge_runs, judgments.c.run_id == judge_runs.c.id)
        .group_by(judge_runs.c.id, judge_runs.c.name)
        .order_by(judge_runs.c.id)
    )
    return {name: (int(number), int(of)) for name, number, of in rows if number}
