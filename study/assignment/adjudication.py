"""Adjudication: rated responses that one more person rates, blind first.

Two strata. The responses on which people differ most are taken for certain; of the others a random
sample is drawn with a known probability, so that its results apply to all.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, func, insert, select, update

from study.assignment.adjudication_sample import (
    RANDOM,
    WIDEST,
    drawn,
    people_differ,
    rated_responses,
)
from study.assignment.design_overrides import constructs_of
from study.assignment.raters import raters_by_code
from study.errors import StudyError, nearest
from study.schema import AssignmentBase
from study.schema.human_ratings import Purpose
from study.schema.locks import LockSpace, lock_until_commit
from study.schema.tables import assignments, judge_runs, scores
from study.study import Study

__all__ = ["RANDOM", "WIDEST", "Adjudication", "adjudicate"]

_PURPOSE: Purpose = "adjudication"


@dataclass(frozen=True)
class Adjudication:
    """The responses that an adjudicator rates, and how they were chosen."""

    rater: str
    stored: bool
    rated: int
    """Responses with people's values, without those that the adjudicator must not rate."""
    widest: int
    """Responses in the stratum of the widest ranges, included with certainty."""
    random: int
    """Responses in the random sample."""
    random_of: int
    """Responses that the sample represents: rated, and not among the widest."""
    inclusion_prob: float | None
    """Probability of each of those to be in the sample; null without a sample. An assignment
    stores its product with the probability that the response was drawn for rating."""
    new: int
    """New assignments."""
    raised: int
    """Earlier assignments whose probability or stratum has changed."""
    already_assigned: int
    """Rated responses left out because the adjudicator rated them or has them to rate."""
    narrowest: float | None
    """Narrowest range among the widest, as a share of the scale."""
    constructs: tuple[str, ...]
    sees: str | None = None
    """Judge run whose scores the adjudicator sees after the blind value; null: none."""

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain objects for JSON."""
        return asdict(self)


def adjudicate(
    study: Study,
    rater: str,
    *,
    sample: int = 0,
    widest: int = 0,
    constructs: Sequence[str] | None = None,
    dry_run: bool = False,
) -> Adjudication:
    """Assign rated responses to an adjudicator to whom they were not assigned before.

    A response's range is the largest difference between two people's values on one construct, as
    a share of its scale; it takes two people. The `widest` responses by it are stratum "widest"
    with probability 1. From the other N rated responses `sample` are drawn by permanent random
    numbers: stratum "random", probability sample / N. Where the rated responses are a sample
    themselves, what is stored is the product of both probabilities.

    Both numbers are totals. Earlier assignments stay; with larger numbers, or more rated
    responses, new ones are added and the probabilities of the earlier ones are updated. If
    responses were added, the sample may grow beyond `sample`: it is a random sample only if it
    includes all responses with smaller random numbers than those it has.

    Parameters
    ----------
    rater
        Code of the adjudicator; an unknown code creates a rater.
    constructs
        Keys of the constructs to adjudicate; by default those of earlier assignments, or all that
        the response was rated on.
    dry_run
        Only plan. Unless the study changes, storing gives the same plan.

    Raises
    ------
    StudyError
        No response can be adjudicated, a number or code is invalid, the rater has left or
        adjudicates other constructs, or study.toml names an unknown judge run for adjudicators.
    """
    if sample < 0 or widest < 0 or not sample + widest:
        raise StudyError(
            f"{sample} at random and {widest} with the widest range: give 0 or more of each, and "
            "1 or more in total."
        )
    requested = None if constructs is None else [c.key for c in constructs_of(study, constructs)]
    specs = {spec.key: spec for spec in study.config.constructs}
    lengths = {key: spec.scale.max - spec.scale.min for key, spec in specs.items()}
    ranges = people_differ(study.score_table(), lengths)
    opening = study.read if dry_run else study.write
    with opening() as connection:
        if not dry_run:
            lock_until_commit(connection, LockSpace.ASSIGNMENT)
        _check_judge(connection, study.config.rating.adjudicators_see)
        rater_id = raters_by_code(connection, study, [rater], dry_run=dry_run)[rater]
        existing = _existing_assignments(connection, rater_id)
        # Without a stratum it is a value that was settled on: its adjudicator is not blind to it.
        before = [row for row in existing if row.purpose == _PURPOSE and row.stratum is not None]
        keys = _constructs(rater, requested, before, list(specs))
        rated = rated_responses(ranges[ranges["construct"].isin(keys)], connection)
        earlier_ids = {row.response_id for row in before}
        excluded = {row.response_id for row in existing} - earlier_ids | _rated_elsewhere(
            connection, rater
        )
        already_assigned = sum(response in excluded for response in rated.index)
        frame = rated[[response not in excluded for response in rated.index]]
        if frame.empty:
            raise _no_responses(study, rater, already_assigned)
        plan = drawn(frame, before, study.config.seed, sample, widest)
        new = plan[~plan.index.isin(earlier_ids)]
        raised = _changed(before, plan)
        if not dry_run:
            rng = np.random.default_rng([study.config.seed, _count(connection)])
            _update(connection, raised, plan)
            _store(connection, new, rater_id, keys, study.config_hash, rng)
    random, chosen = plan[plan["stratum"] == RANDOM], plan[plan["stratum"] == WIDEST]
    spread = chosen["range"].min() if len(chosen) else None
    return Adjudication(
        rater=rater,
        stored=not dry_run,
        rated=len(frame),
        widest=len(chosen),
        random=len(random),
        random_of=len(frame) - len(chosen),
        inclusion_prob=float(random["share"].iloc[0]) if len(random) else None,
        new=len(new),
        raised=len(raised),
        already_assigned=already_assigned,
        narrowest=None if spread is None or pd.isna(spread) else float(spread),
        constructs=tuple(
            key for key in keys if any(key in response for response in plan["constructs"])
        ),
        sees=study.config.rating.adjudicators_see,
    )


def _existing_assignments(connection: Connection, rater_id: int) -> list[Any]:
    rows = connection.execute(
        select(assignments).where(assignments.c.rater_id == rater_id).order_by(assignments.c.id)
    )
    return list(rows)


def _rated_elsewhere(connection: Connection, rater: str) -> set[int]:
    """Return the responses with imported ratings under this code."""
    rows = connection.execute(
        select(scores.c.response_id).where(
            scores.c.scorer == rater, scores.c.scorer_kind == "human"
        )
    )
    return set(rows.scalars())


def _constructs(
    rater: str, requested: Sequence[str] | None, before: list[Any], available: Sequence[str]
) -> tuple[str, ...]:
    """Return the constructs in the order of study.toml; an extension has the same as before."""
    earlier = {key for row in before for key in row.construct_keys}.intersection(available)
    if requested is None:
        return tuple(key for key in available if not earlier or key in earlier)
    if earlier and earlier != set(requested):
        raise StudyError(
            f"{rater!r} adjudicates {', '.join(sorted(earlier))} already; name the same "
            "constructs, or another adjudicator for others."
        )
    return tuple(requested)


def _no_responses(study: Study, rater: str, already_assigned: int) -> StudyError:
    if already_assigned:
        return StudyError(
            f"{rater!r} was assigned all {already_assigned} rated responses; an adjudicator must "
            "not know them. Name another adjudicator."
        )
    return StudyError(
        f"{study.folder} has no response with people's values on these constructs. "
        f"`ccrs status {study.folder}` shows what is rated."
    )


def _changed(before: list[Any], plan: pd.DataFrame) -> list[Any]:
    strata, chances = plan["stratum"].to_dict(), plan["inclusion_prob"].to_dict()
    return [
        row
        for row in before
        if row.response_id in strata
        and (row.stratum, row.inclusion_prob) != (strata[row.response_id], chances[row.response_id])
    ]


def _update(connection: Connection, raised: list[Any], plan: pd.DataFrame) -> None:
    for row in raised:
        chosen = plan.loc[row.response_id]
        connection.execute(
            update(assignments)
            .where(assignments.c.id == row.id)
            .values(stratum=chosen["stratum"], inclusion_prob=float(chosen["inclusion_prob"]))
        )


def _store(
    connection: Connection,
    new: pd.DataFrame,
    rater_id: int,
    keys: tuple[str, ...],
    config_hash: str,
    rng: np.random.Generator,
) -> None:
    """Append new assignments to existing ones, in an order that does not reveal the stratum."""
    last = connection.execute(
        select(func.max(assignments.c.position)).where(assignments.c.rater_id == rater_id)
    ).scalar()
    position = -1 if last is None else int(last)
    rows = []
    queries = new["query"].unique()
    for query in (queries[i] for i in rng.permutation(len(queries))):
        query_rows = new[new["query"].eq(query)]
        for response in rng.permutation(query_rows.index.to_numpy()).tolist():
            chosen = query_rows.loc[response]
            position += 1
            row_keys = [key for key in keys if key in chosen["constructs"]]
            noun = AssignmentBase(
                construct_keys=[row_keys[i] for i in rng.permutation(len(row_keys))],
                purpose=_PURPOSE,
                position=position,
                inclusion_prob=float(chosen["inclusion_prob"]),
                stratum=str(chosen["stratum"]),
            )
            rows.append(
                {
                    **AssignmentBase.model_validate(noun.model_dump()).model_dump(),
                    "rater_id": rater_id,
                    "response_id": response,
                    "config_hash": config_hash,
                }
            )
    if rows:
        connection.execute(insert(assignments), rows)


def _check_judge(connection: Connection, name: str | None) -> None:
    if name is None:
        return
    available = list(connection.execute(select(judge_runs.c.name).order_by("id")).scalars())
    if name not in available:
        listed = f"Its judge runs: {', '.join(available)}." if available else "It has no judge run."
        raise StudyError(
            f"rating.adjudicators_see = {name!r} in study.toml is not a judge run of the study. "
            f"{nearest(name, available)} {listed}".replace("  ", " ")
        )


def _count(connection: Connection) -> int:
    return int(connection.execute(select(func.count()).select_from(assignments)).scalar_one())
