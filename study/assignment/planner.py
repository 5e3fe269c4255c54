"""The planner: it computes the missing assignments and stores them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, func, insert, select, update

from study.assignment.allocation import Allocation, allocate
from study.assignment.assignment_request import check_request
from study.assignment.assignment_rows import Group, Piece, Row, slot_rows
from study.assignment.assignment_summary import Assigned, RaterLoad, summary
from study.assignment.comparison_plan import ComparisonsPlanned, comparison_rows, store_comparisons
from study.assignment.demand import Block, Demand, compute_demand, overlapping
from study.assignment.design_overrides import constructs_of, design_of
from study.assignment.existing_assignments import (
    ExistingAssignment,
    existing_assignments,
    further_slots,
    shown_later_stages,
)
from study.assignment.imported_values import refuse_replacing, replaced_values
from study.assignment.kept_slots import takers
from study.assignment.layout_note import layout_note
from study.assignment.planning_inputs import PlanningInputs, planning_inputs
from study.assignment.query_scripts import scripts_notes
from study.assignment.raters import RaterProfile, eligible_by_query, rater_profiles, raters_by_code
from study.assignment.sample import Sample, draw_sample
from study.assignment.sampling_frame import SamplingFrame, sampling_frame
from study.assignment.stated_items import read_items, stated_work
from study.assignment.unused_overrides import check_used
from study.assignment.workload import calibration_of, portion_of
from study.errors import StudyError
from study.facts.ratings import MEASURING
from study.facts.slots import OWN_CHANNEL
from study.schema import AssignmentBase
from study.schema.locks import LockSpace, lock_until_commit
from study.schema.tables import assignments, raters
from study.settings.design import DesignSpec
from study.study import Study

__all__ = ["Assigned", "RaterLoad", "assign"]

Chances = Mapping[int, tuple[float, str | None]]
"""Query or response to its inclusion probability and stratum."""


def assign(
    study: Study,
    raters: Sequence[str] | int | None = None,
    *,
    per_item: int | None = None,
    open_slots: bool = False,
    kept_for: Sequence[str] | None = None,
    channel: str = OWN_CHANNEL,
    items: Path | str | None = None,
    constructs: Sequence[str] | None = None,
    dry_run: bool = False,
    replace_imported: bool = False,
    **design: Any,
) -> Assigned:
    """Assign the responses that the design draws to raters, in addition to existing ones.

    Parameters
    ----------
    raters
        Codes, or a number (rater-1 to rater-N); new raters are stored. None: the study's raters.
    per_item
        Raters a response; default: the study's `design.per_item`.
    open_slots
        Create slots without a rater instead; raters who join get them under a lease.
    kept_for
        Who may take the open slots: names of enrolment links, codes of raters, or `everyone`.
        None: raters without assigned work of their own.
    channel
        Where open slots are rated: `own` for the project's pages, or `label_studio`.
    items
        A CSV file of who rates what, see `stated_items`, in place of a plan.
    constructs
        Keys of the constructs to rate; default: all.
    dry_run
        Only plan. Unless the study changes, storing gives the same plan.
    replace_imported
        Assign constructs also for which the same rater's values were imported: a value given here
        replaces the imported one in all tables.
    **design
        Settings of `[design]` that override study.toml's: those of
        `study.settings.overridable(DesignSpec)`.

    Returns
    -------
    Assigned
        Counts of new assignments, the sample by stratum, each rater's load with hours of reading,
        whether raters are linked through shared responses, and responses left out or left over.

    Raises
    ------
    StudyError
        There are no responses or too few raters, a construct or code is invalid, the settings
        of the design contradict each other, an option has no effect, or imported values would be
        replaced.
    """
    plan = design_of(study, {**design, "per_item": per_item})
    check_request(plan, raters, kept_for, items, open_slots=open_slots, channel=channel)
    stated = None if items is None else read_items(Path(items))
    raters = raters if stated is None else list(dict.fromkeys(item.rater for item in stated))
    specs = constructs_of(study, constructs)
    with study.read() if dry_run else study.write() as connection:
        if not dry_run:
            lock_until_commit(connection, LockSpace.ASSIGNMENT)
        frame, existing = sampling_frame(connection), existing_assignments(connection, study.config)
        if not frame.answers:
            raise _no_responses(study)
        check_used(
            plan,
            design | {"constructs": constructs},
            specs,
            open_slots=open_slots,
        )
        codes = {} if open_slots else raters_by_code(connection, study, raters, dry_run=dry_run)
        people = rater_profiles(connection, study, codes)
        eligible = eligible_by_query(people, frame)
        at_work = _at_work(connection, existing)
        all_eligible = eligible_by_query(rater_profiles(connection, study, at_work | codes), frame)
        sample = draw_sample(
            connection,
            study,
            plan,
            frame,
            existing,
            eligible=lambda query: all_eligible[query],
            readable=lambda query: len(eligible[query]) == len(people),
        )
        drawn = None if plan.sample is None else sample
        demand, given = (
            (_missing(study, plan, frame, existing, sample, specs), None)
            if stated is None
            else stated_work(connection, stated, people, frame, existing, drawn, specs)
        )
        inputs = planning_inputs(
            connection, study, plan, specs, frame, existing, sample.calibration, dry_run=dry_run
        )
        inputs.copies.rated.update(block.query for block in demand.blocks)
        rng = np.random.default_rng([study.config.seed, _count(connection)])
        shared, notes = Allocation(), list(sample.notes)
        if open_slots:
            rows = slot_rows(
                [(_group(block, plan.layout), block.need) for block in demand.blocks],
                inputs.last_positions.get(None, -1),
                inputs.rounds(None),
                inputs.orders,
                rng,
                channel,
                takers(connection, study, kept_for or ()),
            )
        else:
            revealed = shown_later_stages(connection)
            shared, rows, more = _portions(inputs, demand, people, eligible, revealed, rng, given)
            notes += more
        chances = sample.chances()
        _with_chances(rows, sample, chances, frame, existing)
        _with_places(rows, existing)
        changed = _changed(sample, chances, existing)
        notes += [
            *scripts_notes(connection, rows, people),
            *layout_note(connection, _open_blocks(plan, channel, existing, demand)),
        ]
        if open_slots and not rows and demand.covered:
            notes.append(_advice(study, existing))
        replaced = replaced_values(connection, rows, codes, study.construct_versions(connection))
        if not dry_run:
            refuse_replacing({} if replace_imported else replaced)
            _store(connection, rows, changed, study.config_hash)
        compared = None
        if not open_slots and stated is None:
            compared = _compare(connection, study, plan, sample, codes, eligible, frame, dry_run)
        return summary(
            demand,
            shared,
            rows,
            codes,
            inputs,
            sample,
            chances,
            words_per_minute=study.config.rating.words_per_minute,
            updated=len(changed),
            notes=notes,
            comparisons=compared,
            replaces_imported=replaced,
            stored=not dry_run,
        )


def _open_blocks(
    plan: DesignSpec, channel: str, existing: Sequence[ExistingAssignment], demand: Demand
) -> list[Block]:
    """Return the blocks whose layout may still be chosen: those of a first plan for own pages."""
    is_open = plan.layout == "single" and channel == OWN_CHANNEL and not existing
    return demand.blocks if is_open else []


def _at_work(connection: Connection, existing: Sequence[ExistingAssignment]) -> dict[str, int]:
    """Return the codes of raters with assignments, with their database keys."""
    ids = {assignment.rater for assignment in existing}
    stored = connection.execute(select(raters.c.code, raters.c.id).order_by(raters.c.id))
    return {row.code: row.id for row in stored if row.id in ids}


def _missing(
    study: Study,
    plan: DesignSpec,
    frame: SamplingFrame,
    existing: Sequence[ExistingAssignment],
    sample: Sample,
    specs: Sequence[Any],
) -> Demand:
    """Return the demand of the sample for further raters."""
    if not plan.ratings:
        return Demand()
    drawn_responses = sample.responses()
    queries = {answer.query for answer in sample.answers if answer.id in drawn_responses}
    several = overlapping(
        ((query, frame.questions[query].key) for query in queries),
        plan.overlap,
        existing,
        study.config.seed,
    )
    ratable = {answer.id for answer in sample.answers}
    # Responses that cannot be rated were not drawn from, and are reported with the reasons.
    among = drawn_responses | {answer.id for answer in frame.answers if answer.id not in ratable}
    demand = compute_demand(
        frame,
        specs,
        existing,
        lambda query: plan.per_item if query in several else 1,
        among=among,
    )
    if not demand.blocks and not demand.covered:
        reasons = ", ".join(f"{key}: {reason}" for key, reason in demand.left_out)
        raise StudyError(f"No response can be rated on these constructs ({reasons}).")
    return demand


def _portions(
    inputs: PlanningInputs,
    demand: Demand,
    people: Sequence[RaterProfile],
    eligible: Mapping[int, frozenset[int]],
    revealed: Mapping[int, set[int]],
    rng: np.random.Generator,
    given: Allocation | None,
) -> tuple[Allocation, list[Row], list[str]]:
    """Allocate the blocks, unless they are given, and return all raters' rows with notes."""
    if not inputs.design.ratings:
        return Allocation(), [], []
    calibration = [calibration_of(inputs, person) for person in people]
    shared = given or allocate(
        demand.blocks,
        people,
        eligible,
        [inputs.main_work.get(person.id, {}) for person in people],
        revealed,
        inputs.cost,
        rng,
        per_item=inputs.design.per_item,
        language=lambda query: inputs.frame.questions[query].language,
    )
    rows: list[Row] = []
    notes = []
    turns = Counter(query for work in inputs.main_work.values() for query in work)
    short = {"calibration": sum(missing for _, missing in calibration), "check": 0}
    for place, (person, (groups, _)) in enumerate(zip(people, calibration, strict=True)):
        blocks = shared.blocks.get(place, [])
        turn = {query: turns[query] for query in dict.fromkeys(block.query for block in blocks)}
        turns.update(turn.keys())
        portion = portion_of(inputs, person, place, groups, blocks, turn, rng)
        rows += portion.rows
        short["check"] += portion.missing.get("check", 0)
    if short["calibration"]:
        notes.append(
            f"Calibration: {short['calibration']} of the raters' queries are in a language that "
            "the rater does not read."
        )
    if short["check"]:
        notes.append(
            f"Checks: {short['check']} fewer than requested. A check needs a query that the rater "
            "does not have, with as many responses that can be copied as their own queries have, "
            "and a place in work that is not begun. Let raters rate fewer of the queries "
            "(--sample), or import further queries with responses."
        )
    return shared, rows, notes


