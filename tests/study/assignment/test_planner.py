"""Who rates what: exactly K raters an item, balanced, seeded, and added to what is there."""

from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import insert, select, update

from study import Study
from study.assignment.planner import assign
from study.errors import StudyError
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from study.schema.tables import (
    assignments,
    rater_answers,
    raters as rater_table,
    responses,
    reveals,
)


def fill(
    study: Study,
    queries: int,
    systems: int = 2,
    *,
    query_id_of: str | None = None,
    response_of_six: bool = False,
    **other: Any,
) -> None:
    """Import queries with responses; `response_of_six` makes each long enough to be copied."""
    rows: list[LocatedRow] = []
    for q in range(queries):
        for s in range(systems):
            fields: dict[str, Any] = {
                "query_id": f"q{q}",
                "query": f"question {q}",
                "system": f"s{s}",
                "response": f"response {q} {s} " + "word " * (q % 5),
                "passages": (PassageRow(text=f"passage {q}"),),
                "references": ("reference",),
                **other,
            }
            if query_id_of is not None:
                fields |= {"query_id": f"{query_id_of}-{q}", "query": f"{query_id_of} {q}"}
            if response_of_six:
                fields["response"] += " one two three four five six"
            rows.append(LocatedRow(len(rows) + 1, ResponseRow(**fields)))
    import_rows(study, rows, source="t", sha256=uuid4().hex, importer="responses")


def rows(study: Study) -> list[Any]:
    with study.read() as connection:
        return list(
            connection.execute(
                select(assignments, rater_table.c.code, responses.c.query_id)
                .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
                .join(rater_table, assignments.c.rater_id == rater_table.c.id, isouter=True)
                .order_by(rater_table.c.code, assignments.c.position, assignments.c.id)
            )
        )


def by_response(study: Study) -> dict[int, list[str]]:
    codes: dict[int, list[str]] = defaultdict(list)
    for row in rows(study):
        codes[row.response_id].append(row.code)
    return codes


@pytest.mark.parametrize(("raters", "per_item", "queries"), [(5, 2, 13), (3, 3, 4), (7, 3, 30)])
def test_each_response_has_k_raters_and_raters_have_equally_many_queries(
    any_study: Study, raters: int, per_item: int, queries: int
) -> None:
    fill(any_study, queries)
    assign(any_study, raters, per_item=per_item)
    raters_of = by_response(any_study)
    assert len(raters_of) == queries * 2
    assert all(len(set(codes)) == len(codes) == per_item for codes in raters_of.values())
    loads = Counter({code: len({r.query_id for r in rows(any_study) if r.code == code})
                     for code in {r.code for r in rows(any_study)}})  # fmt: skip
    assert max(loads.values()) - min(loads.values()) <= 1
    assert len(loads) == min(raters, queries * per_item)


def test_all_responses_to_a_query_go_to_the_same_raters(study: Study) -> None:
    fill(study, 10, systems=4)
    assign(study, 5, per_item=2)
    raters_of = defaultdict(set)
    for row in rows(study):
        raters_of[row.query_id].add(row.code)
    assert all(len(codes) == 2 for codes in raters_of.values())


def test_pairs_of_raters_meet_about_equally_often(study: Study) -> None:
    fill(study, 60, systems=1)
    assert assign(study, 6, per_item=2).connected
    met = Counter(pair for codes in by_response(study).values()
                  for pair in combinations(sorted(codes), 2))  # fmt: skip
    assert len(met) == 15
    assert max(met.values()) - min(met.values()) <= 2


def test_raters_without_a_shared_response_are_told_apart(study: Study) -> None:
    fill(study, 4)
    assert not assign(study, 2, per_item=1).connected


def test_a_plan_of_ratings_with_the_same_seed_is_the_same(tmp_path: Any) -> None:
    plans = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        made = Study.create(tmp_path / name, f"seed = {seed}\n")
        fill(made, 12)
        assign(made, 4, per_item=2)
        plans.append([(r.code, r.response_id, r.position, r.construct_keys) for r in rows(made)])
        made.close()
    assert plans[0] == plans[1] != plans[2]


