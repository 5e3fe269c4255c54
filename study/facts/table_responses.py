"""The responses of the tables: their ids, queries and systems, and which of them are in use."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, func, or_, select

from study.facts.current_responses import Versions, all_outputs, response_versions
from study.facts.table_arrays import categorical, numbered
from study.schema.database import read_columns
from study.schema.tables import queries, responses as response_table


@dataclass(frozen=True)
class ResponsesInUse:
    """Every response (m,), in the order of its database key."""

    key: np.ndarray
    """Database keys, rising."""
    in_use: np.ndarray
    """False where a later version or a later output has replaced the response."""

    def places(self, keys: np.ndarray) -> np.ndarray:
        """Return the positions (n,) of responses, by their database keys."""
        return np.searchsorted(self.key, keys).astype(np.int32)


@dataclass(frozen=True)
class TableResponses(ResponsesInUse):
    """Every response (m,) with the columns that tables show of it."""

    response_id: pd.Categorical
    """Ids in the tables; the codes are in alphabetical order."""
    query_id: pd.Categorical
    words: pd.Categorical
    """Number of words of the text, as categories of numbers (float64)."""
    domain: pd.Categorical
    """Attribute of the query, missing where it has none."""
    system: pd.Categorical
    """Systems of the current outputs (k,), by response and name."""
    first: np.ndarray
    """Position of a response's first system."""
    systems: np.ndarray
    """Number of systems that give the response now."""


def responses_in_use(connection: Connection) -> ResponsesInUse:
    """Read which responses are in use, without their ids and texts."""
    statement = select(response_table.c.id.label("response")).order_by(response_table.c.id)
    key = read_columns(connection, statement, {"response": "int64"})["response"]
    outputs = _outputs(connection)
    return ResponsesInUse(key, _in_use(key, outputs, _versions(connection, outputs)))


def table_responses(connection: Connection) -> TableResponses:
    """Read the responses of a study with the outputs that they are."""
    rows = read_columns(
        connection,
        select(
            response_table.c.id.label("response"),
            response_table.c.key,
            response_table.c.text,
            queries.c.key.label("query_id"),
            queries.c.attributes,
        )
        .join_from(response_table, queries, response_table.c.query_id == queries.c.id)
        .order_by(response_table.c.id),
        {"response": "int64", "key": "category", "query_id": "category", "words": "float64",
         "domain": "category"},
        _with_words_and_domain,
    )  # fmt: skip
    outputs = _outputs(connection)
    key, current = rows["response"], outputs["current"]
    now = outputs["response"][current]
    system = _alphabetical(outputs["system"])[current]
    order = np.lexsort((system.codes, now))
    place = np.searchsorted(key, now[order])
    versions = _versions(connection, outputs)
    counts = np.bincount(place, minlength=key.size).astype(np.int32)
    words, codes = np.unique(rows["words"], return_inverse=True)
    codes = codes.astype(np.min_scalar_type(-words.size - 1))
    return TableResponses(
        key, _in_use(key, outputs, versions), _ids(rows["key"], key, versions),
        _alphabetical(rows["query_id"]), numbered(codes, words), _alphabetical(rows["domain"]),
        system[order], np.cumsum(counts, dtype=np.int32) - counts, counts,
    )  # fmt: skip


def _with_words_and_domain(rows: pd.DataFrame) -> pd.DataFrame:
    rows["words"] = [float(len(text.split())) for text in rows["text"]]
    rows["domain"] = pd.Series([_domain(each) for each in rows["attributes"]], dtype="object")
    return rows


def _domain(attributes: Any) -> str | None:
    domain = (attributes or {}).get("domain")
    return None if domain is None else str(domain)


def _alphabetical(column: pd.Categorical) -> pd.Categorical:
    """Return the column with its texts in alphabetical order."""
    texts = np.asarray(column.categories, dtype="object")
    order = np.argsort(texts, kind="stable")
    # The last element is the code of what is missing, -1.
    rank = np.full(texts.size + 1, -1, dtype=np.int32)
    rank[order] = np.arange(texts.size)
    return categorical(rank[column.codes], texts[order])


def _outputs(connection: Connection) -> dict[str, Any]:
    every = all_outputs()
    return read_columns(
        connection,
        select(every.c.response_id.label("response"), every.c.system, every.c.current),
        {"response": "int64", "system": "category", "current": "bool"},
    )


def _versions(connection: Connection, outputs: dict[str, Any]) -> Versions:
    """Return the versions of the keys that have several; a key with one version is the id."""
    several = (
        select(response_table.c.key)
        .group_by(response_table.c.key)
        .having(or_(func.count() > 1, func.max(response_table.c.version) > 1))
    )
    rows = connection.execute(
        select(response_table.c.id, response_table.c.key, response_table.c.version).where(
            response_table.c.key.in_(several)
        )
    )
    versions = [(row[0], row[1], row[2]) for row in rows]
    known = np.isin(outputs["response"], [response_key for response_key, _, _ in versions])
    theirs = zip(
        outputs["response"][known].tolist(), outputs["current"][known].tolist(), strict=True
    )
    return response_versions(versions, theirs)


def _in_use(key: np.ndarray, outputs: dict[str, Any], versions: Versions) -> np.ndarray:
    """Return which responses (m,) are in use."""
    now = outputs["response"][outputs["current"]]
    in_use = ~np.isin(key, outputs["response"]) | np.isin(key, now)
    in_use[np.isin(key, [each for each in versions.ids if each not in versions.in_use])] = False
    return np.asarray(in_use)


def _ids(keys: pd.Categorical, response: np.ndarray, versions: Versions) -> pd.Categorical:
    """Return the ids of all responses."""
    if not versions.ids:
        return _alphabetical(keys)
    ids = np.asarray(keys, dtype="object")
    for response_key, text in versions.ids.items():
        ids[np.searchsorted(response, response_key)] = text
    texts, codes = np.unique(ids, return_inverse=True)
    return categorical(codes.astype(np.int32), texts)
