"""One rater's portion of the work: calibration, the main rating with its checks, and repeats."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from study.assignment.assignment_rows import Group, Piece, Row, in_order
from study.assignment.checks import CheckMaterial, expected_lower, interleave_checks
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
    """Return the queries that a rater is to rate a second time, in addition to `repeated`.

    Parameters
    ----------
    work
        Query to what the rater has of it in the main rating.
    share
        Share of these queries; one at least where it is above 0.
    """
    if not share or not work:
        return []
    wanted = max(1, round(share * len(work)))
    turns = sorted(work, key=lambda query: permanent_number(seed, "repeat", code, key(query)))
    # Those that were repeated before count, also where they have other turns now.
    missing = wanted - len(set(repeated) & set(work))
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
    """What a rater is given."""

    rows: list[Row] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)
    """Purpose to how many queries or checks are wanted and not there."""


def calibration_of(desk: PlanningInputs, person: RaterProfile) -> tuple[list[Group], int]:
    """Return the calibration that a rater has not yet, and how many queries they cannot read."""
    had = {
        (assignment.response, key)
        for assignment in desk.by_rater.get(person.id, ())
        if assignment.purpose == "calibration"
        for key in assignment.construct_keys
    }
    groups, missing = [], 0
    for query in desk.calibration:
        if not person.reads(desk.frame.questions[query].language):
            missing += 1
            continue
        pieces = []
        for answer in desk.of_query.get(query, ()):
            keys = tuple(key for key in desk.keys_of(answer) if (answer.id, key) not in had)
            if keys:
                layout = desk.layout(person.id, query)
                pieces.append(Piece(answer.id, keys, "calibration", layout=layout))
        if pieces:
            groups.append(Group(query, pieces))
    return groups, missing


def checks_missing(desk: PlanningInputs, rater: int) -> int:
    """Return how many checks a rater is still to be given."""
    there = {
        assignment.response
        for assignment in desk.by_rater.get(rater, ())
        if assignment.purpose == "check" and not assignment.gone
    }
    return max(desk.design.checks - len(there), 0)


def portion_of(
    desk: PlanningInputs,
    person: RaterProfile,
    place: int,
    calibration: Sequence[Group],
    blocks: Sequence[Block],
    turns: Mapping[int, int],
    rng: np.random.Generator,
) -> Portion:
    """Return the rows of a rater: calibration, main work with its checks, repeats, in this order.

    Queries come in an order of the rater's own; the orders of responses and constructs are
    counterbalanced over the raters of a query, among whom `turns` has the rater's turn, and among
    all raters of the calibration, `place`.
    """
    rounds, position = desk.rounds(person.code), desk.last.get(person.id, -1)
    portion = Portion()
    orders = desk.orders
    order = [replace(calibration[i], turn=place) for i in rng.permutation(len(calibration))]
    portion.rows += in_order(person.id, order, position, rounds, orders, rng)
    by_query: dict[int, Group] = {}
    for block in blocks:
        group = by_query.setdefault(block.query, Group(block.query, turn=turns[block.query]))
        layout = desk.layout(person.id, block.query)
        group.pieces += [Piece(r, block.construct_keys, layout=layout) for r in block.responses]
    new = list(by_query.values())
    groups = [new[index] for index in rng.permutation(len(new))]
    work = _with(desk.works.get(person.id, {}), groups)
    wanted = checks_missing(desk, person.id) if work else 0
    if wanted:
        groups, made = _with_checks(desk, person, groups, work, wanted, rng)
        portion.missing["check"] = wanted - made
    behind = position + len(portion.rows)
    portion.rows += in_order(person.id, groups, behind, rounds, orders, rng)
    repeated = {o.query for o in desk.by_rater.get(person.id, ()) if o.purpose == "repeat"}
    again = repeats_of(
        person.code,
        work,
        repeated,
        desk.design.repeats,
        desk.seed,
        key=desk.key,
        layout=lambda query: desk.layout(person.id, query),
    )
    first = _orders(desk, person.id, groups, portion.rows)
    # Constructs have a turn that is another than the first time's, for most.
    again = [
        replace(again[i], turn=int(rng.integers(12)), orders=_backwards(first[again[i].query]))
        for i in rng.permutation(len(again))
    ]
    behind = position + len(portion.rows)
    portion.rows += in_order(person.id, again, behind, rounds, orders, rng)
    return portion


def _orders(
    desk: PlanningInputs, rater: int, groups: Sequence[Group], rows: Sequence[Row]
) -> dict[int, dict[int, list[int]]]:
    """Return query and round to the rater's main responses, in the order in which they come."""
    query_of = {piece.response: group.query for group in groups for piece in group.pieces}
    places = [
        (assignment.position, assignment.query, assignment.round, assignment.response)
        for assignment in desk.by_rater.get(rater, ())
        if assignment.counts
    ]
    places += [
        (row["position"], query_of[row["response_id"]], row["round"], row["response_id"])
        for row in rows
        if row["purpose"] == "main"
    ]
    orders: dict[int, dict[int, list[int]]] = {}
    # What has one position comes in the order in which it was assigned.
    for _, query, round_, response in sorted(places, key=lambda place: place[0]):
        orders.setdefault(query, {}).setdefault(round_, []).append(response)
    return orders


