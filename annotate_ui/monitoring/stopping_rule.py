"""Whether enough is rated, by the stopping rule that study.toml declares in advance."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, select

from analysis.planning.stopping_rule import stop_by_width
from study.errors import StudyError, nearest
from study.facts.rating_progress import CampaignRecords, read_records
from study.facts.score_table import score_table
from study.schema.tables import queries
from study.study import Study


@dataclass(frozen=True)
class ConstructStopping:
    """The state of one construct; null where there is no figure."""

    construct: str
    value: float | None
    low: float | None
    high: float | None
    half_width: float | None
    target: float
    """The half-width that study.toml declares."""
    stop: bool
    more_queries: int | None
    """Queries that are still expected to be needed; null where that is unknown."""
    queries: int
    """Queries that entered."""
    queries_complete: int
    """Queries whose assigned values on the construct are all entered and count."""
    queries_assigned: int
    method: str
    reason: str | None
    """Why not to stop yet."""


@dataclass(frozen=True)
class StoppingState:
    """The state of the study under its stopping rule."""

    declared: bool
    """Whether study.toml declares a half-width."""
    quantity: str
    judge: str | None
    level: float
    constructs: tuple[ConstructStopping, ...]
    stop: bool
    """Every construct is narrow enough."""
    reason: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the state as values that JSON can represent."""
        return asdict(self)


def stopping_state(study: Study) -> StoppingState:
    """Return how far the study is from its stopping rule.

    One value per query, in the order in which queries were completed: the mean over its responses
    of the mean over raters, or of the judge's value minus that mean. A query is complete when all
    its assigned main values are entered and count; slots that were taken back are not waited for.

    Raises
    ------
    StudyError
        The rule names a construct that the study does not have, or a judge without scores.
    """
    rule = study.config.stopping
    keys = [construct.key for construct in study.config.constructs]
    for key in rule.constructs:
        if key not in keys:
            raise StudyError(
                f"stopping.constructs: unknown construct {key!r} in {study.folder}. "
                f"{nearest(key, keys) or 'There are: ' + ', '.join(keys) + '.'}"
            )
    if rule.half_width is None:
        return _state(study, (), "study.toml declares no stopping rule (stopping.half_width)")
    with study.read() as connection:
        versions = study.construct_versions(connection)
        records = read_records(connection, versions)
        names = _query_names(connection)
        frame = score_table(connection, versions, config=study.config)
    means = _query_means(study, frame)
    states = tuple(
        _construct_stopping(study, key, records, names, means)
        for key in keys
        if not rule.constructs or key in rule.constructs
    )
    unmet = [state.construct for state in states if not state.stop]
    reason = f"not narrow enough yet: {', '.join(unmet)}" if unmet else None
    return _state(study, states, reason)


def completed_queries(records: CampaignRecords, construct: str) -> list[int]:
    """Return the queries whose assigned main values all count, in the order of completion.

    The order is that in which their last value was first stored, never that of a clock. A value
    that was first entered after the reveal does not count (`study.facts.ratings`) and does not
    complete its query.
    """
    assigned = _assigned(records, construct)
    ratings = records.ratings
    counted = ratings[ratings["counts"] & (ratings["construct"] == construct)]
    order = assigned["assignment"].map(counted.set_index("assignment")["order"])
    by_query = order.groupby(assigned["query"])
    complete = by_query.max()[by_query.count() == by_query.size()]
    return [int(query) for query in complete.sort_values().index]


def _assigned(records: CampaignRecords, construct: str) -> pd.DataFrame:
    main, expected = records.assignments, records.expected
    main = main[(main["purpose"] == "main") & (main["repeat"] == 0) & main["live"]]
    construct_slots = expected[expected["once"] & (expected["construct"] == construct)]
    return main[main["assignment"].isin(construct_slots["assignment"])]


def _construct_stopping(
    study: Study,
    construct: str,
    records: CampaignRecords,
    names: dict[int, str],
    means: pd.Series,
) -> ConstructStopping:
    rule, level = study.config.stopping, study.config.analysis.level
    complete = completed_queries(records, construct)
    series = np.array([means.get((construct, names[query]), np.nan) for query in complete])
    target = float(rule.half_width or 0)
    interval = stop_by_width(series, target, _bounds(study, construct), level, rule.least_queries)
    return ConstructStopping(
        construct=construct,
        value=_null(interval.value),
        low=_null(interval.low),
        high=_null(interval.high),
        half_width=_null(interval.half_width),
        target=target,
        stop=interval.stop,
        more_queries=interval.more,
        queries=interval.n_queries,
        queries_complete=len(complete),
        queries_assigned=int(_assigned(records, construct)["query"].nunique()),
        method=interval.method,
        reason=interval.reason,
    )


def _query_means(study: Study, frame: pd.DataFrame) -> pd.Series:
    """Return the value of each (construct, query) that the rule is about."""
    rule = study.config.stopping
    once = frame[frame["repeat"] == 0].drop_duplicates(["response_id", "construct", "scorer"])
    keys = ["construct", "query_id", "response_id"]
    human = once[once["scorer_kind"] == "human"]
    layouts = human["layout"].value_counts()
    # Values of two layouts are never pooled: the one with more values counts.
    if len(layouts) > 1:
        human = human[human["layout"].isna() | (human["layout"] == layouts.index[0])]
    people = human.groupby(keys)["value"].mean()
    if rule.quantity == "judge_error":
        judge = once[once["scorer"] == rule.judge]
        if judge.empty:
            raise StudyError(
                f"stopping.judge names {rule.judge!r}, which has no scores in {study.folder}. "
                f"Add them with `ccrs judge {study.folder}` or `ccrs import`."
            )
        # A response without one of the two has no difference and does not enter.
        people = judge.groupby(keys)["value"].mean() - people
    return people.dropna().groupby(["construct", "query_id"]).mean()


def _bounds(study: Study, construct: str) -> tuple[float, float]:
    spec = study.config.construct_spec(construct)
    assert spec is not None  # noqa: S101  (constructs were checked)
    low, high = spec.scale.min, spec.scale.max
    rule = study.config.stopping
    if rule.quantity == "human_mean":
        return low, high
    scale = study.config.own_scale(rule.judge or "") or spec.scale
    return scale.min - high, scale.max - low


def _query_names(connection: Connection) -> dict[int, str]:
    return {row.id: row.key for row in connection.execute(select(queries.c.id, queries.c.key))}


def _state(
    study: Study, constructs: tuple[ConstructStopping, ...], reason: str | None
) -> StoppingState:
    rule = study.config.stopping
    return StoppingState(
        declared=rule.half_width is not None,
        quantity=rule.quantity,
        judge=rule.judge,
        level=study.config.analysis.level,
        constructs=constructs,
        stop=bool(constructs) and all(construct.stop for construct in constructs),
        reason=reason,
    )


def _null(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
