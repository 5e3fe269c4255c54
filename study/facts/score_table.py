"""Every score and rating of a study as one long table, the input of `analysis`.

Values that are left out of the table are counted in its `attrs["left_out"]`, by reason.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, select

from study.columns import PREFERENCE_COLUMNS, SCORE_COLUMNS
from study.facts.comparison_decisions import decision_rows
from study.facts.counted_scores import counted_scores, imported_scores, on_current_constructs
from study.facts.judgments import judge_scores
from study.facts.pair_choices import pair_rows
from study.facts.ratings import AS_ENTERED, Edits, human_scores
from study.facts.table_arrays import Columns, categorical, select_rows, size, together
from study.facts.table_responses import TableResponses, table_responses
from study.schema.database import read_frame
from study.schema.tables import preferences, queries, responses as response_table
from study.settings.study_toml import StudyConfig


def score_table(
    connection: Connection,
    versions: Mapping[str, int],
    edits: Edits = "before_reveal",
    config: StudyConfig | None = None,
    *,
    as_entered: bool = False,
) -> pd.DataFrame:
    """Return one row for each value (and, where systems share a response, each system).

    `versions` are the current versions of the constructs. `edits` selects which of a rater's
    values counts: the last one before more was shown, or the last one. `config` has the juries and
    composites (`study.facts.combined_scorers`); without it there are none. With `as_entered`, what
    the owner rejected counts as if it was not. The columns are those of `SCORE_COLUMNS`; rows are
    ordered by response, construct, scorer, repeat and system. `attrs["edited"]` counts the ratings
    in the table where the two differ.
    """
    compact = compact_score_table(connection, versions, edits, config, as_entered=as_entered)
    return _typed(compact, SCORE_COLUMNS)


_ROWS_AT_ONCE = 50_000


def score_rows(compact: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of `score_table` from its compact form, few of which it has in memory."""
    texts = {
        name: np.array([*compact[name].cat.categories, None], dtype="object")
        for name, kind in SCORE_COLUMNS.items()
        if kind == "str"
    }
    for start in range(0, len(compact), _ROWS_AT_ONCE):
        rows = compact.iloc[start : start + _ROWS_AT_ONCE]
        columns = [
            texts[name][rows[name].cat.codes] if name in texts else rows[name].to_numpy(dtype=kind)
            for name, kind in SCORE_COLUMNS.items()
        ]
        yield from zip(*(column.tolist() for column in columns), strict=True)


def compact_score_table(
    connection: Connection,
    versions: Mapping[str, int],
    edits: Edits = "before_reveal",
    config: StudyConfig | None = None,
    *,
    as_entered: bool = False,
) -> pd.DataFrame:
    """Return the rows of `score_table` in 30 bytes each: texts and repeated numbers as categories.

    A table of millions of rows is never in memory in another form.
    """
    responses = table_responses(connection)
    rows: list[Columns] = [
        imported_scores(connection),
        human_scores(connection, edits, *([AS_ENTERED] if as_entered else [])),
        judge_scores(connection),
    ]
    rank = responses.response_id.codes
    scored = counted_scores(connection, rows, versions, responses, rank, config)
    result = _with_responses(scored.rows, responses, scored.place, scored.order)
    result.attrs["left_out"] = scored.left_out
    result.attrs["edited"] = scored.edited
    return result


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

    `attrs["systems"]` are the systems of each response, by its id; none where nothing is compared.
    """
    imported, decided = _preferences(connection), decision_rows(connection)
    chosen = pair_rows(connection)
    if not any(map(size, (imported, decided, chosen))):
        # Most studies compare nothing, and some have millions of responses.
        nothing = _typed(pd.DataFrame(columns=list(PREFERENCE_COLUMNS)), PREFERENCE_COLUMNS)
        nothing.attrs.update(left_out={}, systems={})
        return nothing
    responses = table_responses(connection)
    left_out: dict[str, int] = {}
    twice = _also_decided(imported, decided)
    if twice.any():
        left_out["imported for a rater who compared the same here"] = int(twice.sum())
    rows = together([imported[~twice], decided, chosen])
    rows = select_rows(rows, on_current_constructs(rows, versions, left_out))
    a, b = responses.places(rows["a"]), responses.places(rows["b"])
    stale = ~(responses.in_use[a] & responses.in_use[b])
    if stale.any():
        left_out["comparing a response that a later one replaced"] = int(stale.sum())
    ids = responses.response_id
    rows |= {"response_a": ids[a], "response_b": ids[b]}
    result = _typed(pd.DataFrame(select_rows(rows, ~stale)), PREFERENCE_COLUMNS)
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
        .join_from(preferences, response_table, preferences.c.response_a_id == response_table.c.id)
        .join(queries, response_table.c.query_id == queries.c.id)
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
