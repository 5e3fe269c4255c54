"""The work of one rater: calibration, the main rating with its checks, and repeats."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from study.assignment.assignment_rows import Group, Piece, Row, in_order
from study.assignment.checks import (
    CheckMaterial,
    CheckQuery,
    expected_lower,
    interleave,
    made_checks,
)
from study.assignment.demand import Block
from study.assignment.planning_inputs import PlanningInputs, Work, original_rank
from study.assignment.raters import RaterProfile
from study.assignment.sampling_frame import FrameResponse
from study.assignment.stratified_sample import permanent_number

Responses = Mapping[int, frozenset[str]]


def repeats_of(
    code: str,
    work: Mapping[int, Responses],
    repeated: Collection[int],
    share: float,
    seed: int,
    *,
    key: Callable[[int], str],
    layout: Callable[[int], str],
) -> list[Group]:
    """Return the queries that a rater rates a second time, in addition to `repeated`.

    Parameters
    ----------
    work
        Query to the rater's responses in the main rating.
    share
        Share of these queries; if above 0, at least one query.
    """
    if not share or not work:
        return []
    target = max(1, round(share * len(work)))
    turns = sorted(work, key=lambda query: permanent_number(seed, "repeat", code, key(query)))
    # Queries that were repeated before count.
    missing = target - len(set(repeated) & set(work))
    groups: list[Group] = []
    for query in turns:
        if len(groups) >= missing:
            break
        if query in repeated:
            continue
        pieces = [
            Piece(response, tuple(sorted(keys)), "repeat", 1, layout(query))
            for response, keys in work[query].items()
        ]
        groups.append(Group(query, pieces))
    return groups


@dataclass
class Portion:
    """The new work of a rater."""

    rows: list[Row] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)
    """Purpose to the number of queries or checks that are missing."""


def calibration_of(inputs: PlanningInputs, person: RaterProfile) -> tuple[list[Group], int]:
    """Return a rater's missing calibration, and the number of queries they cannot read."""
    had = {
        (assignment.response, key)
        for assignment in inputs.assignments_by_rater.get(person.id, ())
        if assignment.purpose == "calibration"
        for key in assignment.construct_keys
    }
    groups, missing = [], 0
    for query in inputs.calibration_queries:
        if not person.reads(inputs.frame.questions[query].language):
            missing += 1
            continue
        pieces = []
        for answer in inputs.responses_by_query.get(query, ()):
            keys = tuple(key for key in inputs.keys_of(answer) if (answer.id, key) not in had)
            if keys:
                layout = inputs.layout(person.id, query)
                pieces.append(Piece(answer.id, keys, "calibration", layout=layout))
        if pieces:
            groups.append(Group(query, pieces))
    return groups, missing


def checks_missing(inputs: PlanningInputs, rater: int) -> int:
    """Return how many checks a rater still needs."""
    assigned = {
        assignment.query
        for assignment in inputs.assignments_by_rater.get(rater, ())
        if assignment.purpose == "check" and not assignment.inactive
    }
    return max(inputs.design.checks - len(assigned), 0)


def portion_of(
    inputs: PlanningInputs,
    person: RaterProfile,
    place: int,
    calibration: Sequence[Group],
    blocks: Sequence[Block],
    turns: Mapping[int, int],
    rng: np.random.Generator,
) -> Portion:
    """Return the rows of a rater: calibration, main work with its checks, repeats, in this order.

    Queries are in a random order for each rater. The orders of responses and constructs are
    counterbalanced over the raters of a query, among whom `turns` has the rater's turn; for
    calibration the turn is `place`, the rater's index.
    """
    rounds, position = inputs.rounds(person.code), inputs.last_positions.get(person.id, -1)
    portion = Portion()
    orders = inputs.orders
    order = [replace(calibration[i], turn=place) for i in rng.permutation(len(calibration))]
    portion.rows += in_order(person.id, order, position, rounds, orders, rng)
    by_query: dict[int, Group] = {}
    for block in blocks:
        group = by_query.setdefault(block.query, Group(block.query, turn=turns[block.query]))
        layout = inputs.layout(person.id, block.query)
        group.pieces += [Piece(r, block.construct_keys, layout=layout) for r in block.responses]
    new = list(by_query.values())
    groups = [new[index] for index in rng.permutation(len(new))]
    work = _with(inputs.main_work.get(person.id, {}), groups)
    target = checks_missing(inputs, person.id) if work else 0
    if target:
        groups, added = _with_checks(inputs, person, groups, work, target, rng)
        portion.missing["check"] = target - added
    behind = position + len(portion.rows)
    portion.rows += in_order(person.id, groups, behind, rounds, orders, rng)
    repeated = {
        o.query for o in inputs.assignments_by_rater.get(person.id, ()) if o.purpose == "repeat"
    }
    again = repeats_of(
        person.code,
        work,
        repeated,
        inputs.design.repeats,
        inputs.seed,
        key=inputs.key,
        layout=lambda query: inputs.layout(person.id, query),
    )
    first = _orders(inputs, person.id, groups, portion.rows)
    # For most raters, the turn of the constructs differs from that of the first time.
    again = [
        replace(again[i], turn=int(rng.integers(12)), orders=_backwards(first[again[i].query]))
        for i in rng.permutation(len(again))
    ]
    behind = position + len(portion.rows)
    portion.rows += in_order(person.id, again, behind, rounds, orders, rng)
    return portion


