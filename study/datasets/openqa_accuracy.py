"""Table 1 of Kamalloo et al. 2023, computed from the study of their data.

EM and F1 are plain means of the study's scores. The table's other columns are no means of
verdicts: each verdict giver's accepted answers join the references, the rejected ones leave them,
and the outputs are then matched exactly after normalization. A plain mean of the verdicts differs
by up to a point, since a rejected answer may still equal a reference that stays.
"""

from typing import TYPE_CHECKING

from sqlalchemy import select

from study.datasets.lexical import exact_match
from study.datasets.openqa_source import CONSTRUCT
from study.schema import Query, Response, table

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from study.study import Study

VERDICT_GIVERS = {
    "BEM": "BEM",
    "InstructGPT-eval": "text-davinci-003",
    "Human": "Acceptable?",
}
"""Column of the table to scorer of the study. BEM accepts from a probability of one half."""


def openqa_table1(study: "Study") -> "DataFrame":
    """Return the accuracy of each system in percent, by each way of telling it.

    Returns
    -------
    Columns EM, F1, BEM, InstructGPT-eval and Human; one row for each system, by name; each a
    mean over the 301 questions.
    """
    import pandas as pd

    scores = study.score_table()
    scores = scores[(scores["construct"] == CONSTRUCT) & scores["system"].notna()]
    columns = {
        scorer: scores[scores["scorer"] == scorer].groupby("system")["value"].mean()
        for scorer in ("EM", "F1")
    }
    systems = scores[scores["scorer"] == "EM"].set_index("response_id")["system"]
    for column, scorer in VERDICT_GIVERS.items():
        matches = list_matches(study, scorer)
        columns[column] = systems.index.to_series().map(matches).groupby(systems.to_numpy()).mean()
    return 100 * pd.DataFrame(columns).rename_axis("system")


def list_matches(study: "Study", scorer: str) -> "Series[float]":
    """Return for each response whether the references match it that `scorer`'s verdicts leave.

    References are those of the query, and the responses that `scorer` accepts (a value of at
    least one half), without the responses that it rejects, written as they are or in lower
    case.

    Returns
    -------
    1 or 0 by response_id.
    """
    import pandas as pd

    scores = study.score_table()
    matches = scores[(scores["scorer"] == scorer) & scores["value"].notna()]
    verdicts = dict(zip(matches["response_id"], matches["value"] >= 0.5, strict=True))
    q, r = table(Query), table(Response)
    with study.read() as connection:
        rows = connection.execute(
            select(r.c.key, r.c.text, r.c.query_id, q.c.references)
            .join_from(r, q, r.c.query_id == q.c.id)
            .order_by(r.c.id)
        ).all()
    references = {row.query_id: set(row.references) for row in rows}
    for row in rows:
        if verdicts.get(row.key) is True:
            references[row.query_id].add(row.text)
    for row in rows:
        if verdicts.get(row.key) is False:
            kept = references[row.query_id]
            kept.discard(row.text if row.text in kept else row.text.lower())
    return pd.Series({row.key: exact_match(row.text, references[row.query_id]) for row in rows})