def test_a_raters_order_is_their_own_and_keeps_queries_together(study: Study) -> None:
    fill(study, 20, systems=3)
    assign(study, 2, per_item=2)
    orders = defaultdict(list)
    for row in rows(study):
        orders[row.code].append(row.query_id)
    for order in orders.values():
        assert [query for n, query in enumerate(order) if n % 3 == 0] == [
            query for n, query in enumerate(order) if n % 3 == 2
        ]
    assert orders["rater-1"] != orders["rater-2"]
    assert len({tuple(row.construct_keys) for row in rows(study)}) > 10


def test_what_is_there_counts_and_stays(any_study: Study) -> None:
    fill(any_study, 6)
    assign(any_study, ["anna", "ben"], per_item=1)
    before = {row.public_id: (row.code, row.position) for row in rows(any_study)}
    again = assign(any_study, per_item=1)
    assert (again.assignments, again.covered) == (0, 12)
    assign(any_study, per_item=2)
    after = {row.public_id: (row.code, row.position) for row in rows(any_study)}
    assert after.items() >= before.items()
    assert all(sorted(codes) == ["anna", "ben"] for codes in by_response(any_study).values())
    for code in ("anna", "ben"):
        places = [row.position for row in rows(any_study) if row.code == code]
        assert len(set(places)) == len(places) == 12


def test_a_new_response_goes_to_those_who_have_its_query(study: Study) -> None:
    fill(study, 8, systems=1)
    assign(study, 4, per_item=2)
    had = {row.query_id: {r.code for r in rows(study) if r.query_id == row.query_id}
           for row in rows(study)}  # fmt: skip
    fill(study, 8, systems=3)
    assign(study, per_item=2)
    for row in rows(study):
        assert row.code in had[row.query_id]


def test_a_slot_that_was_handed_on_does_not_count_and_its_rater_is_not_given_it_again(
    any_study: Study,
) -> None:
    fill(any_study, 1, systems=1)
    assign(any_study, ["anna", "ben"], per_item=2)
    first, second = rows(any_study)
    assert (first.code, second.code) == ("anna", "ben")
    with any_study.write() as connection:
        connection.execute(
            update(assignments).where(assignments.c.id == second.id).values(replaces_id=first.id)
        )
    with pytest.raises(StudyError, match="0 of the 2 named are available"):
        assign(any_study, per_item=2)
    done = assign(any_study, ["anna", "ben", "cara"], per_item=2)
    assert {load.rater: (load.responses, load.new_responses) for load in done.raters} == {
        "anna": (0, 0),
        "ben": (1, 0),
        "cara": (1, 1),
    }


def test_more_raters_an_item_are_added_to_those_it_has(any_study: Study) -> None:
    fill(any_study, 12)
    assign(any_study, 3, per_item=1)
    had = by_response(any_study)
    assign(any_study, 6, per_item=3)
    raters_of = by_response(any_study)
    assert all(len(set(codes)) == 3 and set(codes) > set(had[r]) for r, codes in raters_of.items())
    loads = Counter(row.code for row in rows(any_study))
    assert set(loads.values()) == {12}


def test_a_dry_run_shows_what_is_then_stored(any_study: Study) -> None:
    fill(any_study, 7, systems=3)
    plan = assign(any_study, 4, per_item=2, dry_run=True)
    assert rows(any_study) == []
    assert replace(plan, stored=True) == assign(any_study, 4, per_item=2)


def test_open_slots_have_no_rater(any_study: Study) -> None:
    fill(any_study, 3)
    done = assign(any_study, per_item=4, open_slots=True)
    assert (done.open_slots, done.assignments, done.raters) == (24, 0, [])
    assert {row.rater_id for row in rows(any_study)} == {None}
    assert assign(any_study, per_item=4, open_slots=True).open_slots == 0


