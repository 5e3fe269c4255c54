"""Of prompts that begin alike, one is answered before the others are sent."""

from hypothesis import given, strategies as st

from judge.engines.openai.warm_up import Leading
from judge.protocol.request import Request


def request(beginning: str, number: int = 0) -> Request:
    return Request("CC", 0, (number,), (1,), "", (), "", beginning)


def test_the_first_goes_and_the_others_follow_its_answer() -> None:
    leading = Leading()
    first, second, third, other = (request("a", n) for n in (1, 2, 3, 4))
    assert leading.admit(first)
    assert not leading.admit(second)
    assert not leading.admit(third)
    # Other beginnings, and prompts that share none, need not wait.
    assert leading.admit(request("b"))
    assert leading.admit(request(""))
    assert leading.waiting == 2
    assert leading.ended(first, answered=True) == [second, third]
    assert leading.waiting == 0
    # Once the beginning is in the cache, further prompts go at once.
    assert leading.admit(other)
    assert leading.ended(second, answered=True) == []


def test_where_the_first_fails_the_next_one_leads() -> None:
    leading = Leading()
    first, second, third = (request("a", n) for n in (1, 2, 3))
    for one in (first, second, third):
        leading.admit(one)
    assert leading.ended(first, answered=False) == [second]
    assert leading.ended(second, answered=False) == [third]
    assert leading.ended(third, answered=False) == []
    # None of them was answered, so the next one leads again.
    assert leading.admit(request("a", 4))
    assert not leading.admit(request("a", 5))


def test_what_waits_is_given_back_once() -> None:
    leading = Leading()
    first, second = request("a", 1), request("a", 2)
    leading.admit(first)
    leading.admit(second)
    assert list(leading.give_back()) == [second]
    assert leading.waiting == 0
    assert list(leading.give_back()) == []
    assert leading.ended(first, answered=False) == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30))
def test_every_prompt_goes_exactly_once(plan: list[tuple[str, bool]]) -> None:
    leading, sent = Leading(), []
    under_way = []
    for number, (beginning, _) in enumerate(plan):
        one = request(beginning, number)
        if leading.admit(one):
            under_way.append(one)
    while under_way:
        one = under_way.pop(0)
        sent.append(one.response_ids[0])
        under_way += leading.ended(one, answered=plan[one.response_ids[0]][1])
    assert sorted(sent) == list(range(len(plan)))
    assert leading.waiting == 0
