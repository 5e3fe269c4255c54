"""Checks: queries of damaged copies and imported material, strewn among the main work."""

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


def test_checks_are_queries_of_damaged_copies_that_look_like_main_work(any_study: Study) -> None:
    fill(any_study, 12, response_of_six=True)
    options: Any = {"per_item": 2, "checks": 3, "sample": 8, "layout": "side_by_side"}
    done = assign(any_study, 3, **options)
    assert done.further == {"check": 18}
    assert not done.notes
    assigned = checks(any_study)
    assert Counter((row.code, row.query_id) for row in assigned) == dict.fromkeys(
        {(row.code, row.query_id) for row in assigned}, 2
    )
    responses = {row.id: row for row in stored(any_study, Response)}
    pairs = {pair.damaged_id: pair for pair in stored(any_study, CheckPair)}
    passages = defaultdict(list)
    for place in stored(any_study, ResponsePassage):
        passages[place.response_id].append((place.position, place.passage_id))
    main = [row for row in rows(any_study) if row.purpose == "main"]
    others = {(row.code, row.query_id) for row in main}
    form = {(tuple(sorted(r.construct_keys)), r.layout, r.round, r.repeat) for r in main}
    for row in assigned:
        pair = pairs[row.response_id]
        copy, original = responses[pair.damaged_id], responses[pair.original_id]
        assert pair.damage == "another_answer"
        assert set(pair.construct_keys) == {"QR", "CC", "AC", "IR"}
        # The rater has nothing else of the query, and rates the copy like a response.
        assert (row.code, row.query_id) not in others
        assert (tuple(sorted(row.construct_keys)), row.layout, row.round, row.repeat) in form
        assert copy.role == "check"
        assert (copy.query_id, copy.context_hash) == (original.query_id, original.context_hash)
        assert passages[copy.id] == passages[original.id]
        texts = {r.text for r in responses.values() if r.query_id != copy.query_id}
        assert copy.text in texts
        own_places = [r.position for r in assigned
                      if r.code == row.code and r.query_id == row.query_id]  # fmt: skip
        assert max(own_places) - min(own_places) == 1
    # One copy serves all raters of its original, and none is measured.
    assert len(pairs) == len({pair.original_id for pair in pairs.values()})
    assert assign(any_study, 3, **options).anything is False


def test_checks_are_spread_over_the_work(study: Study) -> None:
    fill(study, 44, systems=2, response_of_six=True)
    assign(study, 4, per_item=4, checks=4, sample=40)
    for code in {row.code for row in checks(study)}:
        order = list(dict.fromkeys(row.query_id for row in rows(study) if row.code == code))
        checked = {row.query_id for row in checks(study) if row.code == code}
        before = [order.index(query) - place
                  for place, query in enumerate(sorted(checked, key=order.index))]  # fmt: skip
        # The number of queries before each check that are none: 0 to 40 in four parts.
        assert [min((queries - 1) // 10, 3) if queries else 0 for queries in before] == [0, 1, 2, 3]


def test_checks_can_be_added_to_work_that_is_not_begun(any_study: Study) -> None:
    fill(any_study, 8, response_of_six=True)
    assign(any_study, 1, per_item=1, sample=6)
    before = {row.id: row.position for row in rows(any_study)}
    begun = rows(any_study)[0]
    with any_study.write() as connection:
        connection.execute(insert(reveals).values(assignment_id=begun.id, stage=1, fields=[]))
    options: Any = {"per_item": 1, "sample": 6, "checks": 3}
    plan = assign(any_study, 1, **options, dry_run=True)
    assert plan.further == {"check": 4}
    assert plan.notes[0].startswith("Checks: 1 fewer than requested")
    assign(any_study, 1, **options)
    assert rows(any_study)[0].query_id == begun.query_id
    assert {row.id: row.position for row in rows(any_study) if row.id in before} == before
    # The responses to each query, checks included, are still together.
    order = [row.query_id for row in rows(any_study)]
    assert sum(earlier != later for earlier, later in pairwise(order)) == 7


def test_raters_who_have_all_queries_get_no_checks_and_the_remedy(study: Study) -> None:
    fill(study, 6, response_of_six=True)
    plan = assign(study, 2, per_item=2, checks=1, dry_run=True)
    assert plan.further == {}
    note = plan.notes[0]
    assert note.startswith("Checks: 2 fewer than requested")
    assert "--sample" in note


def test_imported_material_is_every_second_check_at_most(study: Study) -> None:
    fill(study, 16, systems=1, response_of_six=True)
    material = {bring_in_check(study, f"own query {n}", f"text {n}") for n in range(5)}
    assign(study, 2, per_item=2, checks=4, sample=10, constructs=["QR"])
    for code in ("rater-1", "rater-2"):
        mine = [row.response_id for row in checks(study) if row.code == code]
        assert len(mine) == 4
        assert len(material.intersection(mine)) == 2


def test_imported_material_of_another_form_is_not_used(study: Study) -> None:
    fill(study, 4, systems=2, response="too short")
    bring_in_check(study, "one response", "text")
    bring_in_check(study, "two responses", "this text")
    bring_in_check(study, "two responses", "that text")
    done = assign(study, 1, per_item=1, checks=3, constructs=["QR"])
    assert done.further == {"check": 2}
    # The imported responses have no passages.
    assert assign(study, 1, per_item=1, checks=3).further == {}


def test_without_anything_to_copy_all_are_imported_or_it_is_said(study: Study) -> None:
    fill(study, 4, systems=1, response="too short")
    bring_in_check(study, "own query", "text")
    done = assign(study, 1, per_item=1, checks=3, constructs=["QR"])
    assert done.further == {"check": 1}
    assert done.notes[0].startswith("Checks: 2 fewer than requested")


def test_one_construct_a_pass_checks_in_every_round(study: Study) -> None:
    fill(study, 6, response_of_six=True)
    assign(study, 2, per_item=1, checks=1, one_construct_a_pass=True)
    for code in ("rater-1", "rater-2"):
        mine = [row for row in checks(study) if row.code == code]
        assert len({row.query_id for row in mine}) == 1
        assert sorted(row.round for row in mine) == sorted([0, 1, 2, 3, 4] * 2)


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