def test_constructs_in_a_pass_of_their_own_are_counted_by_themselves(study: Study) -> None:
    fill(study, 4)
    assign(study, ["anna", "ben"], per_item=2, constructs=["QR", "CC"])
    done = assign(study, per_item=2)
    assert done.assignments == 16
    keys = Counter(frozenset(row.construct_keys) for row in rows(study))
    assert keys == {frozenset({"QR", "CC"}): 16, frozenset({"ID", "AC", "IR"}): 16}


def test_what_a_response_lacks_is_left_out_and_said(study: Study) -> None:
    fill(study, 2, passages=(), references=())
    done = assign(study, 2, per_item=1)
    assert {tuple(row.construct_keys) for row in rows(study)} == {("QR",)}
    left_out = {
        (entry["construct"], entry["reason"]): entry["responses"] for entry in done.left_out
    }
    assert left_out == {
        ("CC", "the response has no passages"): 4,
        ("ID", "the response has no passages"): 4,
        ("AC", "the response has no passages"): 4,
        ("IR", "the response has no passages"): 4,
    }
    with pytest.raises(StudyError, match="No response can be rated on these constructs"):
        assign(study, 2, per_item=1, constructs=["AC"])


def test_responses_that_lack_different_fields_share_their_raters(study: Study) -> None:
    whole = {"query_id": "q", "query": "question", "references": ("reference",)}
    passages = (PassageRow(text="passage"),)
    responses = [
        ResponseRow(**whole, system="s0", response="a", passages=passages),
        ResponseRow(**whole, system="s1", response="b"),
        ResponseRow(query_id="p", query="other", system="s0", response="c", passages=passages),
    ]
    placed = [LocatedRow(n, row) for n, row in enumerate(responses, start=1)]
    import_rows(study, placed, source="t", sha256="1", importer="responses")
    done = assign(study, 6, per_item=2)
    left_out = {
        (entry["construct"], entry["reason"]): entry["responses"] for entry in done.left_out
    }
    assert left_out == {
        **{(key, "the response has no passages"): 1 for key in ("CC", "ID", "AC", "IR")},
        **{(key, "the query has no reference answer"): 1 for key in ("AC", "IR")},
    }
    raters_of = defaultdict(set)
    for row in rows(study):
        raters_of[row.query_id].add(row.code)
    assert [len(codes) for codes in raters_of.values()] == [2, 2]
    only = assign(study, 6, per_item=2, constructs=["CC"])
    assert (only.covered, len(only.unratable)) == (2, 1)


def test_a_replaced_response_is_not_assigned(study: Study) -> None:
    fill(study, 1, systems=1)
    row = ResponseRow(query_id="q0", query="question 0", system="s0", response="changed")
    import_rows(
        study, [LocatedRow(1, row)], source="t", sha256="1", importer="responses", revise=True
    )
    assign(study, 1, per_item=1)
    (only,) = rows(study)
    with study.read() as connection:
        text = connection.execute(
            select(responses.c.text).where(responses.c.id == only.response_id)
        ).scalar()
    assert text == "changed"


def test_hours_are_words_over_the_speed_and_shared_passages_count_once(study: Study) -> None:
    fill(study, 1, systems=2)
    (load,) = assign(study, ["anna"], per_item=1).raters
    # Question 2, reference 1, passage 2 once, two responses of 3 words.
    assert load.hours == pytest.approx((2 + 1 + 2 + 3 + 3) / 238 / 60)


def test_hours_count_what_the_constructs_of_each_assignment_show(study: Study) -> None:
    fill(study, 1, systems=2)
    (load,) = assign(study, ["anna"], per_item=1, constructs=["QR"]).raters
    assert load.hours == pytest.approx((2 + 3 + 3) / 238 / 60)
    (load,) = assign(study, ["anna"], per_item=1, constructs=["CC"]).raters
    assert load.hours == pytest.approx((2 + 2 + 3 + 3) / 238 / 60)
    assert (load.responses, load.new_responses) == (2, 2)


