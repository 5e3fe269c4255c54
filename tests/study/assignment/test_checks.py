"""Checks: damaged copies and imported material, strewn among the main work."""

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import insert, select

from study import Study
from study.assignment.checks import expected_lower
from study.assignment.planner import assign
from study.schema import (
    CheckPair,
    Response,
    ResponsePassage,
    digest,
    table,
)
from study.schema.tables import expected_values, queries, responses, reveals
from study.settings.constructs import CCRS, ConstructSpec
from tests.study.assignment.test_planner import fill, rows


def checks(study: Study) -> list[Any]:
    return [row for row in rows(study) if row.purpose == "check"]


def stored(study: Study, noun: Any) -> list[Any]:
    with study.read() as connection:
        return list(connection.execute(select(table(noun))))


def bring_in_check(study: Study, query: str, text: str) -> int:
    """Store a response with an expected range, as imported check material has it."""
    with study.write() as connection:
        known = connection.execute(select(queries.c.id).where(queries.c.key == query)).scalar()
        if known is None:
            made = insert(queries).values(key=query, text=query, references=["!"], attributes={})
            known = connection.execute(made.returning(queries.c.id)).scalar_one()
        response = connection.execute(
            insert(responses)
            .values(
                key=f"check {text}",
                version=1,
                text=text,
                role="check",
                query_id=known,
                content_hash=digest(text.encode()),
                context_hash=None,
            )
            .returning(responses.c.id)
        ).scalar_one()
        connection.execute(
            insert(expected_values).values(
                response_id=response, construct_key="QR", purpose="check", low=0, high=20
            )
        )
    return int(response)


def test_checks_are_damaged_copies_that_look_like_main_work(any_study: Study) -> None:
    fill(any_study, 12, response_of_six=True)
    done = assign(any_study, 3, per_item=2, checks=3, layout="side_by_side")
    assert done.further == {"check": 9}
    assigned = checks(any_study)
    assert Counter(row.code for row in assigned) == dict.fromkeys(
        ("rater-1", "rater-2", "rater-3"), 3
    )
    responses = {row.id: row for row in stored(any_study, Response)}
    pairs = {pair.damaged_id: pair for pair in stored(any_study, CheckPair)}
    passages = defaultdict(list)
    for place in stored(any_study, ResponsePassage):
        passages[place.response_id].append((place.position, place.passage_id))
    main = {(row.code, row.response_id): row for row in rows(any_study) if row.purpose == "main"}
    for row in assigned:
        pair = pairs[row.response_id]
        copy, original = responses[pair.damaged_id], responses[pair.original_id]
        assert pair.damage == "another_answer"
        assert set(pair.construct_keys) == {"QR", "CC", "AC", "IR"}
        # The rater has the original, and rates the copy on the same constructs in the same way.
        counterpart = main[row.code, original.id]
        assert set(counterpart.construct_keys) == set(row.construct_keys)
        assert (counterpart.layout, counterpart.round, counterpart.repeat) == (
            row.layout,
            row.round,
            row.repeat,
        )
        assert copy.role == "check"
        assert (copy.query_id, copy.context_hash) == (original.query_id, original.context_hash)
        assert passages[copy.id] == passages[original.id]
        texts = {r.text for r in responses.values() if r.query_id != copy.query_id}
        assert copy.text in texts
        # It stands among the responses to its query.
        own_places = [r.position for r in rows(any_study)
                      if r.code == row.code and r.query_id == row.query_id]  # fmt: skip
        assert max(own_places) - min(own_places) == len(own_places) - 1 == 2
    # One copy serves all raters of its original, and none is measured.
    assert len(pairs) == len({pair.original_id for pair in pairs.values()})
    assert assign(any_study, 3, per_item=2, checks=3, layout="side_by_side").anything is False


