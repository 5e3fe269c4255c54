"""The largest cost of a call: it stops before, and loses nothing."""

import asyncio

import pytest

from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai.budget import Budget
from judge.protocol.chat_completion import Trouble
from judge.protocol.exchange import REJECTED, Answer
from judge.running.runner import RunStoppedError
from study import Study
from study.errors import StudyError
from tests.judge.faults.faulty_run import (
    WHOLE,
    assert_completes,
    assert_stored_once,
    commanded,
    judged,
)
from tests.judge.stub.process import Stub

ONE_EACH = (1e6, 1e6)
"""A token costs 1."""
PARAMETERS = {"max_tokens": 100}


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_call_stops_before_its_largest_cost(
    small_study: Study, stub: Stub, concurrency: int
) -> None:
    whole = 60_000
    with pytest.raises(RunStoppedError, match="--max-cost 30000 might be exceeded") as caught:
        judged(small_study, stub, price=ONE_EACH, max_cost=whole / 2, concurrency=concurrency)
    outcome = caught.value.outcome
    assert outcome.cost is not None
    # The next prompt would have cost 5,000 at worst, a token for each byte.
    assert whole / 2 - 6_000 <= outcome.cost <= whole / 2
    assert outcome.judged == outcome.answered == assert_stored_once(small_study) > 0
    assert outcome.failed == {}
    assert_completes(small_study, stub)


def test_what_the_probe_costs_counts(small_study: Study, stub: Stub) -> None:
    with pytest.raises(StudyError, match=r"--max-cost 300 might be exceeded: \d+ is spent"):
        judged(small_study, stub, price=ONE_EACH, max_cost=300)
    assert stub.log().judged == []


def test_a_largest_cost_that_suffices_stops_nothing(small_study: Study, stub: Stub) -> None:
    assert judged(small_study, stub, price=ONE_EACH, max_cost=1e6).judged == WHOLE


def test_a_largest_cost_needs_prices(small_study: Study, stub: Stub) -> None:
    result = commanded(small_study, stub, "--max-cost", "5")
    assert result.code == 2
    assert "max_cost: needs price as well" in result.errors


def test_what_a_server_may_have_charged_without_an_answer_is_said() -> None:
    async def two() -> None:
        budget = Budget(OpenAISettings(price=ONE_EACH, max_cost=500))
        timeout = Trouble("again", "timeout", "")
        budget.settle(await budget.reserve("x", PARAMETERS), timeout)
        await budget.reserve("x", PARAMETERS)

    with pytest.raises(StudyError, match=r"357 is spent \(up to 357 of it for requests whose"):
        asyncio.run(two())


def settled(result: Answer | Trouble | None) -> float:
    """Return what one request of at worst 1 + 256 + 100 tokens is counted as."""

    async def one() -> float:
        budget = Budget(OpenAISettings(price=ONE_EACH, max_cost=1000))
        budget.settle(await budget.reserve("x", PARAMETERS), result)
        return budget.spent

    return asyncio.run(one())


@pytest.mark.parametrize(
    ("result", "cost"),
    [
        (Answer("85", prompt_tokens=10, completion_tokens=2, cached_tokens=4), 12),
        (Answer("85", prompt_tokens=10), 357),
        (Answer("85"), 357),
        (Answer("HTTP 400", missing=REJECTED), 0),
        (Trouble("again", "http_500", ""), 0),
        (Trouble("again", "timeout", ""), 357),
        (Trouble("again", "connection_cut", ""), 357),
        (None, 357),
    ],
)
def test_what_may_have_been_charged_counts_at_its_worst(
    result: Answer | Trouble | None, cost: float
) -> None:
    assert settled(result) == cost


def test_requests_wait_for_those_under_way() -> None:
    async def three() -> list[float]:
        budget = Budget(OpenAISettings(price=ONE_EACH, max_cost=800))
        first, second = [await budget.reserve("x", PARAMETERS) for _ in range(2)]
        third = asyncio.create_task(budget.reserve("x", PARAMETERS))
        await asyncio.sleep(0)
        assert not third.done()
        answer = Answer("85", prompt_tokens=10, completion_tokens=2)
        budget.settle(first, answer)
        budget.settle(await third, answer)
        fourth = asyncio.create_task(budget.reserve("x" * 800, PARAMETERS))
        await asyncio.sleep(0)
        assert not fourth.done()
        budget.settle(second, answer)
        with pytest.raises(StudyError, match=r"--max-cost 800 .* 36 is spent.* up to 1156"):
            await fourth
        return [budget.spent]

    assert asyncio.run(three()) == [36]
