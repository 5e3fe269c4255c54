"""The conditions of a run, and its identity: what distinguishes it from other runs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, select

from judge.prompts.template import PromptSet
from judge.protocol.same_server import is_same_server
from study.facts.judgments import LOW_IS_GOOD, SCORER_KIND
from study.schema.tables import judge_runs
from study.study import Study


@dataclass(frozen=True)
class Conditions:
    """The conditions under which an engine answers: its part of a run's identity."""

    engine: str
    model: str
    endpoint: str | None = None
    model_revision: str | None = None
    decoding: Mapping[str, Any] | None = None
    """What is sent with the prompt, and what the server refused or ignored of it."""
    seed: int | None = None
    observed: Mapping[str, Any] | None = None
    """Further findings of the engine; not part of the identity."""


CCRS = "ccrs"
"""Key of the default metric."""

METRIC = "metric"
"""Part of a run's decoding: the key of its metric, unless that is CCRS."""

ENCODER = "encoder"
"""Part of a run's decoding: the encoder that answers the comparisons of its metric."""

SHUFFLE = "shuffle_passages"
"""Part of a run's decoding: the seed of the order in which its prompts show passages."""


def with_shuffle(conditions: Conditions, seed: int | None) -> Conditions:
    """Return the conditions with the seed of the passages' order; unchanged without a seed."""
    if seed is None:
        return conditions
    return replace(conditions, decoding={**(conditions.decoding or {}), SHUFFLE: seed})


def with_encoder(conditions: Conditions, name: str, identity: str) -> Conditions:
    """Return the conditions with the encoder whose cosines a metric uses.

    Its name ends with the beginning of the hash of its identity, which is recorded as well.
    """
    return replace(
        conditions,
        decoding={**(conditions.decoding or {}), ENCODER: name},
        observed={**(conditions.observed or {}), ENCODER: identity},
    )


def with_metric(conditions: Conditions, scorer_kind: str, low_is_good: bool) -> Conditions:
    """Return the conditions with what tables and reports need to know of the metric."""
    found: dict[str, Any] = {}
    if scorer_kind != "judge":
        found[SCORER_KIND] = scorer_kind
    if low_is_good:
        found[LOW_IS_GOOD] = True
    return replace(conditions, observed={**(conditions.observed or {}), **found})


def metric_of(run: Mapping[str, Any]) -> str:
    """Return the key of the metric of a stored run."""
    return str(run["decoding"].get(METRIC, CCRS))


def encoder_of(run: Mapping[str, Any]) -> str:
    """Return the name of the encoder of a stored run; empty without one."""
    return str(run["decoding"].get(ENCODER, ""))


def shuffle_of(run: Mapping[str, Any]) -> int | None:
    """Return the seed of the passages' order of a stored run; None: they are in rank order."""
    seed = run["decoding"].get(SHUFFLE)
    return None if seed is None else int(seed)


@dataclass(frozen=True)
class Run:
    """A run that existed, or was started by this call."""

    id: int
    name: str
    begun: bool
    """Whether this call started it."""
    identity: str
    """Digest of all that distinguishes it from other runs."""
    note: str | None = None
    """Why an earlier run of this model is not continued, or where it continues."""


def identity(conditions: Conditions, prompts: PromptSet, repeats: int) -> dict[str, Any]:
    """Return what distinguishes a run from other runs.

    The responses and constructs that are judged, concurrency, prices, and the versions of software
    and parser are not part of it: raw answers can be read again.
    """
    metric = {} if prompts.metric == CCRS else {METRIC: prompts.metric}
    return {
        "engine": conditions.engine,
        "endpoint": conditions.endpoint,
        "model": conditions.model,
        "model_revision": conditions.model_revision,
        "prompt_version": prompts.name,
        "prompt_hash": prompts.hash,
        "decoding": {**(conditions.decoding or {}), **metric},
        "seed": conditions.seed,
        "repeats": repeats,
    }


def run_digest(parts: Mapping[str, Any]) -> str:
    """Return the digest (SHA-256, hexadecimal) of an `identity`."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()


def runs_of_other_metrics(connection: Connection, run_id: int) -> list[int]:
    """Return the runs (database keys) that differ from a run in the metric, or its encoder, alone.

    The metrics of a suite share their prompts, so an answer in one of these runs is what the run
    would get; the encoder is part of the prompts that it answers. The server may have had another
    address.
    """
    parts = ("engine", "model", "model_revision", "prompt_version", "prompt_hash", "seed")
    columns = [judge_runs.c[name] for name in (*parts, "repeats")]
    further = [judge_runs.c[name] for name in ("id", "decoding", "endpoint", "observed")]
    rows = connection.execute(select(*further, *columns)).all()
    conditions = {row.id: (_without_metric(row.decoding), *row[4:]) for row in rows}
    servers = {row.id: (row.endpoint, row.observed) for row in rows}
    own = conditions.pop(run_id)
    return [
        key
        for key, other in conditions.items()
        if other == own and is_same_server(servers[key], servers[run_id])
    ]


def _without_metric(decoding: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in decoding.items() if name not in {METRIC, ENCODER}}


def run_under(
    connection: Connection, conditions: Conditions, parts: Mapping[str, Any], name: str | None
) -> tuple[int, str, str] | None:
    """Return key, name and endpoint of the run with this identity, if there is one.

    A run whose server has another address now is continued there, the newest if there are several.

    Parameters
    ----------
    connection
    conditions
        What the engine reports.
    parts
        The identity.
    name
        Name of a run; None: any. It limits only runs at another address.
    """
    columns = [judge_runs.c[name] for name in ("id", "name", "endpoint", "observed")]
    same = connection.execute(
        select(*columns).where(judge_runs.c.identity == run_digest(parts))
    ).first()
    if same is not None:
        return int(same.id), str(same.name), str(same.endpoint)
    if conditions.endpoint is None:
        return None
    statement = select(*columns, judge_runs.c.identity).where(
        judge_runs.c.model == conditions.model, judge_runs.c.prompt_hash == parts["prompt_hash"]
    )
    if name is not None:
        statement = statement.where(judge_runs.c.name == name)
    here = (conditions.endpoint, conditions.observed)
    for row in connection.execute(statement.order_by(judge_runs.c.id.desc())):
        is_equal = row.identity == run_digest({**parts, "endpoint": row.endpoint})
        if is_equal and is_same_server((row.endpoint, row.observed), here):
            return int(row.id), str(row.name), str(row.endpoint)
    return None


def name_of(study: Study, conditions: Conditions, prompts: PromptSet, repeats: int) -> str | None:
    """Return the name of the run under these conditions, if there is one."""
    parts = identity(conditions, prompts, repeats)
    with study.read() as connection:
        run = run_under(connection, conditions, parts, None)
    return None if run is None else run[1]