def test_checks_are_spread_over_the_work_and_over_places_within_a_query(study: Study) -> None:
    fill(study, 40, systems=2, response_of_six=True)
    assign(study, 4, per_item=4, checks=4)
    among: Counter[int] = Counter()
    for code in {row.code for row in checks(study)}:
        order = list(dict.fromkeys(row.query_id for row in rows(study) if row.code == code))
        places = sorted(order.index(row.query_id) for row in checks(study) if row.code == code)
        assert [place // 10 for place in places] == [0, 1, 2, 3]
        for row in checks(study):
            if row.code == code:
                mine = sorted(r.position for r in rows(study)
                              if r.code == code and r.query_id == row.query_id)  # fmt: skip
                among[mine.index(row.position)] += 1
    assert set(among) == {0, 1, 2}


def test_checks_can_be_added_to_work_that_is_not_begun(any_study: Study) -> None:
    fill(any_study, 6, response_of_six=True)
    assign(any_study, 1, per_item=1)
    before = {row.id: row.position for row in rows(any_study)}
    begun = rows(any_study)[0]
    with any_study.write() as connection:
        connection.execute(insert(reveals).values(assignment_id=begun.id, stage=1, fields=[]))
    plan = assign(any_study, 1, per_item=1, checks=6, dry_run=True)
    assert plan.further == {"check": 5}
    assert plan.notes[0].startswith("Checks: 1 fewer than requested")
    assign(any_study, 1, per_item=1, checks=6)
    assert begun.query_id not in {row.query_id for row in checks(any_study)}
    assert {row.id: row.position for row in rows(any_study) if row.id in before} == before
    order = [row.query_id for row in rows(any_study)]
    assert sum(earlier != later for earlier, later in pairwise(order)) == 5


def test_imported_material_is_every_second_check_at_most(study: Study) -> None:
    fill(study, 10, response_of_six=True)
    material = {bring_in_check(study, f"own query {n}", f"text {n}") for n in range(5)}
    material.add(bring_in_check(study, "q0", "another text"))
    assign(study, 2, per_item=2, checks=4)
    for code in ("rater-1", "rater-2"):
        mine = [row.response_id for row in checks(study) if row.code == code]
        assert len(mine) == 4
        assert len(material.intersection(mine)) == 2
    for row in checks(study):
        if row.response_id in material:
            assert set(row.construct_keys) <= {"QR", "AC", "IR", "CC", "ID"}
            assert "CC" not in row.construct_keys


def test_without_anything_to_copy_all_are_imported_or_it_is_said(study: Study) -> None:
    fill(study, 4, response="too short")
    bring_in_check(study, "own query", "text")
    done = assign(study, 1, per_item=1, checks=3)
    assert done.further == {"check": 1}
    assert done.notes[0].startswith("Checks: 2 fewer than requested")


def test_one_construct_a_pass_checks_in_every_round(study: Study) -> None:
    fill(study, 6, response_of_six=True)
    assign(study, 2, per_item=1, checks=1, one_construct_a_pass=True)
    for code in ("rater-1", "rater-2"):
        mine = [row for row in checks(study) if row.code == code]
        assert len({row.response_id for row in mine}) == 1
        assert sorted(row.round for row in mine) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("sees", "falls"),
    [(("response",), False), (("question", "response"), True), (("response", "context"), True)],
    ids=["response alone", "question", "passages"],
)
def test_what_must_fall_looks_at_more_than_the_response(sees: Any, falls: bool) -> None:
    assert expected_lower(CCRS) == ["QR", "CC", "AC", "IR"]
    construct = ConstructSpec(key="FL", name="Fluency", question="?", sees=sees)
    assert expected_lower([construct]) == ["FL"] * falls


def test_copies_take_their_texts_from_answers_that_nobody_is_given(study: Study) -> None:
    fill(study, 12, response_of_six=True)
    assign(study, 2, per_item=2, checks=3, sample=5)
    responses = {row.id: row for row in stored(study, Response)}
    assigned = {responses[row.response_id].query_id for row in rows(study) if row.purpose == "main"}
    pairs = stored(study, CheckPair)
    assert pairs
    for pair in pairs:
        text = responses[pair.damaged_id].text
        from_queries = {
            r.query_id for r in responses.values() if r.role == "answer" and r.text == text
        }
        assert from_queries
        assert not from_queries & assigned
