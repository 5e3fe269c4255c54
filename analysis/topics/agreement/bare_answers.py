"""How a judge's answers were read, and its figures from answers that are a bare number only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.table_columns import NO_REASON
from analysis.topics.agreement.association import compared, reference_scorers
from analysis.topics.agreement.human_ceiling import SCOPES, ceilings_on

#: The rule of an answer that is a number and nothing else, and the value of params.answers.
BARE = "bare"

#: The rule of a response without text: the prompts give its score, so nothing had to be read.
EMPTY_RESPONSE = "empty_response"

#: In place of the rule where the table gives none.
NO_RULE = NO_REASON


def answers_read(context: Context) -> Iterator[Estimate]:
    """Shares by rule and reason, and correlations from bare numbers only (params.answers = bare).

    Of the judges that have a value by another rule; for others all answers are alike. Values by
    another rule, or by none that the table gives, are missing in the figures of bare numbers.
    """
    frame = context.scores.frame
    own = frame[(frame["scorer_kind"] == "judge") & (frame["repeat"] == 0)]
    rows = own.drop_duplicates(["response_id", "construct", "scorer"])
    read = rows["value"].notna() & rows["rule"].notna()
    judges = rows.loc[read & ~rows["rule"].isin([BARE, EMPTY_RESPONSE]), "scorer"].unique()
    for construct in context.scores.constructs:
        for judge in judges:
            given = rows[(rows["construct"] == construct) & (rows["scorer"] == judge)]
            if len(given):
                yield from _shares(construct, str(judge), given)
                yield from _from_bare_numbers(context, construct, str(judge), given)


def _shares(construct: str, judge: str, rows: pd.DataFrame) -> Iterator[Estimate]:
    missing = rows["value"].isna()
    rules = rows.loc[~missing, "rule"].astype("object").fillna(NO_RULE).value_counts()
    reasons = rows.loc[missing, "missing_reason"].astype("object").value_counts()
    for name, counts in (("rule", rules), ("reason", reasons)):
        for said, count in counts.items():
            yield Estimate(
                "answer_share",
                (construct,),
                (judge,),
                value=int(count) / len(rows),
                n_responses=len(rows),
                n_queries=rows["query_id"].nunique(),
                n_dropped=int(count) if name == "reason" else 0,
                params={name: str(said), "count": int(count)},
            )


def _from_bare_numbers(
    context: Context, construct: str, judge: str, rows: pd.DataFrame
) -> Iterator[Estimate]:
    data = context.rated[construct]
    if judge not in data.scorers:
        return
    kept = rows.loc[rows["rule"].isin([BARE, EMPTY_RESPONSE]), "response_id"].astype("object")
    bare = np.where(np.isin(data.responses, list(kept)), data.scorers[judge], np.nan)
    alone = replace(data, scorers={judge: bare})
    people = reference_scorers(data)
    for estimate in (
        *compared(context, alone, judge, bare, people, "pearson", only=SCOPES),
        *ceilings_on(context, alone, ("pearson",)),
    ):
        yield replace(estimate, params={**estimate.params, "answers": BARE})
