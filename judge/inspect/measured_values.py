"""The values that metrics gave one response, and which runs and metrics gave them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from judge.metrics.registry import PROMPTED_SUITES, WITHOUT_PROMPTS
from judge.metrics.retrieval import retrieval_key
from judge.protocol.conditions import CCRS, metric_of
from judge.protocol.exchange import REASONS
from study.facts.judgments import counted_judgments
from study.facts.measured_inputs import OWN, earlier_inputs
from study.schema.tables import judge_runs, judgments, scores

_IN_SUITES = tuple(chain(*PROMPTED_SUITES.values(), WITHOUT_PROMPTS))


@dataclass(frozen=True)
class Measurement:
    """The value of a metric on a construct, or the reason why there is none."""

    scorer: str
    """As in tables: the name of a run, or of a metric without a model."""
    construct: str
    repeat: int
    value: float | None
    """On the scale of the construct."""
    missing_reason: str | None
    meaning: str | None
    """Explanation of the reason."""
    parts: dict[str, float]
    """Intermediate figures, such as the number of claims."""


class MeasuredValues(NamedTuple):
    """What metrics gave one response."""

    values: dict[str, list[Measurement]]
    """By metric, in the order of suites: the values for the current versions of constructs, of
    several runs those of the latest. Their reasons have no meanings yet."""
    runs: dict[str, Mapping[str, Any]]
    """The run of each metric that has one."""
    earlier_runs: dict[str, list[str]]
    """By metric, the names of its other runs with values."""
    outdated: dict[str, set[str]]
    """By metric, the constructs of which it measured an earlier version only."""


class _Stored(NamedTuple):
    metric: str
    run: int | None
    version: int
    measured: Measurement


def measured_values(
    connection: Connection, response: int, versions: Mapping[str, int]
) -> MeasuredValues:
    """Return what metrics gave a response, by database key.

    `versions` are the current versions of the constructs.
    """
    run_ids = select(judgments.c.run_id).where(judgments.c.response_id == response)
    statement = select(judge_runs).where(judge_runs.c.id.in_(run_ids))
    runs = {run["id"]: dict(run) for run in connection.execute(statement).mappings()}
    stored = [*_judgment_values(connection, response, runs), *_score_values(connection, response)]
    current, other = list[_Stored](), list[_Stored]()
    for each in stored:
        now = versions.get(each.measured.construct)
        if now is not None:
            (current if each.version == now else other).append(each)
    latest: dict[str, int] = {}
    for each in current:
        if each.run is not None:
            latest[each.metric] = max(each.run, latest.get(each.metric, 0))
    values: dict[str, list[Measurement]] = {}
    earlier: dict[str, set[int]] = {}
    for each in sorted(current, key=_place):
        if each.run is None or each.run == latest[each.metric]:
            values.setdefault(each.metric, []).append(each.measured)
        else:
            earlier.setdefault(each.metric, set()).add(each.run)
    outdated: dict[str, set[str]] = {}
    for each in other:
        construct = each.measured.construct
        if all(given.construct != construct for given in values.get(each.metric, ())):
            outdated.setdefault(each.metric, set()).add(construct)
    return MeasuredValues(
        values,
        {key: runs[latest[key]] for key in values if key in latest},
        {key: [runs[run]["name"] for run in sorted(ids)] for key, ids in earlier.items()},
        outdated,
    )


def _place(stored: _Stored) -> tuple[bool, int, str, str, int]:
    """Return the place of a value on the page: metrics with runs first, by suite."""
    in_suite = _IN_SUITES.index(stored.metric) if stored.metric in _IN_SUITES else len(_IN_SUITES)
    measured = stored.measured
    return stored.run is None, in_suite, measured.scorer, measured.construct, measured.repeat


def _judgment_values(
    connection: Connection, response: int, runs: Mapping[int, Mapping[str, Any]]
) -> Iterator[_Stored]:
    columns = ("run_id", "construct_key", "construct_version", "repeat", "value",
               "missing_reason", "parts")  # fmt: skip
    counted = counted_judgments(columns, judgments.c.response_id == response)
    for row in connection.execute(select(counted)):
        run = runs[row.run_id]
        if metric_of(run) != CCRS:
            measured = Measurement(
                str(run["name"]),
                row.construct_key,
                row.repeat,
                row.value,
                row.missing_reason,
                None,
                dict(row.parts or {}),
            )
            yield _Stored(metric_of(run), row.run_id, row.construct_version, measured)


def _score_values(connection: Connection, response: int) -> Iterator[_Stored]:
    """Yield the values of metrics without a model, and imported ones, with their last input."""
    earlier = earlier_inputs(connection)
    is_metric = (scores.c.response_id == response, scores.c.scorer_kind == "metric")
    for row in connection.execute(select(scores).where(*is_metric)):
        if (row.scorer, row.construct_key) in earlier and row.source == OWN:
            continue
        # An encoder may be named after a metric.
        first = row.scorer.split(" ")[0]
        known = first.split("@")[0] in _IN_SUITES or retrieval_key(first) is not None
        key = first if known else row.scorer
        meaning = REASONS.get(row.missing_reason or "")
        measured = Measurement(
            row.scorer, row.construct_key, row.repeat, row.value, row.missing_reason, meaning, {}
        )
        yield _Stored(key, None, row.construct_version, measured)
