"""Stored runs: found by their identity, or begun."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from judge.metrics.registry import load_metric, metric_names
from judge.prompts.template import PromptSet
from judge.protocol.conditions import (
    Conditions,
    Run,
    identity,
    metric_of,
    run_digest,
    shuffle_of,
)
from judge.settings import JudgeSettings
from study.columns import EXPECTED
from study.errors import StudyError, nearest
from study.facts.scorers import scorer_names
from study.schema import JudgeRun, JudgeRunBase, Judgment, now, table
from study.study import Study


def find(
    study: Study, conditions: Conditions, prompts: PromptSet, repeats: int, name: str | None
) -> int | None:
    """Return the key of the run that `find_or_begin` would go on with; None: it would begin one.

    Raises
    ------
    StudyError
        As `find_or_begin` does for the name.
    """
    parts = identity(conditions, prompts, repeats)
    with study.read() as connection:
        _refuse_changed(connection, prompts)
        same = _same(connection, run_digest(parts), name)
        if same is None and name is not None:
            _refuse_if_taken(study, connection, name, parts)
    return None if same is None else same.id


def find_or_begin(
    study: Study, conditions: Conditions, prompts: PromptSet, repeats: int, name: str | None
) -> Run:
    """Return the run of this identity, begun if there is none.

    Without a `name`, a new run is named after its model, with a number where that is taken.

    Raises
    ------
    StudyError
        The name belongs to a run of another identity (the differences are listed), this
        configuration has another name already, the study has a scorer of that name, or a run
        was made with other words under the name of these prompts.
    """
    try:
        return _found_or_begun(study, conditions, prompts, repeats, name)
    except IntegrityError:
        # PostgreSQL lets two processes begin one run at a moment; the second finds it now.
        return _found_or_begun(study, conditions, prompts, repeats, name)


def _found_or_begun(
    study: Study, conditions: Conditions, prompts: PromptSet, repeats: int, name: str | None
) -> Run:
    parts = identity(conditions, prompts, repeats)
    digest = run_digest(parts)
    t = table(JudgeRun)
    with study.write() as connection:
        _refuse_changed(connection, prompts)
        same = _same(connection, digest, name)
        if same is not None:
            return same
        if name is not None:
            _refuse_if_taken(study, connection, name, parts)
        chosen = name or _free_name(study, connection, conditions.model)
        note = None if name else _other_conditions(connection, chosen, parts)
        run = JudgeRunBase(
            name=chosen,
            **parts,
            identity=digest,
            observed=dict(conditions.observed or {}),
            software=software(),
        )
        row = {**run.model_dump(), "config_hash": study.config_hash, "created_at": now()}
        key = connection.execute(insert(t).values(**row)).inserted_primary_key
        assert key is not None  # noqa: S101  (the table has one)
        return Run(int(key[0]), chosen, begun=True, identity=digest, note=note)


def run_of(connection: Connection, name: str) -> Mapping[str, Any]:
    """Return the stored run of this name.

    Raises
    ------
    StudyError
        There is none.
    """
    t = table(JudgeRun)
    row = connection.execute(select(t).where(t.c.name == name)).first()
    if row is None:
        known = list(connection.execute(select(t.c.name).order_by(t.c.id)).scalars())
        listed = f"Its runs: {', '.join(known)}." if known else "It has no run yet."
        hint = nearest(name, known)
        raise StudyError(f"The study has no run {name!r}. {hint} {listed}".replace("  ", " "))
    return dict(row._mapping)


def _same(connection: Connection, digest: str, name: str | None) -> Run | None:
    t = table(JudgeRun)
    same = connection.execute(select(t.c.id, t.c.name).where(t.c.identity == digest)).first()
    if same is None:
        return None
    if name is not None and same.name != name:
        raise StudyError(
            f"This very configuration is the run {same.name!r} already. Leave --name out to go on "
            "with it."
        )
    return Run(int(same.id), str(same.name), begun=False, identity=digest)


def check_words(study: Study, prompts: PromptSet) -> None:
    """Refuse other words under the name of those that a run has judged with.

    Raises
    ------
    StudyError
        They differ; the message says what to do.
    """
    with study.read() as connection:
        _refuse_changed(connection, prompts)


def _refuse_changed(connection: Connection, prompts: PromptSet) -> None:
    """Refuse other words under the name of those that a run was made with."""
    t, j = table(JudgeRun), table(Judgment)
    # A run that has judged nothing holds no words to their name.
    judged = select(j.c.id).where(j.c.run_id == t.c.id).exists()
    other = connection.execute(
        select(t.c.name)
        .where(t.c.prompt_version == prompts.name, t.c.prompt_hash != prompts.hash, judged)
        .order_by(t.c.id)
    ).first()
    if other is not None:
        raise StudyError(
            f"The prompts {prompts.name!r} are not those that the run {other.name!r} was made "
            "with. Give changed prompts a name of their own (rename their folder), or bring the "
            "earlier words back."
        )


def _refuse_if_taken(
    study: Study, connection: Connection, name: str, parts: Mapping[str, Any]
) -> None:
    t = table(JudgeRun)
    held = connection.execute(select(t).where(t.c.name == name)).first()
    if held is not None:
        raise StudyError(
            "\n".join(
                [
                    f"The run {name!r} was made under other conditions:",
                    *(f"  {difference}" for difference in _differences(held._mapping, parts)),
                    "Give this one another --name, or judge under the conditions of that one.",
                ]
            )
        )
    if name.endswith(EXPECTED):
        raise StudyError(
            f"{name!r} is how the means of another run's distributions are named; give another "
            "--name."
        )
    taken = scorer_names(connection, study.config.juries)
    if name in taken or name + EXPECTED in taken:
        held_name = name if name in taken else name + EXPECTED
        raise StudyError(
            f"The study has a scorer named {held_name!r} already; give another --name."
        )
    if name in metric_names():
        raise StudyError(f"{name!r} is the name of a metric; give another --name.")


def _other_conditions(connection: Connection, name: str, parts: Mapping[str, Any]) -> str | None:
    t = table(JudgeRun)
    statement = select(t).where(t.c.model == parts["model"]).order_by(t.c.id.desc())
    held = connection.execute(statement).first()
    if held is None:
        return None
    differences = "; ".join(_differences(held._mapping, parts))
    return (
        f"The run {held.name!r} of this model was made under other conditions ({differences}), so "
        f"the run {name!r} was begun."
    )


def _differences(held: Mapping[Any, Any], parts: Mapping[str, Any]) -> list[str]:
    """Return in words where a stored run is another than the one at hand."""
    found = []
    for key, now_value in parts.items():
        there = held[key]
        if there == now_value:
            continue
        if isinstance(there, dict) and isinstance(now_value, dict):
            names = sorted({*there, *now_value})
            found += [
                f"{name} {there.get(name)!r} there, {now_value.get(name)!r} now"
                for name in names
                if there.get(name) != now_value.get(name)
            ]
        else:
            found.append(f"{key} {there!r} there, {now_value!r} now")
    return found


def _free_name(study: Study, connection: Connection, model: str) -> str:
    # Names of metrics stay free for the metrics, which may be stored later.
    taken = {*scorer_names(connection, study.config.juries), *metric_names()}
    name, number = model, 1
    while name in taken or name + EXPECTED in taken:
        number += 1
        name = f"{model} ({number})"
    return name


def software() -> dict[str, str]:
    """Return the versions of what judges."""
    import platform

    found = {"python": platform.python_version()}
    for package in ("ccrs-study", "aiohttp", "vllm"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def likely_run(study: Study, settings: JudgeSettings) -> tuple[int, str] | None:
    """Return the run that these settings most likely mean: without a probe it is not certain."""
    t = table(JudgeRun)
    metric = load_metric(settings.metric, settings.prompts, study.folder)
    version = metric.prompts.name if metric.prompts is not None else settings.prompts
    statement = select(t.c.id, t.c.name, t.c.decoding).where(
        t.c.engine == settings.engine, t.c.prompt_version == version
    )
    if settings.name is not None:
        statement = statement.where(t.c.name == settings.name)
    elif settings.model is not None:
        statement = statement.where(t.c.model == settings.model)
    if settings.address:
        statement = statement.where(t.c.endpoint == settings.address)
    with study.read() as connection:
        rows = connection.execute(statement.order_by(t.c.id.desc())).all()
    wanted = (settings.shuffle_passages, metric.key)
    rows = [row for row in rows if _kind(dict(row._mapping)) == wanted]
    return (int(rows[0].id), str(rows[0].name)) if rows else None


def _kind(run: Mapping[str, Any]) -> tuple[int | None, str]:
    return shuffle_of(run), metric_of(run)
