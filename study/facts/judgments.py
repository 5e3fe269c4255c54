"""Which answer of a judge counts, and as what it is read: the one definition for every module.

A judgment is one answer of a run on one construct of one response. Its raw answer may have been
read again by a later parser: the reading with the highest revision holds. Of several attempts the
first whose prompt reached the model whole counts; where none did, the first of all. Later attempts
would select for what can be parsed.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from sqlalchemy import ColumnElement, Connection, Select, Subquery, and_, case, func, select

from study.facts.frames import selected
from study.facts.score_distributions import expected_scores
from study.schema import PROMPT_NOT_WHOLE, JudgeRun, Judgment, Reading, table

_READ = ("value", "missing_reason", "rule", "parser_version")


def as_read(columns: Sequence[str], *conditions: ColumnElement[bool]) -> Select[Any]:
    """Return the statement for these columns of judgments, all attempts, as they are read now.

    `value`, `missing_reason`, `rule` and `parser_version` are those of the newest reading; where
    nothing was read again, those of the judgment. The column `revision` is the reading's, or 0.
    `conditions` are on the table of judgments.
    """
    j, g = table(Judgment), table(Reading)
    last = (
        select(g.c.judgment_id, func.max(g.c.revision).label("revision"))
        .group_by(g.c.judgment_id)
        .subquery()
    )
    again = g.c.id.is_not(None)
    read: dict[str, ColumnElement[Any]] = {
        name: case((again, g.c[name]), else_=j.c[name]).label(name) for name in _READ
    }
    read["revision"] = func.coalesce(g.c.revision, 0).label("revision")
    return (
        select(*(read[name] if name in read else j.c[name] for name in columns))
        .join_from(j, last, last.c.judgment_id == j.c.id, isouter=True)
        .join(
            g,
            and_(g.c.judgment_id == last.c.judgment_id, g.c.revision == last.c.revision),
            isouter=True,
        )
        .where(*conditions)
    )


def counted_judgments(columns: Sequence[str], *conditions: ColumnElement[bool]) -> Subquery:
    """Return these columns of the judgments that count, as they are read now.

    There is one for each run, response, construct, construct version and repeat. Columns and
    conditions are as in `as_read`; conditions hold for all attempts at a prompt alike.
    """
    j = table(Judgment)
    # What the run met, not what a later parser says: a prompt that was cut stays cut.
    cut = case((j.c.missing_reason.in_(PROMPT_NOT_WHOLE), 1), else_=0)
    prompt = (j.c.run_id, j.c.response_id, j.c.construct_key, j.c.construct_version, j.c.repeat)
    turn = func.row_number().over(partition_by=prompt, order_by=(cut, j.c.attempt)).label("turn")
    rows = as_read(columns, *conditions).add_columns(turn).subquery()
    return (
        select(*(rows.c[name] for name in columns))
        .where(rows.c.turn == 1)
        .subquery("counted_judgment")
    )


def judge_scores(connection: Connection) -> pd.DataFrame:
    """Return the judgments that count, and the means of their distributions, as scores."""
    run = table(JudgeRun)
    columns = ("response_id", "construct_key", "construct_version", "run_id", "repeat")
    j = counted_judgments((*columns, "value", "missing_reason", "rule", "distribution"))
    frame = selected(
        connection,
        select(
            j.c.response_id.label("response"),
            j.c.construct_key.label("construct"),
            j.c.construct_version,
            run.c.name.label("scorer"),
            j.c.repeat,
            j.c.value,
            j.c.missing_reason,
            j.c.rule,
            j.c.distribution,
        ).join_from(j, run, j.c.run_id == run.c.id),
    )
    if frame["distribution"].notna().any():
        frame = pd.concat([frame, expected_scores(frame)], ignore_index=True)
    frame = frame.drop(columns="distribution")
    return frame.assign(scorer_kind="judge", inclusion_prob=1.0, stratum=None, source="own")
