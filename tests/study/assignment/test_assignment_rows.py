"""Orders of responses and constructs: counterbalanced over the raters of a query."""

from collections import Counter, defaultdict

import pytest
from hypothesis import given, strategies as st

from study import Study
from study.assignment.assignment_rows import Orders, turned
from study.assignment.planner import assign
from tests.study.assignment.test_planner import fill, rows


@given(st.integers(1, 9), st.integers(0, 20))
def test_each_pair_of_turns_gives_all_the_same_mean_place(count: int, pair: int) -> None:
    base = list(range(count))
    first, second = turned(base, 2 * pair), turned(base, 2 * pair + 1)
    assert sorted(first) == sorted(second) == base
    assert {first.index(x) + second.index(x) for x in base} == {count - 1}


@given(st.integers(1, 9))
def test_each_comes_first_equally_often_over_a_whole_cycle(count: int) -> None:
    firsts = Counter(turned(range(count), turn)[0] for turn in range(2 * count))
    assert set(firsts.values()) == {2}
    some = [turned(range(count), turn)[0] for turn in range(count - count % 2)]
    assert len(set(some)) == len(some)


@given(st.integers(0, 2**32), st.lists(st.integers(1, 99), unique=True, max_size=8))
def test_orders_are_of_the_seed_alone(seed: int, responses: list[int]) -> None:
    first, second = Orders(seed), Orders(seed)
    backwards = responses[::-1]
    assert first.responses(responses, 0) == second.responses(backwards, 0)
    assert first.constructs(1, ["QR", "CC", "ID"], 1) == second.constructs(1, ["ID", "QR", "CC"], 1)


@pytest.mark.parametrize("one_construct_a_pass", [False, True], ids=["together", "in passes"])
def test_the_raters_of_a_query_have_opposite_orders(
    study: Study, one_construct_a_pass: bool
) -> None:
    fill(study, 12, systems=3)
    assign(study, 4, per_item=2, one_construct_a_pass=one_construct_a_pass)
    orders: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    keys: dict[int, list[list[str]]] = defaultdict(list)
    for row in rows(study):
        if row.round == 0:
            orders[row.query_id][row.code].append(row.response_id)
        keys[row.response_id].append(row.construct_keys)
    firsts: Counter[int] = Counter()
    for by_rater in orders.values():
        order, reverse = by_rater.values()
        assert order == reverse[::-1]
        firsts[sorted(order).index(order[0])] += 1
    assert len(firsts) == 3
    if not one_construct_a_pass:
        assert all(first == second[::-1] for first, second in keys.values())


def test_slots_of_a_query_have_opposite_orders_too(study: Study) -> None:
    fill(study, 5, systems=2)
    assign(study, per_item=2, open_slots=True)
    for query in {row.query_id for row in rows(study)}:
        order = [row.response_id for row in rows(study) if row.query_id == query]
        assert order[:2] == order[2:][::-1]
