"""A DataFrame with a row for each score whose columns have other names than a table of scores."""

from __future__ import annotations

import pandas as pd

from analysis.core.errors import TableError
from study.importing.formats.scores import fields_of_table
from study.importing.score_columns.recognition import recognized_rows
from study.importing.score_columns.words import ONLY_CONSTRUCT

_NAMES = ("response_id", "query_id", "system", "construct_key", "scorer", "scorer_kind", "value")


def known_names(
    data: pd.DataFrame,
    *,
    id: str | None = None,  # noqa: A002  (the name that `evaluate` has)
    query: str | None = None,
    system: str | None = None,
    construct: str | None = None,
) -> pd.DataFrame:
    """Return a long table with the names of a table of scores, as far as its columns are known.

    Without a construct it is "score", without a query each response has a separate one. Kinds are
    those that the names of scorers tell, such as gpt-4o.

    Raises
    ------
    TableError
        Nothing says of which kind a scorer is.
    """
    given = {"response_id": id, "query_id": query, "system": system, "construct_key": construct}
    named = {field: column for field, column in given.items() if column is not None}
    present = [str(name) for name in data.columns]
    fields = fields_of_table(present, named).fields
    folded = {name.casefold(): name for name in reversed(present)}
    found = {
        field: next((folded[n.casefold()] for n in fields.get(field, ()) if n.casefold() in folded),
                    None)
        for field in _NAMES
    }  # fmt: skip
    if found["value"] is None or found["scorer"] is None or found["response_id"] is None:
        return data
    renamed = {column: field for field, column in found.items() if column is not None}
    renamed = {column: field.removesuffix("_key") for column, field in renamed.items()}
    read = data.set_axis(present, axis=1).rename(columns=renamed)
    if "query_id" not in read:
        read["query_id"] = read["response_id"]
    if "construct" not in read:
        read["construct"] = ONLY_CONSTRUCT
    if "scorer_kind" not in read:
        cells = data.set_axis(present, axis=1).to_dict("records")
        told = recognized_rows(present, ({str(k): v for k, v in row.items()} for row in cells))
        unknown = ", ".join(map(repr, told.unknown_kinds))
        if unknown:
            raise TableError(
                "table",
                [f"nothing says whether {unknown} are people or judges. Add a column scorer_kind "
                 "with human or judge"],
            )  # fmt: skip
        read["scorer_kind"] = read["scorer"].astype(str).str.strip().map(told.kinds)
    return read
