"""Assigning: what is missing is planned, shown, and stored."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection, func, insert, select, text

from study.assigning.given import given_so_far, held_by_raters, last_positions, shown_later_stages
from study.assigning.needs import Block, Needs, needs
from study.assigning.raters import MOST_RATERS, raters_by_code
from study.assigning.reading_time import Reading
from study.assigning.result import Assigned, RaterLoad, summary
from study.assigning.rows import Row, rows_of_raters, rows_of_slots
from study.campaign import Study
from study.constructs import ConstructSpec
from study.errors import StudyError, nearest
from study.nouns import Assignment, AssignmentBase, table

__all__ = ["Assigned", "RaterLoad", "assign"]

# Any number that no other program locks.
_ASSIGNING = 0x63637261


def assign(
    study: Study,
    raters: Sequence[str] | int | None = None,
    *,
    per_item: int = 3,
    open_slots: bool = False,
    split_queries: bool = False,
    constructs: Sequence[str] | None = None,
    dry_run: bool = False,
) -> Assigned:
    """Give each response in use to `per_item` raters, adding to what is assigned already.

    Parameters
    ----------
    raters
        Codes, or a number (rater-1 to rater-N); new ones are made. None: the study's raters.
    per_item
        Raters a response.
    open_slots
        Make slots without a rater instead; whoever joins is handed them under a lease.
    split_queries
        Assign each response by itself. Otherwise all responses to a query go to the same raters.
    constructs
        Keys of the constructs to rate; all unless given.
    dry_run
        Store nothing. Until something else is stored, storing gives this very plan.

    Returns
    -------
    Assigned
        Counts of what is new, each rater's load with hours of reading, whether raters are linked
        through shared responses, and what is left out.

    Raises
    ------
    StudyError
        There are no responses, too few raters, an unknown construct, or a code that is none.
    """
    if not 1 <= per_item <= MOST_RATERS:
        raise StudyError(f"{per_item} raters an item: give 1 to {MOST_RATERS}.")
    if open_slots and raters is not None:
        raise StudyError("Open slots are for whoever joins; leave the raters out.")
    specs = _specs(study, constructs)
    opening = study.read if dry_run else study.write
    with opening() as connection:
        if connection.dialect.name == "postgresql" and not dry_run:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ASSIGNING})
        given = given_so_far(connection)
        found = needs(connection, specs, given, per_item, split_queries=split_queries)
        if not found.blocks and not found.covered:
            raise _nothing_to_rate(study, found)
        held, last = held_by_raters(given), last_positions(connection)
        reading = Reading(connection, study.config.constructs)
        rng = np.random.default_rng([study.config.seed, _count(connection)])
        codes: dict[str, int] = {}
        if open_slots:
            rows = rows_of_slots(found.blocks, last, rng)
        else:
            codes = raters_by_code(connection, study, raters, dry_run=dry_run)
            _enough(codes, found.blocks, per_item)
            rows = rows_of_raters(
                found.blocks,
                list(codes.values()),
                held,
                shown_later_stages(connection),
                last,
                reading,
                rng,
                split_queries=split_queries,
            )
        if rows and not dry_run:
            _store(connection, rows, study.config_hash)
        return summary(
            found,
            rows,
            codes,
            held,
            reading,
            words_per_minute=study.config.rating.words_per_minute,
            per_item=per_item,
            stored=not dry_run,
        )


def _specs(study: Study, constructs: Sequence[str] | None) -> list[ConstructSpec]:
    known = {spec.key: spec for spec in study.config.constructs}
    if constructs is None:
        return list(known.values())
    if not constructs:
        raise StudyError(f"No construct is named. Known: {', '.join(known)}.")
    for key in constructs:
        if key not in known:
            hint = nearest(key, known)
            raise StudyError(
                f"{key!r} is no construct of {study.config.name!r}. {hint} "
                f"Known: {', '.join(known)}.".replace(".  ", ". ")
            )
    return [spec for key, spec in known.items() if key in constructs]


def _nothing_to_rate(study: Study, found: Needs) -> StudyError:
    if not found.unratable:
        return StudyError(
            f"{study.folder} holds no responses. Bring them in with "
            f"`ccrs import {study.folder} RESPONSES`."
        )
    reasons = ", ".join(f"{key}: {reason}" for key, reason in found.left_out)
    return StudyError(f"No response can be rated on these constructs ({reasons}).")


def _enough(codes: dict[str, int], blocks: Sequence[Block], per_item: int) -> None:
    everybody = set(codes.values())
    for block in blocks:
        free = len(everybody - block.taken_by)
        if free < block.need:
            raise StudyError(
                f"{per_item} raters an item take {block.need} further raters for some responses, "
                f"and {free} of the {len(everybody)} named are free for them. Name more raters, "
                "or lower --per-item."
            )


def _store(connection: Connection, rows: list[Row], config_hash: str) -> None:
    checked = set()
    for row in rows:
        # Apart from their order, which is few, rows differ in numbers made here.
        order = tuple(row["construct_keys"])
        if order not in checked:
            checked.add(order)
            fields = AssignmentBase.model_fields
            AssignmentBase.model_validate({k: value for k, value in row.items() if k in fields})
        row["config_hash"] = config_hash
    connection.execute(insert(table(Assignment)), rows)


def _count(connection: Connection) -> int:
    return int(connection.execute(select(func.count()).select_from(table(Assignment))).scalar_one())
