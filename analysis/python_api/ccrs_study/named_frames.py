"""A DataFrame with a column for each judge and each rater, as a long table of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.errors import TableError
from analysis.core.table_checks import missing_columns, rows_named
from study.importing.score_columns.column_purposes import (
    ColumnNames,
    UnnamedConstructError,
    names_of_scorers,
    scorer_columns,
)
from study.importing.score_columns.judgment_table import KEPT, rater_rows
from study.importing.score_columns.row_checks import summary_rows
from study.importing.score_columns.scored_again import repeated_responses


def long_scores(
    frame: pd.DataFrame,
    judge: ColumnNames,
    human: ColumnNames,
    *,
    id: str | None = None,  # noqa: A002  (the name that the commands have)
    query: str | None = None,
    system: str | None = None,
    construct: str | None = None,
) -> pd.DataFrame:
    """Return the scores in named columns of a table, one a row.

    Parameters
    ----------
    frame
        One row for each response; with `construct` one for each response and construct.
    judge, human
        Columns with the values of judges and of raters. One name, several, or a mapping from
        constructs to names: ``{"QR": "llm_qr", "CC": "llm_cc"}``.
    id, query, system, construct
        Columns that identify the response, its question, the system that gave it, and the
        construct. Without `id` each row is a separate response, without `query` each response
        has a separate query, without `construct` and mappings the construct is "score". White space
        around these texts does not count.

    Returns
    -------
    DataFrame
        The required columns of a score table, and system, response_words and domain where the
        table has them; a blank value is missing. `attrs["doubts"]` has sentences on rows that may
        not be responses of their own.

    Raises
    ------
    TableError
        With all faults: a column is missing or named twice, a response has no id, or a row for
        each of several judges or runs.
    """
    if construct is not None and id is None:
        raise TableError(
            "table", ["rows of one response on several constructs need its id; name its column"]
        )
    try:
        columns = list(scorer_columns(judge, human, construct))
    except UnnamedConstructError as error:
        raise TableError("table", [str(error)]) from None
    used = [column for _, _, column in columns]
    others = [name for name in (id, query, system, construct) if name is not None]
    present = [str(name) for name in frame.columns]
    faults = missing_columns(present, [*others, *used])
    faults += [
        f"column {name!r} occurs twice; rename one of them"
        for name in dict.fromkeys([*others, *used])
        if present.count(name) > 1
    ]
    twice = sorted({name for name in used if (used + others).count(name) > 1})
    faults += [f"column {name!r} is named for two purposes; each has one" for name in twice]
    # Columns may be named by numbers, which are given as text.
    by_name = frame.set_axis(present, axis=1)
    if not faults:
        faults += [
            f"row {row.place}{f', column {row.column!r}' if row.column else ''}: {row.problem} "
            "Remove the row"
            for row in summary_rows(_with_index(by_name), used)
        ]
    if not faults:
        faults += [
            f"column {name!r} is blank in {rows_named(blank)}; fill it in"
            for name in others
            if name != system and (blank := np.flatnonzero(_blank(by_name[name]))).size
        ]
    if faults:
        raise TableError("table", faults)
    names = names_of_scorers(columns)
    judges, people = ([c for kind, _, c in columns if kind == of] for of in ("judge", "human"))
    given = {"id": id, "query": query, "system": system, "construct": construct}
    identifying = {name: column for name, column in given.items() if column is not None}
    raters = rater_rows(present, _rows(by_name), judges, people, identifying, declared=True)
    doubts: list[str] = []
    if raters is None and construct is None:
        numbered = [*enumerate(_rows(by_name))]
        doubts = repeated_responses(present, numbered, judges, people, identifying)
    if doubts and id is not None:
        raise TableError("table", doubts)
    frame = by_name.assign(**{name: by_name[name].map(_without_white_space) for name in others})
    response = frame[id] if id else pd.Series([f"row {n + 1}" for n in range(len(frame))])
    base = pd.DataFrame({"response_id": response.to_numpy()})
    base["query_id"] = frame[query].to_numpy() if query else base["response_id"]
    base["system"] = frame[system].to_numpy() if system else None
    for name in KEPT:
        if name in present and name not in used and name not in others:
            base[name] = frame[name].to_numpy()
    scorers: dict[str, Any] = dict(names)
    if raters is not None:
        if id is None:
            base["response_id"] = [", ".join(raters.response(row)) for row in _rows(frame)]
        row_raters = [raters.of(row) for row in _rows(frame)]
        scorers |= dict.fromkeys(people, row_raters)
    parts = [
        base.assign(
            construct=frame[construct].to_numpy() if construct else key,
            scorer=scorers[column],
            scorer_kind=kind,
            value=frame[column].to_numpy(),
        )
        for kind, key, column in columns
    ]
    if raters is not None:
        parts = [
            _once(part, column) if kind == "judge" else part
            for part, (kind, _, column) in zip(parts, columns, strict=True)
        ]
    long = pd.concat(parts, ignore_index=True)
    long.attrs["doubts"] = doubts
    return long


def _rows(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    return ({str(name): cell for name, cell in row.items()} for row in frame.to_dict("records"))


def _once(part: pd.DataFrame, column: str) -> pd.DataFrame:
    """The judge's scores once for each response, of rows that repeat them for each rater.

    Raises
    ------
    TableError
        The rows of a response have different scores.
    """
    present = part[part["value"].notna()]
    key = ["response_id", "construct"]
    first = present.drop_duplicates(key)
    both = present.reset_index().merge(first, on=key, suffixes=("", "_first"))
    differing = both[both["value"] != both["value_first"]]
    if len(differing):
        row = differing.iloc[0]
        raise TableError(
            "table",
            [
                f"row {row['index']}, column {column!r}: the judge's score of the response "
                f"{row['response_id']} is {row['value']} here, and {row['value_first']} in an "
                "earlier row; each rater's row of a response repeats one score of the judge"
            ],
        )
    return first


def _with_index(frame: pd.DataFrame) -> dict[str, Sequence[Any]]:
    """The cells by column; an index of texts, such as mean, is a further one."""
    columns: dict[str, Sequence[Any]] = {
        str(name): frame[name].tolist() for name in frame if (frame.columns == name).sum() == 1
    }
    if frame.index.dtype == object:
        columns.setdefault("index", frame.index.tolist())
    return columns


def _without_white_space(cell: Any) -> Any:
    return cell.strip() if isinstance(cell, str) else cell


def _blank(column: pd.Series[Any]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    blank: np.ndarray[tuple[int], np.dtype[np.bool_]] = (
        column.isna() | (column.astype(str).str.strip() == "")
    ).to_numpy(dtype=bool)
    return blank