@pytest.mark.parametrize(
    ("raters", "options", "message"),
    [
        (["anna"], {"per_item": 2}, "Name more raters, or lower --per-item"),
        (["anna", "anna"], {}, "'anna' is named twice"),
        (["anna", ""], {}, "Rater code ''"),
        ([" anna"], {"per_item": 1}, "white space"),
        (None, {}, "has no raters yet"),
        (0, {}, "give 1 to 1000"),
        (50_000, {}, "Slots for raters who join are created with --open"),
        (3, {"per_item": 0}, "give 1 to 1000"),
        (3, {"open_slots": True}, "leave --raters out"),
        (3, {"constructs": []}, "No construct is named"),
        (3, {"constructs": ["QQ"]}, "'QQ' is not a construct"),
    ],
)
def test_what_cannot_be_assigned_is_refused_and_nothing_is_stored(
    study: Study, raters: Any, options: dict[str, Any], message: str
) -> None:
    fill(study, 2)
    with pytest.raises(StudyError, match=message):
        assign(study, raters, **options)
    with study.read() as connection:
        assert connection.execute(select(rater_table)).all() == []
    assert rows(study) == []


def test_a_rater_is_not_named_like_a_judge_and_a_files_rater_may_go_on_here(study: Study) -> None:
    from study.importing.rows import ScoreRow

    fill(study, 1, systems=1)
    scores = [
        LocatedRow(n, ScoreRow(query_id="q0", system="s0", construct_key="QR", scorer=scorer,
                           scorer_kind=kind, value=50.0))
        for n, (scorer, kind) in enumerate([("robot", "judge"), ("anna", "human")], start=1)
    ]  # fmt: skip
    import_rows(study, scores, source="s", sha256="2", importer="scores")
    with pytest.raises(StudyError, match="'robot' is the name of a judge or metric"):
        assign(study, ["robot"], per_item=1)
    assign(study, ["anna"], per_item=1, replace_imported=True)
    (assignment,) = rows(study)
    with study.write() as connection:
        connection.execute(
            insert(rater_answers).values(
                assignment_id=assignment.id,
                construct_key="QR",
                construct_version=1,
                revision=1,
                value=80.0,
                status="rated",
                revealed=[],
                channel="own",
                config_hash="0",
            )
        )
    score_table = study.score_table()
    assert score_table[score_table["scorer"] == "anna"]["value"].tolist() == [80.0]
    assert score_table.attrs["left_out"] == {"imported for a rater who rated the same here": 1}


def test_without_responses_the_next_command_is_named(study: Study) -> None:
    with pytest.raises(StudyError, match="ccrs import"):
        assign(study, 3)


def test_two_who_assign_at_once_do_not_assign_twice(any_study: Study) -> None:
    fill(any_study, 10)
    with ThreadPoolExecutor(4) as pool:
        raters = ["anna", "ben", "cara"]
        done = list(pool.map(lambda _: assign(any_study, raters, per_item=2), range(4)))
    assert sorted(plan.assignments for plan in done) == [0, 0, 0, 40]
    assert all(len(set(codes)) == len(codes) == 2 for codes in by_response(any_study).values())


def test_made_up_codes_are_nobodys_who_was_imported(study: Study) -> None:
    from study.importing.rows import ScoreRow

    fill(study, 1, systems=1)
    score = ScoreRow(
        query_id="q0", system="s0", construct_key="QR", scorer="rater-1", scorer_kind="human",
        value=90.0,
    )  # fmt: skip
    import_rows(study, [LocatedRow(1, score)], source="s", sha256="2", importer="scores")
    assert [load.rater for load in assign(study, 2, per_item=2).raters] == ["rater-2", "rater-3"]
    assert [load.rater for load in assign(study, 2, per_item=2).raters] == ["rater-2", "rater-3"]


def test_a_late_response_goes_to_raters_who_were_shown_no_reference(study: Study) -> None:
    fill(study, 1, systems=1)
    assign(study, ["anna", "ben"], per_item=1)
    (assignment,) = rows(study)
    with study.write() as connection:
        for stage in (1, 2):
            connection.execute(
                insert(reveals).values(assignment_id=assignment.id, stage=stage, fields=[])
            )
    fill(study, 1, systems=2)
    assign(study, ["anna", "ben"], per_item=1)
    assert {row.code for row in rows(study)} == {"anna", "ben"}