def _group(block: Block, layout: str) -> Group:
    return Group(
        block.query, [Piece(r, block.construct_keys, layout=layout) for r in block.responses]
    )


def _with_chances(
    rows: Sequence[Row],
    sample: Sample,
    chances: Chances,
    frame: SamplingFrame,
    existing: Sequence[ExistingAssignment],
) -> None:
    """Set probability and stratum of main and repeated rows; others are not drawn at random."""
    query_of = {answer.id: answer.query for answer in frame.answers}
    before = {g.response: (g.inclusion_prob, g.stratum) for g in existing if g.purpose == "main"}
    for row in rows:
        if row["purpose"] in MEASURING:
            response = row["response_id"]
            unit = query_of.get(response) if sample.draws_queries else response
            drawn = chances.get(unit) if unit is not None else None
            chance = drawn or before.get(response, (1.0, None))
            row["inclusion_prob"], row["stratum"] = chance


def _with_places(rows: Sequence[Row], existing: Sequence[ExistingAssignment]) -> None:
    """Let new rows replace assignments that were taken back, so that no other rater gets them."""
    vacant: dict[int, list[ExistingAssignment]] = {}
    for assignment in existing:
        if assignment.vacant:
            vacant.setdefault(assignment.response, []).append(assignment)
    for row in rows if vacant else ():
        if row["purpose"] != "main":
            continue
        keys = frozenset(row["construct_keys"])
        for assignment in vacant.get(row["response_id"], ()):
            if assignment.construct_keys <= keys:
                row["replaces_id"] = assignment.id
                vacant[row["response_id"]].remove(assignment)
                break