def _backwards(orders: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    return {round_: list(order)[::-1] for round_, order in orders.items()}


def _with_checks(
    desk: PlanningInputs,
    person: RaterProfile,
    groups: list[Group],
    work: Work,
    wanted: int,
    rng: np.random.Generator,
) -> tuple[list[Group], int]:
    """Strew checks among what is new and what the rater has and has not begun."""
    waiting = _not_begun(desk, person.id, {group.query for group in groups})
    everything = [*waiting, *groups]
    barred = set(desk.begun.get(person.id, ()))
    barred |= {o.query for o in desk.by_rater.get(person.id, ()) if o.purpose == "check"}
    material = CheckMaterial(
        copies=desk.copies,
        imported=[
            check
            for check in desk.imported
            if person.reads(desk.frame.questions[check.query].language)
            and check.query not in desk.calibration
        ],
        keys_of=lambda response: _keys_of_imported(desk, response),
        falling=expected_lower(desk.everything),
        length=desk.reading.length,
        layout=lambda query: desk.layout(person.id, query),
        rank=lambda response: original_rank(desk, response),
        taken=desk.had.get(person.id, frozenset()),
    )
    made = interleave_checks(everything, work, wanted, material, barred, rng)
    return everything, made


def _keys_of_imported(desk: PlanningInputs, response: int) -> tuple[str, ...]:
    query = next(check.query for check in desk.imported if check.response == response)
    has_passages, has_reference = desk.reading.has(response, query)
    shown = FrameResponse(response, "", query, (), has_passages, has_reference)
    return desk.keys_of(shown)


def _not_begun(desk: PlanningInputs, rater: int, new: set[int]) -> list[Group]:
    """Return the groups that a rater has and was shown nothing of, in order of work."""
    places: dict[int, dict[int, list[int]]] = {}
    begun = desk.begun.get(rater, set())
    for assignment in desk.by_rater.get(rater, ()):
        if assignment.counts and assignment.query not in begun and assignment.query not in new:
            places.setdefault(assignment.query, {}).setdefault(assignment.round, []).append(
                assignment.position
            )
    groups = [Group(query, places=of_rounds) for query, of_rounds in places.items()]
    return sorted(groups, key=lambda group: min(map(min, group.places.values())))


def _with(work: Work, groups: Sequence[Group]) -> Work:
    combined: Work = {query: dict(responses) for query, responses in work.items()}
    for group in groups:
        mine = combined.setdefault(group.query, {})
        for piece in group.pieces:
            mine[piece.response] = mine.get(piece.response, frozenset()).union(piece.construct_keys)
    return combined
