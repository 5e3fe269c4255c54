"""Who joins for open slots: what they are handed, in which order, and what comes with it."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from annotate_ui.participants.withdrawal import leave
from annotate_ui.participation import lock_slots
from annotate_ui.tasks.slot_queue import take_slots
from annotate_ui.tasks.workflow import all_done, open_next
from study import Study
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from study.schema import now
from study.schema.tables import (
    assignments as assignment_table,
    check_pairs,
    enrolment_links,
    enrolments,
    responses,
)
from tests.annotate_ui.designed_campaign import (
    assign_one,
    assignments,
    configure,
    go_through,
    new_rater,
)
from tests.annotate_ui.rated_campaign import fill, finish_step, give, rate

WORDS = ("alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine")


def enrol(study: Study, code: str, most: int | None) -> int:
    rater = new_rater(study, code)
    with study.write() as connection:
        link = connection.execute(
            insert(enrolment_links)
            .values(name=f"link-{code}", quota=5, queries_each=most, token_hash=code.encode() * 8)
            .returning(enrolment_links.c.id)
        ).scalar_one()
        connection.execute(insert(enrolments).values(link_id=link, rater_id=rater))
    return rater


def queries_of(study: Study, rater: int) -> list[int]:
    with study.read() as connection:
        rows = connection.execute(select(responses.c.id, responses.c.query_id))
        by_response = {row.id: row.query_id for row in rows}
    ordered = sorted(assignments(study, rater, "main"), key=lambda row: row.position)
    return list(dict.fromkeys(by_response[row.response_id] for row in ordered))


def test_released_unfinished_slots_go_to_new_raters(any_study: Study) -> None:
    fill(any_study, queries=2, systems=1)
    anna = give(any_study, "anna", keys=["QR"])
    assert anna is not None
    with any_study.write() as connection:
        connection.execute(
            update(assignment_table).values(
                inclusion_prob=0.25, stratum="domain=law", layout="side_by_side"
            )
        )
    finished = finish_step(any_study, anna)
    open_next(any_study, anna)
    leave(any_study, anna, "withdrew")
    ben, cara = new_rater(any_study, "ben"), new_rater(any_study, "cara")
    step = open_next(any_study, ben).step
    assert step is not None
    assert step.item.response_id != finished.item.response_id
    assert open_next(any_study, cara).kind == "waiting"
    (row,) = assignments(any_study, ben)
    assert (row.inclusion_prob, row.stratum, row.layout) == (0.25, "domain=law", "side_by_side")
    assert row.replaces_id is not None
    finish_step(any_study, ben)
    assert open_next(any_study, ben).kind == "end"


def test_a_late_value_completes_a_released_slot(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    anna = give(any_study, "anna", keys=["CC", "ID"])
    assert anna is not None
    step = open_next(any_study, anna).step
    assert step is not None
    with any_study.write() as connection:
        connection.execute(update(assignment_table).values(released_at=now()))
    assert rate(any_study, anna, step, "CC", 1).late
    assert rate(any_study, anna, step, "ID", 1).late
    assert [row.released_at for row in assignments(any_study)] == [None]
    assert open_next(any_study, new_rater(any_study, "ben")).kind == "waiting"


@pytest.mark.parametrize("purpose", ["check", "repeat", "calibration", "adjudication"])
def test_slots_of_other_purposes_are_not_handed_on(study: Study, purpose: str) -> None:
    fill(study, queries=1, systems=1)
    anna = new_rater(study, "anna")
    assign_one(study, anna, 1, purpose=purpose)
    leave(study, anna, "removed")
    assert open_next(study, new_rater(study, "ben")).kind == "waiting"


def test_a_rater_enrolled_for_two_queries_gets_two(any_study: Study) -> None:
    fill(any_study, queries=4, systems=2)
    give(any_study, None, keys=["QR"])
    anna = enrol(any_study, "anna", 2)
    seen = go_through(any_study, anna)
    assert seen[-1].kind == "end"
    assert len(queries_of(any_study, anna)) == 2
    with any_study.read() as connection:
        assert all_done(connection, any_study, anna)
    # Further responses to a query that they have are part of it.
    fill(any_study, queries=4, systems=3)
    with any_study.read() as connection:
        new = (
            connection.execute(select(responses.c.id).order_by(responses.c.id.desc()).limit(4))
            .scalars()
            .all()
        )
    for response in new:
        with any_study.write() as connection:
            row = {"construct_keys": ["QR"], "position": 99, "config_hash": "0"}
            connection.execute(insert(assignment_table).values(response_id=response, **row))
    go_through(any_study, anna)
    assert len(queries_of(any_study, anna)) == 2
    assert len(assignments(any_study, anna)) == 6
    ben = enrol(any_study, "ben", None)
    go_through(any_study, ben)
    assert queries_of(any_study, ben) == [3, 4]


def test_queries_go_to_raters_who_read_their_language(study: Study) -> None:
    rows = [
        LocatedRow(
            n,
            ResponseRow(
                query_id=f"q{n}", query="?", system="s", response="r", attributes=attributes
            ),
        )
        for n, attributes in enumerate(({"language": "de-AT"}, {"language": "FR"}, {}), start=1)
    ]
    import_rows(study, rows, source="t", sha256="0" * 64, importer="responses")
    give(study, None, keys=["QR"])
    anna = new_rater(study, "anna", languages=["de"])
    go_through(study, anna)
    assert queries_of(study, anna) == [1, 3]
    # The rater's entry in study.toml takes precedence.
    from study.settings.rating import RaterSpec

    raters = {"ben": RaterSpec(languages=("fr",))}
    object.__setattr__(study, "config", study.config.model_copy(update={"raters": raters}))
    ben = new_rater(study, "ben", languages=["de"])
    go_through(study, ben)
    assert queries_of(study, ben) == [2]


def test_a_query_of_which_more_was_shown_comes_last(study: Study) -> None:
    fill(study, queries=2, systems=1)
    anna = give(study, "anna", queries=["q0"], keys=["AC"])
    assert anna is not None
    assert len(assignments(study)) == 1
    finish_step(study, anna)
    give(study, None, keys=["QR"], open_to=["everyone"])
    go_through(study, anna)
    ordered = sorted(assignments(study, anna, "main"), key=lambda row: row.position)
    assert [row.response_id for row in ordered] == [1, 2, 1]


def test_rounds_are_handed_out_one_after_another(study: Study) -> None:
    fill(study, queries=2, systems=1)
    for response in (1, 2):
        for number, key in enumerate(("QR", "CC")):
            with study.write() as connection:
                row = {"response_id": response, "construct_keys": [key], "round": number}
                connection.execute(insert(assignment_table).values(**row, config_hash="0"))
    anna = new_rater(study, "anna")
    seen = go_through(study, anna)
    rated = [opened.step.construct_keys for opened in seen if opened.step is not None]
    assert rated == [("QR",), ("QR",), ("CC",), ("CC",)]


def long_answers(study: Study, queries: int) -> None:
    rows = [
        LocatedRow(
            n + 1,
            ResponseRow(
                query_id=f"q{n}",
                query=f"question {n}",
                system="s",
                response=" ".join([WORDS[n % 10]] * 6 + [WORDS[n // 10]] * 6),
                passages=(PassageRow(text=f"passage {n}"),),
                references=("reference",),
            ),
        )
        for n in range(queries)
    ]
    import_rows(study, rows, source="t", sha256="0" * 64, importer="responses")


def test_checks_are_queries_among_those_of_new_raters(any_study: Study) -> None:
    long_answers(any_study, 8)
    configure(any_study, design={"checks": 2})
    give(any_study, None, keys=["QR", "AC"])
    give(any_study, None, keys=["QR", "AC"])
    anna = enrol(any_study, "anna", 4)
    go_through(any_study, anna)
    checks = assignments(any_study, anna, "check")
    assert len(checks) == 2
    with any_study.read() as connection:
        rows = connection.execute(select(check_pairs.c.damaged_id, check_pairs.c.original_id))
        pairs = {row.damaged_id: row.original_id for row in rows}
        assert all_done(connection, any_study, anna)
    main = assignments(any_study, anna, "main")
    assert len(main) == 4
    assert {pairs[row.response_id] for row in checks}.isdisjoint(row.response_id for row in main)
    assert {tuple(sorted(row.construct_keys)) for row in [*checks, *main]} == {("AC", "QR")}
    assert all(row.leased_until is None for row in checks)
    # Never of two places the same, so that the order is the same for everybody who asks.
    positions = [row.position for row in assignments(any_study, anna)]
    assert len(set(positions)) == len(positions)
    # Nothing of it is a measurement.
    assert len(any_study.score_table()) == 8


def test_a_check_that_expired_goes_when_another_rater_takes_slots(study: Study) -> None:
    long_answers(study, 4)
    configure(study, design={"checks": 1})
    give(study, None, keys=["QR"], queries=["q0", "q1"])
    anna, ben = enrol(study, "anna", 1), new_rater(study, "ben")
    while not assignments(study, anna, "check"):
        finish_step(study, anna)
    configure(study, design={"checks": 0})
    with study.write() as connection:
        past = now() - timedelta(seconds=1)
        connection.execute(
            update(assignment_table)
            .where(
                assignment_table.c.rater_id == anna, assignment_table.c.leased_until.is_not(None)
            )
            .values(leased_until=past)
        )
    go_through(study, ben)
    assert len(assignments(study, ben, "main")) == 1
    assert open_next(study, anna).kind == "end"


def test_expired_checks_of_others_go_when_slots_are_handed_on(study: Study) -> None:
    fill(study, queries=2, systems=2)
    anna, ben, carl = (new_rater(study, code) for code in ("anna", "ben", "carl"))
    past, later = now() - timedelta(seconds=1), now() + timedelta(hours=1)
    # Responses 1 and 2 belong to one query, 3 and 4 to the other.
    rows: list[tuple[int, int, str, str, Any]] = [
        (anna, 1, "QR", "main", past),
        (anna, 3, "CC", "check", past),
        (anna, 4, "CC", "check", None),
        (carl, 3, "CC", "check", later),
        (ben, 3, "CC", "check", past),
    ]
    for rater, response, key, purpose, until in rows:
        assign_one(
            study, rater, response, construct_keys=[key], purpose=purpose, leased_until=until
        )
    with study.write() as connection:
        lock_slots(connection)
        assert take_slots(connection, study, ben) == 1
    released = [row.id for row in assignments(study) if row.released_at is not None]
    assert released == [assignments(study, anna, "check")[0].id]


def test_a_new_rater_starts_with_the_calibration_of_the_others(any_study: Study) -> None:
    fill(any_study, queries=3, systems=2)
    give(any_study, None, keys=["QR"])
    named = new_rater(any_study, "named")
    with any_study.write() as connection:
        connection.execute(
            assignment_table.delete().where(assignment_table.c.response_id.in_([1, 2]))
        )
    for response in (1, 2):
        assign_one(any_study, named, response, construct_keys=["QR"], purpose="calibration")
    anna = new_rater(any_study, "anna")
    seen = go_through(any_study, anna)
    phases = [opened.page.phase for opened in seen if opened.page is not None]
    assert phases == ["calibration"] * 2 + ["main"] * 4
    assert len(assignments(any_study, anna, "calibration")) == 2
    # Nobody who has nothing else to rate is calibrated.
    assert open_next(any_study, new_rater(any_study, "ben")).kind == "waiting"


def test_the_first_rater_gets_the_calibration_that_the_design_draws(study: Study) -> None:
    fill(study, queries=4, systems=2)
    configure(study, design={"calibration": 1})
    give(study, None, keys=["QR"], queries=["q0", "q1"])
    drawn = []
    for code in ("anna", "ben"):
        rater = new_rater(study, code)
        open_next(study, rater)
        mine = assignments(study, rater, "calibration")
        drawn.append({row.response_id for row in mine})
        if code == "anna":
            assert {tuple(sorted(row.construct_keys)) for row in mine} == {
                ("AC", "CC", "ID", "IR", "QR")
            }
            give(study, None, keys=["QR"], queries=["q0"])
    assert len(drawn[0]) == 2
    assert drawn[0] == drawn[1]


def test_an_adjudicator_is_handed_no_slots(study: Study) -> None:
    fill(study, queries=2, systems=1)
    give(study, None)
    anna = new_rater(study, "anna")
    assign_one(study, anna, 1, purpose="adjudication")
    seen = go_through(study, anna)
    assert [opened.kind for opened in seen] == ["step", "step", "feedback", "end"]
    with study.read() as connection:
        assert all_done(connection, study, anna)


def test_a_few_values_in_a_slot_handed_on_are_not_finished_work(
    any_study: Study,
) -> None:
    fill(any_study, queries=1, systems=1)
    anna = give(any_study, "anna", keys=["QR", "CC"])
    assert anna is not None
    step = open_next(any_study, anna).step
    assert step is not None
    rate(any_study, anna, step, "QR", 1)
    with any_study.write() as connection:
        connection.execute(update(assignment_table).values(released_at=now()))
    ben = new_rater(any_study, "ben")
    assert [opened.kind for opened in go_through(any_study, ben)][-1] == "end"
    assert open_next(any_study, anna).kind == "waiting"
    with any_study.read() as connection:
        assert not all_done(connection, any_study, anna)
        assert all_done(connection, any_study, ben)
