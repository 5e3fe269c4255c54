"""Stored runs: found by their identity or begun, and locked for a single writer."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from judge.metrics.metric import Metric
from judge.metrics.registry import load_metric, metric_names
from judge.prompts.template import PromptSet
from judge.protocol.conditions import (
    CCRS,
    METRIC,
    Conditions,
    Run,
    encoder_of,
    identity,
    metric_of,
    run_digest,
    run_under,
    shuffle_of,
)
from judge.protocol.same_server import REPORTED, is_same_place
from judge.run_settings import JudgeSettings
from study.columns import EXPECTED
from study.errors import StudyError, nearest
from study.facts.scorers import scorer_names
from study.schema import JudgeRunBase, now
from study.schema.locks import LockSpace, exclusive
from study.schema.tables import judge_runs, judgments
from study.study import Study


@contextmanager
def sole_writer(study: Study, run_id: int, name: str) -> Iterator[Callable[[], None]]:
    """Lock a run for writing; yield a function that confirms the lock before a write.

    Raises
    ------
    StudyError
        Another process has the lock, or, on confirming, the database server closed the connection
        that has it.
    """
    busy = StudyError(
        f"Another process is working on the run {name!r} of {study.folder}. Wait until it has "
        "finished, or stop it; then run the command again."
    )
    with exclusive(study.engine, study.folder, LockSpace.JUDGE_RUN, run_id, busy=busy) as is_locked:

        def confirm() -> None:
            if not is_locked():
                raise StudyError(
                    f"The database server ended the connection that locks the run {name!r} for "
                    "this process. Judgments so far are stored; run the command again to resume."
                )

        yield confirm


def find(
    study: Study, conditions: Conditions, prompts: PromptSet, repeats: int, name: str | None
) -> int | None:
    """Return the key of the run that `find_or_begin` would continue; None: it would begin one.

    Raises
    ------
    StudyError
        As `find_or_begin` does for the name.
    """
    parts = identity(conditions, prompts, repeats)
    with study.read() as connection:
        same = _existing(study, connection, conditions, prompts, parts, name)
    return None if same is None else same.id


def find_or_begin(
    study: Study, conditions: Conditions, prompts: PromptSet, repeats: int, name: str | None
) -> Run:
    """Return the run with this identity; begin one if there is none.

    Without a `name`, a new run is named after its model, with the metric unless that is CCRS, and
    with a number if that name is in use.

    Raises
    ------
    StudyError
        The name belongs to a run with another identity (the message lists the differences), the
        run of this identity has another name, the study has another scorer with the name, or a
        run has judged with other words under the name of these prompts.
    """
    try:
        return _find_or_begin(study, conditions, prompts, repeats, name)
    except IntegrityError:
        # Two processes can begin the same run at once (PostgreSQL); the second finds it now.
        return _find_or_begin(study, conditions, prompts, repeats, name)


def _find_or_begin(
    study: Study, conditions: Conditions, prompts: PromptSet, repeats: int, name: str | None
) -> Run:
    parts = identity(conditions, prompts, repeats)
    with study.write() as connection:
        same = _existing(study, connection, conditions, prompts, parts, name)
        if same is not None:
            return same
        metric_suffix = "" if prompts.metric == CCRS else f" {prompts.metric}"
        new_name = name or _free_name(study, connection, conditions.model + metric_suffix)
        note = None if name else _note_on_conditions(connection, new_name, parts, conditions)
        digest = run_digest(parts)
        run = JudgeRunBase(
            name=new_name,
            **parts,
            identity=digest,
            observed=dict(conditions.observed or {}),
            software=software(),
        )
        row = {**run.model_dump(), "config_hash": study.config_hash, "created_at": now()}
        key = connection.execute(insert(judge_runs).values(**row)).inserted_primary_key
        assert key is not None  # noqa: S101  (the table has one)
        return Run(int(key[0]), new_name, begun=True, identity=digest, note=note)


def run_of(connection: Connection, name: str) -> Mapping[str, Any]:
    """Return the stored run with this name.

    Raises
    ------
    StudyError
        The study has no run with this name.
    """
    row = connection.execute(select(judge_runs).where(judge_runs.c.name == name)).first()
    if row is None:
        names = list(
            connection.execute(select(judge_runs.c.name).order_by(judge_runs.c.id)).scalars()
        )
        listed = f"Its runs: {', '.join(names)}." if names else "It has no run yet."
        hint = nearest(name, names)
        raise StudyError(f"The study has no run {name!r}. {hint} {listed}".replace("  ", " "))
    return dict(row._mapping)


def run_id_of(study: Study, name: str) -> int:
    """Return the key of the stored run with this name."""
    with study.read() as connection:
        return int(run_of(connection, name)["id"])


def has_run(study: Study, prompts: str) -> bool:
    """Return whether the study has a run of this prompt version."""
    version_runs = select(judge_runs.c.id).where(judge_runs.c.prompt_version == prompts)
    with study.read() as connection:
        return connection.execute(version_runs).first() is not None


def run_metric(
    run: Mapping[str, Any], study_folder: Path, file: str | None = None
) -> Metric | None:
    """Return the metric of a stored run with the prompts that it asked; None: not installed.

    Parameters
    ----------
    file
        The Python file of the metric, if it is not installed.

    Raises
    ------
    StudyError
        The file cannot be loaded.
    """
    try:
        metric = load_metric(file or metric_of(run), run["prompt_version"], study_folder)
    except StudyError:
        if file is not None:
            raise
        return None
    metric.encoder = encoder_of(run)
    same = metric.prompts is not None and metric.prompts.hash == str(run["prompt_hash"])
    return metric if same and metric.key == metric_of(run) else None


def _existing(
    study: Study,
    connection: Connection,
    conditions: Conditions,
    prompts: PromptSet,
    parts: Mapping[str, Any],
    name: str | None,
) -> Run | None:
    """Return the run with this identity; None: there is none, and the name is free."""
    check_words(connection, prompts)
    same = run_under(connection, conditions, parts, name)
    if same is None:
        if name is not None:
            _check_name(study, connection, name, parts, conditions)
        return None
    key, stored_name, endpoint = same
    if name is not None and stored_name != name:
        raise StudyError(
            f"The run {stored_name!r} already has this configuration. Leave --name out to continue "
            "it."
        )
    note = None
    if conditions.endpoint is not None and endpoint != conditions.endpoint:
        note = (
            f"The run {stored_name!r}, begun at {endpoint}, continues at {conditions.endpoint}, "
            "where the server reports the same. If it is another one, give the run a --name of "
            "its own."
        )
    digest = run_digest({**parts, "endpoint": endpoint}) if note else run_digest(parts)
    return Run(key, stored_name, begun=False, identity=digest, note=note)


def check_words(connection: Connection, prompts: PromptSet) -> None:
    """Check that no run has judged with other words under the name of these prompts.

    Raises
    ------
    StudyError
        A run has; the message states the remedy.
    """
    judged = select(judgments.c.id).where(judgments.c.run_id == judge_runs.c.id).exists()
    other = connection.execute(
        select(judge_runs.c.name)
        .where(
            judge_runs.c.prompt_version == prompts.name,
            judge_runs.c.prompt_hash != prompts.hash,
            judged,
        )
        .order_by(judge_runs.c.id)
    ).first()
    if other is not None:
        raise StudyError(
            f"The prompts {prompts.name!r} have changed since the run {other.name!r}. Give the "
            "changed prompts another name (rename their folder), or restore the earlier words."
        )


def _check_name(
    study: Study,
    connection: Connection,
    name: str,
    parts: Mapping[str, Any],
    conditions: Conditions,
) -> None:
    existing = connection.execute(select(judge_runs).where(judge_runs.c.name == name)).first()
    if existing is not None:
        differences = _differences(existing._mapping, parts, conditions)
        raise StudyError(
            "\n".join(
                [
                    f"The run {name!r} was made under other conditions:",
                    *(f"  {difference}" for difference in differences),
                    "Choose another --name, or judge under the conditions of that run.",
                ]
            )
        )
    if name.endswith(EXPECTED):
        raise StudyError(
            f"{name!r} is the name of the means of another run's distributions; choose another "
            "--name."
        )
    names = scorer_names(connection, study.config.combined)
    for used in (name, name + EXPECTED):
        if used in names:
            raise StudyError(
                f"The study has a scorer named {used!r} already; choose another --name."
            )
    if name in metric_names():
        raise StudyError(f"{name!r} is the name of a metric; choose another --name.")


def _note_on_conditions(
    connection: Connection, name: str, parts: Mapping[str, Any], conditions: Conditions
) -> str | None:
    statement = (
        select(judge_runs)
        .where(judge_runs.c.model == parts["model"])
        .order_by(judge_runs.c.id.desc())
    )
    metric = parts["decoding"].get(METRIC, CCRS)
    runs = connection.execute(statement).all()
    earlier = next((run for run in runs if metric_of(dict(run._mapping)) == metric), None)
    if earlier is None:
        return None
    differences = "; ".join(_differences(earlier._mapping, parts, conditions))
    return (
        f"The run {earlier.name!r} of this model was made under other conditions ({differences}), "
        f"so the run {name!r} was begun."
    )


def _differences(
    stored: Mapping[Any, Any], parts: Mapping[str, Any], conditions: Conditions
) -> list[str]:
    """Return the differences between a stored run and the current conditions as phrases."""
    differences = []
    for key, current in parts.items():
        before = stored[key]
        if before == current:
            continue
        if isinstance(before, dict) and isinstance(current, dict):
            differences += [
                f"{name} {before.get(name)!r} there, {current.get(name)!r} now"
                for name in sorted({*before, *current})
                if before.get(name) != current.get(name)
            ]
        else:
            differences.append(f"{key} {before!r} there, {current!r} now")
    if stored["endpoint"] != parts["endpoint"]:
        # At one address they may change; at another they tell whether it is the same server.
        now_observed = conditions.observed or {}
        differences += [
            f"{name} {stored['observed'].get(name)!r} there, {now_observed.get(name)!r} now"
            for name in REPORTED
            if stored["observed"].get(name) != now_observed.get(name)
        ]
    return differences


def _free_name(study: Study, connection: Connection, wanted: str) -> str:
    # The scores of a metric may be stored later under its name.
    names = {*scorer_names(connection, study.config.combined), *metric_names()}
    name, number = wanted, 1
    while name in names or name + EXPECTED in names:
        number += 1
        name = f"{wanted} ({number})"
    return name


def software() -> dict[str, str]:
    """Return the versions of the packages that judge."""
    import platform

    versions = {"python": platform.python_version()}
    for package in ("ccrs-study", "aiohttp", "ray", "vllm"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def likely_run(study: Study, settings: JudgeSettings, metric: Metric) -> tuple[int, str] | None:
    """Return key and name of the newest run of a metric that matches the settings.

    An engine may report further conditions, so only a call can find the exact run.
    """
    prompts = metric.prompts.name if metric.prompts is not None else settings.prompts
    columns = (judge_runs.c.id, judge_runs.c.name, judge_runs.c.decoding, judge_runs.c.endpoint)
    statement = select(*columns).where(
        judge_runs.c.engine == settings.engine, judge_runs.c.prompt_version == prompts
    )
    if settings.name is not None:
        statement = statement.where(judge_runs.c.name == settings.name)
    elif settings.model is not None:
        statement = statement.where(judge_runs.c.model == settings.model)
    with study.read() as connection:
        rows = connection.execute(statement.order_by(judge_runs.c.id.desc())).all()
    address = settings.address
    for row in sorted(rows, key=lambda row: row.endpoint != address):
        run = dict(row._mapping)
        if address and not (run["endpoint"] and is_same_place(run["endpoint"], address)):
            continue
        same_fields = run["decoding"].get("body", {}) == settings.further_fields
        same_order = shuffle_of(run) == settings.shuffle_passages
        if same_fields and same_order and metric_of(run) == metric.key:
            return int(run["id"]), str(run["name"])
    return None