def _orders(
    inputs: PlanningInputs, rater: int, groups: Sequence[Group], rows: Sequence[Row]
) -> dict[int, dict[int, list[int]]]:
    """Return query and round to the rater's main responses, in the order in which they come."""
    query_of = {piece.response: group.query for group in groups for piece in group.pieces}
    places = [
        (assignment.position, assignment.query, assignment.round, assignment.response)
        for assignment in inputs.assignments_by_rater.get(rater, ())
        if assignment.counts
    ]
    places += [
        (row["position"], query_of[row["response_id"]], row["round"], row["response_id"])
        for row in rows
        if row["purpose"] == "main"
    ]
    orders: dict[int, dict[int, list[int]]] = {}
    # Rows of one position are in the order of their assignment.
    for _, query, round_, response in sorted(places, key=lambda place: place[0]):
        orders.setdefault(query, {}).setdefault(round_, []).append(response)
    return orders


def _backwards(orders: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    return {round_: list(order)[::-1] for round_, order in orders.items()}


def _with_checks(
    inputs: PlanningInputs,
    person: RaterProfile,
    groups: list[Group],
    work: Work,
    target: int,
    rng: np.random.Generator,
) -> tuple[list[Group], int]:
    """Insert checks among new work and existing work that the rater has not begun."""
    waiting = _not_begun(inputs, person.id, {group.query for group in groups})
    if not waiting and not groups:
        return [], 0
    material = CheckMaterial(
        copies=inputs.copies,
        queries=_check_queries(inputs, person, work),
        falling=expected_lower(inputs.constructs),
        length=inputs.word_counts.length,
        layout=lambda query: inputs.layout(person.id, query),
    )
    checks = made_checks(work, target, material, rng)
    return interleave(waiting, groups, checks, rng), len(checks)


def _check_queries(inputs: PlanningInputs, person: RaterProfile, work: Work) -> list[CheckQuery]:
    """Return the queries that a rater does not have, those that nobody rates in front."""
    known = {assignment.query for assignment in inputs.assignments_by_rater.get(person.id, ())}
    known |= {*work, *inputs.calibration_queries}
    imported: dict[int, dict[int, frozenset[str]]] = {}
    for check in inputs.imported_checks:
        keys = _keys_of_imported(inputs, check.response)
        imported.setdefault(check.query, {})[check.response] = frozenset(keys)
    queries = [
        CheckQuery(
            query,
            {
                answer.id: frozenset(inputs.keys_of(answer))
                for answer in sorted(
                    inputs.responses_by_query.get(query, ()),
                    key=lambda answer: original_rank(inputs, answer.id),
                )
            },
            imported.get(query, {}),
        )
        for query in {*inputs.responses_by_query, *imported} - known
        if person.reads(inputs.frame.questions[query].language)
    ]
    # The same order for all raters, so that copies are shared.
    return sorted(
        queries,
        key=lambda check: (
            check.query in inputs.copies.rated,
            permanent_number(inputs.seed, "check", inputs.key(check.query)),
        ),
    )


def _keys_of_imported(inputs: PlanningInputs, response: int) -> tuple[str, ...]:
    query = next(check.query for check in inputs.imported_checks if check.response == response)
    has_passages, has_reference = inputs.word_counts.has(response, query)
    answer = FrameResponse(response, "", query, (), has_passages, has_reference)
    return inputs.keys_of(answer)


def _not_begun(inputs: PlanningInputs, rater: int, new: set[int]) -> list[Group]:
    """Return the groups of a rater of which no page was shown yet, in order of work."""
    places: dict[int, dict[int, list[int]]] = {}
    begun = inputs.begun_queries.get(rater, set())
    for assignment in inputs.assignments_by_rater.get(rater, ()):
        if assignment.counts and assignment.query not in begun and assignment.query not in new:
            places.setdefault(assignment.query, {}).setdefault(assignment.round, []).append(
                assignment.position
            )
    groups = [Group(query, places=round_places) for query, round_places in places.items()]
    return sorted(groups, key=lambda group: min(map(min, group.places.values())))


def _with(work: Work, groups: Sequence[Group]) -> Work:
    combined: Work = {query: dict(responses) for query, responses in work.items()}
    for group in groups:
        mine = combined.setdefault(group.query, {})
        for piece in group.pieces:
            mine[piece.response] = mine.get(piece.response, frozenset()).union(piece.construct_keys)
    return combined
