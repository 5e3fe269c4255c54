"""Which of a study's scores count: a value for each response, construct, scorer and repeat."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, func, select

from study.facts.combined_scorers import combined_scores, low_is_good
from study.facts.measured_inputs import EARLIER_INPUT, MeasuredWith, earlier_inputs
from study.facts.table_arrays import Columns, categorical, select_rows, together
from study.facts.table_responses import ResponsesInUse
from study.schema.database import read_columns
from study.schema.tables import scores
from study.settings.constructs import RETRIEVAL
from study.settings.study_toml import StudyConfig


@dataclass(frozen=True)
class CountedScores:
    """Rows of scores, and which of them count."""

    rows: dict[str, Any]
    place: np.ndarray
    """Positions of the rows' responses (n,)."""
    order: np.ndarray
    """Rows that count, by response, construct, scorer and repeat."""
    left_out: dict[str, int]
    """Why other rows do not count, with their number."""
    edited: int
    """Ratings that count and were changed after the reveal."""


def counted_scores(
    connection: Connection,
    parts: Sequence[Columns],
    versions: Mapping[str, int],
    responses: ResponsesInUse,
    rank: np.ndarray,
    config: StudyConfig | None,
) -> CountedScores:
    """Select the scores that count.

    Parameters
    ----------
    parts
        Imported scores, people's and judges', in this order: a value given here replaces an
        imported one.
    versions
        Current versions of the constructs.
    responses
        All responses (m,), and `rank` (m,) their order.
    config
        Its juries and composites, whose scores are added; None: none are.
    """
    left_out: dict[str, int] = {}
    rows = together(parts)
    known = on_current_constructs(rows, {RETRIEVAL.key: 1, **versions}, left_out)
    place = responses.places(rows["response"])
    stale = known & ~responses.in_use[place]
    if stale.any():
        left_out["given to a response that a later one replaced"] = int(stale.sum())
    known &= ~stale
    reasons = rows.pop("left_out")
    for reason, count in pd.Series(reasons[known]).value_counts(sort=False).items():
        if count:
            left_out[str(reason)] = int(count)
    known &= reasons.codes < 0
    if not known.all():
        rows, place = select_rows(rows, known), place[known]
    order = _order(rows, rank[place])
    twice = _same_as_next(rows, place, order)
    if twice.any():
        left_out["imported for a rater who rated the same here"] = int(twice.sum())
        order = order[~twice]
    edited = int(rows.pop("edited")[order].sum())
    if config is None or not config.combined:
        del rows["response"]
    else:
        rows = select_rows(rows, order)
        low = low_is_good(connection, config)
        rows = together([rows, *combined_scores(pd.DataFrame(rows, copy=False), config, low)])
        place = responses.places(rows["response"])
        order = _order(rows, rank[place])
    return CountedScores(rows, place, order, left_out, edited)


def _order(rows: Mapping[str, Any], response: np.ndarray) -> np.ndarray:
    """Return the order of rows (n,) by response, construct, scorer and repeat."""
    return np.lexsort((rows["repeat"], rows["scorer"].codes, rows["construct"].codes, response))


def _same_as_next(rows: Mapping[str, Any], place: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return which of the ordered rows have another value of the same scorer after them."""
    same = np.ones(order.size, dtype=bool)
    same[-1:] = False
    keys = (place, rows["construct"].codes, rows["scorer"].codes, rows["repeat"])
    for key in keys:
        ordered = key[order]
        same[:-1] &= ordered[1:] == ordered[:-1]
    return same


def on_current_constructs(
    rows: dict[str, Any], versions: Mapping[str, int], left_out: dict[str, int]
) -> np.ndarray:
    """Return which rows are on the current version of a construct, and count the others."""
    construct = rows["construct"]
    # The last element is for rows without a construct, of which there are none.
    current = np.array([*(versions.get(key, -1) for key in construct.categories), -1])
    row_versions = current.astype(np.int32)[construct.codes]
    gone = row_versions < 0
    earlier = ~gone & (row_versions != rows.pop("construct_version"))
    for reason, faulty in (
        ("given to a construct that study.toml no longer has", gone),
        ("given to an earlier version of a construct", earlier),
    ):
        if faulty.any():
            left_out[reason] = int(faulty.sum())
    return np.asarray(~(gone | earlier))


def imported_scores(connection: Connection, construct: str | None = None) -> dict[str, Any]:
    """Return the imported scores, of one construct if it is named."""
    types = {
        "response": "int64",
        "construct": "category",
        "construct_version": "int32",
        "scorer": "category",
        "scorer_kind": "category",
        "repeat": "int32",
        "value": "float64",
        "missing_reason": "category",
        "rule": "category",
        "inclusion_prob": "float64",
        "stratum": "category",
        "source": "category",
        "layout": "category",
    }
    statement = select(
        scores.c.response_id.label("response"),
        scores.c.construct_key.label("construct"),
        scores.c.construct_version,
        scores.c.scorer,
        scores.c.scorer_kind,
        scores.c.repeat,
        scores.c.value,
        scores.c.missing_reason,
        scores.c.rule,
        scores.c.inclusion_prob,
        scores.c.stratum,
        func.coalesce(scores.c.source, "imported").label("source"),
        scores.c.layout,
    )
    if construct is not None:
        statement = statement.where(scores.c.construct_key == construct)
    columns = read_columns(connection, statement, types)
    columns["left_out"] = _earlier(columns, earlier_inputs(connection, construct))
    return columns


def _earlier(columns: Mapping[str, Any], earlier: Collection[MeasuredWith]) -> pd.Categorical:
    """Return the reason that a row (n,) does not count for its input, or none."""
    codes = np.full(len(columns["scorer"]), -1, dtype=np.int8)
    for each in earlier:
        of = (columns["scorer"] == each.scorer) & (columns["construct"] == each.construct)
        codes[np.asarray(of)] = 0
    return categorical(codes, [EARLIER_INPUT])
