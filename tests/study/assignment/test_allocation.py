"""Properties of every plan, whatever the numbers: K raters each, balance, and the seed."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from study.assignment.allocation import Loads, choose_raters, connected
from study.assignment.demand import Block


def blocks_of(queries: int, need: int) -> list[Block]:
    return [Block(q, (q,), ("QR",), need, frozenset()) for q in range(queries)]


def nothing(raters: int) -> Loads:
    return Loads(
        units=[set() for _ in range(raters)],
        words=np.zeros(raters),
        shared=np.zeros((raters, raters), dtype=np.int64),
    )


def plan(
    raters: int, need: int, words: list[float], seed: int, loads: Loads | None = None
) -> list[tuple[int, ...]]:
    blocks = blocks_of(len(words), need)
    keys = list(range(100, 100 + raters))
    units = [block.query for block in blocks]
    rng = np.random.default_rng(seed)
    return choose_raters(blocks, units, keys, words, loads or nothing(raters), rng)


SIZES = st.integers(1, 9).flatmap(lambda raters: st.tuples(st.just(raters), st.integers(1, raters)))
WORDS = st.lists(st.floats(1, 5000), max_size=40)


@given(SIZES, WORDS, st.integers(0, 2**32))
def test_each_item_has_k_raters_and_raters_differ_by_one_query_at_most(
    sizes: tuple[int, int], words: list[float], seed: int
) -> None:
    raters, need = sizes
    chosen = plan(raters, need, words, seed)
    assert [len(set(places)) for places in chosen] == [need] * len(words)
    loads = Counter(place for places in chosen for place in places)
    counts = [loads[place] for place in range(raters)]
    assert max(counts) - min(counts) <= 1


@given(SIZES, WORDS, st.integers(0, 2**32))
def test_the_seed_decides(sizes: tuple[int, int], words: list[float], seed: int) -> None:
    assert plan(*sizes, words, seed) == plan(*sizes, words, seed)


@given(SIZES, WORDS, st.integers(0, 2**32))
def test_loads_are_brought_up_to_date(
    sizes: tuple[int, int], words: list[float], seed: int
) -> None:
    raters, need = sizes
    loads = nothing(raters)
    chosen = plan(raters, need, words, seed, loads)
    for place in range(raters):
        mine = {query for query, places in enumerate(chosen) if place in places}
        assert loads.units[place] == mine
        assert loads.words[place] == pytest.approx(sum(words[query] for query in mine))
        for other in range(raters):
            if other != place:
                assert loads.shared[place, other] == len(mine & loads.units[other])


@given(SIZES, st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32))
def test_raters_who_join_later_are_brought_level(
    sizes: tuple[int, int], before: int, more: int, seed: int
) -> None:
    raters, need = sizes
    loads = nothing(raters + 1)
    # The last rater was not there for the first part.
    first = plan(raters, need, [1.0] * before, seed)
    for query, places in enumerate(first):
        for place in places:
            loads.units[place].add(1000 + query)
    ahead = max(map(len, loads.units))
    plan(raters + 1, 1, [1.0] * more, seed, loads)
    counts = [len(mine) for mine in loads.units]
    # Nobody is given more while somebody with less could have it.
    assert max(counts) <= max(ahead, min(counts) + 1)


def test_a_rater_who_has_the_item_is_not_given_it_again() -> None:
    block = Block(0, (0,), ("QR",), 2, frozenset({100, 102}))
    loads = nothing(4)
    (chosen,) = choose_raters(
        [block], [0], [100, 101, 102, 103], [1.0], loads, np.random.default_rng(0)
    )
    assert sorted(chosen) == [1, 3]


def test_words_are_even_where_queries_and_pairs_leave_a_choice() -> None:
    # One rater each: no pairs. One query in ten is a hundred times as long as the others; where
    # chance deals out 50 queries each, the sums differ by 2,000 words on average.
    words = [1000.0 if query % 10 == 0 else 10.0 for query in range(100)]
    for seed in range(20):
        loads = nothing(2)
        plan(2, 1, words, seed, loads)
        assert abs(loads.words[0] - loads.words[1]) <= 10


@pytest.mark.parametrize(("raters", "queries"), [(4, 3), (6, 5), (6, 6), (10, 12)])
def test_raters_are_linked_as_soon_as_they_can_be(raters: int, queries: int) -> None:
    # With two raters a query, one query fewer than raters is the least that links them all.
    for seed in range(30):
        chosen = plan(raters, 2, [1.0] * queries, seed)
        assert connected((place, query) for query, places in enumerate(chosen) for place in places)


@pytest.mark.parametrize(("raters", "need"), [(4, 2), (6, 3), (12, 3), (5, 4)])
def test_all_pairs_meet_about_equally_often(raters: int, need: int) -> None:
    chosen = plan(raters, need, [1.0] * 300, 0)
    met = Counter(pair for places in chosen for pair in combinations(sorted(places), 2))
    assert len(met) == raters * (raters - 1) // 2
    assert max(met.values()) - min(met.values()) <= 4


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20))
def test_linked_means_that_one_can_be_reached_from_every_other(
    pairs: list[tuple[int, int]],
) -> None:
    reached = {pairs[0][0]} if pairs else set()
    for _ in pairs:
        seen = {response for rater, response in pairs if rater in reached}
        reached |= {rater for rater, response in pairs if response in seen}
    assert connected(pairs) == (reached == {rater for rater, _ in pairs})


def test_raters_who_may_not_take_a_block_are_not_given_it() -> None:
    blocks = blocks_of(20, 1)
    eligible = [frozenset({0, 1}) if index % 2 else frozenset({2}) for index in range(20)]
    chosen = choose_raters(
        blocks,
        [block.query for block in blocks],
        [100, 101, 102],
        [1.0] * 20,
        nothing(3),
        np.random.default_rng(0),
        eligible,
    )
    assert all(eligible[index].issuperset(places) for index, places in enumerate(chosen))
    assert sum(map(len, chosen)) == 20
