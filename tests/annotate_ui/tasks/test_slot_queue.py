"""Open slots: never more than there are, also when many ask at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from sqlalchemy import select, update

from annotate_ui.tasks.steps import rater_work
from annotate_ui.tasks.workflow import open_next
from study import Study
from study.facts.slots import lease_is_over
from study.schema import now
from study.schema.tables import assignments as assignment_table, raters as rater_table
from tests.annotate_ui.faked_clock import Clock
from tests.annotate_ui.rated_campaign import fill, finish_step, give, rate, ratings


def assignments(study: Study) -> list[Any]:
    with study.read() as connection:
        return list(connection.execute(select(assignment_table).order_by(assignment_table.c.id)))


def live_slots(study: Study) -> dict[int, int]:
    """Count the live slots of each response: held for good, or under a lease."""
    counts: dict[int, int] = {}
    for row in assignments(study):
        if row.rater_id is not None and (row.leased_until is None or row.leased_until > now()):
            counts[row.response_id] = counts.get(row.response_id, 0) + 1
    return counts


def expire(study: Study, rater_id: int) -> None:
    with study.write() as connection:
        connection.execute(
            update(assignment_table)
            .where(
                assignment_table.c.rater_id == rater_id,
                assignment_table.c.leased_until.is_not(None),
            )
            .values(leased_until=now() - timedelta(seconds=1))
        )


def raters(study: Study, count: int) -> list[int]:
    from sqlalchemy import insert

    with study.write() as connection:
        connection.execute(
            insert(rater_table), [{"code": f"r{n}", "attributes": {}} for n in range(1, count + 1)]
        )
        return list(
            connection.execute(select(rater_table.c.id).order_by(rater_table.c.id)).scalars()
        )


def open_slots(study: Study, per_item: int, **other: Any) -> None:
    for _ in range(per_item):
        give(study, None, **other)


def test_twenty_simultaneous_requests_get_exactly_k_slots(any_study: Study) -> None:
    fill(any_study, queries=1, systems=3)
    open_slots(any_study, 3)
    everybody = raters(any_study, 20)
    with ThreadPoolExecutor(20) as pool:
        steps = list(pool.map(lambda rater: open_next(any_study, rater).step, everybody))
    assert sum(step is not None for step in steps) == 3
    assert live_slots(any_study) == {1: 3, 2: 3, 3: 3}
    by_rater = [row.rater_id for row in assignments(any_study)]
    assert all(by_rater.count(rater) == 3 for rater in set(by_rater))


def test_an_expired_slot_is_handed_on_once_also_when_twenty_ask_at_once(any_study: Study) -> None:
    fill(any_study, queries=1, systems=2)
    open_slots(any_study, 1)
    first, *others = raters(any_study, 21)
    assert open_next(any_study, first).step is not None
    assert open_next(any_study, others[0]).step is None
    expire(any_study, first)
    with ThreadPoolExecutor(20) as pool:
        steps = list(pool.map(lambda rater: open_next(any_study, rater).step, others))
    assert sum(step is not None for step in steps) == 1
    assert set(live_slots(any_study).values()) == {1}
    assert [row.replaces_id for row in assignments(any_study)][2:] in ([1, 2], [2, 1])


def test_a_save_after_the_lease_is_kept_and_marked_late(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    open_slots(any_study, 1)
    anna, ben = raters(any_study, 2)
    step = open_next(any_study, anna).step
    assert step is not None
    expire(any_study, anna)
    theirs = finish_step(any_study, ben, 10.0)
    assert theirs.item.response_id == step.item.response_id
    assert rate(any_study, anna, step, "QR", 90.0).late
    values = any_study.score_table().set_index("scorer")["value"].to_dict()
    assert values == {"r1": 90.0, "r2": 10.0}
    # The slot is Ben's now: Anna is asked for no more of it.
    assert open_next(any_study, anna).step is None
    assert live_slots(any_study) == {1: 1}


def test_a_slot_that_was_handed_on_counts_with_the_values_it_holds(study: Study) -> None:
    fill(study, queries=1, systems=1)
    open_slots(study, 1)
    anna, ben = raters(study, 2)
    step = open_next(study, anna).step
    assert step is not None
    rate(study, anna, step, "QR", 90.0)
    with study.read() as connection:
        held_by_anna = rater_work(connection, study.config, anna).progress
    assert (held_by_anna.done, held_by_anna.total) == (1, 5)
    expire(study, anna)
    assert open_next(study, ben).step is not None
    with study.read() as connection:
        progress = rater_work(connection, study.config, anna).progress
    assert (progress.done, progress.total, progress.left) == (1, 1, 0)


def test_a_late_save_regains_a_slot_that_was_not_handed_on(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    open_slots(any_study, 1)
    anna, ben = raters(any_study, 2)
    step = open_next(any_study, anna).step
    assert step is not None
    expire(any_study, anna)
    assert rate(any_study, anna, step, "QR", 90.0).late
    assert open_next(any_study, ben).step is None
    assert live_slots(any_study) == {1: 1}
    following = open_next(any_study, anna).step
    assert following is not None
    assert following.stage.number == 2


def test_a_lease_is_over_at_the_moment_it_ends(study: Study, clock: Clock) -> None:
    fill(study, queries=1, systems=1)
    open_slots(study, 1)
    (anna,) = raters(study, 1)
    step = open_next(study, anna).step
    assert step is not None
    (row,) = assignments(study)
    assert row.leased_until == clock.at + timedelta(minutes=120)
    clock.at = row.leased_until
    assert lease_is_over(row.leased_until)
    assert rate(study, anna, step, "QR", 90.0).late


def test_a_slot_is_free_for_others_at_the_moment_its_lease_ends(
    any_study: Study, clock: Clock
) -> None:
    """The same moment from which its rater's save is late."""
    fill(any_study, queries=1, systems=1)
    open_slots(any_study, 1)
    anna, ben = raters(any_study, 2)
    assert open_next(any_study, anna).step is not None
    (row,) = assignments(any_study)
    clock.at = row.leased_until - timedelta(microseconds=1)
    assert not lease_is_over(row.leased_until)
    assert open_next(any_study, ben).step is None
    clock.at = row.leased_until
    assert lease_is_over(row.leased_until)
    assert open_next(any_study, ben).step is not None
    assert [slot.replaces_id for slot in assignments(any_study)] == [None, row.id]