def _advice(study: Study, existing: Sequence[ExistingAssignment]) -> str:
    return f"For a further rater of each response: `{further_slots(study.folder, existing)}`"


def _changed(
    sample: Sample, chances: Chances, existing: Sequence[ExistingAssignment]
) -> list[dict[str, Any]]:
    """Return existing assignments whose stored probability or stratum is out of date."""
    changes = []
    for assignment in existing:
        if assignment.purpose not in MEASURING:
            continue
        now = chances.get(assignment.query if sample.draws_queries else assignment.response)
        if now is not None and now != (assignment.inclusion_prob, assignment.stratum):
            changes.append({"which": assignment.id, "chance": now[0], "name": now[1]})
    return changes


def _compare(
    connection: Connection,
    study: Study,
    plan: DesignSpec,
    sample: Sample,
    codes: Mapping[str, int],
    eligible: Mapping[int, frozenset[int]],
    frame: SamplingFrame,
    dry_run: bool,
) -> ComparisonsPlanned | None:
    """Plan the comparisons of pairs, and store them."""
    if not plan.comparisons:
        return None
    drawn = None
    if sample.draws_queries and (plan.sample is not None or sample.calibration):
        drawn = {unit: chance for unit, (chance, _) in sample.chances().items()}
    elif sample.calibration:
        barred = set(sample.calibration)
        # Queries that cannot be rated are not used for calibration.
        available = {query: sample.availability.get(query, 1.0) for query in frame.questions}
        drawn = {query: chance for query, chance in available.items() if query not in barred}
    barred_from = {
        rater: {query for query, places in eligible.items() if place not in places}
        for place, rater in enumerate(codes.values())
    }
    rows, compared = comparison_rows(
        connection, study, codes, per_item=plan.per_item, drawn=drawn, barred=barred_from
    )
    if not dry_run:
        store_comparisons(connection, rows)
    return compared


def _no_responses(study: Study) -> StudyError:
    return StudyError(
        f"{study.folder} has no responses. Import them with `ccrs import {study.folder} RESPONSES`."
    )


def _store(
    connection: Connection,
    rows: Sequence[Row],
    changed: list[dict[str, Any]],
    config_hash: str,
) -> None:
    checked = set()
    for row in rows:
        # Rows with the same of these differ only in numbers.
        alike = (tuple(row["construct_keys"]), row["purpose"], row["layout"], row["stratum"])
        if alike not in checked:
            checked.add(alike)
            fields = AssignmentBase.model_fields
            AssignmentBase.model_validate({k: value for k, value in row.items() if k in fields})
        row["config_hash"] = config_hash
    if rows:
        connection.execute(insert(assignments), list(rows))
    if changed:
        connection.execute(
            update(assignments)
            .where(assignments.c.id == bindparam("which"))
            .values(inclusion_prob=bindparam("chance"), stratum=bindparam("name")),
            changed,
        )


def _count(connection: Connection) -> int:
    return int(connection.execute(select(func.count()).select_from(assignments)).scalar_one())
