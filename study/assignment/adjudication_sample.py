"""Which rated responses are adjudicated: those on which people differ most, and a random sample."""

from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, func, select

from study.facts.current_responses import current_responses
from study.schema.tables import assignments, responses

RANDOM, WIDEST = "random", "widest"
"""The strata."""


def people_differ(scores: pd.DataFrame, lengths: dict[str, float]) -> pd.DataFrame:
    """Return, for each response and construct with a person's value, the range of the values.

    Columns: response_id, construct, low, high, people (how many) and range, which is a share of
    the construct's length in `lengths`, null where only one person has given a value.
    """
    people = scores[scores["scorer_kind"].eq("human") & scores["value"].notna()]
    first = people[people["repeat"].eq(0)]
    value = first.groupby(["response_id", "construct"], as_index=False).agg(
        low=("value", "min"), high=("value", "max"), people=("scorer", "nunique")
    )
    share = (value["high"] - value["low"]) / value["construct"].map(lengths).astype("float64")
    # A single value has no range.
    value["range"] = share.where(value["people"].gt(1))
    return value


def rated_responses(ranges: pd.DataFrame, connection: Connection) -> pd.DataFrame:
    """Return a row for each rated response, by database key.

    Columns: key, range, constructs, query, and `sampled`, the probability with which the response
    was drawn for rating; 1 where its ratings came in from elsewhere.
    """
    current, _ = current_responses(connection)
    ids = {row.response_id: row.id for row in current}
    by_response = ranges[ranges["response_id"].isin(ids)].groupby("response_id")
    rows = by_response.agg(range=("range", "max"), constructs=("construct", frozenset))
    rows.insert(0, "key", rows.index)
    rows.index = pd.Index([ids[key] for key in rows["key"]], name="response")
    queries = connection.execute(select(responses.c.id, responses.c.query_id)).all()
    rows["query"] = rows.index.map({row.id: row.query_id for row in queries})
    sampled = connection.execute(
        select(assignments.c.response_id, func.max(assignments.c.inclusion_prob))
        .where(assignments.c.purpose == "main", assignments.c.repeat == 0)
        .group_by(assignments.c.response_id)
    )
    chances = {response: float(chance) for response, chance in sampled}
    rows["sampled"] = [chances.get(int(response), 1.0) for response in rows.index]
    return rows


def drawn(
    frame: pd.DataFrame, before: list[Any], seed: int, sample: int, widest: int
) -> pd.DataFrame:
    """Return the chosen rows of the frame with their stratum and probabilities.

    `share` is the probability of being chosen here; `inclusion_prob` is that of being chosen at
    all, which takes the draw for rating and this one (two-phase sampling: Sarndal, Swensson and
    Wretman 1992, Model Assisted Survey Sampling, section 9.3).
    """
    frame = frame.assign(number=[_number(seed, key) for key in frame["key"]])
    certain = {row.response_id for row in before if row.stratum == WIDEST}
    at_random = {row.response_id for row in before if row.stratum == RANDOM}
    differing = frame[frame["range"].gt(0) & ~frame.index.isin(certain)]
    order = differing.sort_values(["range", "number"], ascending=[False, True]).index
    previous = frame.index[frame.index.isin(certain)]
    top = previous.append(order[: max(widest - len(previous), 0)])
    rest = frame.drop(index=top).sort_values("number")
    # The smallest prefix that includes all that were drawn before.
    places = np.flatnonzero(rest.index.isin(at_random))
    size = min(max(sample, *(places + 1), 0), len(rest))
    first = frame.loc[top].assign(stratum=WIDEST, share=1.0)
    second = rest.iloc[:size].assign(stratum=RANDOM, share=size / max(len(rest), 1))
    plan = pd.concat([first, second]).drop(columns="number")
    return plan.assign(inclusion_prob=plan["share"] * plan["sampled"])


def _number(seed: int, key: str) -> int:
    """Return a response's permanent random number, which does not depend on other responses.

    It differs from the number for the draw of responses to rate: a sample of a sample by the
    same numbers would not be random.
    """
    return int.from_bytes(blake2b(f"adjudication {seed} {key}".encode(), digest_size=8).digest())
