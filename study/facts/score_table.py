"""Every score and rating of a study as one long table, the input of `analysis`.

Values that are left out of the table are counted in its `attrs["left_out"]`, by reason.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, func, select

from study.columns import PREFERENCE_COLUMNS, SCORE_COLUMNS
from study.facts.comparison_decisions import decision_rows
from study.facts.judgments import judge_scores
from study.facts.pair_choices import pair_rows
from study.facts.ratings import Edits, human_scores
from study.facts.scorers import combined_scores
from study.facts.table_arrays import categorical, taken, together
from study.facts.table_responses import TableResponses, table_responses
from study.schema.database import read_columns, read_frame
from study.schema.tables import preferences, queries, scores
from study.settings.constructs import RETRIEVAL
from study.settings.scorer_sections import CombinedSpec


def score_table(
    connection: Connection,
    versions: Mapping[str, int],
    edits: Edits = "before_reveal",
    combined: Mapping[str, CombinedSpec] | None = None,
) -> pd.DataFrame:
    """Return one row for each value (and, where systems share a response, each system).

    `versions` are the current versions of the constructs. `edits` selects which of a rater's
    values counts: the last one before more was shown, or the last one. `combined` are juries and
    composites (`study.facts.scorers`). The columns are those of `SCORE_COLUMNS`; rows
    are ordered by response, construct, scorer, repeat and system. `attrs["edited"]` counts the
    ratings in the table where the two differ.
    """
    return _typed(compact_score_table(connection, versions, edits, combined), SCORE_COLUMNS)


def compact_score_table(
    connection: Connection,
    versions: Mapping[str, int],
    edits: Edits = "before_reveal",
    combined: Mapping[str, CombinedSpec] | None = None,
) -> pd.DataFrame:
    """Return the rows of `score_table` in 50 bytes each: texts as categories, small numbers.

    A table of millions of rows is never in memory in another form.
    """
    left_out: dict[str, int] = {}
    responses = table_responses(connection)
    rows = together(
        [_scores(connection), human_scores(connection, edits), judge_scores(connection)]
    )
    known = _on_current_constructs(rows, {RETRIEVAL.key: 1, **versions}, left_out)
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
        rows, place = taken(rows, known), place[known]
    order = _order(rows, responses, place)
    # Ratings follow imported scores above: a value given here replaces an imported one.
    twice = _same_as_next(rows, place, order)
    if twice.any():
        left_out["imported for a rater who rated the same here"] = int(twice.sum())
        order = order[~twice]
    edited = int(rows.pop("edited")[order].sum())
    if combined:
        rows = taken(rows, order)
        rows = together([rows, *combined_scores(pd.DataFrame(rows, copy=False), combined)])
        place = responses.places(rows["response"])
        order = _order(rows, responses, place)
    result = _with_responses(rows, responses, place, order)
    result.attrs["left_out"] = left_out
    result.attrs["edited"] = edited
    return result


def _order(rows: Mapping[str, Any], responses: TableResponses, place: np.ndarray) -> np.ndarray:
    """Return the order of rows (n,) by response, construct, scorer and repeat."""
    response = responses.response_id.codes[place]
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


def _with_responses(
    rows: dict[str, Any], responses: TableResponses, place: np.ndarray, order: np.ndarray
) -> pd.DataFrame:
    """Return the columns of the table: a row in `order` for each system of its response."""
    place = place[order]
    systems = responses.systems[place]
    first = responses.first[place]
    if systems.max(initial=1) > 1:
        times = np.maximum(systems, 1)
        start = np.cumsum(times) - times
        again = np.repeat(np.arange(order.size), times)
        first = first[again] + np.arange(again.size) - start[again]
        order, place, systems = order[again], place[again], systems[again]
    system = np.full(order.size, -1, dtype=responses.system.codes.dtype)
    given = systems > 0
    system[given] = responses.system.codes[first[given]]
    del first, systems, given
    # One column after the other, and each is given up for its copy.
    table: dict[str, Any] = dict.fromkeys(SCORE_COLUMNS)
    for name in list(rows):
        column = rows.pop(name)
        if name in table:
            table[name] = column[order]
    del order
    largest = int(table["repeat"].max(initial=0))
    table["repeat"] = table["repeat"].astype(np.min_scalar_type(-largest - 1))
    table["response_id"] = responses.response_id[place]
    table["query_id"] = responses.query_id[place]
    table["system"] = categorical(system, list(responses.system.categories))
    table["response_words"] = responses.words[place]
    table["domain"] = responses.domain[place]
    return pd.DataFrame(table, copy=False)


def preference_table(connection: Connection, versions: Mapping[str, int]) -> pd.DataFrame:
    """Return one row for each comparison; the columns are those of `PREFERENCE_COLUMNS`.

    `attrs["systems"]` are the systems of each response, by its id.
    """
    responses = table_responses(connection)
    imported, decided = _preferences(connection), decision_rows(connection)
    chosen = pair_rows(connection)
    left_out: dict[str, int] = {}
    twice = _also_decided(imported, decided)
    if twice.any():
        left_out["imported for a rater who compared the same here"] = int(twice.sum())
    rows = together([imported[~twice], decided, chosen])
    rows = taken(rows, _on_current_constructs(rows, versions, left_out))
    a, b = responses.places(rows["a"]), responses.places(rows["b"])
    stale = ~(responses.in_use[a] & responses.in_use[b])
    if stale.any():
        left_out["comparing a response that a later one replaced"] = int(stale.sum())
    ids = responses.response_id
    rows |= {"response_a": ids[a], "response_b": ids[b]}
    result = _typed(pd.DataFrame(taken(rows, ~stale)), PREFERENCE_COLUMNS)
    result.attrs["left_out"] = left_out
    result.attrs["systems"] = _systems(responses)
    return result


def _systems(responses: TableResponses) -> dict[str, tuple[str, ...]]:
    """Return the systems that give each response now, by its id."""
    names = np.asarray(responses.system, dtype="object")
    given = np.flatnonzero(responses.systems)
    last = responses.first + responses.systems
    return {
        str(name): tuple(names[responses.first[place] : last[place]])
        for name, place in zip(responses.response_id[given], given, strict=True)
    }


def _also_decided(imported: pd.DataFrame, decided: pd.DataFrame) -> Any:
    """Return which imported rows compare a pair that the rater also compared here."""

    def keys(rows: pd.DataFrame) -> pd.MultiIndex:
        pair = rows[["a", "b"]]
        ends = rows.assign(a=pair.min(axis=1), b=pair.max(axis=1))
        return pd.MultiIndex.from_frame(ends[["a", "b", "construct", "scorer", "repeat"]])

    return keys(imported).isin(keys(decided))


def _on_current_constructs(
    rows: dict[str, Any], versions: Mapping[str, int], left_out: dict[str, int]
) -> np.ndarray:
    """Return which rows are on the current version of a construct, and count the others."""
    construct = rows["construct"]
    # The last element is for rows without a construct, of which there are none.
    current = np.array([*(versions.get(key, -1) for key in construct.categories), -1])
    of_rows = current.astype(np.int32)[construct.codes]
    gone = of_rows < 0
    earlier = ~gone & (of_rows != rows.pop("construct_version"))
    for reason, faulty in (
        ("given to a construct that study.toml no longer has", gone),
        ("given to an earlier version of a construct", earlier),
    ):
        if faulty.any():
            left_out[reason] = int(faulty.sum())
    return np.asarray(~(gone | earlier))


def _scores(connection: Connection) -> dict[str, Any]:
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
    return read_columns(
        connection,
        select(
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
        ),
        types,
    )


def _preferences(connection: Connection) -> pd.DataFrame:
    return read_frame(
        connection,
        select(
            queries.c.key.label("query_id"),
            preferences.c.response_a_id.label("a"),
            preferences.c.response_b_id.label("b"),
            preferences.c.construct_key.label("construct"),
            preferences.c.construct_version,
            preferences.c.scorer,
            preferences.c.scorer_kind,
            preferences.c.repeat,
            preferences.c.value,
            preferences.c.missing_reason,
            preferences.c.value_a_first,
            preferences.c.value_b_first,
        )
        .join_from(preferences, queries, preferences.c.query_id == queries.c.id)
        .order_by(preferences.c.id),
    )


def _typed(frame: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    typed: dict[str, pd.Series[Any]] = {}
    for name, kind in columns.items():
        column = frame[name]
        if kind == "int64":
            typed[name] = column.astype("int64")
        elif kind == "float64":
            typed[name] = column.astype("float64")
        else:
            typed[name] = column.astype("object").where(column.notna(), None)
    result = pd.DataFrame(typed)
    result.attrs.update(frame.attrs)
    return result
