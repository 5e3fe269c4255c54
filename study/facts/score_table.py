"""Every score and rating of a study as one long table, the input of `analysis`.

Values that are left out of the table are counted in its `attrs["left_out"]`, by reason.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from sqlalchemy import Connection, func, select

from study.columns import PREFERENCE_COLUMNS, SCORE_COLUMNS
from study.facts.comparison_decisions import decision_rows
from study.facts.current_responses import all_outputs, response_versions
from study.facts.judgments import judge_scores
from study.facts.pair_choices import pair_rows
from study.facts.ratings import Edits, human_scores
from study.facts.scorers import with_combined
from study.schema.database import read_frame
from study.schema.tables import preferences, queries, responses as response_table, scores
from study.settings.constructs import RETRIEVAL
from study.settings.scorer_sections import CombinedSpec

_STORED_TYPES = {
    "response": "int64",
    "construct_version": "int64",
    "repeat": "int64",
    "value": "float64",
    "inclusion_prob": "float64",
    "position": "float64",
    "a": "int64",
    "b": "int64",
    "response_words": "float64",
    "edited": "object",
    "value_a_first": "float64",
    "value_b_first": "float64",
}


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
    outputs = _outputs(connection)
    responses = _responses(connection, outputs)
    scores = _together(
        [_scores(connection), human_scores(connection, edits), judge_scores(connection)]
    )
    left_out: dict[str, int] = {}
    scores = _on_current_constructs(scores, {RETRIEVAL.key: 1, **versions}, left_out)
    described = _together(
        [responses[["response", "response_id", "query_id", "response_words", "domain"]]]
    )
    scores = scores.merge(described, on="response", how="left")
    stale = scores["response"].isin(_replaced(responses))
    if stale.any():
        left_out["given to a response that a later one replaced"] = int(stale.sum())
        scores = scores[~stale]
    for reason, count in scores["left_out"].value_counts(sort=False).items():
        left_out[str(reason)] = int(count)
    scores = scores[scores["left_out"].isna()]
    # Ratings follow imported scores above: a value given here replaces an imported one.
    twice = scores.duplicated(["response", "construct", "scorer", "repeat"], keep="last")
    if twice.any():
        left_out["imported for a rater who rated the same here"] = int(twice.sum())
        scores = scores[~twice]
    edited = int(scores["edited"].eq(True).sum())
    scores = with_combined(scores, combined or {})
    current_outputs = _together([outputs.loc[outputs["current"], ["response", "system"]]])
    scores = scores.merge(current_outputs, on="response", how="left")
    by = ["response_id", "construct", "scorer", "repeat", "system"]
    result = _typed(scores.sort_values(by, ignore_index=True), SCORE_COLUMNS)
    result.attrs["left_out"] = left_out
    result.attrs["edited"] = edited
    return result


def preference_table(connection: Connection, versions: Mapping[str, int]) -> pd.DataFrame:
    """Return one row for each comparison; the columns are those of `PREFERENCE_COLUMNS`.

    `attrs["systems"]` are the systems of each response, by its id.
    """
    outputs = _outputs(connection)
    responses = _responses(connection, outputs)
    imported, decided = _preferences(connection), decision_rows(connection)
    chosen = pair_rows(connection)
    left_out: dict[str, int] = {}
    twice = _also_decided(imported, decided)
    if twice.any():
        left_out["imported for a rater who compared the same here"] = int(twice.sum())
    rows = _together([imported[~twice], decided, chosen])
    rows = _on_current_constructs(rows, versions, left_out)
    replaced = _replaced(responses)
    stale = rows["a"].isin(replaced) | rows["b"].isin(replaced)
    if stale.any():
        left_out["comparing a response that a later one replaced"] = int(stale.sum())
        rows = rows[~stale]
    names = responses.set_index("response")["response_id"]
    rows = rows.assign(response_a=rows["a"].map(names), response_b=rows["b"].map(names))
    result = _typed(rows, PREFERENCE_COLUMNS).reset_index(drop=True)
    result.attrs["left_out"] = left_out
    result.attrs["systems"] = _systems(outputs, names)
    return result


def _systems(outputs: pd.DataFrame, names: "pd.Series[Any]") -> dict[str, tuple[str, ...]]:
    """Return the systems that give each response now, by its id."""
    found: dict[str, tuple[str, ...]] = {}
    current = outputs.loc[outputs["current"], ["response", "system"]]
    for response, system in current.sort_values(["response", "system"]).itertuples(index=False):
        name = str(names[response])
        found[name] = (*found.get(name, ()), str(system))
    return found


def _also_decided(imported: pd.DataFrame, decided: pd.DataFrame) -> Any:
    """Return which imported rows compare a pair that the rater also compared here."""

    def keys(rows: pd.DataFrame) -> pd.MultiIndex:
        pair = rows[["a", "b"]]
        ends = rows.assign(a=pair.min(axis=1), b=pair.max(axis=1))
        return pd.MultiIndex.from_frame(ends[["a", "b", "construct", "scorer", "repeat"]])

    return keys(imported).isin(keys(decided))


def _on_current_constructs(
    rows: pd.DataFrame, versions: Mapping[str, int], left_out: dict[str, int]
) -> pd.DataFrame:
    version = rows["construct"].map(versions)
    gone, earlier = version.isna(), version.notna() & (version != rows["construct_version"])
    for reason, faulty in (
        ("given to a construct that study.toml no longer has", gone),
        ("given to an earlier version of a construct", earlier),
    ):
        if faulty.any():
            left_out[reason] = int(faulty.sum())
    return rows[~(gone | earlier)]


def _scores(connection: Connection) -> pd.DataFrame:
    return read_frame(
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


def _responses(connection: Connection, outputs: pd.DataFrame) -> pd.DataFrame:
    """Return each response with its id in the table, and whether it is in use."""
    responses = read_frame(
        connection,
        select(
            response_table.c.id.label("response"),
            response_table.c.key,
            response_table.c.version,
            response_table.c.text,
            queries.c.key.label("query_id"),
            queries.c.attributes,
        ).join_from(response_table, queries, response_table.c.query_id == queries.c.id),
    )
    texts = responses.pop("text")
    responses["response_words"] = [float(len(text.split())) for text in texts]
    attributes = responses.pop("attributes")
    responses["domain"] = [_domain(of_query) for of_query in attributes]
    versions = response_versions(
        responses[["response", "key", "version"]].itertuples(index=False, name=None),
        outputs[["response", "current"]].itertuples(index=False, name=None),
    )
    responses["response_id"] = responses["response"].map(versions.ids)
    responses["in_use"] = responses["response"].isin(versions.in_use)
    return responses


def _domain(attributes: Any) -> str | None:
    domain = (attributes or {}).get("domain")
    return None if domain is None else str(domain)


def _outputs(connection: Connection) -> pd.DataFrame:
    every_output = all_outputs()
    outputs = read_frame(
        connection,
        select(
            every_output.c.response_id.label("response"),
            every_output.c.system,
            every_output.c.current,
        ),
    )
    return outputs.astype({"current": "bool"})


def _replaced(responses: pd.DataFrame) -> set[int]:
    """Return the responses that a later version or a later output has replaced."""
    return set(responses.loc[~responses["in_use"], "response"])


def _together(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts; columns of texts are categorical, in alphabetical order.

    A table may have millions of rows: texts are codes until the whole is returned.
    """
    names = list(dict.fromkeys(str(name) for part in parts for name in part))
    columns: dict[str, Any] = {}
    for name in names:
        present = [part[name] if name in part else pd.Series(None, part.index) for part in parts]
        if name in _STORED_TYPES:
            alike: Any = _STORED_TYPES[name]
        else:
            texts = sorted({text for column in present for text in column.dropna().unique()})
            alike = pd.CategoricalDtype(pd.Index(texts, dtype="object"))
        columns[name] = pd.concat([column.astype(alike) for column in present], ignore_index=True)
    return pd.DataFrame(columns)


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
    return pd.DataFrame(typed)
