"""Rows of the database as data frames."""

from typing import Any

import pandas as pd
from sqlalchemy import Connection


def selected(connection: Connection, statement: Any) -> pd.DataFrame:
    """Return what a statement selects, a column each."""
    result = connection.execute(statement)
    names, rows = list(result.keys()), result.fetchall()
    # pandas looks at each row that is no plain tuple, which takes longer than all else.
    return pd.DataFrame([tuple(row) for row in rows], columns=names)
