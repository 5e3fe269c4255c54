"""One rater's portion of the work: calibration, the main rating with its checks, and repeats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from study.assignment.assignment_rows import Group, Piece, Row, in_order
from study.assignment.check_items import Material, strew
from study.assignment.damaged_copies import must_fall
from study.assignment.demand import Block
from study.assignment.planning_inputs import Desk, Work, original_rank
from study.assignment.rater_profiles import RaterProfile
from study.assignment.repeat_items import repeats_of
from study.assignment.sampling_frame import FrameResponse


@dataclass
class Portion:
    """What a rater is given."""

    rows: list[Row] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)
    """Purpose to how many queries or checks are wanted and not there."""


def calibration_of(desk: Desk, person: RaterProfile) -> tuple[list[Group], int]:
    """Return the calibration that a rater has not yet, and how many queries they cannot read."""
    had = {
        (one.response, key)
        for one in desk.by_rater.get(person.id, ())
        if one.purpose == "calibration"
        for key in one.construct_keys
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


def checks_missing(desk: Desk, rater: int) -> int:
    """Return how many checks a rater is still to be given."""
    there = {
        one.response
        for one in desk.by_rater.get(rater, ())
        if one.purpose == "check" and not one.gone
    }
    return max(desk.design.checks - len(there), 0)


def portion_of(
    desk: Desk,
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
    desk: Desk, rater: int, groups: Sequence[Group], rows: Sequence[Row]
) -> dict[int, dict[int, list[int]]]:
    """Return query and round to the rater's main responses, in the order in which they come."""
    query_of = {piece.response: group.query for group in groups for piece in group.pieces}
    places = [
        (one.position, one.query, one.round, one.response)
        for one in desk.by_rater.get(rater, ())
        if one.counts
    ]
    places += [
        (row["position"], query_of[row["response_id"]], row["round"], row["response_id"])
        for row in rows
        if row["purpose"] == "main"
    ]
    found: dict[int, dict[int, list[int]]] = {}
    # What has one position comes in the order in which it was assigned.
    for _, query, round_, response in sorted(places, key=lambda place: place[0]):
        found.setdefault(query, {}).setdefault(round_, []).append(response)
    return found


def _backwards(orders: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    return {round_: list(order)[::-1] for round_, order in orders.items()}


def _with_checks(
    desk: Desk,
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
    material = Material(
        copies=desk.copies,
        imported=[
            one
            for one in desk.imported
            if person.reads(desk.frame.questions[one.query].language)
            and one.query not in desk.calibration
        ],
        keys_of=lambda response: _keys_of_imported(desk, response),
        falling=must_fall(desk.everything),
        length=desk.reading.length,
        layout=lambda query: desk.layout(person.id, query),
        rank=lambda response: original_rank(desk, response),
        taken=desk.had.get(person.id, frozenset()),
    )
    made = strew(everything, work, wanted, material, barred, rng)
    return everything, made


def _keys_of_imported(desk: Desk, response: int) -> tuple[str, ...]:
    query = next(one.query for one in desk.imported if one.response == response)
    has_passages, has_reference = desk.reading.has(response, query)
    shown = FrameResponse(response, "", query, (), has_passages, has_reference)
    return desk.keys_of(shown)


def _not_begun(desk: Desk, rater: int, new: set[int]) -> list[Group]:
    """Return the groups that a rater has and was shown nothing of, in order of work."""
    places: dict[int, dict[int, list[int]]] = {}
    begun = desk.begun.get(rater, set())
    for one in desk.by_rater.get(rater, ()):
        if one.counts and one.query not in begun and one.query not in new:
            places.setdefault(one.query, {}).setdefault(one.round, []).append(one.position)
    groups = [Group(query, places=of_rounds) for query, of_rounds in places.items()]
    return sorted(groups, key=lambda group: min(map(min, group.places.values())))


def _with(work: Work, groups: Sequence[Group]) -> Work:
    found: Work = {query: dict(responses) for query, responses in work.items()}
    for group in groups:
        mine = found.setdefault(group.query, {})
        for piece in group.pieces:
            mine[piece.response] = mine.get(piece.response, frozenset()).union(piece.construct_keys)
    return found