def test_a_slot_that_was_handed_on_stays_so_when_its_first_rater_finishes_it(
    any_study: Study,
) -> None:
    fill(any_study, queries=1, systems=1)
    open_slots(any_study, 1, keys=["QR"])
    anna, ben = raters(any_study, 2)
    step = open_next(any_study, anna).step
    assert step is not None
    expire(any_study, anna)
    assert open_next(any_study, ben).step is not None
    before, handed_on = assignments(any_study)
    assert handed_on.replaces_id == before.id
    assert rate(any_study, anna, step, "QR", 90.0).late
    # The rating is complete and kept, but the slot is held by one rater only.
    assert assignments(any_study) == [before, handed_on]
    assert live_slots(any_study) == {1: 1}


def test_saving_renews_no_slot_of_the_query_that_was_handed_on(any_study: Study) -> None:
    fill(any_study, queries=1, systems=2)
    open_slots(any_study, 1)
    anna, ben = raters(any_study, 2)
    step = open_next(any_study, anna).step
    assert step is not None
    kept = next(r for r in assignments(any_study) if r.public_id == step.item.public_id)
    (other,) = (r for r in assignments(any_study) if r.id != kept.id)
    ended, soon = now() - timedelta(seconds=1), now() + timedelta(minutes=1)
    with any_study.write() as connection:
        for slot, until in ((kept, soon), (other, ended)):
            connection.execute(
                update(assignment_table)
                .where(assignment_table.c.id == slot.id)
                .values(leased_until=until)
            )
    assert open_next(any_study, ben).step is not None
    assert not rate(any_study, anna, step, "QR", 50.0).late
    after = {row.id: row.leased_until for row in assignments(any_study)}
    assert after[kept.id] > soon
    assert after[other.id] == ended
    assert live_slots(any_study) == {1: 1, 2: 1}


def test_late_saves_during_many_requests_never_exceed_k(any_study: Study) -> None:
    fill(any_study, queries=4, systems=1)
    open_slots(any_study, 1)
    everybody = raters(any_study, 8)
    steps = {rater: open_next(any_study, rater).step for rater in everybody[:4]}
    for rater in steps:
        expire(any_study, rater)

    def act(rater: int) -> None:
        step = steps.get(rater)
        if step is None:
            open_next(any_study, rater)
        else:
            rate(any_study, rater, step, "QR", 5.0)

    order = [rater for pair in zip(everybody[:4], everybody[4:], strict=True) for rater in pair]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(act, order))
    assert max(live_slots(any_study).values()) == 1
    assert len(ratings(any_study)) == 4


def test_finished_slots_are_never_handed_on(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    open_slots(any_study, 1)
    anna, ben = raters(any_study, 2)
    for _ in range(3):
        finish_step(any_study, anna)
    expire(any_study, anna)
    assert open_next(any_study, ben).step is None
    assert [row.leased_until for row in assignments(any_study)] == [None]


def test_a_rater_is_given_all_responses_of_a_query_and_never_one_twice(study: Study) -> None:
    fill(study, queries=2, systems=2)
    open_slots(study, 2)
    (anna,) = raters(study, 1)
    seen = [finish_step(study, anna) for _ in range(12)]
    assert open_next(study, anna).step is None
    assert len({step.item.response_id for step in seen}) == 4
    assert [step.query_number for step in seen] == [1] * 6 + [2] * 6


def test_saving_renews_the_lease(study: Study) -> None:
    fill(study, queries=1, systems=2)
    open_slots(study, 1)
    (anna,) = raters(study, 1)
    step = open_next(study, anna).step
    assert step is not None
    with study.write() as connection:
        connection.execute(
            update(assignment_table).values(leased_until=now() + timedelta(minutes=1))
        )
    rate(study, anna, step, "QR", 5.0)
    left = [row.leased_until - now() for row in assignments(study)]
    assert all(timedelta(minutes=119) < remaining <= timedelta(minutes=120) for remaining in left)


def test_named_raters_have_no_lease(study: Study) -> None:
    fill(study, queries=1, systems=1)
    anna = give(study, "anna")
    assert anna is not None
    (ben,) = [rater for rater in raters(study, 1) if rater != anna]
    assert open_next(study, anna).step is not None
    assert open_next(study, ben).step is None
    assert [row.leased_until for row in assignments(study)] == [None]


def test_slots_for_further_constructs_go_to_the_raters_of_the_first(any_study: Study) -> None:
    fill(any_study, queries=1, systems=2)
    open_slots(any_study, 1, keys=["QR"])
    open_slots(any_study, 1, keys=["AC"])
    (anna,) = raters(any_study, 1)
    seen = [finish_step(any_study, anna) for _ in range(4)]
    assert open_next(any_study, anna).step is None
    assert [step.construct_keys for step in seen] == [("QR",)] * 2 + [("AC",)] * 2
