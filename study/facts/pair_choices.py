"""Choices of judges between two responses, each asked in both orders, as preferences."""

import numpy as np
import pandas as pd
from sqlalchemy import Connection, select

from study.facts.comparison_decisions import decision_rows
from study.schema import PROMPT_NOT_WHOLE
from study.schema.database import read_frame
from study.schema.tables import judge_runs, pair_answers, preferences, queries, responses

ComparedPairs = frozenset[tuple[str, frozenset[int]]]
"""Construct, and the two responses (database keys) of a pair."""

ONE_ORDER = "one_order_only"
"""Reason of a preference whose pair was asked in one order so far."""


def compared_by_people(connection: Connection) -> ComparedPairs:
    """Return the pairs that people compared, by construct; imported ones included."""
    imported = connection.execute(
        select(
            preferences.c.construct_key, preferences.c.response_a_id, preferences.c.response_b_id
        ).where(preferences.c.scorer_kind == "human")
    )
    decided = decision_rows(connection)[["construct", "a", "b"]].itertuples(index=False)
    return frozenset((key, frozenset((a, b))) for key, a, b in [*imported, *decided])


def pair_rows(connection: Connection) -> pd.DataFrame:
    """Return one row for each pair, construct, run and repeat, in the columns of preferences.

    `a` is the response with the lower database key. The value is 1 where b is better in both
    orders, -1 where a is, and 0 where both orders are ties or the choices differ. It is missing,
    with its reason, where an order has no value. `value_a_first` and `value_b_first` are the
    choices by the response that was shown first, positive where b is better.
    """
    choices = _choices(connection)
    lower = choices["first"] < choices["second"]
    choices["a"] = choices["first"].where(lower, choices["second"])
    choices["b"] = choices["second"].where(lower, choices["first"])
    choices["value"] = choices["value"].where(lower, -choices["value"])
    on = ["query_id", "a", "b", "construct", "construct_version", "scorer", "repeat"]
    keep = [*on, "value", "missing_reason"]
    both = choices.loc[lower, keep].merge(
        choices.loc[~lower, keep], on=on, how="outer", suffixes=("_a_first", "_b_first")
    )
    a_first, b_first = both["value_a_first"], both["value_b_first"]
    agree = a_first == b_first
    known = a_first.notna() & b_first.notna()
    both["value"] = np.where(agree, a_first, 0.0)
    both["value"] = both["value"].where(known)
    reasons = both["missing_reason_a_first"].where(
        both["missing_reason_a_first"].notna(), both["missing_reason_b_first"]
    )
    reasons = reasons.where(reasons.notna(), ONE_ORDER)
    both["missing_reason"] = reasons.where(~known, None)
    both["scorer_kind"] = "judge"
    return both.drop(columns=["missing_reason_a_first", "missing_reason_b_first"])


def _choices(connection: Connection) -> pd.DataFrame:
    """Return the answers that count: the first whose prompt was whole, else the first."""
    columns = pair_answers.c
    rows = read_frame(
        connection,
        select(
            queries.c.key.label("query_id"),
            columns.response_id.label("first"),
            columns.second_response_id.label("second"),
            columns.construct_key.label("construct"),
            columns.construct_version,
            judge_runs.c.name.label("scorer"),
            columns.repeat,
            columns.attempt,
            columns.value,
            columns.missing_reason,
        )
        .join_from(pair_answers, judge_runs, columns.run_id == judge_runs.c.id)
        .join(responses, columns.response_id == responses.c.id)
        .join(queries, responses.c.query_id == queries.c.id)
        .order_by(columns.id),
    )
    rows["value"] = rows["value"].astype("float64")
    rows["part"] = rows["missing_reason"].isin(PROMPT_NOT_WHOLE)
    on = ["first", "second", "construct", "construct_version", "scorer", "repeat"]
    ordered = rows.sort_values(["part", "attempt"], kind="stable")
    return ordered.drop_duplicates(on).sort_index().drop(columns=["attempt", "part"])
