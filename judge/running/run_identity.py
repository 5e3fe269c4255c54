"""Runs: what makes one another than the next, found again or begun."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from judge.metrics.lexical import MATCHES
from judge.prompts.template import PromptVersion
from study.columns import EXPECTED
from study.errors import StudyError, nearest
from study.facts.scorers import scorer_names
from study.schema import JudgeRun, JudgeRunBase, Judgment, now, table
from study.study import Study


@dataclass(frozen=True)
class Conditions:
    """Under what an engine answers: the part of a run's identity that it knows."""

    engine: str
    model: str
    endpoint: str | None = None
    model_revision: str | None = None
    decoding: Mapping[str, Any] | None = None
    """What is sent beside the prompt, and what the server refused or ignored of it."""
    seed: int | None = None
    observed: Mapping[str, Any] | None = None
    """What was found out beside; no part of the identity."""


SHUFFLE = "shuffle_passages"
"""Part of a run's decoding: the seed of the order in which its prompts show passages."""


def with_shuffle(conditions: Conditions, seed: int | None) -> Conditions:
    """Return the conditions with the seed of the passages' order, where there is one.

    Without one they are what they were before there was a choice, and so is a run's identity.
    """
    if seed is None:
        return conditions
    return replace(conditions, decoding={**(conditions.decoding or {}), SHUFFLE: seed})


def shuffle_of(run: Mapping[str, Any]) -> int | None:
    """Return the seed of the passages' order of a stored run; None: as they were ranked."""
    seed = run["decoding"].get(SHUFFLE)
    return None if seed is None else int(seed)


@dataclass(frozen=True)
class Run:
    """A run that was found or begun."""

    id: int
    name: str
    begun: bool
    """Whether this call began it."""
    identity: str
    """Digest of all that makes it another run than the next."""
    note: str | None = None
    """Why an earlier run of this model was not gone on with."""


def identity(conditions: Conditions, prompts: PromptVersion, repeats: int) -> dict[str, Any]:
    """Return what makes a run another than the next.

    Which responses and constructs are judged, how many at once, what they cost, and the
    versions of the software and of the parser are no part of it: raw answers can be read again.
    """
    return {
        "engine": conditions.engine,
        "endpoint": conditions.endpoint,
        "model": conditions.model,
        "model_revision": conditions.model_revision,
        "prompt_version": prompts.name,
        "prompt_hash": prompts.hash,
        "decoding": dict(conditions.decoding or {}),
        "seed": conditions.seed,
        "repeats": repeats,
    }


def find(
    study: Study, conditions: Conditions, prompts: PromptVersion, repeats: int, name: str | None
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


def name_of(
    study: Study, conditions: Conditions, prompts: PromptVersion, repeats: int
) -> str | None:
    """Return the name of the run that was begun under these conditions; None: there is none."""
    digest = run_digest(identity(conditions, prompts, repeats))
    t = table(JudgeRun)
    with study.read() as connection:
        found = connection.execute(select(t.c.name).where(t.c.identity == digest)).scalar()
    return None if found is None else str(found)


def find_or_begin(
    study: Study, conditions: Conditions, prompts: PromptVersion, repeats: int, name: str | None
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
    study: Study, conditions: Conditions, prompts: PromptVersion, repeats: int, name: str | None
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


def run_digest(parts: Mapping[str, Any]) -> str:
    """Return the digest (SHA-256, hexadecimal) of what `identity` returned."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()


def check_words(study: Study, prompts: PromptVersion) -> None:
    """Refuse other words under the name of those that a run has judged with.

    Raises
    ------
    StudyError
        They differ; the message says what to do.
    """
    with study.read() as connection:
        _refuse_changed(connection, prompts)


def _refuse_changed(connection: Connection, prompts: PromptVersion) -> None:
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
    if name in MATCHES:
        raise StudyError(f"{name!r} is the name of a metric on AC; give another --name.")


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
    taken = {*scorer_names(connection, study.config.juries), *MATCHES}
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
